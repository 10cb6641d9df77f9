import { describe, expect, it } from 'vitest';
import { planHash } from '../../src/plan/stored.js';
import { ids } from '../demo-ids.js';
import { boruta, borutaProject, failed, project, refused, type TestProject } from './running.js';
import { expectToMatchSchema } from './schemas.js';

const withPin = `${boruta}allow_env: [PIN]\n`;
const env = { PIN: 'hush-hush-hush' };

/** A server that changed since a run, and a project whose plan has all kinds of changes. */
async function stored(): Promise<TestProject> {
  const user = (group: string): string =>
    `kind: User\nid: ${ids.ada}\ngroup: ${group}\norganizations: [globex]\nroles: []\nmetadata: {pin: {value: "\${PIN}", status: valid}, floor: {value: first, status: valid}}\n`;
  const acme = 'kind: Organization\nname: acme\nlabel: ACME 1\n';
  const made = await borutaProject({ 'idops.yaml': withPin, 'manifests/all.yaml': acme });
  expect((await made.idops('apply --yes', { env })).code).toBe(0);
  await made.write({
    'manifests/all.yaml': [
      acme,
      'kind: Organization\nname: globex\nlabel: "G & Co"\n',
      'kind: Organization\nname: hooli\nlabel: Hooli\n',
      user('office'),
      `kind: KeyPair\nid: ${ids.secondKey}\nis_default: true\n`,
      `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\nstate: absent\n`,
      `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: reset_password_instructions\ntxt_content: "Hello\\n{{ url }}\\n"\n`,
      `kind: Client\nid: ${ids.portal}\ndid_generation: 1\n`,
    ].join('---\n'),
  });
  return made;
}

describe('a stored plan', () => {
  it('is shown as it was made, in every format, without a token or requests', async () => {
    const { idops, sandbox, read } = await stored();
    const texts = new Map<string, string>();
    for (const format of ['json', 'text', 'markdown', 'github']) {
      texts.set(format, (await idops(`plan --format ${format}`, { env })).stdout);
    }
    await idops('plan --out plan.json', { env });
    const storedPlan = JSON.parse(await read('plan.json'));
    expectToMatchSchema('plan', storedPlan);
    const { created_at, tool_version } = storedPlan;
    const before = sandbox.requests.length;
    const shown = async (format: string): Promise<string> => {
      const ran = await idops(`plan plan.json --format ${format}`, { env: { IDOPS_TOKEN: undefined } });
      // One of its changes is blocked.
      expect(ran.code).toBe(1);
      const asText = ['json', 'github'].includes(format);
      expect(ran.stderr).toEqual(asText ? expect.stringContaining('"G & Co"') : '');
      return ran.stdout;
    };
    const dated = (json: string) => ({ ...JSON.parse(json), created_at });
    expect(dated(await shown('json'))).toEqual(dated(texts.get('json') ?? ''));
    const made = `Made:        ${created_at} by idops ${tool_version}\n`;
    expect((await shown('text')).replace(made, '')).toBe(texts.get('text'));
    const undated = (text: string) => text.replaceAll(/`20\d\d-[^`]*Z`/g, '');
    expect(undated(await shown('markdown'))).toBe(undated(texts.get('markdown') ?? ''));
    expect((await shown('github')).replace(` made at ${created_at} for ${sandbox.url}`, '')).toBe(
      texts.get('github'),
    );
    expect(await shown('html')).toContain(`Made at ${created_at}`);
    expect(sandbox.requests).toHaveLength(before);
  });

  it('is shown in part, and without a project', async () => {
    const { idops, folder, read } = await stored();
    await idops('plan --out plan.json', { env });
    const alone = await project({ 'plan.json': await read('plan.json') });
    const { stdout, code } = await idops(`plan ${alone.folder}/plan.json --only drift`, { cwd: '/' });
    expect(code).toBe(1);
    expect(stdout).toContain('Left out by --only drift');
    expect(stdout).not.toContain('globex');
    expect(folder).not.toBe(alone.folder);
  });

  it('is refused with options that select or store', async () => {
    const { idops } = await stored();
    await idops('plan --out plan.json', { env });
    for (const option of ['--target User/*', '--prune', '--out other.json']) {
      await refused(idops(`plan plan.json ${option}`), "--ended and --out can't be used with a plan file");
    }
    await idops('plan --kind Organization --target Organization/globex --out part.json', { env });
    expect((await idops('plan part.json')).code).toBe(0);
    expect((await idops('plan part.json --detailed-exitcode')).code).toBe(2);
  });

  it('is refused if it is damaged, newer or missing', async () => {
    const { idops, read, write } = await stored();
    await idops('plan --out plan.json', { env });
    const plan = JSON.parse(await read('plan.json'));
    const requests = [{ method: 'DELETE', path: '/api/users/..' }];
    for (const [changes, why] of [
      [[{}], /\(see changes\.0\./],
      [[{ ...plan.changes[0], requests }], /\(see changes\)/],
    ] as const) {
      await write({ 'damaged.json': JSON.stringify({ ...plan, changes }) });
      await refused(idops('plan damaged.json'), "error[plan-unreadable]: damaged.json can't be used", why);
    }
    await refused(idops('plan nothing.json'), 'nothing.json does not exist');
    const folder = (await idops('plan manifests')).stderr.replaceAll(/\s+/g, ' ');
    expect(folder).toContain("manifests can't be read: it is a folder");
    expect(folder).not.toContain('idops plan --out manifests');
    const over = await idops('plan plan.json --format json=plan.json');
    expect(over.code).toBe(1);
    expect(JSON.parse(await read('plan.json'))).toEqual(plan);
  });

  it('is refused by plan and apply if its shown content was changed', async () => {
    const { idops, read, write, writes } = await stored();
    await idops('plan --out plan.json', { env });
    const text = await read('plan.json');
    const before = writes().length;
    await write({ 'plan.json': text.replaceAll('G & Co', 'HARMLESS') });
    const message = 'error[plan-altered]: plan.json was changed after it was stored';
    for (const command of ['plan plan.json', 'apply plan.json'])
      await refused(idops(command, { env }), message);
    expect(writes()).toHaveLength(before);
    // Whitespace may change.
    await write({ 'plan.json': JSON.stringify(JSON.parse(text)) });
    expect(await idops('plan plan.json')).toMatchObject({ code: 1, stderr: '' });
  });

  it('is not applied if it shows another change, even if its hash matches', async () => {
    const { idops, read, write, writes } = await stored();
    await idops('plan --out plan.json', { env });
    const before = writes().length;
    const plan = JSON.parse(await read('plan.json'));
    plan.changes = JSON.parse(JSON.stringify(plan.changes).replaceAll('G & Co', 'HARMLESS'));
    plan.apply.whole = planHash(plan);
    await write({ 'plan.json': JSON.stringify(plan) });
    expect(await idops('plan plan.json')).toMatchObject({ code: 1, stderr: '' });
    await failed(
      idops('apply plan.json', { env }),
      'error[plan-altered]: the stored plan differs from what apply would do',
      'Organization/globex: label',
    );
    expect(writes()).toHaveLength(before);
  });
});

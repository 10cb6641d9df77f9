import { describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.js';
import { ids } from '../sandbox/asking.js';
import { config, project, sure, type TestProject } from './running.js';
import { expectToFit } from './schemas.js';

const boruta = config.replace('server:\n', 'server:\n  profile: boruta\n');
const template = `/api/backends/${ids.backend}/email-templates/reset_password_instructions`;

/** What somebody does on the server beside idops. */
async function edit({ url, token }: Sandbox, path: string, body: object): Promise<void> {
  const answer = await fetch(`${url}${path}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
}

const organizations = (acme: string, globex: string): string =>
  `kind: Organization\nname: acme\nlabel: ${acme}\n---\nkind: Organization\nname: globex\nlabel: ${globex}\n`;

/** Two organizations that a run has set; then acme's label is changed on the server, and globex's in the manifest. */
async function drifted(profile: string): Promise<TestProject & { readonly run: string }> {
  const files = {
    'idops.yaml': profile,
    'manifests/all.yaml': organizations('ACME Corporation', 'Globex 1'),
  };
  const made = await project(files, { profile: profile === boruta ? 'boruta' : 'documented' });
  const { run } = JSON.parse((await made.idops('apply --yes --format json')).stdout);
  await edit(made.sandbox, `/api/organizations/${ids.acme}`, {
    organization: { name: 'acme', label: 'By hand' },
  });
  await made.write({ 'manifests/all.yaml': organizations('ACME Corporation', 'Globex 2') });
  return { ...made, run };
}

describe.each([
  ['documented', sure],
  ['boruta', boruta],
])('what was changed on a server of the profile %s since a run', (_, profile) => {
  it('is told from what the manifest changed, in every format', async () => {
    const { idops, run } = await drifted(profile);
    const said = `changed on the server since run ${run} (was "ACME Corporation")`;

    const { stdout: text } = await idops('plan');
    const words = text.replaceAll(/\s+/g, ' ');
    expect(words).toContain(`label: "By hand" → "ACME Corporation" ${said}`);
    expect(words.split('changed on the server since run')).toHaveLength(2);
    expect(words).toContain('Drift: 1 field of 1 object changed on the server since it was last applied.');
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);

    const plan = JSON.parse((await idops('plan --format json')).stdout);
    expectToFit('plan', plan);
    expect(plan.summary.drift).toBe(1);
    const fields = plan.changes.flatMap((change: { fields: object[] }) => change.fields);
    expect(fields).toEqual([
      expect.objectContaining({ before: 'By hand', drift: { recorded: 'ACME Corporation', run } }),
      expect.not.objectContaining({ drift: expect.anything() }),
    ]);

    const { stdout: markdown } = await idops('plan --format markdown');
    expect(markdown.replaceAll(/<\/?code>|`/g, '')).toContain(`${said} — `);
    expect((await idops('plan --format html')).stdout).toContain(
      `changed on the server since run ${run} (was &quot;ACME Corporation&quot;)`,
    );
    const { stdout: github } = await idops('plan --format github');
    expect(github).toContain(`Organization/acme: label; ${said}`);
    expect(github).toContain('Organization/globex: label\n');
  });

  it('is shown alone, or left out, and what is left out is counted', async () => {
    const { idops, read, run } = await drifted(profile);
    for (const format of ['text', 'markdown', 'html', 'github']) {
      const { stdout: drift } = await idops(`plan --format ${format} --only drift`);
      expect(drift).toContain('acme');
      expect(drift).not.toContain('globex');
      expect(drift.replaceAll(/<\/?code>|`/g, '')).toContain('Left out by --only drift: 1 to update.');
      const { stdout: changes } = await idops(`plan --format ${format} --only changes`);
      expect(changes).not.toContain(run);
      expect(changes).toContain('globex');
    }
    const whole = JSON.parse((await idops('plan --format json --out whole.json')).stdout);
    const part = await idops('plan --format json --only drift --out part.json --detailed-exitcode');
    expect(part.code).toBe(2);
    const shown = JSON.parse(part.stdout);
    expectToFit('plan', shown);
    expect(shown).toMatchObject({ only: 'drift', left_out: { update: 1 }, summary: whole.summary });
    expect(shown.changes).toEqual([whole.changes[0]]);
    expect(shown.digest).toBe(whole.digest);
    expect(JSON.parse(await read('part.json')).changes).toEqual(whole.changes);
  });

  it('is put right', async () => {
    const { idops, sandbox } = await drifted(profile);
    expect((await idops('apply --yes')).code).toBe(0);
    const labels = new Map(sandbox.snapshot().organizations.map(({ id, label }) => [id, label]));
    expect([labels.get(ids.acme), labels.get(ids.globex)]).toEqual(['ACME Corporation', 'Globex 2']);
    expect((await idops('plan')).stdout).not.toContain('Drift');
  });

  it('tells of a body how much of it was changed', async () => {
    const body = (greeting: string): string => `${greeting}\n\n{{ reset_password_url }}\n`;
    const made = await project(
      {
        'idops.yaml': profile,
        'manifests/emails.yaml': `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: reset_password_instructions\ntxt_content: {file: reset.txt}\nhtml_content: "<p>{{{ reset_password_url }}}</p>"\n`,
        'manifests/reset.txt': body('Hello'),
      },
      { profile: profile === boruta ? 'boruta' : 'documented' },
    );
    expect((await made.idops('apply --yes')).code).toBe(0);
    await edit(made.sandbox, template, {
      template: { txt_content: body('Servus'), html_content: '<p>by hand {{{ reset_password_url }}}</p>' },
    });
    const { stdout } = await made.idops('plan');
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(/changed on the server since run \S+ \(was \d+ lines?\)/);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('Drift: 2 fields of 1 object changed on the server');
  });
});

describe('drift', () => {
  it('of a user is told of a boruta, member by member and set by set, and no secret is in it', async () => {
    const manifest = (group: string): string =>
      `kind: User\nid: ${ids.ada}\ngroup: ${group}\norganizations: [acme]\nmetadata: {key: {value: "\${KEY}", status: valid}, floor: {value: first, status: valid}}\n`;
    const env = { KEY: 'hush-hush-hush' };
    const { idops, read, files, write, sandbox } = await project(
      { 'idops.yaml': `${boruta}allow_env: [KEY]\n`, 'manifests/ada.yaml': manifest('staff') },
      { profile: 'boruta' },
    );
    expect((await idops('apply --yes', { env })).code).toBe(0);
    const [user] = sandbox.snapshot().users.filter(({ id }) => id === ids.ada);
    await edit(sandbox, `/api/users/${ids.ada}`, {
      user: {
        ...user,
        organizations: [{ id: ids.globex }],
        metadata: { key: { value: 'other', status: 'valid' }, floor: { value: 'second', status: 'valid' } },
      },
    });
    await write({ 'manifests/ada.yaml': manifest('office') });
    const plan = JSON.parse((await idops('plan --format json --out plan.json', { env })).stdout);
    expectToFit('plan', plan);
    const drift = Object.fromEntries(
      plan.changes[0].fields.map((field: { path: string; drift?: { recorded: unknown } }) => [
        field.path,
        field.drift?.recorded,
      ]),
    );
    expect(drift).toEqual({
      group: undefined,
      organizations: [expect.objectContaining({ id: ids.acme })],
      'metadata.key': { sensitive: true },
      'metadata.floor': { value: 'first', status: 'valid' },
    });
    expect((await idops('plan', { env })).stdout).toContain('(was acme (roles:');
    expect(await read('plan.json')).not.toContain('hush');
    const kept = Object.entries(await files()).filter(([path]) => path.startsWith('.idops'));
    expect(JSON.stringify(kept)).not.toContain('hush');
  });

  it('is none where idops itself moved the default from one key pair to another', async () => {
    const pairs = (first: boolean): string =>
      `kind: KeyPair\nid: ${ids.firstKey}\nis_default: ${first}\n---\nkind: KeyPair\nid: ${ids.secondKey}\nis_default: ${!first}\n`;
    const { idops, write } = await project(
      { 'idops.yaml': boruta, 'manifests/keys.yaml': pairs(false) },
      { profile: 'boruta' },
    );
    for (const first of [false, true, false]) {
      await write({ 'manifests/keys.yaml': pairs(first) });
      const { stdout } = await idops('apply --yes');
      expect(stdout).toContain('to update');
      expect(stdout).not.toContain('Drift');
    }
  });

  it('is none where undoing a run left it so', async () => {
    const { idops } = await project(
      { 'idops.yaml': sure, 'manifests/all.yaml': organizations('ACME 1', 'Globex 1') },
      {},
    );
    expect((await idops('apply --yes')).code).toBe(0);
    expect((await idops('undo --last --yes')).code).toBe(0);
    const { stdout } = await idops('plan');
    expect(stdout).toContain('2 to update');
    expect(stdout).not.toContain('since run');
  });

  it('is not known of a state that an older version wrote', async () => {
    const { idops, read, write } = await drifted(sure);
    const state = JSON.parse(await read('.idops/state.json'));
    for (const record of Object.values<{ left?: object }>(state.resources)) delete record.left;
    await write({ '.idops/state.json': JSON.stringify(state) });
    const { stdout, code } = await idops('plan');
    expect(code).toBe(0);
    expect(stdout).toContain('2 to update');
    expect(stdout).not.toContain('since run');
  });

  it('is nothing where both were changed to the same', async () => {
    const { idops, write } = await drifted(sure);
    await write({ 'manifests/all.yaml': organizations('By hand', 'Globex 1') });
    const { stdout } = await idops('plan');
    expect(stdout).toContain('Nothing to change');
    expect(stdout).not.toContain('Drift');
  });

  it('refuses a share that there is not', async () => {
    const { idops } = await project({});
    const { code, stderr } = await idops('plan --only mine');
    expect(code).toBe(1);
    expect(stderr).toContain('drift, changes');
  });
});

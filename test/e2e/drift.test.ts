import { describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.js';
import { ids } from '../sandbox/asking.js';
import { boruta, project, sure, type TestProject } from './running.js';
import { expectToFit } from './schemas.js';

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
});

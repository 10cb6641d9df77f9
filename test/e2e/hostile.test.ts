import { describe, expect, it } from 'vitest';
import { failed, project, type Ran, succeeded } from './running.js';

const esc = '\u001b';
const hostile = [
  `${esc}[2J${esc}]0;owned\u0007`,
  'a\rPlan: 0 to update',
  'a\nPlan: 0 to update, 0 to delete, 0 to regenerate, 9 unchanged.',
  'a\u202egnp.exe',
  '::error file=x::forged',
  '##[error]forged',
  '\u009b31m red',
];

/** Control characters except newlines, bidi controls, and what CI systems interpret as commands. */
const harmful = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|^\s*::|##\[/m;

function expectHarmless({ stdout, stderr }: Ran): void {
  expect(stdout).not.toMatch(harmful);
  expect(stderr).not.toMatch(harmful);
  const summaries = stdout.split('\n').filter((line) => line.startsWith('Plan: '));
  expect(summaries).not.toContain('Plan: 0 to update, 0 to delete, 0 to regenerate, 9 unchanged.');
}

describe('text that could forge output', () => {
  it('is escaped in names and labels of the server', async () => {
    const documents = hostile.map(
      (label, index) => `kind: Organization\nid: hostile-${index}\nlabel: ${JSON.stringify(label)}\n`,
    );
    const { idops, sandbox, read } = await project({ 'manifests/all.yaml': documents.join('---\n') });
    hostile.forEach((name, index) => {
      sandbox.data.organizations.push({ id: `hostile-${index}`, name, label: `${name} before` });
    });
    for (const args of ['plan --debug', 'plan --format json', 'apply --yes --debug'])
      expectHarmless(await succeeded(idops(args)));
    await succeeded(idops('list --format json=list.json'));
    expect(await read('list.json')).not.toMatch(harmful);
  });

  it.each(hostile)('is escaped in an error message of the server: %j', async (text) => {
    const { idops } = await project(
      { 'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: x\n' },
      {
        intercept: ({ method }) => ({
          kind: 'answer',
          status: method === 'GET' ? 403 : 422,
          body: { code: text, message: text, errors: { [text]: [text] } },
        }),
      },
    );
    expectHarmless(await failed(idops('plan --debug')));
  });

  it('is escaped in arguments, file names and invalid manifests', async () => {
    const text = hostile[0] ?? '';
    const { idopsWith, write } = await project({
      'manifests/all.yaml': `kind: Organization\nname: acme\n${JSON.stringify(text)}: x\n`,
    });
    expectHarmless(await idopsWith(['validate']));
    await write({
      'manifests/all.yaml': 'kind: Organization\nname: acme\n',
      [`manifests/${esc}[2J.yaml`]: 'a: [',
    });
    expectHarmless(await idopsWith(['validate']));
    await write({ [`manifests/${esc}[2J.yaml`]: '' });
    for (const option of ['--target', '--env', '--format', '--config'])
      expectHarmless(await failed(idopsWith(['plan', option, text])));
  });
});

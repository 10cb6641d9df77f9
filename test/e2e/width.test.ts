import { expect, test } from 'vitest';
import { project, sure } from './running.js';
import { type Sitting, sit } from './terminal.js';

const boruta = sure.replace('profile: documented', 'profile: boruta');
const user = '40000000-0000-4000-8000-000000000001';
const backend = '20000000-0000-4000-8000-000000000001';
const keys = [1, 2].map((number) => `50000000-0000-4000-8000-00000000000${number}`);

const red = '\u001b[31m';
const green = '\u001b[32m';
const end = '\u001b[39m';

/** What was written, a line each, without colours. */
function linesOf(sitting: Sitting): string[] {
  // biome-ignore lint/complexity/useRegexLiterals: the escape is clearer in a string
  const sequences = new RegExp('\u001b\\[[\\d;?]*[A-Za-z]', 'g');
  return sitting.written().replace(sequences, '').split(/\r*\n/);
}

test('a plan, what follows and what is wrong are folded to the terminal, and colours say what goes and what comes', async () => {
  const made = await project(
    {
      'idops.yaml': boruta,
      'manifests/all.yaml': `kind: User
id: ${user}
metadata: {phone: null}
organizations:
  - {name: acme, roles: [{name: member}]}
  - globex
---
kind: KeyPair
id: ${keys[1]}
is_default: true
---
kind: EmailTemplate
backend_id: ${backend}
type: reset_password_instructions
txt_content: {file: reset.txt}
`,
    },
    { profile: 'boruta' },
  );
  const template = made.sandbox.data.templates.find(({ type }) => type === 'reset_password_instructions');
  const text = String(template?.txt_content);
  expect(text).toContain('works for one hour');
  await made.write({ 'manifests/reset.txt': text.replace('works for one hour', 'works for 30 minutes') });

  const planned = sit(made, ['plan', '--out', 'my plans.json'], { columns: 40 });
  expect(await planned.ended).toBe(0);
  const written = planned.written();
  expect(written).toContain('works for \u001b[7mone hour\u001b[27m:');
  expect(written).toContain('works for \u001b[7m30 minutes\u001b[27m:');
  expect(written).toMatch(
    /metadata\.phone: \u001b\[31m.*\u001b\[39m\r\n {6}→ \u001b\[31m\(removed\)\u001b\[39m/u,
  );
  expect(written).toContain(`is_default: ${red}false${end} → ${green}true${end}`);
  expect(written).toContain(`${red}- accountant`);
  const lines = linesOf(planned);
  expect(lines).toContain('    destructive: moves the default key');
  expect(lines.join(' ').replaceAll(/\s+/g, ' ')).toContain(
    `moves the default key pair from KeyPair/${keys[0]}`,
  );
  // Each sentence ends before the edge, and a command is in one piece.
  const sentences = lines.filter((line) =>
    /^(?:Plan:|Required| {4}(?:destructive|warning)|The plan is)/.test(line),
  );
  expect(sentences.length).toBeGreaterThan(4);
  for (const line of sentences) expect(line.length).toBeLessThanOrEqual(40);
  expect(lines).toContain("  idops apply 'my plans.json'");
  expect(lines.join(' ').replaceAll(/\s+/g, ' ')).toMatch(
    /\. 2 are destructive: User\/\S+ \(ada@acme\.example\), KeyPair\//,
  );

  const plain = sit(made, ['plan'], { columns: 200, env: { NO_COLOR: '1' } });
  expect(await plain.ended).toBe(0);
  expect(linesOf(plain)).toContain('      │ -Choose a new one here. The link works for one hour:');
  expect(plain.written()).not.toContain('\u001b[7m');
  expect(linesOf(plain)).toContainEqual(
    expect.stringMatching(/^~ update User\/\S+ \(ada@acme\.example\) {2}at manifests\/all\.yaml:1$/),
  );

  await made.write({
    'manifests/all.yaml': 'kind: Organization\nname: acme\nlable: ACME Corporation, which is new\n',
  });
  const wrong = sit(made, ['plan'], { columns: 40 });
  expect(await wrong.ended).toBe(1);
  for (const line of linesOf(wrong)) expect(line.length).toBeLessThanOrEqual(40);
  expect(wrong.screen()).toContain('error[unknown-field]: unknown field');
});

test('a file that text is asked in has neither colours nor folds', async () => {
  const made = await project({
    'idops.yaml': sure,
    'manifests/a.yaml': 'kind: Organization\nname: acme\nlabel: New\n',
  });
  const planned = sit(made, ['plan', '--format', 'json', '--format', 'text=plan.txt'], { columns: 30 });
  expect(await planned.ended).toBe(0);
  const text = await made.read('plan.txt');
  expect(text).not.toContain('\u001b');
  expect(text).toContain('\nPlan: 1 to update, 0 to delete, 0 to regenerate, 0 unchanged.\n');
});

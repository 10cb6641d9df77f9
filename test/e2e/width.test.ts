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

test('colours say what goes and what comes in a plan', async () => {
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

  const planned = sit(made, ['plan', '--out', 'my plans.json'], { columns: 200 });
  expect(await planned.ended).toBe(0);
  const written = planned.written();
  expect(written).toContain('works for \u001b[7mone\u001b[27m \u001b[7mhour\u001b[27m:');
  expect(written).toContain('works for \u001b[7m30\u001b[27m \u001b[7mminutes\u001b[27m:');
  expect(written).toMatch(/metadata\.phone: \u001b\[31m.*\u001b\[39m\s+→ \u001b\[31m\(removed\)\u001b\[39m/u);
  expect(written).toContain(`is_default: ${red}false${end} → ${green}true${end}`);
  const lines = linesOf(planned);
  expect(lines.join(' ').replaceAll(/\s+/g, ' ')).toMatch(
    /\. 2 are destructive: User\/\S+ \(ada@acme\.example\), KeyPair\//,
  );

  const plain = sit(made, ['plan'], { columns: 200, env: { NO_COLOR: '1' } });
  expect(await plain.ended).toBe(0);
  expect(linesOf(plain)).toContain('      │ -Choose a new one here. The link works for one hour:');
  expect(plain.written()).not.toContain('\u001b[7m');
  expect(linesOf(plain)).toContainEqual(expect.stringMatching(/^~ update User\/\S+ \(ada@acme\.example\)$/));
});

test('a file that text is asked in has no colours', async () => {
  const made = await project({
    'idops.yaml': sure,
    'manifests/a.yaml': 'kind: Organization\nname: acme\nlabel: New\n',
  });
  const planned = sit(made, ['plan', '--format', 'json', '--format', 'text=plan.txt']);
  expect(await planned.ended).toBe(0);
  const text = await made.read('plan.txt');
  expect(text).not.toContain('\u001b');
  expect(text).toContain('\nPlan: 1 to update, 0 to delete, 0 to regenerate, 0 unchanged.\n');
});

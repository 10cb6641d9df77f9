import { expect, test } from 'vitest';
import { project, trustedConfig } from './running.js';
import { runInTerminal } from './terminal.js';

const manifests = { 'manifests/a.yaml': 'kind: Organization\nname: acme\nlabel: New\n' };

test('a plan has colours in a terminal, but not with NO_COLOR', async () => {
  const made = await project({ 'idops.yaml': trustedConfig, ...manifests });
  const planned = runInTerminal(made, ['plan']);
  expect(await planned.ended).toBe(0);
  expect(planned.written()).toContain('label: \u001b[31m"ACME Corp"\u001b[39m → \u001b[32m"New"\u001b[39m');
  const plain = runInTerminal(made, ['plan'], { env: { NO_COLOR: '1' } });
  expect(await plain.ended).toBe(0);
  expect(plain.written()).toContain('label: "ACME Corp" → "New"');
});

test('text in a file has no colours', async () => {
  const made = await project({ 'idops.yaml': trustedConfig, ...manifests });
  const planned = runInTerminal(made, ['plan', '--format', 'json', '--format', 'text=plan.txt']);
  expect(await planned.ended).toBe(0);
  const text = await made.read('plan.txt');
  expect(text).not.toContain('\u001b');
  expect(text).toContain('\nPlan: 1 to update, 0 to delete, 0 to regenerate, 0 unchanged.\n');
});

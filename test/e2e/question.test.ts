import { describe, expect, test } from 'vitest';
import { project, trustedConfig } from './running.js';
import { runInTerminal } from './terminal.js';

const backend = '20000000-0000-4000-8000-000000000001';
const organization = 'kind: Organization\nname: acme\nlabel: Acme Inc.\n';
const deletion = `---\nkind: EmailTemplate\nbackend_id: ${backend}\ntype: tx_code\nstate: absent\n`;
const production = `${trustedConfig}environments:\n  production:\n    vars: {region: eu}\n`;

describe('the question before changes are sent', () => {
  test('counts the changes, names server and environment, and needs y and Enter', async () => {
    const made = await project({ 'idops.yaml': production, 'manifests/a.yaml': organization });
    const at = runInTerminal(made, ['apply', '--env', 'production']);
    await at.shown(`Apply 1 update to ${made.sandbox.url} (production)?`);
    at.type('y');
    await at.shown(/│ {2}y/);
    expect(made.writes()).toEqual([]);
    at.type('\r');
    expect(await at.ended).toBe(0);
    expect(made.writes()).toHaveLength(1);
  });

  test('accepts a line feed for Enter, as expect sends it', async () => {
    const made = await project({ 'idops.yaml': trustedConfig, 'manifests/a.yaml': organization });
    const at = runInTerminal(made, ['apply']);
    await at.shown('(no environment)?');
    at.type('y\n');
    expect(await at.ended).toBe(0);
    expect(made.writes()).toHaveLength(1);
  });

  test('ignores what was typed before it was shown', async () => {
    const made = await project({ 'idops.yaml': trustedConfig, 'manifests/a.yaml': organization });
    const at = runInTerminal(made, ['apply']);
    at.type('y\r');
    await at.shown('(no environment)?');
    at.type('\r');
    expect(await at.ended).toBe(1);
    expect(made.writes()).toEqual([]);
  });

  test('requires the name of the environment if a change is destructive', async () => {
    const made = await project({ 'idops.yaml': production, 'manifests/a.yaml': organization + deletion });
    const at = runInTerminal(made, ['apply', '--env', 'production']);
    await at.shown(`Apply 1 update and 1 deletion to ${made.sandbox.url} (production)?`);
    await at.shown('This includes 1 destructive change: type production to continue');
    at.type('y\r');
    await at.shown('that is not production');
    expect(made.writes()).toEqual([]);
    at.type('\u007fproduction\r');
    expect(await at.ended).toBe(0);
    expect(made.writes()).toHaveLength(2);
  });

  test('requires the host if a change is destructive and there is no environment', async () => {
    const made = await project({ 'idops.yaml': trustedConfig, 'manifests/a.yaml': deletion });
    const { host } = new URL(made.sandbox.url);
    const at = runInTerminal(made, ['apply']);
    await at.shown(`type ${host} to continue`);
    at.type('n\r');
    expect(await at.ended).toBe(1);
    expect(made.writes()).toEqual([]);
    const again = runInTerminal(made, ['apply']);
    await again.shown(`type ${host} to continue`);
    again.type(`${host}\r`);
    expect(await again.ended).toBe(0);
    expect(made.writes()).toHaveLength(1);
  });

  test('is shown after the plan, even if standard output is a file', async () => {
    const made = await project({ 'idops.yaml': trustedConfig, 'manifests/a.yaml': organization });
    const at = runInTerminal(made, ['apply'], { into: 'out.txt' });
    await at.shown('(no environment)?');
    expect(at.screen()).toMatch(/~ update Organization\/acme.*label: .*Apply 1 update to/s);
    at.type('\r');
    expect(await at.ended).toBe(1);
  });

  test('is the same before a DID is regenerated', async () => {
    const client = '60000000-0000-4000-8000-000000000001';
    const made = await project({ 'idops.yaml': production, 'manifests/a.yaml': organization });
    const at = runInTerminal(made, ['regenerate-did', client, '--env', 'production']);
    await at.shown('type production to continue');
    at.type('y\r');
    await at.shown('that is not production');
    at.type('\u0003');
    expect(await at.ended).toBe(130);
    expect(made.writes()).toEqual([]);
  });
});

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { gate } from './gate.js';
import { signal } from './in-process.js';
import {
  borutaProject,
  failed,
  project,
  type RunOptions,
  type TestProject,
  trustedConfig,
} from './running.js';

const users = Array.from({ length: 6 }, (_, index) => `kind: User\nid: user-${index}\ngroup: staff\n`);

const acme = { 'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: New\n' };

describe('an interruption', () => {
  it('by a removed lock sends nothing more, and leaves the state to its new owner', async () => {
    const { arrived, open, intercept } = gate();
    const manifest = [`kind: User\nid: ${ids.ada}\ngroup: staff\n`, ...users].join('---\n');
    const files = { 'idops.yaml': trustedConfig, 'manifests/all.yaml': manifest };
    const { idops, writes, read, write, folder } = await project(files, { intercept });
    const running = idops('apply --yes --concurrency 1');
    await arrived;
    await rm(join(folder, '.idops/state.json.lock'));
    const state = '{"somebody": "else\'s"}';
    await write({ '.idops/state.json': state });
    open();
    const early =
      /error\[run-ended-early\]: run \S+ ended early: the lock of the state was lost: it was removed/;
    const { stdout } = await failed(running, early);
    expect(writes()).toEqual([`PATCH /api/users/${ids.ada}`]);
    expect(stdout).toContain('not sent: the lock of the state was lost');
    expect(stdout).toContain('Applied: 1 applied, 6 skipped.');
    expect(await read('.idops/state.json')).toBe(state);
    await rm(join(folder, '.idops/state.json'));
    const plan = await idops('plan');
    expect(plan.stderr).toMatch(/run \S+ had not ended/);
    expect(plan.stdout).toContain('6 to update');
    expect(plan.stdout).toContain('1 unchanged');
  });

  /** Interrupts a command during its first request. */
  async function interrupted(at: TestProject, held: ReturnType<typeof gate>, args: string, run?: RunOptions) {
    const running = at.idops(args, run);
    await held.arrived;
    signal('SIGTERM');
    held.open();
    const { code, stderr } = await running;
    expect(code, stderr).toBe(130);
    return stderr;
  }

  it('of a plan requests nothing more, even if requests are queued', async () => {
    const held = gate();
    const user = { 'manifests/all.yaml': `kind: User\nid: ${ids.ada}\norganizations: [acme]\n` };
    const at = await borutaProject(user, held);
    const stderr = await interrupted(at, held, 'plan --concurrency 1');
    expect(stderr).toContain('interrupted: nothing more was asked');
    expect(at.reads()).toHaveLength(1);
  });

  it('during a token command sends no request with the token', async () => {
    const held = gate();
    const command = trustedConfig.replace(/token: .*/, `token_command: ["${process.execPath}", token.cjs]`);
    const at = await project({ 'idops.yaml': command, ...acme }, held);
    await at.write({ 'token.cjs': `fetch('${at.sandbox.url}/token').then(() => console.log('token'));` });
    await interrupted(at, held, 'plan', { env: { IDOPS_TOKEN: undefined } });
    expect(at.reads()).toEqual(['GET /token']);
  });

  it('of an apply that observes writes nothing', async () => {
    const held = gate();
    const at = await project(acme, held);
    const before = await at.files();
    await interrupted(at, held, 'apply --yes');
    expect(at.writes()).toEqual([]);
    expect(await at.files()).toEqual(before);
  });
});

describe('a closed standard output, as `head` closes it', () => {
  it("doesn't stop apply", async () => {
    const { begin, sandbox } = await project(acme);
    const running = begin(['apply', '--yes', '--quiet']);
    running.child.stdout.destroy();
    const { code, stderr } = await running.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(sandbox.data.organizations[0]?.label).toBe('New');
  });
});

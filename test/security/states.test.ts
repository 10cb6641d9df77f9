import { spawn, spawnSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { currentProcess } from '../../src/base/process.js';
import type { SandboxSeed } from '../../src/sandbox/index.js';
import { acquireLock } from '../../src/state/file/lock.js';
import { ids } from '../demo-ids.js';
import { gate } from '../e2e/gate.js';
import { cli, config, type Files, journals, project, type TestProject, watch } from '../e2e/running.js';

const twoStates = `${config}state: {path: .idops/a.json}
environments:
  b: {state: {path: .idops/b.json}, manifests: [other/*.yaml]}
`;
const template = (type: string): string =>
  `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: ${type}\ntxt_content: ours {{ code }}\nhtml_content: <p>ours {{ code }}</p>\n`;
const acme = 'kind: Organization\nname: acme\nlabel: New\n';
const files = {
  'idops.yaml': twoStates,
  'manifests/all.yaml': `${template('tx_code')}---\n${template('reset_password_instructions')}`,
  'other/all.yaml': acme,
};

/** An apply of state a that has written one template and waits for the response of the other. */
async function underWay(): Promise<{ at: TestProject; run: ReturnType<TestProject['begin']>; open(): void }> {
  const { arrived, open, intercept } = gate();
  const at = await project(files, {
    intercept: async ({ method, path }) =>
      method === 'PATCH' && path.endsWith('/tx_code') ? await intercept() : undefined,
  });
  const run = at.begin(['apply', '--yes', '--concurrency', '1']);
  await arrived;
  return { at, run, open };
}

let left: { readonly files: Files; readonly seed: SandboxSeed } | undefined;

/** That apply, killed there. Only one process is killed: each project gets a copy of what it left, with its own server address. */
async function killed(): Promise<TestProject> {
  if (left === undefined) {
    const { at, run, open } = await underWay();
    run.child.kill('SIGKILL');
    await run.ended;
    left = { files: renamed(await at.files(), at.sandbox.url, SERVER), seed: at.sandbox.snapshot() };
    open();
  }
  const at = await project({}, { seed: left.seed });
  await at.write(renamed(left.files, SERVER, at.sandbox.url));
  return at;
}

const SERVER = 'http://the.server';

function renamed(written: Files, from: string, to: string): Files {
  return Object.fromEntries(Object.entries(written).map(([path, text]) => [path, text.replaceAll(from, to)]));
}

const journalOf = async (at: TestProject): Promise<string> => {
  const all = await at.files();
  return all[journals(all)[0] ?? ''] ?? '';
};

describe('two states in one folder', () => {
  it('a killed run belongs to its own state: the other neither adopts it nor prunes what it wrote', async () => {
    const at = await killed();
    const before = await journalOf(at);
    for (const args of ['apply --env b --yes', 'apply --env b --prune --yes', 'plan --env b --prune']) {
      const ran = await at.idops(args);
      expect(ran.code).toBe(0);
      expect(ran.stderr).not.toContain('had not ended');
    }
    expect(at.writes().filter((write) => write.startsWith('DELETE'))).toEqual([]);
    expect(await journalOf(at)).toBe(before);
    const own = await at.idops('apply --yes');
    expect(own).toMatchObject({ code: 0, stderr: expect.stringContaining('had not ended') });
  });

  it('a running apply of one state keeps its journal while the other state applies', async () => {
    const { at, run, open } = await underWay();
    const before = await journalOf(at);
    expect(await at.idops('plan --env b')).toMatchObject({
      code: 0,
      stderr: expect.not.stringContaining('had not ended'),
    });
    expect(await at.idops('apply --env b --yes')).toMatchObject({ code: 0 });
    expect((await journalOf(at)).startsWith(before)).toBe(true);
    open();
    expect((await run.ended).code).toBe(0);
    expect((await at.idops('plan --detailed-exitcode')).code).toBe(0);
  });

  it('a lost state adopts the killed run of its own name and settles it', async () => {
    const at = await killed();
    await rm(join(at.folder, '.idops/a.json'));
    expect((await at.idops('apply --env b --yes')).stderr).not.toContain('had not ended');
    const next = await at.idops('apply --yes');
    expect(next).toMatchObject({ code: 0, stderr: expect.stringContaining('had not ended') });
    const state = JSON.parse(await at.read('.idops/a.json'));
    expect(Object.keys(state.resources)).toContain(
      `EmailTemplate/${ids.backend}/reset_password_instructions`,
    );
    expect(JSON.parse((await journalOf(at)).split('\n')[0] ?? '').state.lineage).toBe(state.lineage);
  });

  it('a new state with the name of one that was moved leaves the killed run to the moved one', async () => {
    const at = await killed();
    await at.write({ '.idops/moved.json': await at.read('.idops/a.json') });
    await rm(join(at.folder, '.idops/a.json'));
    expect((await at.idops('plan')).stderr).not.toContain('had not ended');
    await at.write({ 'idops.yaml': twoStates.replace('a.json', 'moved.json') });
    expect((await at.idops('plan')).stderr).toContain('had not ended');
  });

  async function bothApplied(): Promise<{ at: TestProject; a: string; b: string }> {
    const at = await project(files);
    const apply = async (args: string): Promise<string> => {
      const { code, stdout } = await at.idops(args);
      expect(code).toBe(0);
      return /Run: (\S+)/.exec(stdout)?.[1] ?? '';
    };
    return { at, a: await apply('apply --yes'), b: await apply('apply --env b --yes') };
  }

  it("a run can't be undone with the other state", async () => {
    const { at, a, b } = await bothApplied();
    const before = at.sandbox.requests.length;
    await at.refused(`undo ${a} --env b --yes --force`, ['error[run-other-state]', 'a.json']);
    expect(at.sandbox.requests).toHaveLength(before);
    expect((await at.idops(`undo ${b} --env b --yes`)).code).toBe(0);
    expect((await at.idops(`undo ${a} --yes`)).code).toBe(0);
  });

  it('a run of a lost state can be undone only with the new state of its name', async () => {
    const { at, a } = await bothApplied();
    await rm(join(at.folder, '.idops/a.json'));
    expect((await at.idops(`undo ${a} --env b --yes`)).stderr).toContain('error[run-other-state]');
    expect((await at.idops('apply --yes')).code).toBe(0);
    expect((await at.idops(`undo ${a} --yes`)).code).toBe(0);
  });

  it("a run of a moved state can't be undone with a new state of its name", async () => {
    const { at, a } = await bothApplied();
    await at.write({ '.idops/moved.json': await at.read('.idops/a.json') });
    await rm(join(at.folder, '.idops/a.json'));
    expect((await at.idops(`undo ${a} --yes`)).stderr).toContain('error[run-other-state]');
    await at.write({ 'idops.yaml': twoStates.replace('a.json', 'moved.json') });
    expect((await at.idops(`undo ${a} --yes`)).code).toBe(0);
  });

  it('idops runs lists the runs of one state and counts the others, and runs show names the state', async () => {
    const { at, a, b } = await bothApplied();
    for (const [env, own, other, file] of [
      ['', a, b, 'b.json'],
      [' --env b', b, a, 'a.json'],
    ] as const) {
      const listed = await at.idops(`runs${env}`);
      expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining(own) });
      expect(listed.stdout).not.toContain(other);
      expect(listed.stderr).toContain(`1 run of another state in the same place is not listed (${file})`);
      const { runs } = JSON.parse((await at.idops(`runs${env} --format json`)).stdout);
      expect(runs.map(({ run }: { run: string }) => run)).toEqual([own]);
      expect((await at.idops(`runs show ${own}${env}`)).stderr).toBe('');
      const shown = await at.idops(`runs show ${other}${env}`);
      expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining(other) });
      expect(shown.stderr).toContain(`run ${other} belongs to the state ${file}`);
    }
    await rm(join(at.folder, '.idops/a.json'));
    expect((await at.idops('runs')).stdout).toContain(a);
    expect((await at.idops('runs')).stdout).not.toContain(b);
    await rm(join(at.folder, '.idops/b.json'));
    expect((await at.idops('runs')).stdout).not.toContain(b);
  });
});

describe('a run whose lock was removed', () => {
  it('keeps its journal while its process runs', async () => {
    const { at, run, open } = await underWay();
    const before = await journalOf(at);
    await rm(join(at.folder, '.idops/a.json.lock'));
    await at.refused('apply --yes', ['error[locked]', `process ${run.child.pid}`, 'still in progress']);
    expect((await at.idops('plan')).stderr).toContain('the state is being written: run ');
    expect(await journalOf(at)).toBe(before);
    open();
    expect(await run.ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the lock of the state was lost: it was removed'),
    });
    // What it began is complete, and the next run learns it from the journal.
    const next = await at.idops('plan --detailed-exitcode');
    expect(next).toMatchObject({ code: 0, stderr: expect.stringContaining('had not ended') });
  });
});

describe('a lock', () => {
  const lock = (more: object): string =>
    JSON.stringify({
      user: 'ada',
      ...currentProcess(),
      command: 'apply',
      at: '2026-01-02T03:04:05.000Z',
      nonce: 'left behind',
      ...more,
    });
  const one = { 'manifests/all.yaml': acme };
  const path = '.idops/state.json.lock';

  it('from another host is not taken over, and the error says how to continue', async () => {
    const at = await project({ ...one, [path]: lock({ host: `not-${hostname()}` }) });
    await at.refused('apply --yes', ['error[locked]', 'on another host', 'idops runs unlock']);
    expect(at.sandbox.requests).toEqual([]);
    await at.refused('runs unlock', 'error[no-terminal]');
    expect((await at.idops('apply --yes')).code).toBe(1);
    expect((await at.idops('runs unlock --yes')).code).toBe(0);
    expect((await at.idops('apply --yes')).code).toBe(0);
  });

  const unshare = ['--pid', '--fork', '--mount-proc'];
  const canUnshare = spawnSync('unshare', [...unshare, 'true']).status === 0;
  it.skipIf(!canUnshare)('of a running process is refused from another process namespace', async () => {
    const at = await project(one);
    const held = await acquireLock(join(at.folder, '.idops/state.json'), 'apply', new Date());
    try {
      const args = [...unshare, process.execPath, cli, 'apply', '--yes'];
      const { cwd, env } = at.surroundings();
      expect(await watch(spawn('unshare', args, { cwd, env })).ended).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('another process namespace'),
      });
      expect(at.sandbox.requests).toEqual([]);
    } finally {
      await held.release();
    }
  });
});

describe.skipIf(process.platform === 'win32')('a named pipe instead of', () => {
  const one = { 'manifests/all.yaml': acme };
  it.each([
    ['the state', '.idops/state.json', 'state-unreadable'],
    ['the lock', '.idops/state.json.lock', 'locked'],
  ])('%s is refused without blocking', async (_, path, code) => {
    const at = await project({ ...one, '.idops/runs/empty': '' });
    spawnSync('mkfifo', [join(at.folder, path)]);
    for (const args of ['apply --yes', ...(code === 'locked' ? ['runs unlock'] : ['plan'])]) {
      await at.refused(args, [`error[${code}]`, 'named pipe']);
    }
    expect(at.writes()).toEqual([]);
  });

  it('a device instead of the state is refused', async () => {
    const at = await project({ ...one, 'idops.yaml': twoStates.replace('.idops/a.json', '/dev/zero') });
    await at.refused('plan', 'it is a device');
    await writeFile(join(at.folder, 'x'), '');
  });
});

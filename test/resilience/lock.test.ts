import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acquireLock } from '../../src/state/file/lock.js';
import { temporaryFolder } from '../cleanups.js';
import { gate, holdWrites } from '../e2e/gate.js';
import { project } from '../e2e/running.js';
import { often } from '../often.js';
import { deadPid, holder } from './holder.js';

const lockFile = '.idops/state.json.lock';
const manifest = { 'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: New\n' };

describe('two runs at the same time', () => {
  it('the second is refused, names the first, and sends nothing', async () => {
    const { arrived, open, intercept } = holdWrites();
    const { begin, idops, refused, sandbox, writes } = await project(manifest, { intercept });
    const first = begin(['apply', '--yes']);
    await arrived;
    const before = sandbox.requests.length;
    const who = `on ${hostname()}, process ${first.child.pid}, since 20`;
    await refused('apply --yes', ['error[locked]', who, 'apply by ', 'runs unlock']);
    expect(sandbox.requests).toHaveLength(before);
    for (const other of ['undo x --yes', 'regenerate-did x --yes', 'runs settle x Client/x --done --yes'])
      await refused(other, 'error[locked]');
    open();
    expect((await first.ended).code).toBe(0);
    expect(writes()).toHaveLength(1);
    expect((await idops('apply --yes')).code).toBe(0);
  });

  it('a plan during an apply reports it, and keeps its journal', async () => {
    const { arrived, open, intercept } = holdWrites();
    const { begin, idops, files } = await project(manifest, { intercept });
    const first = begin(['apply', '--yes']);
    await arrived;
    const before = await files();
    const plan = await idops('plan');
    expect(plan.code).toBe(0);
    expect(plan.stderr).toContain(`the state is being written: apply by `);
    expect(plan.stderr).toContain(`process ${first.child.pid}`);
    expect(await files()).toEqual(before);
    open();
    expect((await first.ended).code).toBe(0);
    expect(await idops('plan --detailed-exitcode')).toMatchObject({ code: 0 });
  });
});

describe('a lock that a run left', () => {
  it('is taken over if its process is a zombie', async () => {
    // The shell becomes a process that never waits for its child, which ends when it reads a line.
    const parent = spawn('sh', ['-c', 'exec 3<&0; (read line <&3) & echo $!; exec sleep 60']);
    const seen = (pid: number | undefined, what: string) =>
      expect.poll(async () => await readFile(`/proc/${pid}/${what}`, 'utf8'), { timeout: 300_000 });
    try {
      const [chunk] = await once(parent.stdout, 'data');
      const pid = Number(String(chunk));
      await seen(parent.pid, 'comm').toBe('sleep\n');
      parent.stdin.end('\n');
      await seen(pid, 'stat').toContain(') Z ');
      const { idops } = await project({ ...manifest, [lockFile]: holder({ pid }) });
      expect(await idops('apply --yes')).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('took over'),
      });
    } finally {
      parent.kill('SIGKILL');
    }
  });

  it('is refused if its holder is unknown, until it is removed with runs unlock', async () => {
    const { idops, sandbox } = await project({ ...manifest, [lockFile]: '{}' });
    const refused = await idops('apply --yes');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('an unknown holder') });
    expect(sandbox.requests).toEqual([]);
    expect((await idops('runs unlock --yes')).stderr).toContain('an unknown holder');
    expect((await idops('runs unlock')).stderr).toContain('There is no lock.');
    expect((await idops('apply --yes')).code).toBe(0);
  });

  it("can't forge terminal output or lead to another file", async () => {
    const { idops, files } = await project({
      ...manifest,
      [lockFile]: holder({ user: '\u001b[2J\nok', pid: await deadPid(), nonce: '../../x' }),
    });
    const { code, stderr } = await idops('apply --yes');
    expect(code).toBe(0);
    expect(stderr).toContain('took over');
    expect(stderr).not.toContain('\u001b[2J');
    expect(Object.keys(await files())).toEqual([
      expect.stringMatching(/^\.idops\/runs\//),
      '.idops/state.json',
      'idops.yaml',
      'manifests/all.yaml',
    ]);
  });
});

describe('a lock that was taken over during a run', () => {
  it('is reported with the run that took it over, even if that has ended', async () => {
    let patches = 0;
    const { arrived, open, intercept } = gate();
    const at = await project(
      {
        'manifests/all.yaml': `${manifest['manifests/all.yaml']}---\nkind: Organization\nname: globex\nlabel: New\n`,
      },
      { intercept: ({ method }) => (method === 'PATCH' && ++patches === 1 ? intercept() : undefined) },
    );
    const first = at.begin(['apply', '--yes', '--concurrency', '1']);
    await arrived;
    // As if it runs in another container.
    for (const [path, text] of Object.entries(await at.files())) {
      if (path.startsWith('.idops/'))
        await at.write({ [path]: text.replaceAll(`"${hostname()}"`, '"elsewhere"') });
    }
    expect((await at.idops('runs unlock --yes')).code).toBe(0);
    const second = await at.idops('apply --yes');
    expect(second.code, second.stderr).toBe(0);
    const [, run] = /Run: (\S+)/.exec(second.stdout) ?? [];
    open();
    const { code, stdout, stderr } = await first.ended;
    expect(code).toBe(1);
    expect(stdout).toContain('1 skipped');
    expect(stderr).toMatch(
      new RegExp(
        `ended early: the lock of the state was lost: run ${run} \\(apply by .+\\) took it over \\(.idops/state.json\\)`,
      ),
    );
    expect(stderr).not.toContain('it was removed');
    expect(at.writes()).toHaveLength(3);
    expect((await at.idops('runs')).stdout).not.toContain('unfinished');
  });
});

describe('a lock', () => {
  it('of a dead process is taken over by one of many runs that begin at the same time', async () => {
    for (let round = 0; round < often(15); round += 1) {
      const folder = await temporaryFolder('lock');
      const state = join(folder, 'state.json');
      await writeFile(`${state}.lock`, holder({ pid: await deadPid() }));
      const taken = await Promise.allSettled(
        Array.from({ length: 20 }, () => acquireLock(state, 'apply', new Date())),
      );
      const won = taken.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      expect(won).toHaveLength(1);
      expect(won[0]?.takenOver).toContain('took over');
      await won[0]?.release();
      expect(await readdir(folder)).toEqual([]);
    }
  });
});

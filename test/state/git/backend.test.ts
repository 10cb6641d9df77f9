import { execFileSync } from 'node:child_process';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Lock } from '../../../src/state/backend.js';
import { gitBackend } from '../../../src/state/git/index.js';
import { emptyState, type StateHead } from '../../../src/state/state.js';
import { codeOf } from '../backend-place.js';
import { conforms, elsewhere } from '../backends.js';
import { server } from '../journal-lines.js';
import { refused } from '../postgres/failing.js';
import { line, runLine } from '../postgres/lines.js';
import type { HttpRemote } from './http-remote.js';
import { conforming, overFile, overHttp, who, writeLock } from './place.js';

const run = '20260131T120000Z-aaaaaa';

conforms('git backend', conforming(overFile));

describe('a state on a branch', () => {
  it('changes neither the work tree, nor the index, nor the branches', async () => {
    const { root, open } = await overFile();
    await writeFile(join(root, 'mine.txt'), 'mine');
    git(root, 'add', 'mine.txt');
    await writeFile(join(root, 'other.txt'), 'other');
    const seen = () => [
      git(root, 'status', '--porcelain'),
      git(root, 'for-each-ref', 'refs/heads'),
      git(root, 'ls-files', '--stage'),
    ];
    const before = seen();
    await open('a').save(emptyState(server));
    await (await open('a').lock('apply', new Date())).release();
    expect(seen()).toEqual(before);
  });

  it('is saved once if the network fails after the push arrived', async () => {
    const { server: remote, bare, open } = await overHttp();
    let drops = 1;
    remote.fault = (method, path) =>
      method === 'POST' && path.includes('git-receive-pack') && drops-- > 0 ? 'drop after' : undefined;
    const state = { ...emptyState(server), serial: 7 };
    await open('a').save(state);
    expect(await open('a').saved()).toEqual(state);
    expect(git(bare, 'rev-list', '--count', 'idops-state')).toBe('1\n');
  });

  it('is not merged into by a shard whose lock expired and was taken over for the whole state', async () => {
    const { open, bare } = await overFile();
    const state = { ...emptyState(server), shards: { count: 2, parts: {} } };
    const backend = open('a');
    await backend.save(state);
    const shard = await backend.lock('apply', new Date(), { index: 1, count: 2 });
    changeLock(bare, 'a.json.1-of-2', (holder) => ({ ...holder, expires }));
    const whole = await open('a').lock('undo', new Date());
    expect(whole.takenOver).toContain('took over the lock of apply by');
    const change = { records: new Map(), head: (head: StateHead) => ({ ...head, serial: 9 }) };
    expect(await codeOf(backend.merge(change))).toBe('locked');
    expect(await codeOf(shard.confirm())).toBe('locked');
    await shard.release();
    await whole.confirm();
    expect(await open('a').saved()).toEqual(state);
  });

  it('has locks of shards with valid git names, distinct from those of other states', async () => {
    const { open, bare } = await overFile();
    const names = ['a', 'folder/a', 'a.json.1-of-2', 'a.1-of-2', 'A-b_c.d'];
    for (const name of names) {
      const lock = await open(name).lock('apply', new Date(), { index: 1, count: 1000 });
      for (const other of names)
        expect(await open(other).lockStatuses()).toHaveLength(other === name ? 1 : 0);
      await lock.release();
    }
    expect(git(bare, 'for-each-ref', 'refs/idops/')).toBe('');
  });

  it('is locked by an unknown holder if its lock has an invalid expiry', async () => {
    const { bare, open } = await overFile();
    writeLock(bare, 'a.json', { ...elsewhere, at: 'zzz', expires: '2026-13-99', nonce: 'somebody' });
    expect(await open('a').lockStatuses()).toMatchObject([{ readable: false }]);
    expect(await codeOf(open('a').lock('apply', new Date()))).toBe('locked');
    await (await open('a').removable())?.remove();
    await (await open('a').lock('apply', new Date())).release();
  });

  it('renews a lock that expired while its machine slept, when the lock is confirmed', async () => {
    const { open, bare } = await overFile();
    const lock = await open('a').lock('apply', new Date());
    changeLock(bare, 'a.json', (holder) => ({ ...holder, host: 'elsewhere', expires }));
    expect(await open('a').lockStatuses()).toMatchObject([
      { fate: 'gone', endReason: `whose lease ran out at ${expires} and was not renewed` },
    ]);
    await lock.confirm();
    expect(await open('a').lockStatuses()).toMatchObject([{ fate: 'unknown', endReason: null }]);
    await lock.release();
  });

  it('ignores other files among its journals', async () => {
    const { open, root, bare } = await overFile();
    const state = { ...emptyState(server), serial: 1 };
    const journal = await open('a').runs.create({ ...runLine(run, state), host: 'elsewhere' });
    await journal.write(line(1));
    await journal.close();
    const clone = (...args: string[]) => git(root, ...who, ...args);
    clone('fetch', '--quiet', bare, 'idops-state');
    clone('checkout', '--quiet', 'FETCH_HEAD');
    for (const path of [`runs/${run}/zettel.txt`, 'runs/notes/milk.txt']) {
      await mkdir(join(root, path, '..'), { recursive: true });
      await writeFile(join(root, path), 'buy milk');
    }
    clone('add', '.');
    clone('commit', '--quiet', '--message=by hand');
    clone('push', '--quiet', bare, 'HEAD:idops-state');
    const { runs } = open('a');
    expect(await runs.list()).toEqual([run]);
    expect(await runs.otherFiles()).toEqual(['notes']);
    const content = await runs.read(run);
    if (content === null) throw new Error('no journal');
    const again = await runs.reopen(content);
    await again.write(line(2));
    await again.close();
    expect((await open('a').runs.read(run))?.lines).toEqual([line(1), line(2)]);
  });

  it('is saved in a SHA-256 repository, and read in a shallow clone', async () => {
    const { open, bare } = await overFile('sha256');
    const state = { ...emptyState(server), serial: 2 };
    const lock = await open('a').lock('apply', new Date());
    await open('a').save({ ...state, serial: 1 });
    await open('a').save(state);
    for (const one of [run, 'gone']) await (await open('a').runs.create(runLine(one, state))).write(line(1));
    await open('a').runs.remove(['gone']);
    await lock.release();
    const root = `${bare}-clone`;
    git(bare, 'clone', '--quiet', '--depth=1', '--branch=idops-state', `file://${bare}`, root);
    const fresh = () => gitBackend({ root, remote: 'origin', branch: 'idops-state', path: 'a.json' });
    const found = fresh();
    await open('a').save({ ...state, serial: 3 });
    expect(await found.saved()).toEqual({ ...state, serial: 3 });
    expect((await found.runs.read(run))?.lines).toEqual([line(1)]);
    expect(await found.runs.list()).toEqual([run]);
    expect(git(root, 'rev-parse', '--is-shallow-repository')).toBe('true\n');
    expect(git(bare, 'rev-parse', 'idops-state').trim()).toHaveLength(64);
    expect(await fresh().saved()).toEqual({ ...state, serial: 3 });
    git(bare, 'update-ref', 'refs/heads/idops-state', 'idops-state~1');
    expect(await codeOf(fresh().saved())).toBe('state-went-back');
  });

  it.each(['GET', 'POST'])('is pushed once if the remote forbids the %s of a push', async (how) => {
    const { server: remote, open } = await overHttp();
    let asked = 0;
    remote.fault = (method, path) => {
      if (method !== how || !path.includes('git-receive-pack')) return undefined;
      asked += 1;
      return 'forbid';
    };
    await refused(
      open('a').save(emptyState(server)),
      'not-writable',
      /does not accept the state a\.json .*may read it, but not write its contents: .*: 403/,
      'contents: write',
    );
    expect(asked).toBe(1);
  });

  it('is refused if it is too large, as is a journal', async () => {
    const { root, open } = await overFile();
    const state = { ...emptyState(server), server: 'x'.repeat(1000) };
    await open('a').save(state);
    await (await open('a').runs.create({ ...runLine(run, state), server: state.server })).close();
    const small = gitBackend({
      root,
      remote: 'origin',
      branch: 'idops-state',
      path: 'a.json',
      maxBytes: 1000,
    });
    await refused(small.saved(), 'state-unreadable', 'more than 0.001 MB');
    expect(await codeOf(small.runs.read(run))).toBe('journal-unreadable');
    expect(await small.identity()).toBeUndefined();
    await small.runs.remove([run]);
    expect(await small.runs.list()).toEqual([]);
  });

  it("reports why git can't write, and leaves no files in the repository", async () => {
    const { open, root } = await overFile();
    await open('a').save(emptyState(server));
    const before = await readdir(join(root, '.git'));
    const backend = open('a');
    await backend.saved();
    await rm(join(root, '.git/objects'), { recursive: true });
    await mkdir(join(root, '.git/objects'));
    await expect(backend.save(emptyState(server))).rejects.toMatchObject({
      problems: [
        {
          code: 'not-writable',
          message: expect.stringMatching(/^git can't work with .*: Not a valid commit: /),
        },
      ],
    });
    expect(await readdir(join(root, '.git'))).toEqual(before);
  });
});

describe('a state on a branch that changes between fetch and push', () => {
  /** Does something once, while the next push is on its way. */
  function meanwhile(remote: HttpRemote, work: () => Promise<unknown>): void {
    let isDone = false;
    remote.fault = async (method, path) => {
      if (isDone || method !== 'POST' || !path.includes('git-receive-pack')) return undefined;
      isDone = true;
      await work();
      return undefined;
    };
  }
  const state = (serial: number) => ({ ...emptyState(server), serial });
  const [first, second, third] = [state(1), state(2), state(3)];

  it.each([true, false])(
    'keeps what was saved at the same time; the branch existed: %s',
    async (hasBranch) => {
      const { server: remote, open } = await overHttp();
      if (hasBranch) await open('a').save(first);
      meanwhile(remote, () => open('b').save(second));
      await open('a').save(third);
      expect([await open('a').saved(), await open('b').saved()]).toEqual([third, second]);
    },
  );

  it('is the old state until the push arrives', async () => {
    const { server: remote, open } = await overHttp();
    await open('a').save(first);
    let found: unknown;
    meanwhile(remote, async () => {
      found = await open('a').saved();
    });
    await open('a').save(second);
    expect([found, await open('a').saved()]).toEqual([first, second]);
  });

  it('has all lines of both journals', async () => {
    const { server: remote, open } = await overHttp();
    const runs = ['20260131T120000Z-aaaaaa', '20260131T120001Z-bbbbbb'];
    const [one, other] = await Promise.all(
      runs.map(async (id, index) => open(`s${index}`).runs.create(runLine(id, first))),
    );
    meanwhile(remote, async () => other?.write(line(7)));
    await Promise.all([one?.write(line(1)), one?.write(line(2))]);
    await one?.write(line(3));
    await other?.write(line(8));
    expect((await open('a').runs.read(runs[0] ?? ''))?.lines).toEqual([line(1), line(2), line(3)]);
    expect((await open('a').runs.read(runs[1] ?? ''))?.lines).toEqual([line(7), line(8)]);
  });

  it('is locked by whoever pushed first', async () => {
    const { server: remote, open } = await overHttp();
    let other: Lock | undefined;
    meanwhile(remote, async () => {
      other = await open('a').lock('undo', new Date());
    });
    await refused(open('a').lock('apply', new Date()), 'locked', 'undo by');
    await other?.confirm();
  });

  it('is not written by a backend that lost its lock', async () => {
    const { server: remote, open } = await overHttp();
    await open('a').save(first);
    const backend = open('a');
    await backend.lock('apply', new Date());
    meanwhile(remote, async () => {
      await (await open('a').removable())?.remove();
      await open('a').lock('undo', new Date());
    });
    expect(await codeOf(backend.save(second))).toBe('locked');
    expect(await open('a').saved()).toEqual(first);
  });
});

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8' });
}

const expires = '2026-01-31T12:00:00.000Z';

function changeLock(bare: string, name: string, change: (holder: object) => object): void {
  const [, message = ''] = git(bare, 'cat-file', 'commit', `refs/idops/lock/idops-state/${name}`).split(
    '\n\n',
  );
  writeLock(bare, name, change(JSON.parse(message)));
}

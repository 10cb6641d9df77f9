import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { shardName } from '../../../src/base/shard.js';
import type { StateBackend } from '../../../src/state/backend.js';
import { gitBackend } from '../../../src/state/git/index.js';
import { emptyState, type StateHead } from '../../../src/state/state.js';
import { type BackendPlace, conforms, elsewhere } from '../backends.js';
import { spoilt, withGarbage } from '../file/place.js';
import { line, recordOf, runLine } from '../postgres/lines.js';
import { type HttpRemote, serveGit } from './http-remote.js';

interface Place {
  readonly root: string;
  readonly bare: string;
  open(name: string): StateBackend;
  remove(): Promise<void>;
}

/** A clone of an empty repository; `address` gives the way to it. */
async function cloned(address: (folder: string) => Promise<string>): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'idops-git-'));
  const [bare, root] = [join(folder, 'remote.git'), join(folder, 'clone')];
  execFileSync('git', ['init', '--quiet', '--bare', bare]);
  execFileSync('git', ['clone', '--quiet', bare, root], { stdio: 'ignore' });
  execFileSync('git', ['remote', 'set-url', 'origin', await address(folder)], { cwd: root });
  return {
    root,
    bare,
    open: (name) => gitBackend({ root, remote: 'origin', branch: 'idops-state', path: `${name}.json` }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

const overFile = () => cloned(async (folder) => join(folder, 'remote.git'));
const servers: HttpRemote[] = [];
async function overHttp(): Promise<Place & { readonly server: HttpRemote }> {
  let server: HttpRemote | undefined;
  const place = await cloned(async (folder) => {
    server = await serveGit(folder);
    servers.push(server);
    return `${server.url}/remote.git`;
  });
  if (server === undefined) throw new Error('no server');
  return { ...place, server };
}
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const conforming = (make: () => Promise<Place>) => async (): Promise<BackendPlace> => {
  const { bare, open, remove } = await make();
  return {
    open: async (name) => open(name),
    spoil: (name, how) => editing(bare, `${name}.json`, (text) => spoilt(text, how)),
    spoilRun: (_, run) => editing(bare, `runs/${run}/00000000.jsonl`, withGarbage),
    drop: (name) => editing(bare, `${name}.json`, () => null),
    async leave(name, since, { shard, by = elsewhere } = {}) {
      const expires = new Date(since.getTime() + 10 * 60_000).toISOString();
      const message = JSON.stringify({ ...by, at: since.toISOString(), expires, nonce: 'somebody' });
      const git = (input: string, ...args: string[]) =>
        execFileSync('git', [...who, ...args], { cwd: bare, input, encoding: 'utf8' }).trim();
      const tree = git('', 'hash-object', '-t', 'tree', '-w', '--stdin');
      const of = shard === undefined ? '' : `.${shardName(shard)}`;
      const ref = `refs/idops/lock/idops-state/${name}.json${of}`;
      git('', 'update-ref', ref, git(message, 'commit-tree', tree));
    },
    ends: true,
    remove,
  };
};

const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];

/** Changes a file on the branch as a person would, in a clone; null removes it. */
async function editing(bare: string, path: string, change: (text: string) => string | null): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'idops-editing-'));
  const git = (...args: string[]) =>
    execFileSync('git', [...who, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
  git('clone', '--quiet', '--branch', 'idops-state', bare, '.');
  const text = change(await readFile(join(folder, path), 'utf8'));
  if (text === null) await rm(join(folder, path));
  else await writeFile(join(folder, path), text);
  git('commit', '--quiet', '--all', '--message=by hand');
  git('push', '--quiet');
  await rm(folder, { recursive: true, force: true });
}

conforms('on a branch of a git remote', conforming(overFile));
conforms('on a branch of a git remote over HTTP', conforming(overHttp));

describe('a state on a branch', () => {
  it('leaves the work tree, its index and its branches as they are', async () => {
    const { root, open, remove } = await overFile();
    const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
    await writeFile(join(root, 'mine.txt'), 'mine');
    git('add', 'mine.txt');
    await writeFile(join(root, 'other.txt'), 'other');
    const before = [
      git('status', '--porcelain'),
      git('for-each-ref', 'refs/heads'),
      git('ls-files', '--stage'),
    ];
    await open('a').save(emptyState('https://id.example.com'));
    await (await open('a').lock('apply', new Date())).release();
    expect([
      git('status', '--porcelain'),
      git('for-each-ref', 'refs/heads'),
      git('ls-files', '--stage'),
    ]).toEqual(before);
    await remove();
  });

  it('is saved once where the network drops after the push has arrived', async () => {
    const { server, bare, open, remove } = await overHttp();
    let drops = 1;
    server.fault = (method, path) =>
      method === 'POST' && path.includes('git-receive-pack') && drops-- > 0 ? 'drop after' : undefined;
    const state = { ...emptyState('https://id.example.com'), serial: 7 };
    await open('a').save(state);
    expect(await open('a').saved()).toEqual(state);
    const count = execFileSync('git', ['rev-list', '--count', 'idops-state'], {
      cwd: bare,
      encoding: 'utf8',
    });
    expect(count.trim()).toBe('1');
    await remove();
  });

  it.each(['whole', 'shallow'])(
    'takes what shards merge and journal at once, in clones that are %s',
    async (how) => {
      const { bare, open, remove } = await overFile();
      const runs = [1, 2, 3].map((index) => `20260131T120000Z-aaaaaa.${index}-of-3`);
      const state = { ...emptyState('https://id.example.com'), shards: { count: 3, parts: {} } };
      for (const serial of [0, 1, 2]) await open('a').save({ ...state, serial });
      const lines = Array.from({ length: 6 }, (_, index) => line(index + 1));
      await Promise.all(
        runs.map(async (run, index) => {
          const root = `${bare}-${index}`;
          const depth = how === 'shallow' ? ['--depth=1'] : [];
          const from = ['--branch=idops-state', `file://${bare}`, root];
          execFileSync('git', ['clone', '--quiet', ...depth, ...from], { stdio: 'ignore' });
          const backend = gitBackend({ root, remote: 'origin', branch: 'idops-state', path: 'a.json' });
          const lock = await backend.lock('apply', new Date(), { index: index + 1, count: 3 });
          const journal = await backend.runs.create(runLine(run, state));
          const merging = (async () => {
            for (const id of [1, 2, 3].map((number) => `${index}-${number}`)) {
              const records = new Map([[`User/${id}`, recordOf(id)]]);
              await backend.merge({ records, head: (head) => ({ ...head, serial: head.serial + 1 }) });
            }
          })();
          for (const one of lines) await journal.write(one);
          await Promise.all([merging, journal.close()]);
          await lock.confirm();
          await lock.release();
        }),
      );
      const found = await open('a').saved();
      expect(found?.serial).toBe(2 + 9);
      expect(Object.keys(found?.resources ?? {})).toHaveLength(9);
      for (const run of runs) expect((await open('a').runs.read(run))?.lines).toEqual(lines);
      const log = execFileSync('git', ['log', '--format=%s', 'idops-state'], { cwd: bare, encoding: 'utf8' });
      expect(log).toContain('idops: a.json, serial 11\n');
      await remove();
    },
  );

  it('is not merged into by a shard whose lock had ended and was removed for that of the whole', async () => {
    const { open, bare, remove } = await overFile();
    const git = (input: string, ...args: string[]) =>
      execFileSync('git', [...who, ...args], { cwd: bare, input, encoding: 'utf8' }).trim();
    const state = { ...emptyState('https://id.example.com'), shards: { count: 2, parts: {} } };
    const backend = open('a');
    await backend.save(state);
    const shard = await backend.lock('apply', new Date(), { index: 1, count: 2 });
    const ref = 'refs/idops/lock/idops-state/a.json.1-of-2';
    const [, message = ''] = git('', 'cat-file', 'commit', ref).split('\n\n');
    const ended = JSON.stringify({ ...JSON.parse(message), expires: '2026-01-31T12:00:00.000Z' });
    const tree = git('', 'hash-object', '-t', 'tree', '-w', '--stdin');
    git('', 'update-ref', ref, git(ended, 'commit-tree', tree));
    const whole = await open('a').lock('undo', new Date());
    expect(whole.takenOver).toContain('took over the lock of apply by');
    const change = { records: new Map(), head: (head: StateHead) => ({ ...head, serial: 9 }) };
    const refused = { problems: [{ code: 'locked' }] };
    await expect(backend.merge(change)).rejects.toMatchObject(refused);
    await expect(shard.confirm()).rejects.toMatchObject(refused);
    await shard.release();
    await whole.confirm();
    expect(await open('a').saved()).toEqual(state);
    await remove();
  });

  it('has locks of shards whose names git takes, and are told from those of other states', async () => {
    const { open, bare, remove } = await overFile();
    const names = ['a', 'folder/a', 'a.json.1-of-2', 'a.1-of-2', 'A-b_c.d'];
    for (const name of names) {
      const lock = await open(name).lock('apply', new Date(), { index: 1, count: 1000 });
      for (const other of names) expect(await open(other).holdings()).toHaveLength(other === name ? 1 : 0);
      await lock.release();
    }
    expect(execFileSync('git', ['for-each-ref', 'refs/idops/'], { cwd: bare, encoding: 'utf8' })).toBe('');
    await remove();
  });

  it('keeps what others saved on the same branch meanwhile', async () => {
    const { open, remove } = await overFile();
    const states = Array.from({ length: 6 }, (_, index) => ({
      ...emptyState('https://id.example.com'),
      serial: index,
    }));
    await Promise.all(states.map((state, index) => open(`s${index}`).save(state)));
    const found = await Promise.all(states.map((_, index) => open(`s${index}`).saved()));
    expect(found).toEqual(states);
    await remove();
  });

  it.each(['zzz', '', '2026-13-99'])(
    'whose lock ends at no time (%s) is locked by nobody who is known',
    async (expires) => {
      const { bare, open, remove } = await overFile();
      const git = (input: string, ...args: string[]) =>
        execFileSync('git', [...who, ...args], { cwd: bare, input, encoding: 'utf8' }).trim();
      const message = JSON.stringify({ ...elsewhere, at: 'zzz', expires, nonce: 'somebody' });
      const tree = git('', 'hash-object', '-t', 'tree', '-w', '--stdin');
      git('', 'update-ref', 'refs/idops/lock/idops-state/a.json', git(message, 'commit-tree', tree));
      expect(await open('a').holdings()).toMatchObject([{ readable: false }]);
      await expect(open('a').lock('apply', new Date())).rejects.toMatchObject({
        problems: [{ code: 'locked' }],
      });
      await (await open('a').removable())?.remove();
      await (await open('a').lock('apply', new Date())).release();
      await remove();
    },
  );

  it('is not written by a run whose lock was taken over', async () => {
    const { open, remove } = await overFile();
    const first = open('a');
    await first.save(emptyState('https://id.example.com'));
    await first.lock('apply', new Date());
    await (await open('a').removable())?.remove();
    await open('a').lock('undo', new Date());
    const before = await open('a').saved();
    await expect(first.save({ ...emptyState('https://id.example.com'), serial: 9 })).rejects.toMatchObject({
      problems: [{ code: 'locked' }],
    });
    expect(await open('a').saved()).toEqual(before);
    await remove();
  });
});

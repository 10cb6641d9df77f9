import { execFileSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shardName } from '../../../src/base/shard.js';
import type { StateBackend } from '../../../src/state/backend.js';
import { gitBackend } from '../../../src/state/git/index.js';
import { afterwards, temporaryFolder } from '../../cleanups.js';
import { type BackendPlace, elsewhere } from '../backend-place.js';
import { spoilt, withGarbage } from '../file/place.js';
import { type HttpRemote, serveGit } from './http-remote.js';

/** A clone of an empty repository, and backends whose states are in it. */
interface Place {
  readonly root: string;
  readonly bare: string;
  open(name: string): StateBackend;
}

/** `address` returns the URL of the repository. */
async function cloned(address: (folder: string) => Promise<string>, hash = 'sha1'): Promise<Place> {
  const folder = await temporaryFolder('git');
  const [bare, root] = [join(folder, 'remote.git'), join(folder, 'clone')];
  const init = ['init', '--quiet', '--template=', `--object-format=${hash}`];
  execFileSync('git', [...init, '--bare', bare]);
  execFileSync('git', [...init, root]);
  execFileSync('git', ['remote', 'add', 'origin', await address(folder)], { cwd: root });
  return {
    root,
    bare,
    open: (name) => gitBackend({ root, remote: 'origin', branch: 'idops-state', path: `${name}.json` }),
  };
}

export const overFile = (hash?: string) => cloned(async (folder) => join(folder, 'remote.git'), hash);

export async function overHttp(): Promise<Place & { readonly server: HttpRemote }> {
  let server: HttpRemote | undefined;
  const place = await cloned(async (folder) => {
    server = await serveGit(folder);
    return `${server.url}/remote.git`;
  });
  if (server === undefined) throw new Error('no server');
  afterwards(server.close);
  return { ...place, server };
}

export const conforming = (make: () => Promise<Place>) => async (): Promise<BackendPlace> => {
  const { bare, open } = await make();
  return {
    open: async (name) => open(name),
    spoil: (name, how) => editing(bare, `${name}.json`, (text) => spoilt(text, how)),
    spoilRun: (_, run) => editing(bare, `runs/${run}/00000000.jsonl`, withGarbage),
    drop: (name) => editing(bare, `${name}.json`, () => null),
    async leave(name, since, { shard, by = elsewhere } = {}) {
      const expires = new Date(since.getTime() + 10 * 60_000).toISOString();
      const of = shard === undefined ? '' : `.${shardName(shard)}`;
      const holder = { ...by, at: since.toISOString(), expires, nonce: 'somebody' };
      writeLock(bare, `${name}.json${of}`, holder);
    },
    ends: true,
  };
};

/** The author of commits that idops didn't make. */
export const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];

/** Pushes a lock, as its holder would. */
export function writeLock(bare: string, name: string, holder: object): void {
  const git = (input: string, ...args: string[]) =>
    execFileSync('git', [...who, ...args], { cwd: bare, input, encoding: 'utf8' }).trim();
  const tree = git('', 'hash-object', '-t', 'tree', '-w', '--stdin');
  const commit = git(JSON.stringify(holder), 'commit-tree', tree);
  git('', 'update-ref', `refs/idops/lock/idops-state/${name}`, commit);
}

/** Changes a file on the branch as a person would, in a clone; null removes it. */
async function editing(bare: string, path: string, change: (text: string) => string | null): Promise<void> {
  const folder = await temporaryFolder('editing');
  const git = (...args: string[]) =>
    execFileSync('git', [...who, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
  git('clone', '--quiet', '--branch', 'idops-state', bare, '.');
  const text = change(await readFile(join(folder, path), 'utf8'));
  if (text === null) await rm(join(folder, path));
  else await writeFile(join(folder, path), text);
  git('commit', '--quiet', '--all', '--message=by hand');
  git('push', '--quiet');
}

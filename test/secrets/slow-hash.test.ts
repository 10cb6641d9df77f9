import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { readRuns } from '../../src/apply/find-runs.js';
import { Sensitive, same } from '../../src/base/values.js';
import { loadProject } from '../../src/project/index.js';
import { pastRun } from '../../src/report/past.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { Hasher } from '../../src/secrets/hash.js';
import { eachWithSlowHashes, prepareSlowHashes, withSlowHashes } from '../../src/secrets/slow-hash.js';
import { backendOf } from '../../src/session/backend.js';
import { openForWriting, openSession } from '../../src/session/open.js';
import { applyAll } from '../approving.js';
import { afterwards, temporaryFolder } from '../cleanups.js';

/** Counts of hashes: computed synchronously, in the background, and the most at once. */
const made = vi.hoisted(() => ({ onTheSpot: 0, beside: [] as string[], atOnce: 0, most: 0 }));

vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>();
  type Done = (failure: Error | null, hash: Buffer) => void;
  // Hashes are cheap here, because hundreds at full cost would be slow.
  return {
    ...crypto,
    scryptSync: (text: string, salt: string, length: number) => {
      made.onTheSpot += 1;
      return crypto.scryptSync(text, salt, length, { N: 2 });
    },
    scrypt: (text: string, salt: string, length: number, _: object, done: Done) => {
      made.beside.push(text);
      made.atOnce += 1;
      made.most = Math.max(made.most, made.atOnce);
      crypto.scrypt(text, salt, length, { N: 2 }, (failure, hash) => {
        made.atOnce -= 1;
        done(failure, hash);
      });
    },
  };
});

beforeEach(() => {
  made.onTheSpot = 0;
  made.beside = [];
  made.most = 0;
});

let server = 0;
/** A scope without cached hashes. */
function scope() {
  server += 1;
  return { server: `https://id-${server}.example.com`, salt: 'salt' };
}

test("is computed at once if it wasn't prepared, and only once", () => {
  const hasher = new Hasher(scope());
  expect(hasher.hash('hush')).toBe(hasher.hash('hush'));
  expect(made).toMatchObject({ onTheSpot: 1, beside: [] });
});

test('differs for each salt', async () => {
  const one = scope();
  const state = new Hasher(one);
  const journal = new Hasher({ ...one, salt: 'pepper' });
  await state.prepare(['hush', 'hush']);
  expect(state.hash('hush')).not.toBe(journal.hash('hush'));
  expect(made).toMatchObject({ onTheSpot: 0, beside: ['"hush"'] });
});

test('several are computed at once, and one that others wait for is computed once', async () => {
  const hasher = new Hasher(scope());
  const texts = Array.from({ length: 50 }, (_, at) => `hush ${at}`);
  await Promise.all([hasher.prepare(texts), hasher.prepare([...texts].reverse())]);
  expect(made.beside).toHaveLength(50);
  expect(made.most).toBeLessThanOrEqual(3);
});

test('is not started after the signal is aborted', async () => {
  const stop = new AbortController();
  stop.abort();
  await prepareSlowHashes([{ salt: 'a', text: 'never begun' }], stop.signal);
  expect(made.beside).toEqual([]);
});

test('work that lacks hashes is repeated with them, and its first result is discarded', async () => {
  const hasher = new Hasher(scope());
  const hashes = await eachWithSlowHashes(['a', 'b', 'a'], (text) => hasher.hash(text));
  expect(made).toMatchObject({ onTheSpot: 0, beside: ['"a"', '"b"'] });
  expect(hashes).toEqual([hasher.hash('a'), hasher.hash('b'), hasher.hash('a')]);
});

test('an error counts only if no hash was missing', async () => {
  const hasher = new Hasher(scope());
  const known = new Hasher(scope()).hash('hush');
  const work = (wanted: string) => () => {
    if (hasher.hash('hush') !== wanted) throw new Error('another one');
    return 'the same';
  };
  await expect(withSlowHashes(work(known))).rejects.toThrow('another one');
  expect(made.beside).toEqual(['"hush"']);
  expect(await withSlowHashes(work(hasher.hash('hush')))).toBe('the same');
});

test('a chain in which each hash decides about the next ends', async () => {
  const hasher = new Hasher(scope());
  const chain = () => Array.from({ length: 30 }).reduce((text: string) => hasher.hash(text), 'hush');
  const found = await withSlowHashes(chain);
  expect(made.beside.length).toBeGreaterThan(0);
  expect(made.onTheSpot + made.beside.length).toBeLessThan(60);
  expect(found).toBe(chain());
});

test('a list of secrets is compared with its hashes in one pass', async () => {
  const hasher = new Hasher(scope());
  const texts = Array.from({ length: 20 }, (_, at) => `hush ${at}`);
  const recorded = texts.map((text) => hasher.hashedSecret(new Hasher(scope()).hash(text)));
  made.onTheSpot = 0;
  expect(
    await withSlowHashes(() =>
      same(
        recorded,
        texts.map((text) => new Sensitive(text)),
      ),
    ),
  ).toBe(false);
  expect(made.onTheSpot).toBe(0);
});

const id = (at: number) => `90000000-0000-4000-8000-${String(at).padStart(12, '0')}`;

test('planning, storing and applying 400 secrets computes each hash once, ahead of its use', async () => {
  const folder = await temporaryFolder('slow');
  // The server's responses don't contain the sent values.
  const sandbox = await startSandbox({
    intercept: ({ method, path }) =>
      method === 'PATCH'
        ? { kind: 'answer', status: 200, body: JSON.stringify({ data: { id: path.split('/').at(-1) } }) }
        : undefined,
  });
  afterwards(() => sandbox.close());
  const users = (mark: string) =>
    Array.from(
      { length: 200 },
      (_, at) =>
        `kind: User\nid: ${id(at)}\nbackend: {smtp_password: ${mark} smtp ${at}, ldap_master_password: ${mark} ldap ${at}}\n`,
    ).join('---\n');
  await mkdir(join(folder, 'manifests'));
  await writeFile(
    join(folder, 'idops.yaml'),
    `version: 1\nserver: {base_url: "${sandbox.url}", profile: documented, auth: {token: ${sandbox.token}}}\n`,
  );
  await writeFile(join(folder, 'manifests/users.yaml'), users('first'));
  const project = await loadProject({ cwd: folder, variables: {} });
  const session = await openForWriting(project, 'apply');
  const plan = await session.plan();
  await session.storePlan(plan);
  const { result } = await applyAll(session, plan);
  expect(result.results.map(({ status }) => status)).toEqual(Array(200).fill('applied'));
  const again = await session.plan();
  expect(again.changes.map(({ action }) => action)).toEqual(Array(200).fill('unchanged'));
  await session.close();
  expect(made.onTheSpot).toBe(0);
  expect(made.beside).toHaveLength(400);

  await writeFile(join(folder, 'manifests/users.yaml'), users('second'));
  const next = await openSession(await loadProject({ cwd: folder, variables: {} }));
  const changed = await next.plan();
  expect(changed.changes.map(({ action }) => action)).toEqual(Array(200).fill('update'));
  await next.close();
  const { runs } = await readRuns((await backendOf(project, () => {})).runs);
  expect(await Promise.all(runs.map(pastRun))).toHaveLength(1);
  expect(made.onTheSpot).toBe(0);
  expect(made.beside).toHaveLength(800);
});

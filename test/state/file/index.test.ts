import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { writeAtomic } from '../../../src/base/write-file.js';
import { fileBackend } from '../../../src/state/file/index.js';
import { emptyState, type State } from '../../../src/state/state.js';
import { temporaryFolder } from '../../cleanups.js';
import { problemOf } from '../postgres/failing.js';

const server = 'https://id.example.com';
let folder = '';

const stateFile = (...folders: string[]) =>
  fileBackend({ path: path(...folders, 'state.json'), allowTracked: true });

beforeEach(async () => {
  folder = await temporaryFolder('state');
});

function path(...parts: string[]): string {
  return join(folder, ...parts);
}

function stateWith(parts: Partial<State> = {}): State {
  return {
    ...emptyState(server),
    serial: 3,
    resources: {
      'User/u': {
        kind: 'User',
        identity: { id: 'u' },
        recorded_at: '2026-01-31T12:00:00.000Z',
        run: 'run-1',
        managed: ['group'],
        fields: { group: 'staff', metadata: { a: [1, null, { b: 'ü' }] } },
        hashes: { '/backend/smtp_password': 'scrypt:x' },
        uncertain: ['group'],
      },
      'Client/c': {
        kind: 'Client',
        identity: { id: 'c' },
        recorded_at: '2026-01-31T12:00:00.000Z',
        run: 'run-1',
        managed: [],
        fields: {},
        hashes: {},
        did_generation: 2,
        pending_regeneration: 'run-1',
      },
    },
    ...parts,
  };
}

describe("a state that can't be used", () => {
  const good = JSON.stringify(stateWith());

  it.each([
    ['is empty', '', 'state-unreadable'],
    ['is cut off', good.slice(0, -10), 'state-unreadable'],
    ['is not a state', '{"format_version": 1}', 'state-unreadable'],
    ['is a list', '[]', 'state-unreadable'],
    ['is null', 'null', 'state-unreadable'],
    ['has an unknown field', good.replace('"serial"', '"cereal"'), 'state-unreadable'],
    ['has an invalid record', good.replace('"run-1"', '7'), 'state-unreadable'],
    ['has an older format', good.replace('"format_version":1', '"format_version":0'), 'state-unreadable'],
    ['has a newer format', good.replace('"format_version":1', '"format_version":2'), 'state-newer'],
    ['has a newer format with other fields', '{"format_version": 9}', 'state-newer'],
    ['belongs to another server', good.replace(server, 'https://other.example.com'), 'state-other-server'],
  ])('is refused and kept if it %s', async (_, text, code) => {
    await writeFile(path('state.json'), text);
    const problem = await problemOf((await stateFile()).load(server));
    expect(problem.code).toBe(code);
    expect(problem.message).toContain('state.json');
    expect(problem.hint).toBeDefined();
    expect(await readFile(path('state.json'), 'utf8')).toBe(text);
  });

  it('is refused and kept if it is not UTF-8', async () => {
    const bytes = Buffer.from(good.replace('staff', 'st\u00e4ff'), 'latin1');
    await writeFile(path('state.json'), bytes);
    const { code, message, hint } = await problemOf((await stateFile()).load(server));
    expect([code, message]).toEqual([
      'state-unreadable',
      expect.stringMatching(/state\.json is not valid UTF-8$/),
    ]);
    expect(hint).toContain('restore a good copy');
    expect(await readFile(path('state.json'))).toEqual(bytes);
  });

  it('is refused with the path of the invalid field, also in a record', async () => {
    for (const [text, where] of [
      [good.replace('"run-1"', '7'), /is not a state of idops at resources\.[^ ]+\.run$/],
      [good.replace('"run":', '"ran":"x","run":'), /is not a state of idops at resources\.[^ ]+\.ran$/],
      [good.replace('"salt":', '"pepper":"x","salt":'), /is not a state of idops at pepper$/],
      [good.replace('"serial":', '"serial":"x","b":'), /is not a state of idops at serial$/],
    ] as const) {
      await writeFile(path('state.json'), text);
      expect((await problemOf((await stateFile()).load(server))).message).toMatch(where);
    }
  });

  it('is refused with the names of both servers if it belongs to another', async () => {
    await (await stateFile()).save(stateWith());
    const { message } = await problemOf((await stateFile()).load('https://new.example.com'));
    expect(message).toContain(server);
    expect(message).toContain('https://new.example.com');
  });

  it.each([
    ['http://127.0.0.1:40001', /idops sandbox --port 40001\), .* \(rm \S+\/state\.json\)$/],
    ['http://localhost', /--port 80\)/],
    ['http://localhost.example.com:1', /give each server its own state/],
  ])('gets a hint if it belongs to %s and only the port differs', async (former, what) => {
    await (await stateFile()).save({ ...stateWith(), server: former });
    const now = new URL(former);
    now.port = '40002';
    expect((await problemOf((await stateFile()).load(now.origin))).hint).toMatch(what);
  });

  it('is refused if it is a folder', async () => {
    await mkdir(path('state.json'));
    expect((await problemOf((await stateFile()).load(server))).code).toBe('state-unreadable');
  });
});

describe('writing', () => {
  it('keeps the old content if it fails', async () => {
    await mkdir(path('state.json'));
    await writeFile(path('state.json', 'inside'), 'kept');
    await expect(writeAtomic(path('state.json'), 'new')).rejects.toThrow();
    expect(await readdir(folder)).toEqual(['state.json']);
    expect(await readFile(path('state.json', 'inside'), 'utf8')).toBe('kept');
  });

  it('never shows a reader a partial state', async () => {
    const store = await stateFile();
    const long = stateWith({ lineage: 'x'.repeat(300_000) });
    await store.save(long);
    let done = false;
    const writing = (async () => {
      for (let serial = 0; serial < 15; serial += 1) await store.save({ ...long, serial });
      done = true;
    })();
    while (!done) expect((await store.load(server)).lineage).toHaveLength(300_000);
    await writing;
  });

  it('follows a symbolic link to the state', async () => {
    await mkdir(path('elsewhere'));
    await (await stateFile('elsewhere')).save(stateWith({ serial: 1 }));
    await symlink(path('elsewhere', 'state.json'), path('state.json'));
    await (await stateFile()).save(stateWith({ serial: 2 }));
    expect((await (await stateFile('elsewhere')).load(server)).serial).toBe(2);
  });
});

it("a file instead of the state's folder is reported without a path of this machine", async () => {
  await writeFile(path('.idops'), 'x');
  const problem = await problemOf((await stateFile('.idops')).load(server));
  expect(problem.code).toBe('state-unreadable');
  expect(problem.message).toMatch(
    /^the state \S+ can't be read: a file is where a folder has to be \(ENOTDIR\)$/,
  );
});

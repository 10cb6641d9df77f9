import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { fileBackend } from '../../../src/state/file/index.js';
import { acquireLock, exclusively, lockPath } from '../../../src/state/file/lock.js';
import { temporaryFolder } from '../../cleanups.js';
import { deadPid, holder } from '../../resilience/holder.js';

const now = new Date('2026-01-31T12:00:00Z');
let folder = '';
let state = '';

beforeEach(async () => {
  folder = await temporaryFolder('lock');
  state = join(folder, 'state.json');
});

async function running(): Promise<{ pid: number; end: () => Promise<void> }> {
  const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000); console.log(1)'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  return {
    pid: child.pid ?? 0,
    end: async () => {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}

const held = (parts: object): Promise<void> =>
  writeFile(lockPath(state), holder({ command: 'undo', at: 'then', nonce: 'n', ...parts }));

const lockHolder = async (path: string) => (await fileBackend({ path, allowTracked: true })).holder();
const removableLock = async (path: string) => (await fileBackend({ path, allowTracked: true })).removable();

const nonceOf = async (): Promise<string> => JSON.parse(await readFile(lockPath(state), 'utf8')).nonce;

describe('a lock', () => {
  it('explains what to do if its folder is a file', async () => {
    await writeFile(join(folder, '.idops'), 'x');
    const message = expect.stringMatching(/^the lock .+ can't be written/);
    const hint = expect.stringContaining('move what is in the way elsewhere');
    await expect(acquireLock(join(folder, '.idops', 'state.json'), 'apply', now)).rejects.toMatchObject({
      problems: [{ code: 'not-writable', message, hint }],
    });
  });

  it('is refused if it is held, and keeps its holder', async () => {
    const lock = await acquireLock(state, 'apply', now);
    const nonce = await nonceOf();
    await expect(acquireLock(state, 'undo', now)).rejects.toMatchObject({
      problems: [
        {
          code: 'locked',
          message: expect.stringMatching(/^the state is locked: apply by /),
          hint: 'wait until it has ended; if that process is certainly gone, use idops runs unlock',
        },
      ],
    });
    expect(await nonceOf()).toBe(nonce);
    await lock.release();
  });

  it('of a dead process is taken over, and leaves no other file', async () => {
    await held({ pid: await deadPid() });
    const lock = await acquireLock(state, 'apply', now);
    expect(lock.takenOver).toMatch(
      /^took over the lock of undo by ada on .+, process \d+, since then, which is gone$/,
    );
    expect(await nonceOf()).not.toBe('n');
    expect(await readdir(folder)).toEqual(['state.json.lock']);
    await lock.release();
  });

  it.each([
    ['on another host', { host: 'elsewhere' }, 'is on another host'],
    ['of another machine of the same name', { boot: 'other' }, 'is on another machine of the same name'],
    ['in another process namespace', { namespace: 'other' }, 'is in another process namespace'],
  ])('of a process %s is refused, even if no process here has its number', async (_, parts, why) => {
    await held({ pid: await deadPid(), ...parts });
    await expect(acquireLock(state, 'apply', now)).rejects.toMatchObject({
      problems: [{ code: 'locked', hint: expect.stringContaining(why) }],
    });
    expect(await nonceOf()).toBe('n');
    expect(await lockHolder(state)).toContain('if that process still runs');
  });

  it.each([
    ['nothing', ''],
    ['invalid JSON', '{'],
    ['other JSON', '{"user": 1}'],
    ['an invalid process number', holder({ pid: -1 })],
  ])('with %s in it is refused and kept', async (_, text) => {
    await writeFile(lockPath(state), text);
    await expect(acquireLock(state, 'apply', now)).rejects.toThrow('an unknown holder');
    expect(await readFile(lockPath(state), 'utf8')).toBe(text);
    expect(await lockHolder(state)).toBe('an unknown holder');
    expect((await removableLock(state))?.holder).toBe('an unknown holder');
  });

  it('is refused if it is a symbolic link', async () => {
    await symlink(join(folder, 'nowhere'), lockPath(state));
    await expect(acquireLock(state, 'apply', now)).rejects.toThrow('locked: the lock ');
    expect(await readdir(folder)).toEqual(['state.json.lock']);
  });

  it.skipIf(process.getuid?.() === 0)("is refused if it can't be written", async () => {
    await chmod(folder, 0o500);
    await expect(acquireLock(state, 'apply', now)).rejects.toThrow('not-writable');
    await chmod(folder, 0o700);
  });

  it('is refused if its file name is too long, and not reported as free', async () => {
    const long = join(folder, 'x'.repeat(254));
    await expect(acquireLock(long, 'apply', now)).rejects.toThrow('not-writable');
    await expect(lockHolder(long)).rejects.toThrow("can't be read: the name is too long (ENAMETOOLONG)");
    expect(await readdir(folder)).toEqual([]);
  });

  it('removes the turn files of dead processes only', async () => {
    const turnOf = (name: string) => `${lockPath(state)}.${name}`;
    await writeFile(turnOf('0123456789abcdef'), holder({ pid: await deadPid() }));
    await writeFile(turnOf('fedcba9876543210'), holder({ pid: process.pid, host: 'elsewhere' }));
    await writeFile(turnOf('notes'), holder({ pid: await deadPid() }));
    await (await acquireLock(state, 'apply', now)).release();
    expect((await readdir(folder)).sort()).toEqual([
      'state.json.lock.fedcba9876543210',
      'state.json.lock.notes',
    ]);
  });
});

test('exclusively runs one task of a state file at a time, and every task', async () => {
  const seen: number[] = [];
  let inside = 0;
  const one = async (): Promise<void> => {
    for (let time = 0; time < 10; time += 1) {
      await exclusively(state, async () => {
        inside += 1;
        await turn();
        seen.push(inside);
        inside -= 1;
      });
    }
  };
  await Promise.all([one(), one(), one(), one()]);
  expect(seen).toEqual(Array.from({ length: 40 }, () => 1));
});

describe('a lock to remove', () => {
  it('is removed if its process is dead', async () => {
    expect(await removableLock(state)).toBeNull();
    await held({ pid: await deadPid() });
    const removable = await removableLock(state);
    expect(removable?.holder).toContain('undo by ada');
    await removable?.remove();
    expect(await readdir(folder)).toEqual([]);
  });

  it('is refused if its process runs', async () => {
    const other = await running();
    try {
      await held({ pid: other.pid });
      await expect(removableLock(state)).rejects.toThrow('still runs on this host');
      expect(await nonceOf()).toBe('n');
    } finally {
      await other.end();
    }
  });

  it('may be gone before it is removed', async () => {
    await held({ host: 'elsewhere' });
    const removable = await removableLock(state);
    await rm(lockPath(state));
    await removable?.remove();
    expect(await readdir(folder)).toEqual([]);
  });
});

import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Disk } from '../../src/manifests/disk.js';
import { MAX_BYTES } from '../../src/source/file.js';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idops-disk-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** A disk each call of which takes that many milliseconds. */
function diskOf(milliseconds: number): Disk {
  let time = 0;
  return new Disk(() => {
    time += milliseconds;
    return time;
  });
}

/** Whether each of some calls was done beside everything else. */
function calls(disk: Disk, number: number): boolean[] {
  return Array.from({ length: number }, () => disk.lstat(folder) instanceof Promise);
}

describe('a disk', () => {
  it('that is quick is asked on the spot', () => {
    expect(calls(diskOf(0.1), 50)).not.toContain(true);
  });

  it('that is slow is asked beside everything else, once that is known', () => {
    const slow = calls(diskOf(2), 50);
    expect(slow.slice(0, 20)).not.toContain(true);
    expect(slow.slice(20)).not.toContain(false);
  });

  it.each([
    ['quick', 0.1],
    ['slow', 2],
  ])('that is %s says the same', async (_, milliseconds) => {
    const disk = diskOf(milliseconds);
    calls(disk, 20);
    const [file, link, none] = ['a', 'b', 'c'].map((name) => join(folder, name)) as [string, string, string];
    await writeFile(file, 'text \u00e9');
    await symlink(file, link);
    expect((await disk.lstat(link)).isSymbolicLink()).toBe(true);
    expect(await disk.realpath(link)).toBe(await disk.realpath(file));
    const refused = async (): Promise<unknown> => await disk.lstat(none);
    await expect(refused()).rejects.toMatchObject({ code: 'ENOENT' });
    expect(Buffer.from((await disk.readBytes(link)) as Uint8Array).toString()).toBe('text \u00e9');
    expect(await disk.readBytes(none)).toMatchObject({ reason: 'missing' });
    expect(await disk.readBytes(folder)).toEqual({ reason: 'unreadable', detail: 'is a directory' });
  });

  it.each([
    ['quick', 0.1],
    ['slow', 2],
  ])('that is %s gives files up to their greatest size', async (_, milliseconds) => {
    const disk = diskOf(milliseconds);
    calls(disk, 20);
    const file = join(folder, 'a');
    for (const [size, length] of [
      [0, 0],
      [MAX_BYTES, MAX_BYTES],
      [MAX_BYTES + 1, undefined],
    ] as const) {
      await writeFile(file, Buffer.alloc(size, 'a'));
      const read = await disk.readBytes(file);
      expect('length' in read ? read.length : undefined).toBe(length);
    }
  });
});

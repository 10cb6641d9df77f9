import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeFolder, removeTemporaryFiles, temporaryFileName } from '../../src/base/write-file.js';
import { temporaryFolder } from '../cleanups.js';

let at: string;

beforeEach(async () => {
  at = await temporaryFolder('folder');
});

describe('making a folder', () => {
  it('creates its parents, and returns the first new folder', async () => {
    expect(await makeFolder(join(at, 'a/b/c'))).toBe(join(at, 'a'));
    expect((await stat(join(at, 'a/b/c'))).mode & 0o777).toBe(0o700);
    expect(await makeFolder(join(at, 'a/b/d'), 0o644)).toBe(join(at, 'a/b/d'));
  });

  it('accepts an existing folder', async () => {
    await mkdir(join(at, 'a'));
    expect(await makeFolder(join(at, 'a'))).toBeUndefined();
  });

  it('fails if a file is in its place or above it', async () => {
    await writeFile(join(at, 'file'), '');
    await expect(makeFolder(join(at, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(makeFolder(join(at, 'file/a/b'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it.runIf(process.platform === 'linux')(
    'fails, and ends, if the system allows no folder there',
    async () => {
      await expect(makeFolder('/proc/idops/a')).rejects.toMatchObject({ code: 'ENOENT' });
    },
  );

  it('works for several at once', async () => {
    for (let time = 0; time < 50; time += 1) {
      const folder = join(at, `x${time}/y/z`);
      const made = await Promise.all([1, 2, 3, 4].map(() => makeFolder(folder)));
      expect(made.filter((one) => one !== undefined).length).toBeGreaterThan(0);
      expect((await stat(folder)).isDirectory()).toBe(true);
    }
  });
});

it('removes what a former process with the same id left, not what this one is writing', async () => {
  const own = temporaryFileName();
  const former = own.replace(/[0-9a-f]{12}(?=\.tmp$)/, (sign) =>
    sign.replace(/./g, (digit) => (digit === '0' ? '1' : '0')),
  );
  for (const name of [own, former]) await writeFile(join(at, name), '');
  await removeTemporaryFiles(at);
  expect(await readdir(at)).toEqual([own]);
});

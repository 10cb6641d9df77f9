import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { removeTemporaryFiles, temporaryFileName } from '../../../src/base/write-file.js';
import { exclusively } from '../../../src/state/file/lock.js';
import { temporaryFolder } from '../../cleanups.js';

test('what is done to a state file alone is done by one at a time, and by all', async () => {
  const path = join(await temporaryFolder('alone'), 'state.json');
  const seen: number[] = [];
  let inside = 0;
  const one = async (): Promise<void> => {
    for (let time = 0; time < 10; time += 1) {
      await exclusively(path, async () => {
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

test('what this process is writing is not swept away by it; what a former one of its number left is', async () => {
  const here = await temporaryFolder('alone');
  const own = temporaryFileName();
  const former = own.replace(/[0-9a-f]{12}(?=\.tmp$)/, (sign) =>
    sign.replace(/./g, (digit) => (digit === '0' ? '1' : '0')),
  );
  for (const name of [own, former]) await writeFile(join(here, name), '');
  await removeTemporaryFiles(here);
  expect(await readdir(here)).toEqual([own]);
});

import { expect, test } from 'vitest';
import { fillUp } from './full-disk.js';

test('a disk that gets full anywhere: nothing is sent that is not recorded, and the next apply converges', async () => {
  const { refused, midway } = await fillUp(1);
  expect(refused).toBeGreaterThan(4);
  expect(midway).toBeGreaterThan(8);
});

import { expect, test } from 'vitest';
import { fillUp } from './full-disk.js';

test('on a disk that becomes full at any event, everything sent is recorded, and the next apply converges', async () => {
  const { refused, midway } = await fillUp(1);
  expect(refused).toBeGreaterThan(4);
  expect(midway).toBeGreaterThan(8);
});

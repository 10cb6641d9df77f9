import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { figures, figuresFile } from '../../bench/figures.js';

// This runs the whole suite quickly, so it also checks that the benchmarks work.
test('commands send what bench/figures.json says; npm run figures writes what they send now', async () => {
  expect(await figures()).toEqual(JSON.parse(readFileSync(figuresFile, 'utf8')));
});

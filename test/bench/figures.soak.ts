import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { figures, figuresFile } from '../../bench/figures.js';

// The requests are those of a quick run of the whole suite, so this shows besides that it works.
test('commands send what bench/figures.json says; npm run figures writes what they send now', async () => {
  expect(await figures()).toEqual(JSON.parse(readFileSync(figuresFile, 'utf8')));
});

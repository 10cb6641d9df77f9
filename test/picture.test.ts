import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { picture } from '../scripts/picture.js';

test('the picture in the README is up to date (npm run picture writes it)', async () => {
  const shown = await readFile('docs/plan.svg', 'utf8');
  expect(shown).toBe(await picture());
  expect(shown).toContain('prefers-color-scheme: dark');
});

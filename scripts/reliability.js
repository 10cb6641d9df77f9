// Writes the fault matrix into docs/explanation/reliability.md; a test compares it.
import { readFileSync, writeFileSync } from 'node:fs';
import { bundled } from './bundled.js';

await bundled('test/faults/matrix.ts', async ({ measure, tables, withTables }) => {
  const page = readFileSync('docs/explanation/reliability.md', 'utf8');
  writeFileSync('docs/explanation/reliability.md', withTables(page, tables(await measure())));
});

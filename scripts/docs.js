// Writes the generated parts of docs/: commands, options, exit codes, fields, the list of errors. A test compares them.
import { writeFileSync } from 'node:fs';
import { bundled } from './bundled.js';

await bundled('scripts/reference/pages.ts', async ({ pages }) => {
  for (const { path, made } of await pages()) writeFileSync(path, made);
});

// Writes what commands cost in figures into bench/figures.json; a test compares.
import { writeFileSync } from 'node:fs';
import { figures, figuresFile } from '../bench/figures.js';

writeFileSync(figuresFile, `${JSON.stringify(await figures(), null, 2)}\n`);

// Writes counts of requests and flushes into bench/figures.json; the soak compares them.
import { writeFileSync } from 'node:fs';
import { figures, figuresFile } from '../bench/figures.js';

writeFileSync(figuresFile, `${JSON.stringify(await figures(), null, 2)}\n`);

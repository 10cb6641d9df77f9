// Counts of requests and flushes, which are the same on every machine. `npm run figures` writes bench/figures.json, and the soak compares.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measured } from './measured.js';
import { sending } from './sending.js';

export const figuresFile = 'bench/figures.json';

/** @returns {Promise<Record<string, number>>} */
export async function figures() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'idops-figures-')));
  try {
    const rows = await measured({ quick: true });
    const sent = rows.flatMap(({ name, sent = [] }) => sent.map((count) => [`requests of ${name}`, count]));
    return { ...Object.fromEntries(sent), ...(await sending(folder)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

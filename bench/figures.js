// What commands send: the same on every machine. `npm run figures` writes it into bench/figures.json, and the soak compares.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sending } from './sending.js';

export const figuresFile = 'bench/figures.json';

/** @returns {Promise<Record<string, number>>} */
export async function figures() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'idops-figures-')));
  try {
    return { ...(await sent(folder)), ...(await sending(folder)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How many requests each scenario sends in its small size: the quick run of the whole suite. */
async function sent(folder) {
  const file = join(folder, 'quick.json');
  await promisify(execFile)(process.execPath, ['bench/main.js', '--quick', '--json', file]);
  const found = {};
  for (const [letter, { results }] of Object.entries(JSON.parse(readFileSync(file, 'utf8')).scenarios)) {
    for (const { name, sent: counts } of results) {
      if (counts === undefined) continue;
      if (counts.length > 1)
        throw new Error(`(${letter}) ${name} sent ${counts.join(' and then ')} requests`);
      found[`requests of (${letter}) ${name}`] = counts[0];
    }
  }
  return found;
}

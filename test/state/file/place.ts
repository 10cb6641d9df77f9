import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { shardName } from '../../../src/base/shard.js';
import type { StateBackend } from '../../../src/state/backend.js';
import { fileBackend } from '../../../src/state/file/index.js';
import { temporaryFolder } from '../../cleanups.js';
import { type BackendPlace, elsewhere } from '../backends.js';

/** States in files of one folder; `open` may wrap the backend. */
export async function inFiles(
  open: (backend: StateBackend, folder: string, name: string) => StateBackend = (backend) => backend,
): Promise<BackendPlace> {
  const folder = await temporaryFolder('backend');
  const path = (name: string): string => join(folder, '.idops', `${name}.json`);
  return {
    open: async (name) => open(await fileBackend({ path: path(name), allowTracked: false }), folder, name),
    async spoil(name, how) {
      await writeFile(path(name), spoilt(await readFile(path(name), 'utf8'), how));
    },
    async spoilRun(_, run) {
      const journal = join(folder, '.idops/runs', `${run}.jsonl`);
      await writeFile(journal, withGarbage(await readFile(journal, 'utf8')));
    },
    drop: (name) => rm(path(name)),
    async leave(name, since, { shard, by = elsewhere } = {}) {
      await mkdir(dirname(path(name)), { recursive: true });
      const holder = { ...by, at: since.toISOString(), nonce: 'somebody' };
      const of = shard === undefined ? '' : `.${shardName(shard)}`;
      await writeFile(`${path(name)}${of}.lock`, JSON.stringify(holder));
    },
    ends: false,
  };
}

export function spoilt(text: string, how: 'garbage' | 'newer' | 'moved'): string {
  if (how === 'garbage') return text.slice(0, text.length / 2);
  const state = JSON.parse(text);
  return JSON.stringify(
    how === 'newer' ? { ...state, format_version: 99 } : { ...state, moved_to: 'elsewhere' },
  );
}

/** The text of a journal with an invalid line in it. */
export function withGarbage(text: string): string {
  const [first, ...rest] = text.split('\n');
  return [first, '{"type":"nothing"}', ...rest].join('\n');
}

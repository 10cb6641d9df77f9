import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { shardName } from '../../../src/base/shard.js';
import { postgresBackend } from '../../../src/state/postgres/index.js';
import { afterwards } from '../../cleanups.js';
import { type BackendPlace, elsewhere } from '../backend-place.js';
import type { PostgresServer } from './server.js';

/** States in a new database. */
export async function inDatabase(server: PostgresServer): Promise<BackendPlace> {
  const conforming = await server.database();
  afterwards(() => server.sql('postgres', `DROP DATABASE ${conforming} WITH (FORCE)`));
  const sql = (text: string, ...values: unknown[]) => server.sql(conforming, text, values);
  return {
    open: async (name) => postgresBackend({ url: server.url(conforming), name }),
    async spoil(name, how) {
      const member = { garbage: 'lineage', newer: 'format_version', moved: 'moved_to' }[how];
      const value = { garbage: 7, newer: 99, moved: 'elsewhere' }[how];
      await sql(
        'UPDATE idops.states SET head = jsonb_set(head::jsonb, ARRAY[$2], $3::jsonb)::json WHERE name = $1',
        ...[name, member, JSON.stringify(value)],
      );
    },
    spoilRun: async (_, run) =>
      void (await sql(
        `UPDATE idops.lines SET line = '{"type":"nothing"}' WHERE run = $1 AND number = 1`,
        run,
      )),
    drop: async (name) => void (await sql('DELETE FROM idops.states WHERE name = $1', name)),
    async leave(name, since, { shard, by = elsewhere } = {}) {
      // The first write creates the tables.
      await postgresBackend({ url: server.url(conforming), name }).runs.remove(['none']);
      const holder = JSON.stringify({ ...by, at: since.toISOString() });
      await sql(
        `INSERT INTO idops.locks (state, shard, nonce, session, advisory, holder, backend, seen_at)
         VALUES ($1, $2, gen_random_uuid(), gen_random_uuid(), 1, $3, 1, $4)`,
        ...[name, shard === undefined ? '' : shardName(shard), holder, since],
      );
    },
    ends: true,
  };
}

/** A process that runs code with a backend, and prints. */
export function begin(url: string, work: string): ChildProcess & { printed: () => Promise<string> } {
  const module = pathToFileURL(resolve('dist/state/postgres/index.js')).href;
  const program = `
    const { postgresBackend } = await import(${JSON.stringify(module)});
    const backend = postgresBackend(${JSON.stringify({ url, name: 'a' })});
    ${work}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  afterwards(() => void child.kill('SIGKILL'));
  return Object.assign(child, {
    printed: async () => String(((await once(child.stdout, 'data')) as [Buffer])[0]).trim(),
  });
}

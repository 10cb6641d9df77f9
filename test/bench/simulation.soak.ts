import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { noPostgres } from '../state/postgres/server.js';

test.skipIf(noPostgres !== null)(
  'shards over one PostgreSQL, one of them killed and begun again, leave nothing out and send nothing twice',
  { timeout: 90_000 },
  async () => {
    const args = ['bench/simulation.js', '--users', '150', '--shards', '3', '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(JSON.parse(stdout)).toMatchObject({
      right: true,
      users: 150,
      shards: 3,
      left_out: 0,
      sent_twice: 0,
      sent_to_others: 0,
      changed: 150,
      applied: 150,
      runs: 1,
      ended: 'finished',
    });
  },
);

import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { afterwards } from '../cleanups.js';
import { noPostgres, type PostgresServer, startPostgres } from '../state/postgres/server.js';
import { project, sure } from './running.js';
import { copyOf, sharded } from './shards.js';

describe.skipIf(noPostgres !== null)(`PostgreSQL${noPostgres === null ? '' : `: ${noPostgres}`}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  sharded('PostgreSQL', async (files, options) => {
    const inDatabase = `${sure}state: {postgres: {url: "\${IDOPS_STATE_URL}"}}\n`;
    const made = await project({ 'idops.yaml': inDatabase, ...files }, options);
    const env = { IDOPS_STATE_URL: server.url(await server.database()) };
    return {
      ...made,
      idops: (args, run) => made.idops(args, { ...run, env: { ...env, ...run?.env } }),
      begin: (args, run) => made.begin(args, { ...run, env: { ...env, ...run?.env } }),
      async runner() {
        const folder = await realpath(await mkdtemp(join(tmpdir(), 'idops-runner-')));
        afterwards(() => rm(folder, { recursive: true, force: true }));
        await copyOf(made, folder);
        return folder;
      },
    };
  });
});

import { afterAll, beforeAll, describe } from 'vitest';
import { postgresBackend } from '../../../src/state/postgres/index.js';
import { conforms } from '../backends.js';
import { noPostgres, type PostgresServer, startPostgres } from './server.js';

let server: PostgresServer;

describe.skipIf(noPostgres !== null)(
  `a state in PostgreSQL${noPostgres === null ? '' : `: ${noPostgres}`}`,
  () => {
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(() => server.remove());

    conforms('in PostgreSQL', async () => {
      const database = await server.database();
      return {
        open: async (name) => postgresBackend({ url: server.url(database), name }),
        remove: async () => void (await server.sql('postgres', `DROP DATABASE ${database} WITH (FORCE)`)),
      };
    });
  },
);

import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe } from 'vitest';
import { temporaryFolder } from '../cleanups.js';
import { noPostgres, type PostgresServer, startPostgres } from '../state/postgres/server.js';
import { project, trustedConfig } from './running.js';
import { copyOf, inFile, type MakeShared, sharded } from './shards.js';

sharded('a file', inFile, 'at once');

sharded(
  'git',
  async (files, options) => {
    const made = await project({ 'idops.yaml': `${trustedConfig}state: {git: {}}\n`, ...files }, options);
    const bare = await temporaryFolder('remote.git');
    const git = (cwd: string, ...args: string[]): string =>
      execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    git(bare, 'init', '--quiet', '--bare', '--initial-branch=main');
    const cloned = async (folder: string): Promise<string> => {
      git(folder, 'init', '--quiet', '--initial-branch=main');
      git(folder, 'remote', 'add', 'origin', bare);
      return folder;
    };
    await cloned(made.folder);
    return {
      ...made,
      async runner() {
        const folder = await cloned(await temporaryFolder('runner'));
        await copyOf(made, folder);
        return folder;
      },
    };
  },
  'at once',
);

describe.skipIf(noPostgres !== null)(`PostgreSQL${noPostgres === null ? '' : `: ${noPostgres}`}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  const make: MakeShared = async (files, options) => {
    const inDatabase = `${trustedConfig}state: {postgres: {url: "\${IDOPS_STATE_URL}"}}\n`;
    const made = await project({ 'idops.yaml': inDatabase, ...files }, options);
    const env = { IDOPS_STATE_URL: server.url(await server.database()) };
    return {
      ...made,
      idops: (args, run) => made.idops(args, { ...run, env: { ...env, ...run?.env } }),
      begin: (args, run) => made.begin(args, { ...run, env: { ...env, ...run?.env } }),
      async runner() {
        const folder = await temporaryFolder('runner');
        await copyOf(made, folder);
        return folder;
      },
    };
  };
  sharded('PostgreSQL', make, 'at once');
});

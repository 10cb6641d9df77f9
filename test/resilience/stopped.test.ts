import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../cleanups.js';
import { ids } from '../demo-ids.js';
import { project, type TestProject, trustedConfig } from '../e2e/running.js';
import { elsewhere } from '../state/backend-place.js';
import { who } from '../state/git/place.js';
import { noPostgres, sharedPostgres } from '../state/postgres/server.js';
import { holder } from './holder.js';

/** A backend whose lock another process can take over and release. */
interface Place {
  readonly config: string;
  readonly env?: { readonly [name: string]: string };
  takeOver(at: TestProject): Promise<void>;
  giveBack(at: TestProject): Promise<void>;
}

const other = { ...elsewhere, command: 'undo', at: new Date().toISOString(), nonce: randomUUID() };
const lockFile = ({ folder }: TestProject): string => join(folder, '.idops/state.json.lock');

const inFile = async (): Promise<Place> => ({
  config: '',
  async takeOver(at) {
    await writeFile(join(at.folder, 'other'), holder(other));
    await rename(join(at.folder, 'other'), lockFile(at));
  },
  giveBack: (at) => rm(lockFile(at)),
});

const inGit = async (): Promise<Place> => {
  const bare = await temporaryFolder('remote');
  const git = (cwd: string, input: string, ...args: string[]): string =>
    execFileSync('git', [...who, ...args], { cwd, input, encoding: 'utf8' }).trim();
  git(bare, '', 'init', '--quiet', '--template=', '--bare');
  const ref = 'refs/idops/lock/idops-state/state.json';
  return {
    config: `state: {git: {remote: "${bare}"}}\n`,
    async takeOver() {
      const message = JSON.stringify({ ...other, expires: new Date(Date.now() + 600_000).toISOString() });
      const tree = git(bare, '', 'hash-object', '-t', 'tree', '-w', '--stdin');
      git(bare, '', 'update-ref', ref, git(bare, message, 'commit-tree', tree));
    },
    giveBack: async () => void git(bare, '', 'update-ref', '-d', ref),
  };
};

const inPostgres = async (): Promise<Place> => {
  const server = await sharedPostgres();
  const database = await server.database();
  return {
    config: `state: {postgres: {url: "\${IDOPS_STATE_URL}"}}\n`,
    env: { IDOPS_STATE_URL: server.url(database) },
    takeOver: async () =>
      void (await server.sql(
        database,
        'UPDATE idops.locks SET nonce = gen_random_uuid(), session = gen_random_uuid(), advisory = 1, holder = $1, seen_at = now()',
        [JSON.stringify(other)],
      )),
    giveBack: async () => void (await server.sql(database, 'DELETE FROM idops.locks')),
  };
};

const client = (generation: number) => ({
  'manifests/all.yaml': `kind: Client\nid: ${ids.portal}\ndid_generation: ${generation}\n`,
});

describe.skipIf(process.platform === 'win32').each([
  ['a file', inFile, null],
  ['git', inGit, null],
  ['PostgreSQL', inPostgres, noPostgres],
])('a run with its state in %s that is stopped between its journal and its request', (_, place, no) => {
  /** A run whose line is in the journal, and which is stopped while it waits for the token of its request. */
  const stopped = async () => {
    const { config, env = {}, takeOver, giveBack } = await place();
    const at = await project({
      'idops.yaml': `${trustedConfig.replace(/token: .*/, 'token_command: [cat, token]')}${config}`,
      ...client(1),
    });
    execFileSync('git', ['init', '--quiet', '--template='], { cwd: at.folder });
    const pipe = join(at.folder, 'token');
    execFileSync('mkfifo', [pipe]);
    const surroundings = { env: { ...env, IDOPS_TOKEN: undefined } };
    const begin = async () => {
      const run = at.begin(['apply', '--yes'], surroundings);
      // This resolves when the token command reads.
      const writer = await Promise.race([open(pipe, 'w'), run.ended]);
      if ('code' in writer) throw new Error(writer.stderr);
      return { run, give: () => writer.writeFile(`${at.sandbox.token}\n`).finally(() => writer.close()) };
    };
    expect((await at.idops('apply --yes', surroundings)).code).toBe(0);
    await at.write(client(2));
    const { run, give } = await begin();
    run.child.kill('SIGSTOP');
    const resume = async () => {
      run.child.kill('SIGCONT');
      await give();
      return await run.ended;
    };
    return { at, begin, resume, takeOver: () => takeOver(at), giveBack: () => giveBack(at) };
  };

  it.skipIf(no !== null)(
    'sends nothing if its lock was taken over, and leaves nothing unsettled',
    async () => {
      const { at, begin, resume, takeOver, giveBack } = await stopped();
      await takeOver();
      const { code, stdout, stderr } = await resume();
      expect(code, stdout + stderr).toBe(1);
      expect(stdout).toContain('Applied: 0 applied, 1 skipped.');
      expect(stdout).toContain('not sent: the lock of the state was lost');
      expect(stderr).toContain('undo by grace on another-machine');
      expect(at.writes()).toEqual([]);
      await giveBack();
      const next = await begin();
      await next.give();
      const ended = await next.run.ended;
      expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
      expect(at.writes()).toEqual([`POST /api/clients/${ids.portal}/regenerate_did`]);
    },
  );

  it.skipIf(no !== null)('continues if its lock was not taken over', async () => {
    const { at, resume } = await stopped();
    const { code, stdout, stderr } = await resume();
    expect(code, stdout + stderr).toBe(0);
    expect(at.writes()).toHaveLength(1);
  });
});

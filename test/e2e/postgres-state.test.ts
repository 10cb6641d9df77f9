import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/index.js';
import { temporaryFolder } from '../cleanups.js';
import { ids } from '../demo-ids.js';
import { noPostgres, type PostgresServer, password, sharedPostgres } from '../state/postgres/server.js';
import { gate, losesNothing, onUserWrite, whileUserIsWritten } from './gate.js';
import {
  boruta,
  type Files,
  failed,
  filesIn,
  project,
  refused,
  succeeded,
  type TestProject,
  trustedConfig,
} from './running.js';
import { withoutPauses } from './without-pauses.js';

const inDatabase = `${trustedConfig}state: {postgres: {url: "\${IDOPS_STATE_URL}"}}\n`;
const ada = (group: string): string => `kind: User\nid: ${ids.ada}\ngroup: ${group}\n`;
const acme = 'kind: Organization\nname: acme\nlabel: New\n';

let server: PostgresServer;

interface Shared extends TestProject {
  readonly env: { readonly IDOPS_STATE_URL: string };
  /** The folder of a copy of the project, as another runner has it. */
  elsewhere(files?: Files): Promise<string>;
}

async function shared(options: SandboxOptions = {}): Promise<Shared> {
  const files = { 'idops.yaml': inDatabase, 'manifests/ada.yaml': ada('staff'), 'manifests/acme.yaml': acme };
  const made = await project(files, options);
  const env = { IDOPS_STATE_URL: server.url(await server.database()) };
  return {
    ...made,
    env,
    idops: (args, run) => made.idops(args, { ...run, env: { ...env, ...run?.env } }),
    begin: (args, run) => made.begin(args, { ...run, env: { ...env, ...run?.env } }),
    async elsewhere(more = {}) {
      const folder = await temporaryFolder('elsewhere');
      const all: Files = { ...files, ...more };
      for (const [path, text] of Object.entries(all)) {
        await writeFile(join(folder, path.replace('manifests/', '')), text.replace('manifests/', ''));
      }
      await writeFile(
        join(folder, 'idops.yaml'),
        `${all['idops.yaml']}manifests: ["*.yaml", "!idops.yaml"]\n`,
      );
      return folder;
    },
  };
}

it.each([
  ['{url: "${IDOPS_STATE_URL}"}', 0, /^warning\[unset-variable\]/],
  ['{name: x}', 1, /error\[missing-field\]: "state\.postgres" names no database/],
])('a state in PostgreSQL is not needed by validate: state.postgres %s', async (postgres, code, stderr) => {
  const { idops } = await project({
    'idops.yaml': `${boruta}state: {postgres: ${postgres}}\n`,
    'manifests/mail.yaml': `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\ntxt_content: "{{ tx_code }}"\n`,
  });
  expect(await idops('validate')).toMatchObject({ code, stderr: expect.stringMatching(stderr) });
});

describe.skipIf(noPostgres !== null)(
  `a state in PostgreSQL${noPostgres === null ? '' : `: ${noPostgres}`}`,
  () => {
    beforeAll(async () => {
      server = await sharedPostgres();
    });
    beforeEach(withoutPauses);

    it('is shared by runs in other folders, has one record set per environment, and leaves no files', async () => {
      const { idops, folder, elsewhere, write, writes, env } = await shared();
      await succeeded(idops('apply --yes'));
      const own = ['idops.yaml', 'manifests/acme.yaml', 'manifests/ada.yaml'];
      expect(Object.keys(await filesIn(folder))).toEqual(own);
      const cwd = await elsewhere();
      await succeeded(idops('plan --detailed-exitcode', { cwd }));
      const sent = writes().length;
      await writeFile(join(cwd, 'ada.yaml'), ada('others'));
      expect((await idops('apply --yes', { cwd })).code).toBe(0);
      await succeeded(idops('undo --last --yes'));
      expect(writes().length).toBe(sent + 2);
      const ran = (await idops('runs', { cwd })).stdout.match(/undo|apply/g);
      expect(ran?.sort()).toEqual(['apply', 'apply', 'undo']);
      const { stdout } = await idops('state show');
      expect(stdout).toMatch(/State: {4}state in PostgreSQL (127\.0\.0\.1|localhost):\d+\/\w+ \(serial 3/);
      const environments = 'environments: {production: {}, staging: {state: {postgres: {name: try}}}}\n';
      await write({ 'idops.yaml': inDatabase + environments });
      await succeeded(idops('apply --yes --env production'));
      await succeeded(idops('apply --yes --env staging'));
      expect((await idops('state show --env production')).stdout).toContain('production in PostgreSQL');
      expect((await idops('state show --env staging')).stdout).toContain('try in PostgreSQL');
      expect((await idops('doctor --env staging')).stdout).toContain('try in PostgreSQL');
      for (const command of ['plan --debug', 'state show', 'doctor', 'runs']) {
        const { stdout, stderr } = await idops(command);
        expect(stdout + stderr).not.toContain(password);
        expect(stdout + stderr).not.toContain(encodeURIComponent(password));
        expect(stdout + stderr).not.toContain(env.IDOPS_STATE_URL);
      }
    });

    it('is locked by one of two runs, and settled by the next if that one is killed', async () => {
      const held = gate();
      const { begin, idops, elsewhere, sandbox } = await shared({ intercept: onUserWrite(held.intercept) });
      const first = begin(['apply', '--yes']);
      await held.arrived;
      const cwd = await elsewhere();
      const locked = /error\[locked\]: the state is locked: apply by .* on .*, process \d+/;
      await failed(idops('apply --yes', { cwd }), locked);
      first.child.kill('SIGKILL');
      await first.ended;
      held.open();
      expect((await idops('plan', { cwd })).stderr).toMatch(/run \S+ had not ended: /);
      const next = await succeeded(idops('apply --yes', { cwd }));
      expect(next.stderr).toMatch(/took over the lock of apply by .*, which is gone/);
      expect(next.stderr).toMatch(/run \S+ had not ended: /);
      expect((await idops('plan --detailed-exitcode', { cwd })).code).toBe(0);
      expect(sandbox.snapshot().users.find(({ id }) => id === ids.ada)?.group).toBe('staff');
    });

    it('loses nothing if the database disappears during a run', async () => {
      const { intercept, during } = whileUserIsWritten();
      const at = await shared({ intercept });
      await losesNothing(at, {
        during,
        away: () => server.stop('immediate'),
        async back() {
          await server.start();
          // The run is in this process, which still lives, so its lock stays.
          await at.idops('runs unlock --yes');
        },
        why: "can't be reached",
      });
    });

    it('is moved to another name in the same database, with its journals', async () => {
      const { idops, write, env } = await shared();
      const named = (name: string): string => inDatabase.replace('"}}', `", name: ${name}}}`);
      await write({ 'idops.yaml': named('m1'), 'former.yaml': named('m1') });
      expect((await idops('apply --yes')).code).toBe(0);
      await write({ 'manifests/ada.yaml': ada('others') });
      expect((await idops('apply --yes')).code).toBe(0);
      await write({ 'idops.yaml': named('m3') });
      expect((await idops('apply --yes')).code).toBe(0);
      const beside = await idops('runs --config former.yaml');
      expect(beside.stderr).toContain('1 run of another state in the same place is not listed (m3): choose');
      await write({ 'idops.yaml': named('m2') });
      await succeeded(idops('state migrate --from former.yaml --yes'));
      const database = new URL(env.IDOPS_STATE_URL).pathname.slice(1);
      const owners = 'SELECT state FROM idops.runs ORDER BY state';
      expect(await server.sql(database, owners)).toEqual([{ state: 'm2' }, { state: 'm2' }, { state: 'm3' }]);
      // Remove what is left of the former state.
      for (const [table, column] of [
        ['runs', 'state'],
        ['states', 'name'],
      ])
        await server.sql(database, `DELETE FROM idops.${table} WHERE ${column} = 'm1'`);
      expect((await idops('runs')).stdout.match(/apply/g)).toHaveLength(2);
      expect((await idops('undo --last --yes')).code).toBe(0);
      expect((await idops('plan')).code).toBe(0);
    });

    it('is refused if it is unreachable or misconfigured', async () => {
      const { idops, write } = await shared();
      for (const [url, message] of [
        [undefined, 'error[unresolved-variable]'],
        ['postgres://ada:a-secret-word@127.0.0.1:1/none', "the database of the state can't be reached"],
      ]) {
        const { stderr } = await refused(idops('plan', { env: { IDOPS_STATE_URL: url } }), `${message}`);
        expect(stderr).not.toContain('a-secret-word');
      }
      await write({ 'manifests/ada.yaml': ada('"${IDOPS_STATE_URL}"') });
      await failed(idops('validate'), 'error[credential-variable]');
      await write({ 'manifests/ada.yaml': ada('staff') });
      const url = 'url: "postgres://ada:a-secret-word@db/identity"';
      for (const [given, message] of [
        ['name: x', 'error[missing-field]: "state.postgres" names no database'],
        [`${url}, ca_file: none.pem`, 'error[bad-certificate]: the file none.pem of state.postgres'],
        [`${url}, nmae: x`, 'error[unknown-field]'],
      ]) {
        await write({ 'idops.yaml': `${trustedConfig}state: {postgres: {${given}}}\n` });
        const { stdout, stderr } = await failed(idops('plan'), `${message}`);
        expect(stdout + stderr + (await idops('doctor')).stdout).not.toContain('a-secret-word');
      }
    });
  },
);

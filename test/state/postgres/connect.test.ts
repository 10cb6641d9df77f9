import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ProblemsError } from '../../../src/base/problems.js';
import type { StateBackend } from '../../../src/state/backend.js';
import type { Times } from '../../../src/state/postgres/connection.js';
import { type PostgresTls, postgresBackend, secretsOf } from '../../../src/state/postgres/index.js';
import { targetOf } from '../../../src/state/postgres/settings.js';
import { emptyState } from '../../../src/state/state.js';
import { afterwards } from '../../cleanups.js';
import { issue } from '../../server/certificates.js';
import { serverUrl } from './lines.js';
import { noPostgres, type PostgresServer, password, startPostgres } from './server.js';

const state = { ...emptyState(serverUrl), serial: 1 };
const secret = 's3cr3t-w0rd';

interface Told {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** The problem that something ends with, which shows no secret, not even to who looks into it. */
async function problemOf(work: () => unknown): Promise<Told> {
  try {
    await work();
  } catch (failure) {
    if (!(failure instanceof ProblemsError) || failure.problems[0] === undefined) throw failure;
    const shown = inspect(failure, { depth: 20, showHidden: true });
    for (const word of [secret, password, encodeURIComponent(password)]) expect(shown).not.toContain(word);
    return failure.problems[0];
  }
  throw new Error('nothing was thrown');
}

const unreachable = (why: string | RegExp): Told => ({
  code: 'state-unreachable',
  message: expect.stringMatching(why),
  hint: expect.any(String),
});

describe('the URL of a database', () => {
  const ssl = (url: string, tls?: PostgresTls) =>
    targetOf({ url, name: 'a', ...(tls && { tls }) }).config.ssl;

  it('says where the state is, and nothing secret', () => {
    const { place, config } = targetOf({
      url: `postgresql://ada:${secret}@db.example.com/identity`,
      name: 'production',
    });
    expect(place).toBe('production in PostgreSQL db.example.com:5432/identity');
    expect(config).toMatchObject({ host: 'db.example.com', port: 5432, database: 'identity', user: 'ada' });
    expect(targetOf({ url: 'postgres://[::1]:5433/x', name: 'a' }).place).toBe(
      'a in PostgreSQL [::1]:5433/x',
    );
    expect(targetOf({ url: 'postgres://u:p@/x?host=/run/pg', name: 'a' }).place).toBe(
      'a in PostgreSQL /run/pg:5432/x',
    );
    expect(targetOf({ url: 'postgres://:5433/x?host=/run/pg', name: 'a' }).config.port).toBe(5433);
    expect(targetOf({ url: `postgres://:${secret}@h/x`, name: 'a' }).config.host).toBe('h');
    expect(targetOf({ url: 'postgres://%2Frun%2Fpg/x', name: 'a' }).config.host).toBe('/run/pg');
  });

  it.each([
    ['mysql://u:s3cr3t-w0rd@h/d'],
    ['s3cr3t-w0rd'],
    [''],
    ['postgres://u:s3cr3t-w0rd@h'],
    ['postgres://u:s3cr3t-w0rd@h/'],
    ['postgres://u:s3cr3t-w0rd/x@h/d'],
    ['postgres://u:12/s3cr3t-w0rd@h/d'],
    ['postgres://u:12?s3cr3t-w0rd@h/d'],
    ['postgres://u:12#s3cr3t-w0rd@h/d'],
    ['postgres://u:s3cr3t-w0rd%@h/d'],
    ['postgres://u:s3cr3t-w0rd@h:port/d'],
    ['postgres://u:s3cr3t-w0rd@h:99999/d'],
    ['postgres://u:s3cr3t-w0rd@h/d?port=x'],
    ['postgres://u:s3cr3t-w0rd@one,two/d'],
    ['postgres://u:s3cr3t-w0rd@h/a%00b'],
    ['postgres://u:s3cr3t-w0rd@h/d?sslmode=no-verify'],
    ['postgres://u:s3cr3t-w0rd@h/d?sslmode=disabled'],
  ])('that is none is refused without being shown: %s', async (url) => {
    const { code, hint } = await problemOf(() => postgresBackend({ url, name: 'a' }));
    expect(code).toBe('wrong-value');
    expect(hint).toBeDefined();
  });

  it('tells what of it is secret', () => {
    const url = 'postgres://u:a%40b@h/d?password=c%20d';
    expect(secretsOf(url)).toEqual([url, 'a%40b', 'c d', 'a@b']);
    expect(secretsOf('postgres://u:a/b@h/d')).toEqual(['postgres://u:a/b@h/d']);
    expect(secretsOf('postgres://h/d')).toEqual(['postgres://h/d']);
  });

  it.each(['', 'a\nb', 'x'.repeat(201)])('needs a name for the state beside it', async (name) => {
    const { code } = await problemOf(() => postgresBackend({ url: 'postgres://h/d', name }));
    expect(code).toBe('wrong-value');
  });

  it('asks for TLS and a certificate that is right, unless it says otherwise', async () => {
    const verified = { rejectUnauthorized: true };
    expect(ssl('postgres://db.example.com/d')).toEqual(verified);
    for (const mode of ['allow', 'prefer', 'require', 'verify-ca', 'verify-full'])
      expect(ssl(`postgres://localhost/d?sslmode=${mode}`)).toEqual(verified);
    expect(ssl('postgres://db.example.com/d?sslmode=disable')).toBe(false);
    for (const host of ['localhost', '127.0.0.1', '[::1]', '%2Frun'])
      expect(ssl(`postgres://${host}/d`)).toBe(false);
    expect(ssl('postgres://localhost/d', { ca: 'A' })).toEqual({ ...verified, ca: 'A' });
    expect(ssl('postgres://h/d?sslmode=verify-ca', { ca: 'A' })).toMatchObject({
      checkServerIdentity: expect.any(Function),
    });
    expect((await problemOf(() => ssl('postgres://h/d?sslmode=disable', { ca: 'A' }))).code).toBe(
      'wrong-value',
    );
    expect((await problemOf(() => ssl('postgres://h/d?sslrootcert=/nowhere'))).code).toBe('bad-certificate');
  });

  it('is taken as it is, whatever the variables of other programs say', () => {
    const before = { ...process.env };
    afterwards(() => {
      process.env = before;
    });
    Object.assign(process.env, { PGSSLMODE: 'disable', PGHOST: 'elsewhere', PGUSER: 'x', PGPASSWORD: 'x' });
    const client = new Client(targetOf({ url: 'postgres://ada@db.example.com/d', name: 'a' }).config);
    expect(client).toMatchObject({ host: 'db.example.com', user: 'ada', ssl: { rejectUnauthorized: true } });
  });
});

describe('a database that is none', () => {
  const listening = async (made: Server): Promise<number> => {
    made.listen(0, '127.0.0.1');
    await once(made, 'listening');
    afterwards(() => void made.close());
    return (made.address() as AddressInfo).port;
  };
  const at = (port: number, query = '', times: Partial<Times> = {}): StateBackend =>
    postgresBackend({ url: `postgres://ada:${secret}@127.0.0.1:${port}/d${query}`, name: 'a' }, times);

  it('says why', async () => {
    const closed = createServer();
    const port = await listening(closed);
    closed.close();
    await once(closed, 'close');
    expect(await problemOf(() => at(port).load(serverUrl))).toMatchObject(
      unreachable('the connection was refused'),
    );

    const web = createHttpServer((_, answer) => answer.end('x'));
    const other = await listening(web);
    expect(await problemOf(() => at(other).load(serverUrl))).toMatchObject(unreachable('was cut'));
    expect(await problemOf(() => at(other, '?sslmode=require').load(serverUrl))).toMatchObject(
      unreachable(/was cut|as PostgreSQL does/),
    );

    const unknown = postgresBackend({ url: `postgres://ada:${secret}@db.invalid/d`, name: 'a' });
    expect(await problemOf(() => unknown.load(serverUrl))).toMatchObject(unreachable('the name db.invalid '));
  });

  it.each(['', '?sslmode=require'])('that says nothing is not waited for (%s)', async (query) => {
    const silent = createServer((socket) => {
      afterwards(() => void socket.destroy());
      socket.on('error', () => {});
    });
    const backend = at(await listening(silent), query, { connect: 100 });
    expect(await problemOf(() => backend.save(state))).toMatchObject(
      unreachable('it did not answer in time'),
    );
    expect(await problemOf(() => backend.lock('apply', new Date()))).toMatchObject(unreachable('in time'));
  });
});

describe.skipIf(noPostgres !== null)('a connection to PostgreSQL', () => {
  const authority = issue('the authority of the server');
  const stranger = issue('another authority');
  const clients = issue('the authority of the clients');
  let server: PostgresServer;
  let database = '';
  let folder = '';
  let files: { readonly ca: string };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'idops-pg-tls-'));
    files = { ca: join(folder, 'ca.pem') };
    await writeFile(files.ca, authority.cert);
    server = await startPostgres({
      ...issue('PostgreSQL', { issuer: authority, hosts: ['localhost'] }),
      ca: clients.cert,
    });
    await server.sql('postgres', `CREATE ROLE ada LOGIN PASSWORD '${secret}'`);
    await server.sql('postgres', 'CREATE ROLE certified LOGIN');
    await server.sql('postgres', `CREATE ROLE outsider LOGIN PASSWORD '${secret}'`);
  });
  afterAll(async () => {
    await server?.remove();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    database = await server.database();
  });

  type More = Parameters<PostgresServer['url']>[1] & {
    tls?: PostgresTls;
    times?: Partial<Times>;
    name?: string;
  };
  const open = ({ tls, times, name = 'a', ...more }: More = {}): StateBackend =>
    postgresBackend({ url: server.url(database, more), name, ...(tls && { tls }) }, times);
  const asAda = (times: Partial<Times> = {}): StateBackend => open({ user: 'ada', password: secret, times });
  const isEncrypted = async (): Promise<boolean[]> => {
    const rows = await server.sql<{ ssl: boolean }>(
      database,
      "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE datname = current_database() AND application_name = 'idops'",
    );
    return rows.map(({ ssl }) => ssl);
  };

  it('has TLS where its authority is given, as a text or in the URL', async () => {
    const tls = { ca: authority.cert };
    await open({ host: 'localhost', tls }).save(state);
    const query = `?sslmode=verify-full&sslrootcert=${encodeURIComponent(files.ca)}`;
    expect(await open({ host: 'localhost', query }).saved()).toEqual(state);
    expect(await isEncrypted()).toEqual([true, true]);
  });

  it('has none on this machine where nobody asks for it', async () => {
    await open().save(state);
    expect(await isEncrypted()).toEqual([false]);
  });

  it.each<[string, More, RegExp]>([
    [
      'of another authority',
      { host: 'localhost', tls: { ca: stranger.cert } },
      /its certificate .+ \([A-Z_]+\)/,
    ],
    [
      'of an authority that nobody knows',
      { host: 'localhost', query: '?sslmode=require' },
      /its certificate/,
    ],
    ['for another name', { tls: { ca: authority.cert } }, /its certificate is for another host name/],
    [
      'for another name, which is asked for',
      { tls: { ca: authority.cert }, query: '?sslmode=require' },
      /another host name/,
    ],
  ])('with a certificate %s is refused', async (_, more, why) => {
    expect(await problemOf(() => open(more).load(serverUrl))).toMatchObject(unreachable(why));
  });

  it('takes any name where that is asked for with an authority', async () => {
    await open({ tls: { ca: authority.cert }, query: '?sslmode=verify-ca' }).save(state);
    expect(await isEncrypted()).toEqual([true]);
  });

  it('shows a certificate', async () => {
    const { cert, key } = issue('certified', { issuer: clients });
    await server.sql(database, 'GRANT CREATE ON DATABASE '.concat(database, ' TO certified'));
    const more = { user: 'certified', password: '', host: 'localhost' };
    await open({ ...more, tls: { ca: authority.cert, cert, key } }).save(state);
    const without = open({ ...more, tls: { ca: authority.cert } });
    expect(await problemOf(() => without.load(serverUrl))).toMatchObject(
      unreachable('does not let this user in'),
    );
    const other = issue('other', { issuer: clients });
    const wrong = open({ ...more, tls: { ca: authority.cert, cert, key: other.key } });
    expect(await problemOf(() => wrong.load(serverUrl))).toMatchObject(unreachable("TLS can't be agreed on"));
  });

  it.each<[string, More, RegExp]>([
    ['the wrong password', { password: secret }, /the password was refused/],
    ['no password', { password: '' }, /wants a password, and the URL has none/],
    ['an unknown user', { user: 'nobody-at-all', password: secret }, /the password was refused/],
    [
      'a user that is kept out',
      { user: 'outsider', password: secret },
      /does not let this user in from here/,
    ],
  ])('with %s is refused', async (_, more, why) => {
    expect(await problemOf(() => open(more).load(serverUrl))).toMatchObject(unreachable(why));
    expect(await problemOf(() => open(more).lock('apply', new Date()))).toMatchObject(unreachable(why));
  });

  it('to a database that is not there is refused', async () => {
    database = 'nowhere';
    expect(await problemOf(() => open().load(serverUrl))).toMatchObject(
      unreachable('there is no database nowhere'),
    );
  });

  it.skipIf(process.platform === 'win32')('goes over a socket', async () => {
    await open({ host: '', query: `?host=${server.folder}` }).save(state);
    expect(await open({ host: encodeURIComponent(server.folder) }).saved()).toEqual(state);
    expect(await problemOf(() => open({ host: '%2Fnowhere' }).saved())).toMatchObject(
      unreachable('there is no socket'),
    );
  });

  it('to a database that can not hold all characters is refused', async () => {
    const name = `${database}_latin`;
    await server.sql('postgres', `CREATE DATABASE ${name} ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'`);
    database = name;
    expect(await problemOf(() => open().save(state))).toMatchObject({
      code: 'not-writable',
      message: expect.stringContaining('LATIN1'),
    });
  });

  it('that is handed on between sessions is refused', async () => {
    const backend = open();
    await backend.lock('apply', new Date());
    await server.sql(database, 'UPDATE idops.locks SET backend = backend + 1');
    expect(await problemOf(() => backend.save(state))).toMatchObject(
      unreachable('a pooler on the way changes sessions'),
    );
  });

  describe('makes the tables', () => {
    it('once, whoever comes first', async () => {
      const names = Array.from({ length: 15 }, (_, index) => `state-${index}`);
      await Promise.all(names.map((name) => open({ name }).save(state)));
      expect(await server.sql(database, 'SELECT version FROM idops.versions')).toEqual([{ version: 1 }]);
      expect(await open({ name: 'one more' }).beside()).toHaveLength(15);
    });

    it('not where it only reads', async () => {
      const backend = open();
      expect(await backend.saved()).toBeUndefined();
      expect([await backend.runs.list(), await backend.beside(), await backend.holding()]).toEqual([
        [],
        [],
        null,
      ]);
      expect(await server.sql(database, "SELECT FROM pg_namespace WHERE nspname = 'idops'")).toEqual([]);
    });

    it('not where those of a later idops are there', async () => {
      await open().save(state);
      await server.sql(database, 'INSERT INTO idops.versions (version) VALUES (2)');
      for (const work of [() => open().load(serverUrl), () => open().save(state)]) {
        expect(await problemOf(work)).toMatchObject({
          code: 'state-newer',
          message: expect.stringContaining('have version 2, this idops knows versions up to 1'),
        });
      }
    });

    it('all of them or none', async () => {
      await server.sql(database, 'CREATE SCHEMA idops; CREATE TABLE idops.lines (x integer)');
      expect(await problemOf(() => open().save(state))).toMatchObject({ code: 'not-writable' });
      expect(
        await server.sql(database, "SELECT relname FROM pg_class WHERE relnamespace = 'idops'::regnamespace"),
      ).toEqual([{ relname: 'lines' }]);
    });

    it('where its role may, and says what it lacks', async () => {
      expect(await asAda().saved()).toBeUndefined();
      expect(await problemOf(() => asAda().save(state))).toMatchObject({
        code: 'not-writable',
        message: expect.stringContaining("can't be made: this role may not make them"),
        hint: expect.stringContaining(`GRANT CREATE ON DATABASE "${database}"`),
      });
      await open().save(state);
      const lacking = { hint: expect.stringContaining('GRANT USAGE ON SCHEMA idops') };
      expect(await problemOf(() => asAda().load(serverUrl))).toMatchObject({
        ...lacking,
        code: 'state-unreadable',
      });
      expect(await problemOf(() => asAda().save(state))).toMatchObject({ ...lacking, code: 'not-writable' });
      expect(await problemOf(() => asAda().lock('apply', new Date()))).toMatchObject({
        ...lacking,
        code: 'not-writable',
      });
    });

    it('where it may in a schema that was made for it', async () => {
      await server.sql(database, 'CREATE SCHEMA idops AUTHORIZATION ada');
      await asAda().save(state);
      expect(await asAda().saved()).toEqual(state);
    });

    it('not where it may use those that are there', async () => {
      await open().save({ ...state, serial: 2 });
      await server.sql(
        database,
        'GRANT USAGE ON SCHEMA idops TO ada; GRANT SELECT ON ALL TABLES IN SCHEMA idops TO ada',
      );
      expect((await asAda().load(serverUrl)).serial).toBe(2);
      expect(await problemOf(() => asAda().save(state))).toMatchObject({ code: 'not-writable' });
      await server.sql(database, 'GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA idops TO ada');
      const backend = asAda();
      const lock = await backend.lock('apply', new Date());
      await backend.save(state);
      await lock.release();
      expect(await open().saved()).toEqual(state);
    });
  });

  it('says what stands in the way of its statements', async () => {
    await open().save(state);
    const other = new Client({ host: '127.0.0.1', port: server.port, user: 'owner', password, database });
    await other.connect();
    await other.query('BEGIN; LOCK TABLE idops.states');
    const backend = open({ times: { contended: 50 } });
    const held = { message: expect.stringContaining('somebody else held what was needed for too long') };
    expect(await problemOf(() => backend.load(serverUrl))).toMatchObject({
      ...held,
      code: 'state-unreadable',
    });
    expect(await problemOf(() => backend.save(state))).toMatchObject({ ...held, code: 'not-writable' });
    await other.end();

    await server.sql('postgres', `ALTER DATABASE ${database} SET default_transaction_read_only = on`);
    expect(await problemOf(() => open().save(state))).toMatchObject({
      code: 'not-writable',
      message: expect.stringContaining('it takes no changes, as a standby does'),
    });
    expect(await open().saved()).toEqual(state);

    await server.sql('postgres', `ALTER DATABASE ${database} CONNECTION LIMIT 0`);
    expect(await problemOf(() => asAda().load(serverUrl))).toMatchObject(unreachable('no connection left'));
  });
});

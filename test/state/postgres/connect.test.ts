import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StateBackend } from '../../../src/state/backend.js';
import type { Times } from '../../../src/state/postgres/connection.js';
import { type PostgresTls, postgresBackend } from '../../../src/state/postgres/index.js';
import { TABLES_VERSION } from '../../../src/state/postgres/tables.js';
import { emptyState } from '../../../src/state/state.js';
import { afterwards } from '../../cleanups.js';
import { issue } from '../../server/certificates.js';
import { problemOf, refused, secret } from './failing.js';
import { line, runLine, serverUrl } from './lines.js';
import { proxyTo } from './proxy.js';
import { noPostgres, type PostgresServer, password, startPostgres } from './server.js';

const state = { ...emptyState(serverUrl), serial: 1 };

const unreachable = (work: () => unknown, why: string | RegExp): Promise<void> =>
  refused(work, 'state-unreachable', why, /./);

describe('an unusable database', () => {
  const listening = async (made: Server): Promise<number> => {
    made.listen(0, '127.0.0.1');
    await once(made, 'listening');
    afterwards(() => void made.close());
    return (made.address() as AddressInfo).port;
  };
  const at = (port: number, query = '', times: Partial<Times> = {}): StateBackend =>
    postgresBackend({ url: `postgres://ada:${secret}@127.0.0.1:${port}/d${query}`, name: 'a' }, times);

  it('is reported with the reason', async () => {
    const closed = createServer();
    const port = await listening(closed);
    closed.close();
    await once(closed, 'close');
    await unreachable(() => at(port).load(serverUrl), 'the connection was refused');

    const web = createHttpServer((_, answer) => answer.end('x'));
    const other = await listening(web);
    await unreachable(() => at(other).load(serverUrl), 'Connection terminated');
    const encrypted = () => at(other, '?sslmode=require').load(serverUrl);
    await unreachable(encrypted, /Connection terminated|closed|SSL/);

    const garbled = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write('S');
        socket.once('data', () => socket.write('this is no TLS'));
      });
    });
    const garbling = await listening(garbled);
    const loading = () => at(garbling, '?sslmode=require').load(serverUrl);
    await unreachable(loading, 'the TLS handshake failed');

    const unknown = postgresBackend({ url: `postgres://ada:${secret}@db.invalid/d`, name: 'a' });
    await unreachable(() => unknown.load(serverUrl), 'its name ');
  });

  it.each([
    [7, /it asks for GSSAPI, which idops does not have/],
    [9, /it asks for SSPI, /],
    [2, /it asks for Kerberos V5, /],
    [99, /it did not answer like PostgreSQL/],
  ])('is refused if it requests an unsupported authentication method (%i)', async (way, why) => {
    const asking = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, way])));
    });
    const backend = at(await listening(asking));
    await unreachable(() => backend.load(serverUrl), why);
    await unreachable(() => backend.save(state), why);
  });

  it('is reported with a shortened message if its message is very long', async () => {
    const talking = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        const said = Buffer.from(`SFATAL\0C28000\0M${'no '.repeat(2_000_000)}\0\0`);
        const length = Buffer.alloc(4);
        length.writeInt32BE(said.length + 4);
        socket.end(Buffer.concat([Buffer.from('E'), length, said]));
      });
    });
    const { message } = await problemOf(async () => at(await listening(talking)).load(serverUrl));
    expect(message).toMatch(/^the database of the state can't be reached: no no .+… \(28000\) \(a in/);
    expect(message.length).toBeLessThan(700);
  });

  it.each(['', '?sslmode=require'])("is refused if it doesn't respond in time (%s)", async (query) => {
    const silent = createServer((socket) => {
      afterwards(() => void socket.destroy());
      socket.on('error', () => {});
    });
    const backend = at(await listening(silent), query, { connect: 100 });
    await unreachable(() => backend.save(state), 'it did not answer in time');
    await unreachable(() => backend.lock('apply', new Date()), 'in time');
  });
});

describe.skipIf(noPostgres !== null)('a connection to PostgreSQL', () => {
  const authority = issue('the authority of the server');
  const stranger = issue('another authority');
  const clients = issue('the authority of the clients');
  let server: PostgresServer;
  let database = '';

  beforeAll(async () => {
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
  /** Keeps connections open until they are inspected, also on a slow machine. */
  const times = { idle: 600_000 };
  const isEncrypted = async (): Promise<boolean[]> => {
    const rows = await server.sql<{ ssl: boolean }>(
      database,
      "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE datname = current_database() AND application_name = 'idops'",
    );
    return rows.map(({ ssl }) => ssl);
  };

  it('uses TLS if a certificate authority is given or the URL requests it', async () => {
    const tls = { ca: authority.cert };
    await open({ host: 'localhost', tls, times }).save(state);
    const query = '?sslmode=verify-full';
    expect(await open({ host: 'localhost', query, tls, times }).saved()).toEqual(state);
    expect(await isEncrypted()).toEqual([true, true]);
  });

  it("to this machine doesn't use TLS if nothing requests it", async () => {
    await open({ times }).save(state);
    expect(await isEncrypted()).toEqual([false]);
  });

  it.each<[string, More, RegExp]>([
    [
      'of another authority',
      { host: 'localhost', tls: { ca: stranger.cert } },
      /its certificate .+ \([A-Z_]+\)/,
    ],
    ['of an unknown authority', { host: 'localhost', query: '?sslmode=require' }, /its certificate/],
    ['for another name', { tls: { ca: authority.cert } }, /its certificate is for another host name/],
    [
      'for another name, with sslmode=require',
      { tls: { ca: authority.cert }, query: '?sslmode=require' },
      /another host name/,
    ],
  ])('is refused if the certificate is %s', async (_, more, why) => {
    await unreachable(() => open(more).load(serverUrl), why);
  });

  it('reports what to set if the authority of the certificate is unknown', async () => {
    const { hint } = await problemOf(() => open({ host: 'localhost', query: '?ssl=true' }).load(serverUrl));
    expect(hint).toMatch(/^set ca_file of state\.postgres/);
  });

  it('accepts any host name with sslmode=verify-ca', async () => {
    await open({ tls: { ca: authority.cert }, query: '?sslmode=verify-ca', times }).save(state);
    expect(await isEncrypted()).toEqual([true]);
  });

  it('sends a client certificate', async () => {
    const { cert, key } = issue('certified', { issuer: clients });
    await server.sql(database, 'GRANT CREATE ON DATABASE '.concat(database, ' TO certified'));
    const more = { user: 'certified', password: '', host: 'localhost' };
    await open({ ...more, tls: { ca: authority.cert, cert, key } }).save(state);
    const without = open({ ...more, tls: { ca: authority.cert } });
    await unreachable(() => without.load(serverUrl), '(28000)');
    const other = issue('other', { issuer: clients });
    const tls = { ca: authority.cert, cert, key: other.key };
    expect(await problemOf(() => open({ ...more, tls }))).toMatchObject({
      code: 'bad-certificate',
      message: 'client_key_file of state.postgres is not the key of the client certificate',
    });
  });

  it.each<[string, More, RegExp]>([
    ['the wrong password', { password: secret }, /\(28P01\)/],
    ['no password', { password: '' }, /password must be a non-empty string/],
    ['an unknown user', { user: 'nobody-at-all', password: secret }, /\(28P01\)/],
    ['a user that is rejected', { user: 'outsider', password: secret }, /\(28000\)/],
  ])('is refused with %s', async (_, more, why) => {
    await unreachable(() => open(more).load(serverUrl), why);
    await unreachable(() => open(more).lock('apply', new Date()), why);
  });

  it("is refused if the database doesn't exist", async () => {
    database = 'nowhere';
    await unreachable(() => open().load(serverUrl), /"nowhere" does not exist \(3D000\)/);
  });

  it.skipIf(process.platform === 'win32')('uses a Unix socket', async () => {
    const host = encodeURIComponent(server.folder);
    await open({ host }).save(state);
    expect(await open({ host }).saved()).toEqual(state);
    await unreachable(() => open({ host: '%2Fnowhere' }).saved(), 'ENOENT');
  });

  it("is refused if the database's encoding lacks characters", async () => {
    const name = `${database}_latin`;
    await server.sql('postgres', `CREATE DATABASE ${name} ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'`);
    database = name;
    await refused(() => open().save(state), 'not-writable', 'LATIN1');
  });

  it('is refused if a pooler moves it to another session', async () => {
    const backend = open();
    await backend.lock('apply', new Date());
    await server.sql(database, 'UPDATE idops.locks SET backend = backend + 1');
    await unreachable(() => backend.save(state), 'a pooler on the way changes sessions');
  });

  it('runs no functions of other tenants, even if a pooler loses its settings', async () => {
    await server.sql(
      database,
      `CREATE SCHEMA z; CREATE TABLE z.ran (name text); GRANT ALL ON SCHEMA z TO PUBLIC;
       CREATE FUNCTION z.counted(bigint, text) RETURNS bigint LANGUAGE sql AS $$ INSERT INTO z.ran VALUES ('count'); SELECT 7 $$;
       CREATE AGGREGATE z.count(text) (sfunc = z.counted, stype = bigint, initcond = '0')`,
    );
    const used = {
      clock_timestamp: '',
      pg_backend_pid: '',
      current_setting: 'text',
      set_config: 'text, text, boolean',
      unnest: 'text[]',
      pg_advisory_xact_lock: 'integer, integer',
      pg_try_advisory_lock: 'integer, integer',
      pg_advisory_unlock: 'integer, integer',
      pg_try_advisory_xact_lock_shared: 'integer, integer',
    };
    for (const [name, takes] of Object.entries(used)) {
      const values = takes === '' ? '' : takes.split(',').map((_, index) => `$${index + 1}`);
      const gives = name === 'unnest' ? 'SETOF text' : `pg_catalog.${name}(${values})`;
      const [found] = await server.sql<{ type: string }>(
        database,
        `SELECT prorettype::regtype AS type FROM pg_proc WHERE proname = $1 LIMIT 1`,
        [name],
      );
      await server.sql(
        database,
        `CREATE FUNCTION z.${name}(${takes}) RETURNS ${name === 'unnest' ? gives : found?.type} LANGUAGE plpgsql AS
         $$ BEGIN INSERT INTO z.ran VALUES ('${name}'); RAISE 'another tenant ran'; END $$`,
      );
    }
    await server.sql('postgres', `ALTER DATABASE ${database} SET search_path = z, pg_catalog`);
    const proxy = await proxyTo(server.port);
    afterwards(() => proxy.close());
    const lost = (sent: string): Buffer =>
      Buffer.from(sent.replace('SET search_path = pg_catalog', 'SET search_path=z,pg_catalog'), 'latin1');
    for (const fault of [() => undefined, lost]) {
      proxy.fault = fault;
      const url = new URL(server.url(database));
      url.port = String(proxy.port);
      const backend = postgresBackend({ url: url.href, name: 'a' });
      const lock = await backend.lock('apply', new Date());
      await backend.save(state);
      await lock.confirm();
      const run = `20260131T12000${fault === lost ? 1 : 0}Z-aaaaaa`;
      const journal = await backend.runs.create(runLine(run, state));
      await journal.write(line(1));
      await backend.runs.list();
      expect((await backend.runs.read(run))?.lines).toEqual([line(1)]);
      await lock.release();
      expect(await backend.load(serverUrl)).toEqual(state);
    }
    expect(await server.sql(database, 'SELECT name FROM z.ran')).toEqual([]);
  });

  it("reports if the database didn't keep all lines of a journal", async () => {
    const backend = open();
    const run = '20260131T120000Z-aaaaaa';
    const journal = await backend.runs.create(runLine(run, state));
    await server.sql(
      database,
      `CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
       CREATE TRIGGER skip BEFORE INSERT ON idops.lines FOR EACH ROW WHEN (NEW.number = 2) EXECUTE FUNCTION skip()`,
    );
    const [first] = await Promise.all([problemOf(journal.write(line(1))), problemOf(journal.write(line(2)))]);
    expect(first).toMatchObject({
      code: 'not-writable',
      message: expect.stringContaining('kept 1 of 2 lines of the journal'),
    });
    await server.sql(database, 'DROP TRIGGER skip ON idops.lines');
    await journal.write(line(3));
    expect((await backend.runs.read(run))?.lines).toEqual([line(3)]);
  });

  describe('the tables', () => {
    it('are created once, even if several backends begin at the same time', async () => {
      const names = Array.from({ length: 15 }, (_, index) => `state-${index}`);
      await Promise.all(names.map((name) => open({ name }).save(state)));
      expect(await server.sql(database, 'SELECT version FROM idops.versions')).toEqual([
        { version: TABLES_VERSION },
      ]);
      expect(await open({ name: 'one more' }).neighbours()).toHaveLength(15);
    });

    it('are not created by reads', async () => {
      const backend = open();
      expect(await backend.saved()).toBeUndefined();
      const found = [await backend.runs.list(), await backend.neighbours(), await backend.lockStatuses()];
      expect(found).toEqual([[], [], []]);
      expect(await server.sql(database, "SELECT FROM pg_namespace WHERE nspname = 'idops'")).toEqual([]);
    });

    it('are not created if those of a newer idops exist', async () => {
      await open().save(state);
      await server.sql(database, 'INSERT INTO idops.versions (version) VALUES ($1)', [TABLES_VERSION + 1]);
      for (const work of [() => open().load(serverUrl), () => open().save(state)]) {
        await refused(
          work,
          'state-newer',
          `have version ${TABLES_VERSION + 1}, and this idops uses version ${TABLES_VERSION}`,
        );
      }
    });

    it('are created all or not at all', async () => {
      await server.sql(database, 'CREATE SCHEMA idops; CREATE TABLE idops.lines (x integer)');
      await refused(() => open().save(state), 'not-writable');
      expect(
        await server.sql(database, "SELECT relname FROM pg_class WHERE relnamespace = 'idops'::regnamespace"),
      ).toEqual([{ relname: 'lines' }]);
    });

    it('are created if the role may, otherwise the hint names the missing privilege', async () => {
      expect(await asAda().saved()).toBeUndefined();
      await refused(
        () => asAda().save(state),
        'not-writable',
        "can't be created: this role lacks the permission",
        `GRANT CREATE ON DATABASE "${database}"`,
      );
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

    it('are created if the role owns an existing schema', async () => {
      await server.sql(database, 'CREATE SCHEMA idops AUTHORIZATION ada');
      await asAda().save(state);
      expect(await asAda().saved()).toEqual(state);
    });

    it('are used without the privilege to create them', async () => {
      await open().save({ ...state, serial: 2 });
      await server.sql(
        database,
        'GRANT USAGE ON SCHEMA idops TO ada; GRANT SELECT ON ALL TABLES IN SCHEMA idops TO ada',
      );
      expect((await asAda().load(serverUrl)).serial).toBe(2);
      await refused(() => asAda().save(state), 'not-writable');
      await server.sql(database, 'GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA idops TO ada');
      const backend = asAda();
      const lock = await backend.lock('apply', new Date());
      await backend.save(state);
      await lock.release();
      expect(await open().saved()).toEqual(state);
    });
  });

  it('reports what blocks its statements', async () => {
    await open().save(state);
    const other = new Client({ host: '127.0.0.1', port: server.port, user: 'owner', password, database });
    await other.connect();
    await other.query('BEGIN; LOCK TABLE idops.states');
    const backend = open({ times: { contended: 50 } });
    const held = { message: expect.stringContaining('(55P03)') };
    expect(await problemOf(() => backend.load(serverUrl))).toMatchObject({
      ...held,
      code: 'state-unreadable',
    });
    expect(await problemOf(() => backend.save(state))).toMatchObject({ ...held, code: 'not-writable' });
    await other.end();

    await server.sql('postgres', `ALTER DATABASE ${database} SET default_transaction_read_only = on`);
    await refused(
      () => open().save(state),
      'not-writable',
      '(25006)',
      /^name the primary in the URL, or turn default_transaction_read_only off/,
    );
    expect(await open().saved()).toEqual(state);

    await server.sql('postgres', `ALTER DATABASE ${database} CONNECTION LIMIT 0`);
    await unreachable(() => asAda().load(serverUrl), '(53300)');
  });
});

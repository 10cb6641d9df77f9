import type { ClientConfig } from 'pg';
import { error, ProblemsError } from '../../base/problems.js';
import { userName } from '../../base/user-name.js';
import { type PostgresTls, tlsOf } from './tls.js';

/** Where a state lies in PostgreSQL. */
export interface PostgresSettings {
  /**
   * `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…`. A host that is another machine is spoken to with TLS, and its certificate has to
   * be trusted and name the host, as with `sslmode=verify-full`, and so is this machine where `tls` is given or an `sslmode` asks for TLS:
   * `prefer`, `require` and `verify-full` all mean that, and `ssl=true` does. `verify-ca` takes any host name, of an authority that is given
   * here. Only `sslmode=disable` and `ssl=false` turn TLS off.
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
    const passwords = [url.password, ...url.searchParams.getAll('password')];
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
  refuseTwice(given);
  const host = given.get('host') ?? (decoded(url.hostname).replace(/^\[(.+)\]$/, '$1') || 'localhost');
  const port = portOf(given.get('port') ?? url.port);
  const database = given.get('dbname') ?? decoded(url.pathname.slice(1));
  const user = given.get('user') ?? decoded(url.username);
  const password = given.get('password') ?? decoded(url.password);
  if (database === '') throw badUrl('it names no database');
  if (host.includes(',')) throw severalHosts();
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
  const [, at = ''] = /^[^/]*\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(text) ?? [];
  if (at.includes(',')) throw severalHosts();
  const [, port] = /:(\d+)$/.exec(at) ?? [];
  if (port !== undefined) portOf(port);
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
  const cure = 'a port is a number from 1 to 65535, and 5432 where none is named';
  if (/^\d+$/.test(text) && port > 65_535) throw badUrl('its port is above 65535', cure);
  if (!/^\d+$/.test(text) || port < 1) throw badUrl('its port is none', cure);
  return port;
}

function severalHosts(): ProblemsError {
  return badUrl(
    'it names several hosts',
    'name one: the primary, or a proxy or an address that leads to whichever is the primary',
  );
}

/** What idops takes from the part of the URL behind the question mark. */
const parameters: readonly string[] = [
  ...['host', 'port', 'dbname', 'user', 'password', 'options', 'application_name', 'channel_binding'],
  ...['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation'],
];

/** Of two values nobody knows which one is meant, and other programs take the last. */
function refuseTwice(given: URLSearchParams): void {
  const twice = parameters.find((name) => new Set(given.getAll(name)).size > 1);
  if (twice !== undefined)
    throw refused(
      `the URL of the database has ${twice} twice, with different values`,
      'leave one of them out',
    );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badUrl('a % in it is not followed by two digits');
  }
}

const SIGNS =
  'write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE, with signs such as @, /, # and % of the password as %40, %2F, %23 and %25';

function badUrl(why: string, cure = SIGNS): ProblemsError {
  return refused(`the URL of the database is no URL of PostgreSQL: ${why}`, cure);
}

function refused(message: string, hint: string): ProblemsError {
  return new ProblemsError([error('wrong-value', message, [], hint)]);
}

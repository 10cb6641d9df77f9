import { createPrivateKey } from 'node:crypto';
import type { ConnectionOptions } from 'node:tls';
import type { ClientConfig } from 'pg';
import { checkCertificates, isKeyOf } from '../../base/certificates.js';
import { error, ProblemsError } from '../../base/problems.js';
import { userName } from '../../base/process.js';

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
    const { password } = urlOf(text);
    return [...new Set([password, decoded(password)])].filter((secret) => secret !== '');
  } catch {
    return text === '' ? [] : [text];
  }
}

/** What is connected to for these settings. Throws a ProblemsError (`wrong-value`, `bad-certificate`) that doesn't show the URL. */
export function targetOf({ url: text, name, tls = {} }: PostgresSettings): Target {
  if (name === '' || name.length > LONGEST_NAME || /\p{Cc}/u.test(name) || !name.isWellFormed()) {
    throw refused(
      `a state in PostgreSQL needs a name of at most ${LONGEST_NAME} characters, without control characters`,
      'name it after its environment, such as production',
    );
  }
  const url = urlOf(text);
  const given = url.searchParams;
  const host = decoded(url.hostname).replace(/^\[(.+)\]$/, '$1');
  const [database, user, password] = [
    decoded(url.pathname.slice(1)),
    decoded(url.username),
    decoded(url.password),
  ];
  const application = given.get('application_name') ?? 'idops';
  if (database === '' || /\p{Cc}/u.test([host, database, user, application].join(''))) throw badUrl();
  const port = url.port === '' ? 5432 : Number(url.port);
  const at = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  return {
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
      sslnegotiation: 'postgres',
      enableChannelBinding: given.get('channel_binding') === 'require',
      application_name: application,
    },
  };
}

/** What idops takes from the part of the URL behind the question mark. */
const parameters: readonly string[] = ['sslmode', 'ssl', 'channel_binding', 'application_name'];

function urlOf(text: string): URL {
  // What follows an unescaped sign of the password would be taken for the database, and shown. Several hosts have a comma.
  const shape = /^postgres(?:ql)?:\/\/(?:[^/?#@\s]*@)?[^/?#@,\s]+\/[^/?#@\s]*(?:\?[^#@\s]*)?$/;
  if (!shape.test(text) || !URL.canParse(text)) throw badUrl();
  const url = new URL(text);
  for (const name of url.searchParams.keys()) {
    if (!parameters.includes(name))
      throw refused(
        'the URL of the database has a parameter that idops does not take',
        `${SIGNS}; of parameters it takes ${parameters.join(', ')}, and certificates are named with ca_file, client_cert_file and client_key_file of state.postgres`,
      );
    // Of two values nobody knows which one is meant, and other programs take the last.
    if (new Set(url.searchParams.getAll(name)).size > 1)
      throw refused(
        `the URL of the database has ${name} twice, with different values`,
        'leave one of them out',
      );
  }
  return url;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badUrl();
  }
}

const SIGNS =
  'write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE with one host, and with signs such as @, /, # and % of the password as %40, %2F, %23 and %25';

function badUrl(): ProblemsError {
  return refused('the URL of the database is no URL of PostgreSQL', SIGNS);
}

const modes: readonly string[] = ['allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'disable'];

/** How the host is spoken to with TLS; false where it isn't. */
function tlsOf(host: string, given: URLSearchParams, tls: PostgresTls): false | ConnectionOptions {
  const mode = modeOf(given);
  const { ca, cert, key } = tls;
  const own = [ca, cert, key].some((text) => text !== undefined);
  if (mode === 'disable' && own) {
    throw refused(
      'the URL of the database turns TLS off, and certificates for it are given',
      'leave one of them out',
    );
  }
  // There is no TLS over a socket in the file system.
  if (mode === 'disable' || host.startsWith('/')) return false;
  if (mode === undefined && !own && /^(?:localhost|::1|127(?:\.\d+){3})$/.test(host)) return false;
  check(ca, 'ca_file', 'certificates', checkCertificates);
  check(cert, 'client_cert_file', 'certificates', checkCertificates);
  check(key, 'client_key_file', 'a private key without a passphrase', createPrivateKey);
  if (cert !== undefined && key !== undefined && !isKeyOf(cert, key)) {
    const message = 'client_key_file of state.postgres is not the key of the client certificate';
    throw bad(message, 'name the certificate and the key that belong together');
  }
  return {
    rejectUnauthorized: true,
    ...tls,
    // Anybody gets a certificate of a public authority for some name: that mode needs an authority of one's own.
    ...(mode === 'verify-ca' && ca !== undefined ? { checkServerIdentity: () => undefined } : {}),
  };
}

/** The `sslmode` that is asked for, also as other drivers take it; undefined where none is. */
function modeOf(given: URLSearchParams): string | undefined {
  const [mode, ssl] = [given.get('sslmode'), given.get('ssl')];
  const words: { readonly [ssl: string]: string } = {
    true: 'require',
    1: 'require',
    false: 'disable',
    0: 'disable',
  };
  const said = [mode, ssl === null ? null : (words[ssl] ?? '')].filter((one) => one !== null);
  const isOff = new Set(said.map((one) => one === 'disable'));
  if (isOff.size < 2 && said.every((one) => modes.includes(one))) return said[0];
  throw refused(
    'the sslmode or ssl in the URL of the database is none that idops takes',
    `sslmode is one of ${modes.join(', ')}, ssl is true or false, and both say the same; an authority of your own is named with ca_file of state.postgres`,
  );
}

function check(
  text: string | undefined,
  member: string,
  what: string,
  parse: (pem: string) => unknown,
): void {
  try {
    if (text !== undefined) parse(text);
  } catch {
    // What the parser says may repeat a part of a key.
    const message = `the file that ${member} of state.postgres names does not hold ${what} in PEM form`;
    throw bad(message, 'check which file is named there');
  }
}

function bad(message: string, hint: string): ProblemsError {
  return new ProblemsError([error('bad-certificate', message, [], hint)]);
}

function refused(message: string, hint: string): ProblemsError {
  return new ProblemsError([error('wrong-value', message, [], hint)]);
}

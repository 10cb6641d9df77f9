import { createPrivateKey } from 'node:crypto';
import type { ConnectionOptions } from 'node:tls';
import type { ClientConfig } from 'pg';
import { checkCertificates, isKeyOf } from '../../base/certificates.js';
import { parseUrl } from '../../base/parse-url.js';
import { type ProblemsError, problemError } from '../../base/problems.js';
import { userName } from '../../base/process.js';

/** Certificates and a key, in PEM. */
export interface PostgresTls {
  /** The authorities to trust, in place of Node's. */
  readonly ca?: string;
  /** The client certificate, and its key. */
  readonly cert?: string;
  readonly key?: string;
}

export interface PostgresSettings {
  /**
   * `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…`. Another machine is always connected to with TLS, and its certificate must be
   * trusted and name the host, as with `sslmode=verify-full`. The same holds for this machine if `tls` is given, or with `ssl=true` or an
   * `sslmode` of `prefer`, `require` or `verify-full`. `verify-ca` accepts any host name, from an authority that is given in `tls`. Only
   * `sslmode=disable` and `ssl=false` turn TLS off.
   */
  readonly url: string;
  /** Identifies the state in the database. */
  readonly name: string;
  readonly tls?: PostgresTls;
}

export interface Target {
  readonly config: ClientConfig;
  readonly database: string;
  /** The state and its database in messages, without secrets. */
  readonly place: string;
  readonly secrets: readonly string[];
}

/** The longest name of a state, which is a primary key. */
const LONGEST_NAME = 200;

/** The secrets in the URL of a database: its password, decoded and as written; the whole text if it isn't a URL. */
export function secretsOf(text: string): string[] {
  try {
    const { password } = urlOf(text);
    return [...new Set([password, decode(password)])].filter((secret) => secret !== '');
  } catch {
    return text === '' ? [] : [text];
  }
}

/** The target of settings. Throws a ProblemsError (`wrong-value`, `bad-certificate`) that doesn't show the URL. */
export function targetOf({ url: text, name, tls = {} }: PostgresSettings): Target {
  if (name === '' || name.length > LONGEST_NAME || /\p{Cc}/u.test(name) || !name.isWellFormed()) {
    throw problemError(
      'wrong-value',
      `a state in PostgreSQL needs a name of at most ${LONGEST_NAME} characters, without control characters`,
      'name it after its environment, such as production',
    );
  }
  const url = urlOf(text);
  const given = url.searchParams;
  const host = decode(url.hostname).replace(/^\[(.+)\]$/, '$1');
  const [database, user, password] = [
    decode(url.pathname.slice(1)),
    decode(url.username),
    decode(url.password),
  ];
  const application = given.get('application_name') ?? 'idops';
  if (database === '' || /\p{Cc}/u.test([host, database, user, application].join(''))) throw badUrl();
  const port = url.port === '' ? 5432 : Number(url.port);
  const at = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  return {
    database,
    place: `${name} in PostgreSQL ${at}/${database}`,
    secrets: secretsOf(text),
    // Everything is set, so that no variable such as PGSSLMODE applies.
    config: {
      host,
      port,
      database,
      user: user === '' ? userName() : user,
      // A function, so that the driver uses no other source if it is empty.
      password: () => password,
      ssl: tlsOf(host, given, tls),
      sslnegotiation: 'postgres',
      enableChannelBinding: given.get('channel_binding') === 'require',
      application_name: application,
    },
  };
}

/** The parameters that the URL may have. */
const parameters: readonly string[] = ['sslmode', 'ssl', 'channel_binding', 'application_name'];

function urlOf(text: string): URL {
  // With an unescaped character in the password, the rest would become the database, which messages show. A comma separates hosts.
  const shape = /^postgres(?:ql)?:\/\/(?:[^/?#@\s]*@)?[^/?#@,\s]+\/[^/?#@\s]*(?:\?[^#@\s]*)?$/;
  const url = shape.test(text) ? parseUrl(text) : undefined;
  if (url === undefined) throw badUrl();
  for (const name of url.searchParams.keys()) {
    if (!parameters.includes(name))
      throw problemError(
        'wrong-value',
        'the URL of the database has a parameter that idops does not support',
        `${URL_HINT}; the supported parameters are ${parameters.join(', ')}, and ca_file, client_cert_file and client_key_file of state.postgres name certificates`,
      );
    // Of two values, other programs take the last.
    if (new Set(url.searchParams.getAll(name)).size > 1)
      throw problemError(
        'wrong-value',
        `the URL of the database has ${name} twice, with different values`,
        'leave one of them out',
      );
  }
  return url;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badUrl();
  }
}

const URL_HINT =
  'write it as postgres://USER:PASSWORD@HOST:PORT/DATABASE with one host, and with characters such as @, /, # and % of the password as %40, %2F, %23 and %25';

function badUrl(): ProblemsError {
  return problemError('wrong-value', 'the URL of the database is not a PostgreSQL URL', URL_HINT);
}

const modes: readonly string[] = ['allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'disable'];

/** The TLS options for a host; false without TLS. */
function tlsOf(host: string, given: URLSearchParams, tls: PostgresTls): false | ConnectionOptions {
  const mode = modeOf(given);
  const { ca, cert, key } = tls;
  const hasCertificates = [ca, cert, key].some((text) => text !== undefined);
  if (mode === 'disable' && hasCertificates) {
    throw problemError(
      'wrong-value',
      'the URL of the database turns TLS off, but certificates are configured',
      'leave one of them out',
    );
  }
  // Sockets in the file system have no TLS.
  if (mode === 'disable' || host.startsWith('/')) return false;
  if (mode === undefined && !hasCertificates && /^(?:localhost|::1|127(?:\.\d+){3})$/.test(host))
    return false;
  checkPem(ca, 'ca_file', 'certificates', checkCertificates);
  checkPem(cert, 'client_cert_file', 'certificates', checkCertificates);
  checkPem(key, 'client_key_file', 'a private key without a passphrase', createPrivateKey);
  if (cert !== undefined && key !== undefined && !isKeyOf(cert, key)) {
    const message = 'client_key_file of state.postgres is not the key of the client certificate';
    throw problemError('bad-certificate', message, 'name the certificate and the key that belong together');
  }
  return {
    rejectUnauthorized: true,
    ...tls,
    // Anybody can get a certificate of a public authority, so that mode needs a private one.
    ...(mode === 'verify-ca' && ca !== undefined ? { checkServerIdentity: () => undefined } : {}),
  };
}

/** The `sslmode`, also from the `ssl` of other drivers; undefined if neither is set. */
function modeOf(given: URLSearchParams): string | undefined {
  const [mode, ssl] = [given.get('sslmode'), given.get('ssl')];
  const modesOfSsl: { readonly [ssl: string]: string } = {
    true: 'require',
    1: 'require',
    false: 'disable',
    0: 'disable',
  };
  const values = [mode, ssl === null ? null : (modesOfSsl[ssl] ?? '')].filter((one) => one !== null);
  const isOff = new Set(values.map((one) => one === 'disable'));
  if (isOff.size < 2 && values.every((one) => modes.includes(one))) return values[0];
  throw problemError(
    'wrong-value',
    'idops does not support the sslmode or ssl in the URL of the database',
    `sslmode is one of ${modes.join(', ')}, ssl is true or false, and both must agree; ca_file of state.postgres names your own authority`,
  );
}

function checkPem(
  text: string | undefined,
  member: string,
  what: string,
  parse: (pem: string) => unknown,
): void {
  try {
    if (text !== undefined) parse(text);
  } catch {
    // Without the parser's message, which may repeat a part of a key.
    const message = `the file that ${member} of state.postgres names does not contain ${what} in PEM format`;
    throw problemError('bad-certificate', message, 'check the file name');
  }
}

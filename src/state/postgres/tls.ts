import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { whyRefused } from '../../base/errno.js';
import { belong, checkCertificates } from '../../base/pem.js';
import { error, ProblemsError } from '../../base/problems.js';

/** Certificates and a key, as PEM texts. */
export interface PostgresTls {
  /** The authorities that the server's certificate may come from, in the place of those that Node knows. */
  readonly ca?: string;
  /** The certificate that the server is shown, and its key. */
  readonly cert?: string;
  readonly key?: string;
}

/** A PEM text, and what it is called in the configuration. */
interface Pem {
  readonly text: string;
  readonly from: string;
}

const modes: readonly string[] = ['allow', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** How the host is spoken to with TLS; false where it isn't. Throws a ProblemsError (`wrong-value`, `bad-certificate`). */
export function tlsOf(
  host: string,
  given: URLSearchParams,
  tls: PostgresTls | undefined,
): false | ConnectionOptions {
  const mode = modeOf(given);
  const own = Object.values({ ...tls }).some((text) => text !== undefined);
  if (mode === 'disable') {
    if (!own) return false;
    throw wrong(
      'the URL of the database turns TLS off, and certificates for it are given',
      'leave one of them out',
    );
  }
  // There is no TLS over a socket in the file system.
  if (host.startsWith('/')) return false;
  const isNamed = ['sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation'].some((name) => given.get(name));
  if (mode === null && !own && !isNamed && isThisMachine(host)) return false;
  const root = given.get('sslrootcert');
  const ca = pemOf(tls?.ca, 'ca_file', 'sslrootcert', root === 'system' ? null : root);
  const cert = pemOf(tls?.cert, 'client_cert_file', 'sslcert', given.get('sslcert'));
  const key = pemOf(tls?.key, 'client_key_file', 'sslkey', given.get('sslkey'));
  for (const one of [ca, cert]) if (one !== undefined) check(one, 'certificates', checkCertificates);
  if (key !== undefined) check(key, 'a private key without a passphrase', createPrivateKey);
  if (cert !== undefined && key !== undefined && !belong(cert.text, key.text)) {
    const cure = 'name the certificate and the key that belong together';
    throw bad(`${key.from} is not the key of the client certificate`, cure);
  }
  return {
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca: ca.text }),
    ...(cert === undefined ? {} : { cert: cert.text }),
    ...(key === undefined ? {} : { key: key.text }),
    // Anybody gets a certificate of a public authority for some name: that mode needs an authority of one's own.
    ...(mode === 'verify-ca' && ca !== undefined ? { checkServerIdentity: () => undefined } : {}),
  };
}

/** The `sslmode` that is asked for, also as other drivers take it; null where none is. */
function modeOf(given: URLSearchParams): string | null {
  const [mode, ssl] = [given.get('sslmode'), given.get('ssl')];
  if (mode !== null && mode !== 'disable' && !modes.includes(mode)) {
    const cure =
      mode === 'no-verify'
        ? 'name the authority of the server in its place, with ca_file of state.postgres or sslrootcert in the URL'
        : `use one of ${modes.join(', ')} or disable`;
    throw wrong('the sslmode in the URL of the database is none that idops takes', cure);
  }
  if (ssl === null) return mode;
  const isOn = ['true', '1'].includes(ssl);
  if (!isOn && !['false', '0'].includes(ssl))
    throw wrong(
      'the ssl in the URL of the database is none that idops takes',
      'use true or false, or sslmode',
    );
  if (mode !== null && (mode === 'disable') === isOn)
    throw wrong('ssl and sslmode in the URL of the database contradict each other', 'leave one of them out');
  return mode ?? (isOn ? 'require' : 'disable');
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d+){3}$/.test(host);
}

/** What the configuration gives, before what the URL does. */
function pemOf(
  text: string | undefined,
  member: string,
  parameter: string,
  path: string | null,
): Pem | undefined {
  if (text !== undefined) return { text, from: `${member} of state.postgres` };
  const from = `${parameter} in the URL of the database`;
  return path === null ? undefined : { text: textOf(path, from), from };
}

function textOf(path: string, from: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (failure) {
    throw bad(`the file that ${from} names can't be read: ${whyRefused(failure)}`, 'check the path');
  }
}

function check({ text, from }: Pem, what: string, parse: (pem: string) => unknown): void {
  try {
    parse(text);
  } catch {
    // What the parser says may repeat a part of a key.
    throw bad(
      `the file that ${from} names does not hold ${what} in PEM form`,
      'check which file is named there',
    );
  }
}

function wrong(message: string, hint: string): ProblemsError {
  return new ProblemsError([error('wrong-value', message, [], hint)]);
}

function bad(message: string, hint: string): ProblemsError {
  return new ProblemsError([error('bad-certificate', message, [], hint)]);
}

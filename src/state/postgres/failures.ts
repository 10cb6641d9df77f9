import { DatabaseError } from 'pg';
import { type ConnectionFailure, connectionFailure } from '../../base/connection-failure.js';
import { oneLine } from '../../base/escape.js';
import { ProblemsError, problemError } from '../../base/problems.js';
import type { Target } from './settings.js';

export type Operation = 'reach' | 'read' | 'write';

export class NoAnswer extends Error {
  constructor() {
    super('it did not answer in time');
  }
}

/** SQLSTATEs after which a retry on a new connection may succeed: the connection was cut, or other work conflicted. */
const transientStates = /^(?:08...|57P0[1235]|25P0[34]|40001|40P01)$/;
/** The same once another server has taken over, or other sessions have ended. */
const failoverStates = /^(?:25006|53300|55P03|57014)$/;
/** SQLSTATEs about the connection, not about a statement. */
const connectionStates = /^(?:08...|28...|3D000|53300|57P..)$/;

/** Whether a retry on a new connection may succeed. `kept`: a run holds its lock on the connection. */
export function isTransient(failure: unknown, kept: boolean): boolean {
  const code = codeOf(failure);
  if (isOfDatabase(failure)) return transientStates.test(code) || (kept && failoverStates.test(code));
  const fault = connectionFailure(code)?.fault;
  return fault === undefined || fault === 'network';
}

/** Whether PostgreSQL reported it, on a connection that may still work. */
export function isOfDatabase(failure: unknown): failure is DatabaseError {
  return failure instanceof DatabaseError;
}

/** The problem of a failure of the driver, without any part of the URL. */
export function problemOf(failure: unknown, doing: Operation, target: Target): ProblemsError {
  if (failure instanceof ProblemsError) return failure;
  const code = codeOf(failure);
  const connection = isOfDatabase(failure) ? undefined : connectionFailure(code);
  const hint =
    connection === undefined
      ? (hints[code] ?? CHECK_URL)
      : connection.check === undefined
        ? CHECK_URL
        : connectionHints[connection.check];
  const why = connection === undefined ? describe(failure, target) : `${connection.why} (${code})`;
  if (doing === 'reach' || !isOfDatabase(failure) || connectionStates.test(code)) {
    const message = `the database of the state can't be reached: ${why} (${target.place})`;
    return problemError('state-unreachable', message, hint, failure);
  }
  const [problem, can] =
    doing === 'read' ? (['state-unreadable', 'read'] as const) : (['not-writable', 'written'] as const);
  return problemError(problem, `the state ${target.place} can't be ${can}: ${why}`, hint, failure);
}

function codeOf(failure: unknown): string {
  return failure instanceof Error && 'code' in failure ? String(failure.code) : '';
}

/** The message of the database or the driver, unless it contains a secret. */
function describe(failure: unknown, { secrets }: Target): string {
  const message = failure instanceof Error ? failure.message : String(failure);
  const code = codeOf(failure);
  if (secrets.some((secret) => message.includes(secret))) return code === '' ? 'it failed' : code;
  return code === '' ? oneLine(message) : `${oneLine(message)} (${code})`;
}

/** Authentication methods that the driver doesn't support, by their number in the server's message. */
const authenticationMethods: { readonly [method: number]: string } = {
  2: 'Kerberos V5',
  7: 'GSSAPI',
  9: 'SSPI',
};

/** The problem of an answer that the driver can't parse. */
export function unparsableAnswer(answer: Buffer, place: string, cause: unknown): ProblemsError {
  const way =
    answer.length >= 9 && answer[0] === 0x52 ? authenticationMethods[answer.readInt32BE(5)] : undefined;
  const [why, hint] =
    way === undefined
      ? ['it did not answer like PostgreSQL', 'is the port correct, and does PostgreSQL run there?']
      : [
          `it asks for ${way}, which idops does not have`,
          'set scram-sha-256 or cert for this user in its pg_hba.conf, and give the password in the URL or the certificate in state.postgres',
        ];
  return problemError(
    'state-unreachable',
    `the database of the state can't be reached: ${why} (${place})`,
    hint,
    cause,
  );
}

const CHECK_URL =
  'check the URL (host, port, user, password, database and sslmode), and see the log of PostgreSQL';

/** What to do, by SQLSTATE. */
const hints: { readonly [code: string]: string } = {
  '28000':
    'check the user and the password in the URL, and the lines of its pg_hba.conf for this machine, this user and TLS',
  '3D000': 'create the database, or name another one in the URL',
  '53300': 'end some connections, or raise its max_connections',
  '55P03': 'find the session that holds the lock in pg_locks',
  '25006':
    'name the primary in the URL, or turn default_transaction_read_only off for this role and this database',
  '42501':
    'let its owner run: GRANT USAGE ON SCHEMA idops TO this role; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA idops TO this role',
};

/** What to check if a connection failed. */
const connectionHints: { readonly [check in NonNullable<ConnectionFailure['check']>]: string } = {
  authority:
    'set ca_file of state.postgres to a file with its authority; or write sslmode=disable in the URL if the network is trusted',
  'client-certificate': 'client_cert_file and client_key_file of state.postgres name one',
  clock: "is this machine's clock correct?",
  host: 'is the host in the URL correct, and does the firewall allow it?',
  network: 'is there a network, and is the host correct?',
  port: 'does PostgreSQL run there, and is the port correct?',
};

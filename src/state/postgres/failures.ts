import { DatabaseError } from 'pg';
import { type ConnectionFailure, connectionFailure } from '../../base/connection-failure.js';
import { oneLine } from '../../base/escape.js';
import { error, ProblemsError } from '../../base/problems.js';
import type { Target } from './settings.js';

/** What a failure stopped: coming to the database, reading from it, or writing. */
export type Operation = 'reach' | 'read' | 'write';

/** A connection that was there said nothing more. */
export class NoAnswer extends Error {
  constructor() {
    super('it did not answer in time');
  }
}

/** States of PostgreSQL after which the same may go well on a new connection: it was cut, or work of others was in the way. */
const transientStates = /^(?:08...|57P0[1235]|25P0[34]|40001|40P01)$/;
/** And after which it may once another server has taken over, or somebody has left. */
const failoverStates = /^(?:25006|53300|55P03|57014)$/;
/** Those that say something of the way to the database, whatever was done there. */
const connectionStates = /^(?:08...|28...|3D000|53300|57P..)$/;

/** Whether a failure may pass if it is tried again on a new connection; `kept` says that a run depends on it. */
export function isTransient(failure: unknown, kept: boolean): boolean {
  const code = codeOf(failure);
  if (isOfDatabase(failure)) return transientStates.test(code) || (kept && failoverStates.test(code));
  const fault = connectionFailure(code)?.fault;
  return fault === undefined || fault === 'network';
}

/** Whether PostgreSQL itself said it, on a connection that may still be there. */
export function isOfDatabase(failure: unknown): failure is DatabaseError {
  return failure instanceof DatabaseError;
}

/** The problem of a failure of the driver, in words that show nothing of the URL. */
export function problemOf(failure: unknown, doing: Operation, target: Target): ProblemsError {
  if (failure instanceof ProblemsError) return failure;
  const code = codeOf(failure);
  const way = isOfDatabase(failure) ? undefined : connectionFailure(code);
  const cure = way === undefined ? (cures[code] ?? CHECK) : way.look === undefined ? CHECK : looks[way.look];
  const why = way === undefined ? describe(failure, target) : `${way.why} (${code})`;
  if (doing === 'reach' || !isOfDatabase(failure) || connectionStates.test(code)) {
    const message = `the database of the state can't be reached: ${why} (${target.place})`;
    return new ProblemsError([error('state-unreachable', message, [], cure)], { cause: failure });
  }
  const [problem, can] =
    doing === 'read' ? (['state-unreadable', 'read'] as const) : (['not-writable', 'written'] as const);
  return new ProblemsError([error(problem, `the state ${target.place} can't be ${can}: ${why}`, [], cure)], {
    cause: failure,
  });
}

function codeOf(failure: unknown): string {
  return failure instanceof Error && 'code' in failure ? String(failure.code) : '';
}

/** What the database or the driver says, without what nobody may see. */
function describe(failure: unknown, { secrets }: Target): string {
  const message = failure instanceof Error ? failure.message : String(failure);
  const code = codeOf(failure);
  if (secrets.some((secret) => message.includes(secret))) return code === '' ? 'it failed' : code;
  return code === '' ? oneLine(message) : `${oneLine(message)} (${code})`;
}

/** What a server may ask a client for, by the number in its message, and which the driver doesn't have. */
const ways: { readonly [way: number]: string } = { 2: 'Kerberos V5', 7: 'GSSAPI', 9: 'SSPI' };

/** The problem of an answer that the driver doesn't understand. */
export function notUnderstood(answer: Buffer, place: string, cause: unknown): ProblemsError {
  const way = answer.length >= 9 && answer[0] === 0x52 ? ways[answer.readInt32BE(5)] : undefined;
  const [why, hint] =
    way === undefined
      ? ['it sent what is no message of PostgreSQL', 'is the port right, and does PostgreSQL run there?']
      : [
          `it asks for ${way}, which idops does not have`,
          'let its pg_hba.conf ask this user for scram-sha-256 or cert, and give the password in the URL or name the certificate in state.postgres',
        ];
  return new ProblemsError(
    [error('state-unreachable', `the database of the state can't be reached: ${why} (${place})`, [], hint)],
    { cause },
  );
}

const CHECK =
  'check the URL (host, port, user, password, database and sslmode), and see the log of PostgreSQL';

/** What can be done about states of PostgreSQL. */
const cures: { readonly [code: string]: string } = {
  '28000':
    'check the user and the password in the URL, and what its pg_hba.conf says of this machine, this user and TLS',
  '3D000': 'make the database, or name another one in the URL',
  '53300': 'end some connections, or raise its max_connections',
  '55P03': 'see who is in pg_locks',
  '25006':
    'name the primary in the URL, or turn default_transaction_read_only off for this role and this database',
  '42501':
    'let its owner run: GRANT USAGE ON SCHEMA idops TO this role; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA idops TO this role',
};

/** What to look at where there is no connection. */
const looks: { readonly [look in NonNullable<ConnectionFailure['look']>]: string } = {
  authority:
    'name a file with its authority with ca_file of state.postgres; or write sslmode=disable in the URL where nobody else is on the way',
  'client-certificate': 'client_cert_file and client_key_file of state.postgres name one',
  clock: "is this machine's clock right?",
  host: 'is the host in the URL right, and does a firewall let it through?',
  network: 'is there a network, and is the host right?',
  port: 'does PostgreSQL run there, and is the port right?',
};

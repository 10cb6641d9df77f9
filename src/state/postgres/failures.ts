import { DatabaseError } from 'pg';
import { error, ProblemsError } from '../../base/problems.js';
import type { Target } from './settings.js';

/** What a failure stopped: coming to the database, reading from it, or writing. */
export type Doing = 'reach' | 'read' | 'write';

/** What happened, as a sentence goes on, and what can be done about it. */
interface Words {
  readonly why: string;
  readonly cure: string;
  /** Whether somebody has to change something before it can go better. */
  readonly final?: boolean;
  /** Whether it says something of the way to the database, whatever was done there. */
  readonly way?: boolean;
}

/** States of PostgreSQL after which the same may go well on a new connection: it was cut, or work of others was in the way. */
const passing = /^(?:08...|57P0[1235]|25P0[34]|40001|40P01)$/;
/** And after which it may once another server has taken over, or somebody has left. */
const changing = /^(?:25006|53300|55P03|57014)$/;

/** Whether a failure may pass if it is tried again on a new connection; `kept` says that a run depends on it. */
export function mayPass(failure: unknown, target: Target, kept: boolean): boolean {
  const code = codeOf(failure);
  if (isState(code)) return passing.test(code) || (kept && changing.test(code));
  return wordsOf(failure, target)?.final !== true;
}

/** Whether PostgreSQL itself said it, on a connection that may still be there. */
export function isOfDatabase(failure: unknown): boolean {
  return failure instanceof DatabaseError;
}

/** Whether a connection that was there said nothing more. */
export function isSilence(failure: unknown): boolean {
  return failure instanceof Error && failure.message === NO_ANSWER;
}

/** The problem of a failure of the driver, in words that show nothing of the URL. */
export function problemOf(failure: unknown, doing: Doing, target: Target): ProblemsError {
  if (failure instanceof ProblemsError) return failure;
  const words = wordsOf(failure, target);
  const why = words?.why ?? said(failure, target);
  const cure = words?.cure ?? 'see the log of PostgreSQL';
  if (doing === 'reach' || words?.way === true || !isState(codeOf(failure))) {
    const message = `the database of the state can't be reached: ${why} (${target.place})`;
    return new ProblemsError([error('state-unreachable', message, [], cure)], { cause: failure });
  }
  const [code, can] =
    doing === 'read' ? (['state-unreadable', 'read'] as const) : (['not-writable', 'written'] as const);
  return new ProblemsError([error(code, `the state ${target.place} can't be ${can}: ${why}`, [], cure)], {
    cause: failure,
  });
}

function codeOf(failure: unknown): string {
  return failure instanceof Error && 'code' in failure ? String(failure.code) : '';
}

/** Whether a code is one of PostgreSQL's, and not of the network or of TLS. */
function isState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code);
}

/** What the database or the driver says, without what nobody may see. */
function said(failure: unknown, { secrets }: Target): string {
  const message = failure instanceof Error ? failure.message : String(failure);
  const code = codeOf(failure);
  if (secrets.some((secret) => message.includes(secret))) return code === '' ? 'it failed' : code;
  return code === '' ? message : `${message} (${code})`;
}

function wordsOf(failure: unknown, target: Target): Words | undefined {
  const code = codeOf(failure);
  return states(target)[code] ?? network(target)[code] ?? certificateWords(code) ?? driverWords(failure);
}

const GRANT =
  'let its owner run: GRANT USAGE ON SCHEMA idops TO this role; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA idops TO this role';
const PASSWORD = 'check the user and the password in the URL';
const AGAIN = 'try again when it is up';
const IS_IT_UP = 'does PostgreSQL run there, and is the port right?';

function states({ database }: Target): { readonly [code: string]: Words } {
  const full = { why: 'it has no connection left', cure: 'end some, or raise its max_connections' };
  const down = { why: 'it is shutting down or was cut off', cure: AGAIN, way: true };
  return {
    '28P01': { why: 'the password was refused', cure: PASSWORD, final: true, way: true },
    '28000': {
      why: 'it does not let this user in from here',
      cure: `${PASSWORD}, and what its pg_hba.conf says of this machine, this user and TLS`,
      final: true,
      way: true,
    },
    '3D000': {
      why: `there is no database ${database}`,
      cure: 'make it, or name another one in the URL',
      final: true,
      way: true,
    },
    '53300': { ...full, way: true },
    '53100': { why: 'its disk is full', cure: 'make room there' },
    '57P01': down,
    '57P02': down,
    '57P03': { why: 'it is starting up or shutting down', cure: AGAIN, way: true },
    '57014': { why: 'it took too long', cure: 'see what it is busy with, and try again' },
    '55P03': { why: 'somebody else held what was needed for too long', cure: 'see who is in pg_locks' },
    '25006': {
      why: 'it takes no changes, as a standby does, or a role with default_transaction_read_only',
      cure: 'name the primary in the URL, or turn default_transaction_read_only off for this role and this database',
    },
    '42501': { why: 'this role may not do that', cure: GRANT },
    '42P01': { why: 'a table is gone', cure: 'find out who dropped tables of the schema idops' },
    '3F000': { why: 'the schema idops is gone', cure: 'find out who dropped it' },
  };
}

function network({ host, config }: Target): { readonly [code: string]: Words } {
  const route = { why: 'there is no route to it', cure: 'is there a network, and is the host right?' };
  return {
    ECONNREFUSED: {
      why: 'the connection was refused',
      cure: IS_IT_UP,
    },
    ENOTFOUND: { why: `the name ${host} does not resolve`, cure: 'is the host in the URL right?' },
    EAI_AGAIN: { why: `the name ${host} could not be looked up`, cure: 'is there a network?' },
    EHOSTUNREACH: route,
    ENETUNREACH: route,
    ENOENT: {
      why: `there is no socket of port ${config.port} in ${host}`,
      cure: IS_IT_UP,
    },
    EACCES: { why: 'this user may not use its socket', cure: 'mend the permissions of the socket' },
    ETIMEDOUT: {
      why: 'it did not answer in time',
      cure: 'is the host right, and does a firewall let it through?',
    },
    ECONNRESET: { why: 'the connection was cut', cure: IS_IT_UP },
    EPIPE: { why: 'the connection was cut', cure: IS_IT_UP },
  };
}

const trust =
  'name a file with its authority with ca_file of state.postgres, or with sslrootcert in the URL; or write sslmode=disable there where nobody else is on the way';

const certificates: { readonly [code: string]: readonly [why: string, cure: string] } = {
  DEPTH_ZERO_SELF_SIGNED_CERT: ['its certificate is self-signed', trust],
  SELF_SIGNED_CERT_IN_CHAIN: ['its certificate comes from an authority that is not trusted', trust],
  UNABLE_TO_GET_ISSUER_CERT: ['its certificate comes from an authority that is not known', trust],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ['its certificate comes from an authority that is not known', trust],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['its certificate comes from an authority that is not known', trust],
  CERT_SIGNATURE_FAILURE: ['its certificate is not signed by the authority that it names', trust],
  CERT_HAS_EXPIRED: ['its certificate has expired', 'let it be renewed'],
  CERT_NOT_YET_VALID: ['its certificate is not valid yet', "is this machine's clock right?"],
  ERR_TLS_CERT_ALTNAME_INVALID: ['its certificate is for another host name', 'is the host in the URL right?'],
};

function certificateWords(code: string): Words | undefined {
  const known = certificates[code];
  if (known !== undefined) return { why: `${known[0]} (${code})`, cure: known[1], final: true };
  if (/^(?:CERT_|ERR_TLS_CERT_)/.test(code))
    return { why: `its certificate is not accepted (${code})`, cure: trust, final: true };
  if (/^(?:ERR_OSSL_|ERR_SSL_|EPROTO$)/.test(code)) {
    const cure = 'do the certificate and its key belong together, are they PEM, and does it take them?';
    return { why: `TLS can't be agreed on (${code})`, cure, final: true };
  }
  return undefined;
}

/** The driver has no codes for these. */
function driverWords(failure: unknown): Words | undefined {
  const message = failure instanceof Error ? failure.message : '';
  if (message === 'The server does not support SSL connections') {
    const cure =
      'turn TLS on there, or write sslmode=disable in the URL where nobody else is on the way to it';
    return { why: 'it offers no TLS', cure, final: true };
  }
  if (message === 'There was an error establishing an SSL connection')
    return { why: 'it did not answer as PostgreSQL does', cure: 'is the port right?', final: true };
  if (message.startsWith('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password'))
    return { why: 'it wants a password, and the URL has none', cure: PASSWORD, final: true };
  if (message.startsWith('SASL: '))
    return { why: 'it could not prove that it knows the password', cure: PASSWORD, final: true };
  if (message === 'timeout expired' || isSilence(failure)) {
    const cure = 'is the host right, does a firewall let it through, and what is the database busy with?';
    return { why: 'it did not answer in time', cure };
  }
  // As it does while it is agreed on, where something else than PostgreSQL listens.
  if (message.startsWith('Connection terminated') || message.startsWith('Client has encountered'))
    return { why: 'the connection was cut', cure: IS_IT_UP };
  return undefined;
}

/** What a connection ends with that says nothing for too long. */
export const NO_ANSWER = 'no answer in time';

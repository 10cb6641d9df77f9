import { type ConnectionFailure, connectionFailure } from '../base/connection-failure.js';
import { internalsNote, showsInternals } from './messages.js';
import type { OperationName, Scope } from './operations.js';

// An import evaluates every export: 60 ms in Node 26, for its `WebSocket`.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** The prefix of codes of a proxy's failures: `proxy:ECONNREFUSED`, `proxy:407`. */
export const proxyPrefix = 'proxy:';

export const failureKinds = [
  'unauthorized',
  'forbidden',
  'not-found',
  'refused',
  'server-error',
  'redirect',
  'unreachable',
  'lost',
  'answer',
] as const;

/**
 * How a request failed.
 *
 * - `unauthorized`, `forbidden`, `not-found`: 401, 403, 404.
 * - `refused`: any other 4xx.
 * - `server-error`: 5xx.
 * - `redirect`: 3xx, which is never followed.
 * - `unreachable`: no attempt made a connection, so nothing was sent.
 * - `lost`: the connection broke or timed out after something may have been sent.
 * - `answer`: 2xx with a body that can't be used.
 */
export type FailureKind = (typeof failureKinds)[number];

/** A failed request. Texts are redacted and one line each. */
export interface FailureFacts {
  /** The class of the failure. */
  readonly kind: FailureKind;
  /** Null for undocumented reads. */
  readonly operation: OperationName | null;
  /** For messages: `show a user`. */
  readonly title: string;
  /** The HTTP method. */
  readonly method: 'GET' | 'PATCH' | 'POST' | 'DELETE';
  /** Below the base URL, percent-encoded, with its query. */
  readonly path: string;
  /** The scope that the operation needs. */
  readonly scope: Scope;
  /** Scheme, host and port of the server. */
  readonly origin: string;
  /** The status of the last attempt; null if there was no answer. */
  readonly status: number | null;
  /** The server's message, at most 500 characters. */
  readonly serverMessage: string | null;
  /** The number of attempts. */
  readonly attempts: number;
  /** Seconds that the server asked to wait. */
  readonly retryAfter: number | null;
  /** Whether an attempt may have reached the server. */
  readonly sent: boolean;
  /**
   * Why there was no usable answer: an error code such as `ECONNREFUSED`, or `timeout`, `too-large`, `encoded`, `empty`, `not-utf-8`,
   * `not-json`, `wrong-type`; null if the status says enough. Failures of a proxy begin with `proxy:`.
   */
  readonly reason: string | null;
  /** What is wrong in an answer, or its content type, or the target of a redirect. */
  readonly detail: string | null;
  /** The members of an error answer (`errors.resource` for a nested one), by which profiles are recognised. */
  readonly members?: readonly string[] | undefined;
  /** Seconds for one attempt. */
  readonly timeout: number;
  /** The proxy, without credentials. */
  readonly proxy?: string | undefined;
  /** Whether an earlier attempt may have succeeded. */
  readonly doubt?: boolean | undefined;
  /** Whether it was not retried because the run's limit for pauses is used up. */
  readonly outOfPatience?: boolean | undefined;
  /** Whether it was not retried because somebody changed the object meanwhile. */
  readonly changed?: boolean | undefined;
}

const FactsError = Error as unknown as new (message: string) => Error & FailureFacts;

/** A failed request. Callers use its fields; the message is for people. */
export class ServerFailure extends FactsError {
  /** Whether the request may have been carried out. */
  readonly open: boolean;

  constructor(facts: FailureFacts) {
    super(describe(facts));
    Object.assign(this, facts);
    this.name = 'ServerFailure';
    this.open = facts.doubt === true || leavesOpen(facts);
  }
}

/** The statuses that mean that a POST was not carried out. */
const refusalsOfPost: ReadonlySet<number> = new Set([400, 401, 403, 404, 422, 425, 429]);

/**
 * Whether a request may have been carried out. A PATCH or DELETE may be repeated, so any refusal counts; a POST may not, so only an
 * unambiguous refusal counts.
 */
export function leavesOpen({
  kind,
  method,
  status,
  sent,
}: Pick<FailureFacts, 'kind' | 'method' | 'status' | 'sent'>): boolean {
  if (!sent || method === 'GET') return false;
  if (method === 'POST') return status === null || !refusalsOfPost.has(status);
  return kind === 'lost' || kind === 'server-error' || kind === 'answer';
}

/** A write that was not sent or not repeated, since its observation expired. */
export class Expired extends Error {
  /** The failure of the last attempt, if any. */
  readonly failure: ServerFailure | undefined;

  constructor(failure: ServerFailure | undefined) {
    super('the observation that the request is built on has expired');
    this.name = 'Expired';
    this.failure = failure;
  }
}

/** A write that was not sent or not repeated, since its permit could not be confirmed; `cause` says why. */
export class Withheld extends Error {
  /** The failure of the last attempt, if any. */
  readonly failure: ServerFailure | undefined;

  constructor(failure: ServerFailure | undefined, cause: unknown) {
    super('the right to send the request could not be confirmed', { cause });
    this.name = 'Withheld';
    this.failure = failure;
  }
}

/** The kind of failure of a status other than 2xx. */
export function kindOfStatus(status: number): FailureKind {
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'forbidden';
  if (status === 404) return 'not-found';
  if (status >= 500) return 'server-error';
  return status >= 400 ? 'refused' : 'redirect';
}

/** The cause of a failed connection, to a proxy too; undefined for other reasons. */
export function faultOf(reason: string): ConnectionFailure['fault'] | undefined {
  return connectionFailure(proxyCode(reason) ?? reason)?.fault;
}

/** The code of a proxy's failure; undefined if it wasn't the proxy. */
function proxyCode(reason: string): string | undefined {
  return reason.startsWith(proxyPrefix) ? reason.slice(proxyPrefix.length) : undefined;
}

/** What to check if a connection failed. */
const hints: { readonly [look in NonNullable<ConnectionFailure['check']>]: string } = {
  authority: 'server.tls.ca_file can name a file with the authority',
  'client-certificate': 'server.tls.client_cert_file names one',
  clock: "is this machine's clock correct?",
  host: 'is the address correct?',
  network: 'is there a network?',
  port: 'is the server running, and is the port correct?',
};

function describe(facts: FailureFacts): string {
  const { title, method, path, attempts, outOfPatience, changed } = facts;
  const attemptsNote = attempts > 1 ? ` (after ${attempts} tries)` : '';
  const budgetNote = outOfPatience === true ? ' (not retried: this run has waited too long already)' : '';
  const changedNote = changed === true ? ' (not retried: somebody changed it meanwhile)' : '';
  return `${title}: ${method} ${path} ${sentence(facts)}${attemptsNote}${budgetNote}${changedNote}`;
}

/** Why an attempt failed, in a few words. */
export function shortReason({
  kind,
  status,
  reason,
}: Pick<FailureFacts, 'kind' | 'status'> & { readonly reason?: string | null }): string {
  if (status !== null) {
    const phrase = STATUS_CODES[status]?.toLowerCase();
    return `answered ${status}${phrase === undefined ? '' : ` (${phrase})`}`;
  }
  if (isTimeout(reason ?? '')) return 'no answer in time';
  return kind === 'unreachable' ? 'no connection' : 'connection lost';
}

function sentence(facts: FailureFacts): string {
  const { kind, status, serverMessage, scope, origin, reason, detail, retryAfter } = facts;
  if (kind === 'unreachable') return `got no connection to ${origin}: ${whyNotConnected(facts)}`;
  if (kind === 'lost') return whyLost(facts);
  if (kind === 'answer') {
    const said = serverMessage === null ? '' : `; it says: ${shownMessage(serverMessage)}`;
    return `answered ${status} with ${whyUnusable(reason, detail)}${said}`;
  }
  const said = serverMessage === null ? '' : `: ${shownMessage(serverMessage)}`;
  const answered = `${shortReason(facts)}${said}`;
  switch (kind) {
    case 'unauthorized':
      return `${continueSentence(answered, "check that the token is correct and hasn't expired.")} It needs the scope ${scope}${detail === null ? '' : ` (${detail})`}`;
    case 'forbidden':
      return continueSentence(answered, `it needs the scope ${scope}`);
    case 'redirect':
      return `${answered}, a redirect${detail === null ? '' : ` to ${detail}`} that is not followed; is base_url correct?`;
    default:
      return retryAfter === null
        ? answered
        : continueSentence(answered, `the server asks to wait ${retryAfter} s`);
  }
}

/** The server's message, unless it is raw internals. */
function shownMessage(message: string): string {
  return showsInternals(message) ? internalsNote : message;
}

/** Continues a sentence, or starts a new one if the server's message ended it. */
function continueSentence(said: string, more: string): string {
  if (!/[.!?]$/.test(said)) return `${said}; ${more}`;
  return `${said} ${more.charAt(0).toUpperCase()}${more.slice(1)}`;
}

/** Why there is no connection, to continue a sentence. */
export function whyNotConnected(facts: Pick<FailureFacts, 'reason' | 'timeout' | 'proxy'>): string {
  const reason = facts.reason ?? '';
  const code = proxyCode(reason);
  if (code === undefined) return whyUnreachable(facts.timeout, reason);
  const proxy = facts.proxy ?? 'the proxy';
  if (code === '407') return `the proxy ${proxy} requires a user name and a password (407)`;
  if (/^\d{3}$/.test(code)) return `the proxy ${proxy} refuses to connect to it (${code})`;
  return `there is no connection to the proxy ${proxy}: ${whyUnreachable(facts.timeout, code)}`;
}

function whyUnreachable(timeout: number, code: string): string {
  if (isTimeout(code)) return `it did not answer within ${timeout} s`;
  const found = connectionFailure(code);
  if (found === undefined) return code;
  return `${found.why} (${code})${found.check === undefined ? '' : `; ${hints[found.check]}`}`;
}

function whyLost({ method, reason, timeout }: FailureFacts): string {
  const code = reason ?? '';
  const doubt = method === 'GET' ? '' : '; outcome unknown';
  if (isTimeout(code)) return `got no answer within ${timeout} s${doubt}`;
  if (faultOf(code) === 'tls') return `lost its connection: ${whyUnreachable(timeout, code)}${doubt}`;
  if (code.startsWith('HPE_'))
    return `got an answer that is not HTTP (${code}); is base_url correct?${doubt}`;
  return `lost its connection before the answer (${code})${doubt}`;
}

function whyUnusable(reason: string | null, detail: string | null): string {
  switch (reason) {
    case 'empty':
      return 'no body';
    case 'not-json':
      return `a body that is not JSON${detail === null ? '' : ` (${detail})`}; is base_url correct?`;
    case 'not-utf-8':
      return 'text that is not UTF-8';
    case 'encoded':
      return `a body with the encoding ${detail}, though idops accepts none`;
    case 'too-large':
      return 'too large a body';
    case 'wrong-type':
      return `an unexpected body: ${detail}`;
    case 'other-object':
      return `another object than the one asked for: ${detail}`;
    default:
      return `an incomplete body (${reason})`;
  }
}

function isTimeout(code: string): boolean {
  return code === 'timeout' || code === 'ETIMEDOUT';
}

import { STATUS_CODES } from 'node:http';
import { type ConnectionFailure, connectionFailure } from '../base/connection-failure.js';
import { isRaw, rawInstead } from './messages.js';
import type { OperationName, Scope } from './operations.js';

/** A failure between this machine and its proxy has this before its code: `proxy:ECONNREFUSED`, `proxy:407`. */
export const proxyMark = 'proxy:';

/** Every kind of failure, as `FailureKind` explains them. */
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
 * What became of a request that failed.
 *
 * - `unauthorized`, `forbidden`, `not-found`: 401, 403, 404.
 * - `refused`: any other 4xx.
 * - `server-error`: 5xx.
 * - `redirect`: 3xx, which is never followed.
 * - `unreachable`: no try made a connection, so nothing was sent.
 * - `lost`: the connection broke or the time was up after something may have been sent.
 * - `answer`: 2xx with a body that can't be used.
 */
export type FailureKind = (typeof failureKinds)[number];

/** What is known of a request that failed. Texts in it are redacted, and one line each. */
export interface FailureFacts {
  /** What kind of failure it is. */
  readonly kind: FailureKind;
  /** Null for a read that the document doesn't have. */
  readonly operation: OperationName | null;
  /** What was to be done, as a sentence names it. */
  readonly title: string;
  /** The method of the request. */
  readonly method: 'GET' | 'PATCH' | 'POST' | 'DELETE';
  /** Below the base URL, percent-encoded, with its query. */
  readonly path: string;
  /** The scope that the operation requires. */
  readonly scope: Scope;
  /** The scheme, host and port that it went to. */
  readonly origin: string;
  /** The status of the last try; null where it got none. */
  readonly status: number | null;
  /** The server's own words, 500 characters at most; null where it had none. */
  readonly serverMessage: string | null;
  /** How many tries there were. */
  readonly attempts: number;
  /** Seconds that the server asked to wait; null where it didn't. */
  readonly retryAfter: number | null;
  /** Whether any try may have reached the server. */
  readonly sent: boolean;
  /**
   * Why there was no usable answer: an error code such as `ECONNREFUSED`, or `timeout`, `too-large`,
   * `empty`, `not-utf-8`, `not-json`, `wrong-type`; null where the status says it all. What the proxy on the way
   * did begins with `proxy:`.
   */
  readonly reason: string | null;
  /** More about it: what is wrong in an answer, its content type, or where a redirect leads. */
  readonly detail: string | null;
  /** The members of an error answer, `errors.resource` for one inside another: what kind of server it is shows there. */
  readonly members?: readonly string[] | undefined;
  /** Seconds that a try may take. */
  readonly timeout: number;
  /** The proxy on the way, where there is one. */
  readonly proxy?: string | undefined;
  /** Whether an earlier try may have been carried out, whatever the last one came to. */
  readonly doubt?: boolean | undefined;
  /** Whether there was no further try since the run has waited long enough. */
  readonly outOfPatience?: boolean | undefined;
  /** Whether there was no further try since somebody else has changed the object meanwhile. */
  readonly changed?: boolean | undefined;
}

/** An error that has all facts as its own fields. */
const FactsError = Error as unknown as new (message: string) => Error & FailureFacts;

/** A request that failed. All that a caller decides by is in its fields; the message is for people. */
export class ServerFailure extends FactsError {
  /** Whether the request may have been carried out although no answer says so. */
  readonly open: boolean;

  constructor(facts: FailureFacts) {
    super(describe(facts));
    Object.assign(this, facts);
    this.name = 'ServerFailure';
    this.open = facts.doubt === true || leavesOpen(facts);
  }
}

/** The statuses that say of a POST that it wasn't carried out; any other may come from a server that did it. */
const refusalsOfPost: ReadonlySet<number> = new Set([400, 401, 403, 404, 422, 425, 429]);

/**
 * Whether a request may have been carried out although its answer doesn't say so. A PATCH or DELETE may be sent once
 * more, so that any refusal counts as one; a POST may not, so that only an answer that surely is one does.
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

/** A write that was not sent, or not once more: what it is built on has been read too long ago by now. */
export class Expired extends Error {
  /** What the last try met; undefined where there was none. */
  readonly failure: ServerFailure | undefined;

  constructor(failure: ServerFailure | undefined) {
    super('what the request is built on has been read too long ago');
    this.name = 'Expired';
    this.failure = failure;
  }
}

/** A write that was not sent, or not once more: the right to send it could not be confirmed. `cause` says why. */
export class Withheld extends Error {
  /** What the last try met; undefined where there was none. */
  readonly failure: ServerFailure | undefined;

  constructor(failure: ServerFailure | undefined, cause: unknown) {
    super('the right to send the request could not be confirmed', { cause });
    this.name = 'Withheld';
    this.failure = failure;
  }
}

/** The kind of failure that a status other than 2xx stands for. */
export function kindOfStatus(status: number): FailureKind {
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'forbidden';
  if (status === 404) return 'not-found';
  if (status >= 500) return 'server-error';
  return status >= 400 ? 'refused' : 'redirect';
}

/** What fails where there is no connection, on the way to a proxy too; undefined where a reason doesn't say that. */
export function faultOf(reason: string): ConnectionFailure['fault'] | undefined {
  return connectionFailure(atProxy(reason) ?? reason)?.fault;
}

/** The code of what the proxy on the way did; undefined where it wasn't the proxy. */
function atProxy(reason: string): string | undefined {
  return reason.startsWith(proxyMark) ? reason.slice(proxyMark.length) : undefined;
}

/** What to look at where there is no connection. */
const looks: { readonly [look in NonNullable<ConnectionFailure['look']>]: string } = {
  authority: 'server.tls.ca_file can name a file with the authority',
  'client-certificate': 'server.tls.client_cert_file names one',
  clock: "is this machine's clock right?",
  host: 'is the address right?',
  network: 'is there a network?',
  port: 'does the server run, and is the port right?',
};

function describe(facts: FailureFacts): string {
  const { title, method, path, attempts, outOfPatience, changed } = facts;
  const tries = attempts > 1 ? ` (after ${attempts} tries)` : '';
  const patience =
    outOfPatience === true ? ' (no other try: this run has waited long enough for others)' : '';
  const other = changed === true ? ' (no other try: somebody has changed it meanwhile)' : '';
  return `${title}: ${method} ${path} ${sentence(facts)}${tries}${patience}${other}`;
}

/** Why a try came to nothing, in a few words of ours. */
export function briefly({
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
  const phrase = status === null ? undefined : STATUS_CODES[status]?.toLowerCase();
  const said = serverMessage === null ? '' : `: ${shownMessage(serverMessage)}`;
  const answered = `answered ${status}${phrase === undefined ? '' : ` (${phrase})`}${said}`;
  switch (kind) {
    case 'unauthorized':
      return `${then(answered, 'is the token right and still valid?')} It needs the scope ${scope}${detail === null ? '' : ` (${detail})`}`;
    case 'forbidden':
      return then(answered, `it needs the scope ${scope}`);
    case 'redirect':
      return `${answered}, a redirect${detail === null ? '' : ` to ${detail}`} that is not followed; is base_url right?`;
    default:
      return retryAfter === null ? answered : then(answered, `the server asks to wait ${retryAfter} s`);
  }
}

/** The server's own words, where they are words. */
function shownMessage(message: string): string {
  return isRaw(message) ? rawInstead : message;
}

/** Goes on in the same sentence, or in one of its own where the server's words have ended theirs. */
function then(said: string, more: string): string {
  if (!/[.!?]$/.test(said)) return `${said}; ${more}`;
  return `${said} ${more.charAt(0).toUpperCase()}${more.slice(1)}`;
}

/** Why no connection was made, as a sentence goes on. */
export function whyNotConnected(facts: Pick<FailureFacts, 'reason' | 'timeout' | 'proxy'>): string {
  const reason = facts.reason ?? '';
  const code = atProxy(reason);
  if (code === undefined) return whyUnreachable(facts.timeout, reason);
  const proxy = facts.proxy ?? 'the proxy';
  if (code === '407') return `the proxy ${proxy} wants a user name and a password (407)`;
  if (/^\d{3}$/.test(code)) return `the proxy ${proxy} refuses to connect to it (${code})`;
  return `there is no connection to the proxy ${proxy}: ${whyUnreachable(facts.timeout, code)}`;
}

function whyUnreachable(timeout: number, code: string): string {
  if (isTimeout(code)) return `it did not answer within ${timeout} s`;
  const found = connectionFailure(code);
  if (found === undefined) return code;
  return `${found.why} (${code})${found.look === undefined ? '' : `; ${looks[found.look]}`}`;
}

function whyLost({ method, reason, timeout }: FailureFacts): string {
  const code = reason ?? '';
  const doubt = method === 'GET' ? '' : '; whether it was done is not known';
  if (isTimeout(code)) return `got no answer within ${timeout} s${doubt}`;
  if (faultOf(code) === 'tls') return `lost its connection: ${whyUnreachable(timeout, code)}${doubt}`;
  if (code.startsWith('HPE_')) return `got an answer that is not HTTP (${code}); is base_url right?${doubt}`;
  return `lost its connection before there was an answer (${code})${doubt}`;
}

function whyUnusable(reason: string | null, detail: string | null): string {
  switch (reason) {
    case 'empty':
      return 'no body';
    case 'not-json':
      return `something that is not JSON${detail === null ? '' : ` (${detail})`}; is base_url right?`;
    case 'not-utf-8':
      return 'text that is not UTF-8';
    case 'too-large':
      return 'more than an answer may hold';
    case 'wrong-type':
      return `something else than expected: ${detail}`;
    case 'other-object':
      return `another object than the one asked for: ${detail}`;
    default:
      return `an incomplete body (${reason})`;
  }
}

function isTimeout(code: string): boolean {
  return code === 'timeout' || code === 'ETIMEDOUT';
}

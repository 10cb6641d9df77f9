import { STATUS_CODES } from 'node:http';
import type { OperationName, Scope } from './operations.js';

/**
 * - `unauthorized`, `forbidden`, `not-found`: 401, 403, 404.
 * - `refused`: any other 4xx.
 * - `server-error`: 5xx.
 * - `redirect`: 3xx, which is never followed.
 * - `unreachable`: no try made a connection, so nothing was sent.
 * - `lost`: the connection broke or the time was up after something may have been sent.
 * - `answer`: 2xx with a body that can't be used.
 */
export type FailureKind =
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'refused'
  | 'server-error'
  | 'redirect'
  | 'unreachable'
  | 'lost'
  | 'answer';

/** What is known of a request that failed. Texts in it are redacted, and one line each. */
export interface FailureFacts {
  readonly kind: FailureKind;
  /** Null for a read that the document doesn't have. */
  readonly operation: OperationName | null;
  /** What was to be done, as a sentence names it. */
  readonly title: string;
  readonly method: 'GET' | 'PATCH' | 'POST' | 'DELETE';
  /** Below the base URL, percent-encoded, with its query. */
  readonly path: string;
  /** The scope that the operation requires. */
  readonly scope: Scope;
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
   * `empty`, `not-utf-8`, `not-json`, `wrong-type`; null where the status says it all.
   */
  readonly reason: string | null;
  /** More about it: what is wrong in an answer, its content type, or where a redirect leads. */
  readonly detail: string | null;
  /** Seconds that a try may take. */
  readonly timeout: number;
}

/** A request that failed. All that a caller decides by is in its fields; the message is for people. */
export class ServerFailure extends Error implements FailureFacts {
  readonly kind: FailureKind;
  readonly operation: OperationName | null;
  readonly title: string;
  readonly method: FailureFacts['method'];
  readonly path: string;
  readonly scope: Scope;
  readonly origin: string;
  readonly status: number | null;
  readonly serverMessage: string | null;
  readonly attempts: number;
  readonly retryAfter: number | null;
  readonly sent: boolean;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly timeout: number;

  constructor(facts: FailureFacts) {
    super(describe(facts));
    this.name = 'ServerFailure';
    this.kind = facts.kind;
    this.operation = facts.operation;
    this.title = facts.title;
    this.method = facts.method;
    this.path = facts.path;
    this.scope = facts.scope;
    this.origin = facts.origin;
    this.status = facts.status;
    this.serverMessage = facts.serverMessage;
    this.attempts = facts.attempts;
    this.retryAfter = facts.retryAfter;
    this.sent = facts.sent;
    this.reason = facts.reason;
    this.detail = facts.detail;
    this.timeout = facts.timeout;
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

/** Whether trying again can't help before a person changes something: the certificate is not accepted. */
export function isCertificateCode(code: string): boolean {
  return (
    Object.hasOwn(certificateSentences, code) || code.startsWith('CERT_') || code.startsWith('ERR_TLS_CERT_')
  );
}

const certificateSentences: { readonly [code: string]: string } = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from an authority that this machine does not trust',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate comes from an authority that this machine does not know',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'its certificate comes from an authority that this machine does not know',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate comes from an authority that this machine does not know, or the server leaves out an intermediate certificate',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  CERT_REVOKED: 'its certificate was revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
};

const addTrust = 'NODE_EXTRA_CA_CERTS can name a file with a further authority';
const certificateHints: { readonly [code: string]: string } = {
  DEPTH_ZERO_SELF_SIGNED_CERT: addTrust,
  SELF_SIGNED_CERT_IN_CHAIN: addTrust,
  UNABLE_TO_GET_ISSUER_CERT: addTrust,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: addTrust,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: addTrust,
  CERT_NOT_YET_VALID: "is this machine's clock right?",
  ERR_TLS_CERT_ALTNAME_INVALID: 'is base_url right?',
};

function describe(facts: FailureFacts): string {
  const { title, method, path, attempts } = facts;
  const tries = attempts > 1 ? ` (after ${attempts} tries)` : '';
  return `${title}: ${method} ${path} ${sentence(facts)}${tries}`;
}

function sentence(facts: FailureFacts): string {
  const { kind, status, serverMessage, scope, origin, reason, detail, retryAfter } = facts;
  if (kind === 'unreachable') return `got no connection to ${origin}: ${whyUnreachable(facts)}`;
  if (kind === 'lost') return whyLost(facts);
  if (kind === 'answer') return `answered ${status} with ${whyUnusable(reason, detail)}`;
  const phrase = status === null ? undefined : STATUS_CODES[status]?.toLowerCase();
  const said = serverMessage === null ? '' : `: ${serverMessage}`;
  const answered = `answered ${status}${phrase === undefined ? '' : ` (${phrase})`}${said}`;
  switch (kind) {
    case 'unauthorized':
      return `${answered}; is the token right and still valid? It needs the scope ${scope}`;
    case 'forbidden':
      return `${answered}; it needs the scope ${scope}`;
    case 'redirect':
      return `${answered}, a redirect${detail === null ? '' : ` to ${detail}`} that is not followed; is base_url right?`;
    default:
      return retryAfter === null ? answered : `${answered}; the server asks to wait ${retryAfter} s`;
  }
}

function whyUnreachable({ origin, reason, timeout }: FailureFacts): string {
  const code = reason ?? '';
  const certificate = certificateSentences[code];
  if (certificate !== undefined) {
    const hint = certificateHints[code];
    return `${certificate} (${code})${hint === undefined ? '' : `; ${hint}`}`;
  }
  if (isCertificateCode(code)) return `its certificate is not accepted (${code})`;
  if (isTimeout(code)) return `it did not answer within ${timeout} s`;
  switch (code) {
    case 'ECONNREFUSED':
      return 'the connection was refused; does the server run, and is the port right?';
    case 'ENOTFOUND':
      return `the name ${hostOf(origin)} does not resolve; is base_url right?`;
    case 'EAI_AGAIN':
      return `the name ${hostOf(origin)} could not be looked up; is there a network?`;
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `there is no route to it (${code})`;
    case 'ECONNRESET':
    case 'EPIPE':
      return `it closed the connection before it was established (${code})`;
    default:
      return code === 'EPROTO' || code.startsWith('ERR_SSL_')
        ? `no TLS connection could be agreed on (${code}); does this port speak https?`
        : code;
  }
}

function whyLost({ method, reason, timeout }: FailureFacts): string {
  const code = reason ?? '';
  const doubt = method === 'GET' ? '' : '; whether it was done is not known';
  if (isTimeout(code)) return `got no answer within ${timeout} s${doubt}`;
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
    default:
      return `an incomplete body (${reason})`;
  }
}

function isTimeout(code: string): boolean {
  return code === 'timeout' || code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT';
}

function hostOf(origin: string): string {
  return new URL(origin).hostname;
}

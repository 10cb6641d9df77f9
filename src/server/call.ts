import type { Retrying } from '../base/progress.js';
import type { Json } from '../base/values.js';
import type { OnSecret } from '../secrets/redactor.js';
import type { Parser } from './answers.js';
import type { BaseUrl } from './base-url.js';
import type { TlsSettings } from './connections.js';
import type { Credentials } from './credentials.js';
import type { Permit } from './exchange.js';
import type { FailureFacts } from './failures.js';
import type { OperationName, Scope } from './operations.js';
import type { ProxyServer } from './proxy.js';
import type { Delay, RetryBudget } from './retry.js';

/** The answer to a successful request. */
export interface Answer<T> {
  readonly status: number;
  readonly attempts: number;
  readonly data: T;
}

/** The result of a read before a retry: the request was done, it wasn't, or somebody changed the object. */
export type Confirmation<T> = { readonly done: T } | 'not-done' | 'changed';

/** One request with all its attempts. */
export interface Call<T> {
  /** Null for undocumented reads. */
  readonly operation: OperationName | null;
  readonly title: string;
  readonly method: FailureFacts['method'];
  /** Below the base URL, percent-encoded, with its query. */
  readonly path: string;
  readonly scope: Scope;
  readonly body?: Json;
  readonly parse: Parser<T>;
  /** The value for a 404; by default a 404 is a failure. */
  readonly whenMissing?: T;
  /** The statuses that mean `whenMissing`; by default 404. */
  readonly missingStatuses?: readonly number[];
  /** Further statuses that are retried. */
  readonly transientStatuses?: readonly number[];
  /** The value for a 204, which has no body; by default it is a failure. */
  readonly whenEmpty?: T;
  /** Called before a retry, to find the outcome of the earlier attempt. */
  readonly confirm?: () => Promise<Confirmation<T>>;
  /** Called right before sending: if false, nothing is sent and the call throws. */
  readonly isWanted?: (() => boolean) | undefined;
  /** The time of `performance.now()` at which its observation expires. */
  readonly freshUntil?: number | undefined;
  /** The number of earlier attempts, if the same body must not be sent again. */
  readonly earlierAttempts?: number | undefined;
  /** Required for writes. */
  readonly permit?: Permit | undefined;
}

/** One attempt of a request, without headers and bodies. */
export interface AttemptInfo {
  /** Null for undocumented reads and tokens. */
  readonly operation: OperationName | null;
  readonly method: string;
  readonly path: string;
  /** Null if there was no answer. */
  readonly status: number | null;
  /** Why there was no complete answer. */
  readonly reason: string | null;
  readonly milliseconds: number;
  /** Counted from 1. */
  readonly attempt: number;
  /** The server's message if it is raw internals, which other messages hide; redacted. */
  readonly raw?: string;
}

export interface NetworkOptions {
  /** Maximum of requests in flight. */
  readonly concurrency: number;
  /** Maximum of requests a second; no limit by default. */
  readonly rate?: number | undefined;
  /** Maximum of retries, by default 3. */
  readonly retries?: number | undefined;
  /** Seconds for one attempt, from connecting to the last byte of the answer. */
  readonly timeout: number;
  readonly tls?: TlsSettings;
  readonly proxy?: ProxyServer | null;
  /** Redacts the server's text for messages. */
  readonly redact: (text: string) => string;
  /** Called with the secrets of answers, before anything else uses them. */
  readonly onSecret: OnSecret;
  /** Called after each attempt. */
  readonly onAttempt?: (made: AttemptInfo) => void;
  /** Called before a retry and its pause. */
  readonly onRetry?: (again: Retrying) => void;
  /** If aborted, requests in flight finish and nothing is retried. */
  readonly signal: AbortSignal;
  readonly maxAnswerBytes?: number;
  /** The limit of all pauses of a run, shared by all requests. */
  readonly patience?: RetryBudget;
  readonly delay?: Delay;
  readonly random?: () => number;
}

export interface TransportOptions extends NetworkOptions {
  readonly baseUrl: BaseUrl;
  readonly credentials: Credentials;
}

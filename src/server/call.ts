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
import type { Delay, Patience } from './retry.js';

/** What a server said to a request that it carried out. */
export interface Answer<T> {
  readonly status: number;
  /** How many tries it took. */
  readonly attempts: number;
  readonly data: T;
}

/** What was found before a request is sent again: its answer, nothing, or what somebody else has done since. */
export type Confirmed<T> = { readonly done: T } | 'not-done' | 'changed';

/** One request, whatever number of tries it takes. */
export interface Call<T> {
  /** Null for a read that the document doesn't have. */
  readonly operation: OperationName | null;
  readonly title: string;
  readonly method: FailureFacts['method'];
  /** Below the base URL, percent-encoded, with its query. */
  readonly path: string;
  readonly scope: Scope;
  readonly body?: Json;
  readonly parse: Parser<T>;
  /** What a 404 means; without it, a 404 is a failure. */
  readonly whenMissing?: T;
  /** The statuses that say so; 404 alone where they aren't given. */
  readonly missing?: readonly number[];
  /** Asked before it is sent again: what came of an earlier try after all. */
  readonly confirm?: () => Promise<Confirmed<T>>;
  /** Asked when its turn comes: where it says false, the request isn't sent, and its call throws. */
  readonly wanted?: (() => boolean) | undefined;
  /** When what it is built on is too old to be sent; a time of `performance.now()`. */
  readonly freshUntil?: number | undefined;
  /** The number of earlier tries, if the same body must not be sent again. */
  readonly tried?: number | undefined;
  /** What every try needs to leave; reads need none. */
  readonly permit?: Permit | undefined;
}

/** One try of a request, for the log of `--debug`: neither headers nor bodies. */
export interface Try {
  /** Null for what the document doesn't have: other reads, and tokens. */
  readonly operation: OperationName | null;
  readonly method: string;
  readonly path: string;
  /** Null where there was no answer. */
  readonly status: number | null;
  /** Why there was no answer, or no whole one. */
  readonly reason: string | null;
  readonly milliseconds: number;
  /** Counted from 1. */
  readonly attempt: number;
  /** What the server said, where it is raw internals that no message shows; redacted. */
  readonly raw?: string;
}

/** How requests are sent: everything but whom they go to. */
export interface NetworkOptions {
  /** How many requests may be under way at once; the others wait for their turn. */
  readonly concurrency: number;
  /** How many requests may be started in a second; any number where it isn't given. */
  readonly rate?: number;
  /** How many times a request is repeated at most, where another try may help; 3 where it isn't given. */
  readonly retries?: number;
  /** Seconds that one try may take, from connecting to the last byte of the answer. */
  readonly timeout: number;
  readonly tls?: TlsSettings;
  readonly proxy?: ProxyServer | null;
  /** Takes secrets out of what the server says, before it goes into a message. */
  readonly redact: (text: string) => string;
  /** Told the secrets that answers hold, before anything else is done with them. */
  readonly onSecret?: OnSecret;
  /** Told of each try, when it is over. */
  readonly onTry?: (made: Try) => void;
  /** Told before a request is sent again, and before what is waited for it. */
  readonly onRetry?: (again: Retrying) => void;
  /** When it aborts, failed tries are not repeated; what is under way is finished. */
  readonly signal: AbortSignal;
  /** The version of idops, for the server's logs. */
  readonly version: string;
  /** Bytes that an answer may have. */
  readonly maxAnswerBytes?: number;
  /** How long the run waits for other tries; shared where several things wait in one run. */
  readonly patience?: Patience;
  /** Waits that many seconds, or less when the signal aborts. */
  readonly delay?: Delay;
  /** A number from 0 up to, not including, 1. */
  readonly random?: () => number;
}

export interface TransportOptions extends NetworkOptions {
  readonly baseUrl: BaseUrl;
  readonly credentials: Credentials;
}

import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { assign } from '../base/values.js';

/** The outcome of one attempt. */
export type ExchangeOutcome =
  | {
      readonly status: number;
      readonly headers: AnswerHeaders;
      readonly body: Buffer;
      /** Why the body is incomplete: `timeout`, `too-large` or an error code; null if it is complete. */
      readonly incompleteReason: string | null;
    }
  | {
      readonly status: null;
      /** Whether anything may have reached the server; false without a connection. */
      readonly sent: boolean;
      /** `timeout`, `withheld` or an error code. */
      readonly reason: string;
    };

export interface ExchangeLimits {
  /** Seconds for the whole exchange. */
  readonly timeout: number;
  /** Maximum size of the answer's body. */
  readonly maxBytes: number;
  /** Must hold when the request is sent; otherwise nothing is sent, and the reason is `withheld`. */
  readonly permit?: Pick<Permit, 'holds'> | undefined;
}

const misuseCodes = ['UND_ERR_INVALID_ARG', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED'];
const maxTimer = 2 ** 31 - 1;

/**
 * Sends a request once and collects the answer. Connection failures are outcomes; only a misuse of undici is thrown.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: ExchangeLimits,
): Promise<ExchangeOutcome> {
  return new Promise((resolve, reject) => {
    new Exchange(resolve, reject, limits).start(dispatcher, request);
  });
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #resolve: (outcome: ExchangeOutcome) => void;
  readonly #reject: (error: Error) => void;
  readonly #limits: ExchangeLimits;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #head: { status: number; headers: AnswerHeaders } | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(
    resolve: (outcome: ExchangeOutcome) => void,
    reject: (error: Error) => void,
    limits: ExchangeLimits,
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#limits = limits;
    this.#timer = setTimeout(() => this.#giveUp('timeout'), Math.min(limits.timeout * 1000, maxTimer));
  }

  start(dispatcher: Dispatcher, request: Dispatcher.DispatchOptions): void {
    // One timer covers the whole request; those of undici count from the last byte.
    dispatcher.dispatch(assign(request, { headersTimeout: 0, bodyTimeout: 0 }), this);
  }

  /** Called right before undici writes to a connection: from here on the request may have been sent. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Never send twice, nor after the timeout.
    if (this.#settled || this.#controller !== undefined) {
      controller.abort(new Error('the request is over'));
      return;
    }
    if (this.#limits.permit?.holds() === false) {
      this.#settle('withheld');
      controller.abort(new Error('withheld'));
      return;
    }
    this.#controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status >= 200) this.#head = { status, headers: answerHeaders(headers) };
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#limits.maxBytes) this.#giveUp('too-large');
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#settle(null);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const code = codeOf(error);
    if (misuseCodes.includes(code) && this.#finish()) this.#reject(error);
    // Undici's timeout for connecting may fire first.
    else this.#settle(code === 'UND_ERR_CONNECT_TIMEOUT' ? 'timeout' : code);
  }

  #giveUp(reason: string): void {
    this.#settle(reason);
    this.#controller?.abort(new Error(reason));
  }

  #settle(problem: string | null): void {
    if (!this.#finish()) return;
    if (this.#head !== undefined) {
      this.#resolve(assign(this.#head, { body: Buffer.concat(this.#chunks), incompleteReason: problem }));
    } else {
      const sent = this.#controller !== undefined;
      this.#resolve({ status: null, sent, reason: problem ?? 'no answer' });
    }
  }

  #finish(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    clearTimeout(this.#timer);
    return true;
  }
}

/** The code of a network failure. */
export function codeOf(failure: unknown): string {
  if (!(failure instanceof Error)) return 'unknown error';
  return 'code' in failure && typeof failure.code === 'string' ? failure.code : failure.name;
}

export function statusAndReason(outcome: ExchangeOutcome) {
  return {
    status: outcome.status,
    reason: outcome.status === null ? outcome.reason : outcome.incompleteReason,
  };
}

/** All values of each header, by lower-case name. */
export type AnswerHeaders = ReadonlyMap<string, readonly string[]>;

function answerHeaders(headers: IncomingHttpHeaders): AnswerHeaders {
  return new Map(
    Object.entries(headers).map(([name, value = []]) => [name, typeof value === 'string' ? [value] : value]),
  );
}

/** The first value of a header, since a gateway may add another. */
export function firstHeader(headers: AnswerHeaders, name: string): string | undefined {
  return headers.get(name)?.[0];
}

/** The right to write, which may be lost at any time. */
export interface Permit {
  /** Throws if it is lost or can't be confirmed. */
  confirm(): Promise<void>;
  /** Whether it still holds, without confirming it. */
  holds(): boolean;
}

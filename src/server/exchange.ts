import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, errors } from 'undici';
import { assign } from '../base/values.js';

/** What one try of a request came to. */
export type Exchanged =
  | {
      readonly status: number;
      readonly headers: AnswerHeaders;
      readonly body: Buffer;
      /** Why the body is not whole: `timeout`, `too-large` or an error code; null where it is. */
      readonly broken: string | null;
    }
  | {
      readonly status: null;
      /** Whether anything may have reached the server; false where no connection was made. */
      readonly sent: boolean;
      /** `timeout`, `withheld` or an error code. */
      readonly reason: string;
    };

export interface ExchangeLimits {
  /** Seconds that everything together may take. */
  readonly timeout: number;
  /** Bytes that the body of the answer may have. */
  readonly maxBytes: number;
  /** Has to hold at the moment when the request leaves; otherwise the reason is `withheld`. */
  readonly permit?: Pick<Permit, 'holds'> | undefined;
}

const maxTimer = 2 ** 31 - 1;

/**
 * Sends a request once and collects the answer. Whatever goes wrong with the connection is an outcome; only a
 * mistake in using undici is thrown.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: ExchangeLimits,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    new Exchange(resolve, reject, limits).start(dispatcher, request);
  });
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #resolve: (outcome: Exchanged) => void;
  readonly #reject: (error: Error) => void;
  readonly #limits: ExchangeLimits;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #head: { status: number; headers: AnswerHeaders } | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(resolve: (outcome: Exchanged) => void, reject: (error: Error) => void, limits: ExchangeLimits) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#limits = limits;
    this.#timer = setTimeout(() => this.#giveUp('timeout'), Math.min(limits.timeout * 1000, maxTimer));
  }

  start(dispatcher: Dispatcher, request: Dispatcher.DispatchOptions): void {
    // The one timer is over the whole request; undici's own would count from the last byte.
    dispatcher.dispatch(assign(request, { headersTimeout: 0, bodyTimeout: 0 }), this);
  }

  /**
   * Undici calls this when there is a connection, just before it writes to it: the line between what has
   * surely not been sent and what may have been.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A second start would be a second sending, and one after the time was up a sending that nobody waits for.
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
    const misuse =
      error instanceof errors.InvalidArgumentError ||
      error instanceof errors.ClientDestroyedError ||
      error instanceof errors.ClientClosedError;
    if (misuse && this.#finish()) this.#reject(error);
    // Undici's clock for connecting, which runs as long, may be the first.
    else this.#settle(error instanceof errors.ConnectTimeoutError ? 'timeout' : codeOf(error));
  }

  #giveUp(reason: string): void {
    this.#settle(reason);
    this.#controller?.abort(new Error(reason));
  }

  #settle(problem: string | null): void {
    if (!this.#finish()) return;
    if (this.#head !== undefined) {
      this.#resolve(assign(this.#head, { body: Buffer.concat(this.#chunks), broken: problem }));
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

/** What names a failure of the network. */
export function codeOf(failure: unknown): string {
  if (!(failure instanceof Error)) return 'unknown error';
  return 'code' in failure && typeof failure.code === 'string' ? failure.code : failure.name;
}

/** What a log says of an outcome. */
export function triedOf(outcome: Exchanged): {
  readonly status: number | null;
  readonly reason: string | null;
} {
  return { status: outcome.status, reason: outcome.status === null ? outcome.reason : outcome.broken };
}

/** The headers of an answer by their names in small letters; one that was sent several times has several values. */
export type AnswerHeaders = ReadonlyMap<string, readonly string[]>;

/** Takes over what undici gives, which is one text or, where a header was repeated, a list of them. */
export function answerHeaders(headers: IncomingHttpHeaders): AnswerHeaders {
  return new Map(
    Object.entries(headers).map(([name, value = []]) => [name, typeof value === 'string' ? [value] : value]),
  );
}

/** A header that says one thing: the first one, where a gateway added another. */
export function firstHeader(headers: AnswerHeaders, name: string): string | undefined {
  return headers.get(name)?.[0];
}

/** The right to change the server, which may be lost at any time. */
export interface Permit {
  /** Makes sure of it. Throws if it is lost, or if nobody can tell. */
  confirm(): Promise<void>;
  /** Whether it still holds, as far as that can be told without asking. */
  holds(): boolean;
}

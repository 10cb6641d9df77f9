import { setMaxListeners } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit, { type LimitFunction } from 'p-limit';
import { Client, type Dispatcher, Pool } from 'undici';
import type { Json } from '../values.js';
import type { Parsed, Parser } from './answers.js';
import type { BaseUrl } from './base-url.js';
import type { Credentials } from './credentials.js';
import { exchange, type Outcome } from './exchange.js';
import { type FailureFacts, isCertificateCode, kindOfStatus, ServerFailure } from './failures.js';
import { messageIn, oneLine } from './messages.js';
import type { OperationName, Scope } from './operations.js';

/** What a server said to a request that it carried out. */
export interface Answer<T> {
  readonly status: number;
  /** How many tries it took. */
  readonly attempts: number;
  readonly data: T;
}

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
}

export interface TransportOptions {
  readonly baseUrl: BaseUrl;
  readonly credentials: Credentials;
  /** How many requests may be under way at once; the others wait for their turn. */
  readonly concurrency: number;
  /** Seconds that one try may take, from connecting to the last byte of the answer. */
  readonly timeout: number;
  /** Takes secrets out of a text that goes into a message. */
  readonly redact: (text: string) => string;
  /** When it aborts, failed tries are not repeated; what is under way is finished. */
  readonly signal: AbortSignal;
  /** The version of idops, for the server's logs. */
  readonly version: string;
  /** Bytes that an answer may have. */
  readonly maxAnswerBytes?: number;
  /** Waits that many seconds, or less when the signal aborts. */
  readonly delay?: (seconds: number, signal: AbortSignal) => Promise<void>;
  /** A number from 0 up to, not including, 1. */
  readonly random?: () => number;
}

const maxTries = 4;
const retriedStatuses: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);
/** Seconds that the first pause may last; each later one may last twice as long. */
const firstPause = 1;
/** Seconds that a server may ask to wait at most. */
const longestPause = 60;
const defaultMaxAnswerBytes = 64 * 2 ** 20;

type Problem = Pick<FailureFacts, 'kind' | 'status'> &
  Partial<Pick<FailureFacts, 'serverMessage' | 'reason' | 'detail' | 'retryAfter'>>;

type Verdict<T> =
  | { readonly value: T; readonly status: number }
  | {
      readonly problem: Problem;
      /** Whether this try may have reached the server. */
      readonly sent: boolean;
      /** Whether another try may go better. */
      readonly passing: boolean;
    };

/** Sends requests to one server, and to no other: it follows no redirect. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #pool: Pool;
  readonly #limit: LimitFunction;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#limit = pLimit(options.concurrency);
    // Each pause listens to it; as many at once as requests are no leak.
    setMaxListeners(0, options.signal);
    this.#pool = new Pool(options.baseUrl.origin, {
      ...this.#clientOptions(),
      connections: options.concurrency,
      pipelining: 1,
    });
  }

  /**
   * Sends a request, again where that is safe and may help, and gives what the answer holds.
   * Throws a `ServerFailure`, or what the credentials throw.
   */
  async call<T>(call: Call<T>): Promise<Answer<T>> {
    const { signal } = this.#options;
    let sent = false;
    for (let attempts = 1; ; attempts++) {
      const { verdict, clean } = await this.#limit(() => this.#try(call));
      if ('value' in verdict) return { status: verdict.status, attempts, data: verdict.value };
      sent ||= verdict.sent;
      const { problem } = verdict;
      const failure = (): ServerFailure => this.#failure(call, problem, sent, attempts, clean);
      // A POST is not idempotent: only one that never left may be repeated.
      const repeatable = verdict.passing && (call.method !== 'POST' || !sent);
      if (!repeatable || attempts === maxTries || signal.aborted) throw failure();
      await this.#pause(attempts, problem.retryAfter ?? null);
      if (signal.aborted) throw failure();
    }
  }

  /** Closes the connections; what is still under way fails. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  #clientOptions(): Client.Options {
    return { connectTimeout: Math.ceil(this.#options.timeout * 1000) };
  }

  async #try<T>(call: Call<T>): Promise<{ verdict: Verdict<T>; clean: (text: string) => string }> {
    const { credentials, timeout, maxAnswerBytes = defaultMaxAnswerBytes } = this.#options;
    const authorization = await credentials.authorization();
    const limits = { timeout, maxBytes: maxAnswerBytes };
    const request = this.#request(call, authorization);
    const outcome =
      call.method === 'POST'
        ? await this.#exchangeOnce(request, limits)
        : await exchange(this.#pool, request, limits);
    return { verdict: this.#judge(call, outcome), clean: this.#cleaner(authorization) };
  }

  /**
   * On a connection of its own: a kept-alive one may be closed by the server at the very moment it is used,
   * and then nobody could tell whether the request arrived.
   */
  async #exchangeOnce(
    request: Dispatcher.DispatchOptions,
    limits: { timeout: number; maxBytes: number },
  ): Promise<Outcome> {
    const client = new Client(this.#options.baseUrl.origin, { ...this.#clientOptions(), pipelining: 0 });
    try {
      return await exchange(client, request, limits);
    } finally {
      await client.destroy();
    }
  }

  #request(call: Call<unknown>, authorization: string): Dispatcher.DispatchOptions {
    const { baseUrl, version } = this.#options;
    return {
      method: call.method,
      path: `${baseUrl.prefix}${call.path}`,
      headers: {
        authorization,
        accept: 'application/json',
        'user-agent': `idops/${version}`,
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      idempotent: call.method !== 'POST',
    };
  }

  #judge<T>(call: Call<T>, outcome: Outcome): Verdict<T> {
    if (outcome.status === null) {
      const { sent, reason } = outcome;
      const problem: Problem = { kind: sent ? 'lost' : 'unreachable', status: null, reason };
      return { problem, sent, passing: sent || !isCertificateCode(reason) };
    }
    const { status, headers, body, broken } = outcome;
    if (status === 404 && call.whenMissing !== undefined) return { value: call.whenMissing, status };
    if (status >= 200 && status < 300) return judgeBody(call.parse, status, outcome);
    const document = broken === null ? readJson(body) : { wrong: broken };
    const problem: Problem = {
      kind: kindOfStatus(status),
      status,
      serverMessage: 'value' in document ? messageIn(document.value) : null,
      detail: status < 400 ? this.#target(headers.location) : null,
      retryAfter: retryAfterSeconds(headers),
    };
    return { problem, sent: true, passing: retriedStatuses.has(status) };
  }

  /** Where a redirect leads; without a query, which may carry a secret. */
  #target(location: string | undefined): string | null {
    const base = this.#options.baseUrl.href;
    if (location === undefined || !URL.canParse(location, base)) return null;
    const { origin, pathname } = new URL(location, base);
    return origin === 'null' ? null : `${origin}${pathname}`;
  }

  async #pause(attempts: number, retryAfter: number | null): Promise<void> {
    const { delay = sleepSeconds, random = Math.random, signal } = this.#options;
    const seconds =
      retryAfter === null ? random() * firstPause * 2 ** (attempts - 1) : Math.min(retryAfter, longestPause);
    await delay(seconds, signal);
  }

  #failure(
    call: Call<unknown>,
    problem: Problem,
    sent: boolean,
    attempts: number,
    clean: (text: string) => string,
  ): ServerFailure {
    const { serverMessage, detail, reason, retryAfter } = problem;
    return new ServerFailure({
      // An earlier try may have been carried out, which `unreachable` would deny.
      kind: problem.kind === 'unreachable' && sent ? 'lost' : problem.kind,
      operation: call.operation,
      title: call.title,
      method: call.method,
      path: clean(call.path),
      scope: call.scope,
      origin: this.#options.baseUrl.origin,
      status: problem.status,
      serverMessage: serverMessage == null ? null : clean(serverMessage) || null,
      attempts,
      retryAfter: retryAfter ?? null,
      sent,
      reason: reason ?? null,
      detail: detail == null ? null : clean(detail),
      timeout: this.#options.timeout,
    });
  }

  /** Servers echo tokens in error messages, as they are or as a URL has them. */
  #cleaner(authorization: string): (text: string) => string {
    const token = authorization.slice(authorization.indexOf(' ') + 1);
    const echoes = [...new Set([authorization, token, encodeURIComponent(token)])].filter(Boolean);
    const strip = (text: string): string => echoes.reduce((rest, echo) => rest.replaceAll(echo, '***'), text);
    return (text) => oneLine(this.#options.redact(strip(text)));
  }
}

function judgeBody<T>(
  parse: Parser<T>,
  status: number,
  { headers, body, broken }: Outcome & { status: number },
): Verdict<T> {
  const unusable = (reason: string, detail: string | null, passing = false): Verdict<T> => ({
    problem: { kind: 'answer', status, reason, detail },
    sent: true,
    passing,
  });
  if (broken === 'too-large') return unusable(broken, null);
  if (broken !== null) return unusable(broken, null, true);
  const document = body.length === 0 ? { wrong: 'empty' } : readJson(body);
  if ('wrong' in document) return unusable(document.wrong, headers['content-type'] ?? null);
  const parsed = parse(document.value);
  return 'wrong' in parsed ? unusable('wrong-type', parsed.wrong) : { value: parsed.value, status };
}

function readJson(body: Buffer): Parsed<unknown> {
  let text: string;
  try {
    // A wrong byte must not turn into another text: what was read may be sent back.
    text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return { wrong: 'not-utf-8' };
  }
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { wrong: 'not-json' };
  }
}

/** Reads both forms of `Retry-After`. A date counts from the server's own, whose clock may differ from ours. */
function retryAfterSeconds(headers: IncomingHttpHeaders): number | null {
  const value = headers['retry-after']?.trim();
  if (value === undefined) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const until = httpDate(value);
  if (until === null) return null;
  const now = (headers.date === undefined ? null : httpDate(headers.date)) ?? Date.now();
  return Math.max(0, Math.ceil((until - now) / 1000));
}

function httpDate(text: string): number | null {
  const time = /^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

/** Waits for real; resolves at once when the signal aborts. */
export async function sleepSeconds(seconds: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(seconds * 1000, undefined, { signal });
  } catch (interruption) {
    if (!signal.aborted) throw interruption;
  }
}

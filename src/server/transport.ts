import { setMaxListeners } from 'node:events';
import type { Dispatcher } from 'undici';
import { stringifyJson } from '../base/json.js';
import type { OnSecret } from '../base/redact.js';
import type { Json } from '../base/values.js';
import type { Parsed, Parser } from './answers.js';
import type { BaseUrl } from './base-url.js';
import { openRoute, type Route, type TlsSettings } from './connections.js';
import type { Credential, Credentials } from './credentials.js';
import { type Exchanged, exchange, triedOf } from './exchange.js';
import { Expired, type FailureFacts, kindOfStatus, leavesOpen, ServerFailure } from './failures.js';
import { firstHeader } from './headers.js';
import { readJson, secretTextsIn } from './json.js';
import { isRaw, messageIn, oneLine } from './messages.js';
import type { OperationName, Scope } from './operations.js';
import { Pace } from './pace.js';
import type { ProxyServer } from './proxy.js';
import { errorMembers } from './recognise.js';
import {
  type Delay,
  defaultPatience,
  defaultRetries,
  mayPass,
  Patience,
  pauseBefore,
  retryAfterSeconds,
  sleepSeconds,
} from './retry.js';

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
  /** When what it is built on is too old to be sent; a time of `performance.now()`. */
  readonly freshUntil?: number;
}

/** One try of a request, for the log of `--debug`: neither headers nor bodies. */
export interface Try {
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

const defaultMaxAnswerBytes = 64 * 2 ** 20;

/** The time in seconds; of a clock that nobody sets. */
export function seconds(): number {
  return performance.now() / 1000;
}

type Problem = Pick<FailureFacts, 'kind' | 'status'> &
  Partial<Pick<FailureFacts, 'serverMessage' | 'reason' | 'detail' | 'retryAfter' | 'members'>>;

type Verdict<T> =
  | { readonly value: T; readonly status: number }
  | {
      readonly problem: Problem;
      /** Whether this try may have reached the server. */
      readonly sent: boolean;
      /** Whether another try may go better. */
      readonly passing: boolean;
    };

/** What a server answers that gets too much at once: a database pool that ran out is a 500, a gateway's limit a 503. */
const crowdedStatuses: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/** Whether fewer requests at once may go better. */
function isCrowded<T>(verdict: Verdict<T>): boolean {
  if ('value' in verdict) return false;
  const { kind, status } = verdict.problem;
  const cut = kind === 'lost' || (kind === 'answer' && verdict.passing);
  return cut || (status !== null && crowdedStatuses.has(status));
}

interface Tried<T> {
  readonly verdict: Verdict<T>;
  readonly credential: Credential;
}

/** Sends requests to one server, and to no other: it follows no redirect. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #route: Route;
  readonly #pool: Dispatcher;
  readonly #pace: Pace;
  readonly #patience: Patience;
  readonly #delay: (seconds: number) => Promise<void>;
  readonly #random: () => number;
  readonly #closing = new AbortController();

  constructor(options: TransportOptions) {
    const { baseUrl, concurrency, rate, timeout, tls = {}, proxy = null, signal } = options;
    const { delay = sleepSeconds, random = Math.random, patience } = options;
    this.#options = options;
    // A pause that nobody waits for any more must not keep the process alive.
    const ending = AbortSignal.any([signal, this.#closing.signal]);
    // Each pause listens to it; as many at once as requests are no leak.
    setMaxListeners(0, ending);
    this.#delay = (time) => delay(time, ending);
    this.#random = random;
    this.#patience = patience ?? new Patience(defaultPatience, seconds);
    this.#pace = new Pace({ most: concurrency, rate, delay: this.#delay, now: seconds });
    this.#route = { origin: baseUrl.origin, tls, proxy };
    this.#pool = openRoute(this.#route, { connections: concurrency, seconds: timeout });
  }

  /**
   * Sends a request, again where that is safe and may help, and gives what the answer holds.
   * Throws a `ServerFailure`, an `Expired`, or what the credentials throw.
   */
  async call<T>(call: Call<T>): Promise<Answer<T>> {
    const { signal, retries = defaultRetries } = this.#options;
    let sent = false;
    let doubt = false;
    let renewed = false;
    let repeats = 0;
    let last: ServerFailure | undefined;
    for (let attempts = 1; ; attempts++) {
      const tried = await this.#inTurn(call, attempts);
      if (tried === 'expired') throw new Expired(last);
      const { verdict, credential } = tried;
      if ('value' in verdict) return { status: verdict.status, attempts, data: verdict.value };
      sent ||= verdict.sent;
      const { problem } = verdict;
      const earlier = doubt ? { doubt } : {};
      const fail = (more: Partial<FailureFacts> = {}): ServerFailure =>
        this.#failure(call, { ...problem, ...earlier, ...more }, { sent, attempts, credential });
      doubt ||= leavesOpen({ ...problem, method: call.method, sent: verdict.sent });
      // A POST is not idempotent: only one that never left may be repeated, whatever the answer.
      const once = call.method === 'POST' && sent;
      if (problem.kind === 'unauthorized' && !once && !renewed && !signal.aborted) {
        renewed = true;
        const renewal = await this.#renew(credential, call.scope);
        if (renewal === true) continue;
        throw fail({ detail: renewal });
      }
      repeats += 1;
      const pause = pauseBefore(repeats + 1, problem.retryAfter ?? null, this.#random);
      const again = verdict.passing && !once && repeats <= retries && !signal.aborted;
      // The server wants fewer requests, of which this one, perhaps given up, was only one.
      const others = isCrowded(verdict) && problem.retryAfter != null;
      const waits = (again || others) && this.#patience.take(pause);
      if (!again || !waits) {
        if (waits) void this.#pace.hold(pause);
        throw fail(again ? { outOfPatience: true } : {});
      }
      if (others || problem.status === 429) await this.#pace.hold(pause);
      else await this.#delay(pause);
      if (signal.aborted) throw fail();
      last = fail();
      if (!sent || call.confirm === undefined) continue;
      const done = await call.confirm().catch((failure: unknown) => {
        throw failure instanceof ServerFailure ? fail() : failure;
      });
      if (done === 'changed') throw fail({ changed: true });
      if (done !== 'not-done') return { status: 200, attempts, data: done.done };
    }
  }

  /** Closes the connections; what is still under way fails. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#pool.destroy();
  }

  /** Tries once, when the turn comes; the credentials are asked then, so that they are fresh. */
  async #inTurn<T>(call: Call<T>, attempt: number): Promise<Tried<T> | 'expired'> {
    const turn = await this.#pace.begin();
    let outcome: 'fine' | 'crowded' | 'other' = 'other';
    try {
      // Waiting for the turn may have taken long.
      if (call.freshUntil !== undefined && performance.now() > call.freshUntil) return 'expired';
      const tried = await this.#try(call, attempt);
      const { verdict } = tried;
      if ('value' in verdict) {
        outcome = 'fine';
        this.#patience.answered();
      } else if (isCrowded(verdict)) outcome = 'crowded';
      return tried;
    } finally {
      this.#pace.end(turn, outcome);
    }
  }

  async #try<T>(call: Call<T>, attempt: number): Promise<Tried<T>> {
    const { credentials, timeout, maxAnswerBytes = defaultMaxAnswerBytes, onTry } = this.#options;
    const credential = await credentials.current(call.scope);
    const limits = { timeout, maxBytes: maxAnswerBytes };
    const request = this.#request(call, credential);
    const began = performance.now();
    const outcome =
      call.method === 'POST'
        ? await this.#exchangeOnce(request, limits)
        : await exchange(this.#pool, request, limits);
    const verdict = this.#judge(call, outcome);
    const said = 'problem' in verdict ? verdict.problem.serverMessage : null;
    onTry?.({
      method: call.method,
      path: call.path,
      ...triedOf(outcome),
      milliseconds: performance.now() - began,
      attempt,
      ...(said != null && isRaw(said) ? { raw: this.#cleaner(credential)(said) } : {}),
    });
    return { verdict, credential };
  }

  /**
   * On a connection of its own: a kept-alive one may be closed by the server at the very moment it is used,
   * and then nobody could tell whether the request arrived.
   */
  async #exchangeOnce(
    request: Dispatcher.DispatchOptions,
    limits: { timeout: number; maxBytes: number },
  ): Promise<Exchanged> {
    const route = openRoute(this.#route, { connections: 'once', seconds: limits.timeout });
    try {
      return await exchange(route, request, limits);
    } finally {
      await route.destroy();
    }
  }

  /** True where there is another credential now; else why not, where that is known. */
  async #renew(refused: Credential, scope: Scope): Promise<true | string | null> {
    try {
      return (await this.#options.credentials.renew(refused, scope)) || null;
    } catch (failure) {
      return `it could not be renewed: ${failure instanceof Error ? failure.message : String(failure)}`;
    }
  }

  #request(call: Call<unknown>, credential: Credential): Dispatcher.DispatchOptions {
    const { baseUrl, version } = this.#options;
    return {
      origin: baseUrl.origin,
      method: call.method,
      path: `${baseUrl.prefix}${call.path}`,
      headers: {
        [credential.name]: credential.value,
        accept: 'application/json',
        'user-agent': `idops/${version}`,
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(call.body === undefined ? {} : { body: stringifyJson(call.body) }),
      idempotent: call.method !== 'POST',
    };
  }

  #judge<T>(call: Call<T>, outcome: Exchanged): Verdict<T> {
    const passing = mayPass(outcome);
    if (outcome.status === null) {
      const { sent, reason } = outcome;
      return { problem: { kind: sent ? 'lost' : 'unreachable', status: null, reason }, sent, passing };
    }
    const { status, headers, body, broken } = outcome;
    if (call.whenMissing !== undefined && (call.missing ?? [404]).includes(status)) {
      return { value: call.whenMissing, status };
    }
    if (status >= 200 && status < 300) return this.#judgeBody(call.parse, outcome);
    const document = broken === null ? this.#read(body) : { wrong: broken };
    const problem: Problem = {
      kind: kindOfStatus(status),
      status,
      serverMessage: 'value' in document ? messageIn(document.value) : null,
      members: 'value' in document ? errorMembers(document.value) : [],
      detail: status < 400 ? this.#target(firstHeader(headers, 'location')) : null,
      retryAfter: retryAfterSeconds(headers),
    };
    return { problem, sent: true, passing };
  }

  #judgeBody<T>(parse: Parser<T>, outcome: Exchanged & { readonly status: number }): Verdict<T> {
    const { status, headers, body, broken } = outcome;
    const unusable = (facts: Partial<Problem>, passing = false): Verdict<T> => ({
      problem: { kind: 'answer', status, ...facts },
      sent: true,
      passing,
    });
    if (broken !== null) return unusable({ reason: broken }, broken !== 'too-large');
    const document = body.length === 0 ? { wrong: 'empty' } : this.#read(body);
    if ('wrong' in document) {
      return unusable({ reason: document.wrong, detail: firstHeader(headers, 'content-type') ?? null });
    }
    const parsed = parse(document.value);
    if (!('wrong' in parsed)) return { value: parsed.value, status };
    const { wrong, reason = 'wrong-type' } = parsed;
    return unusable({ reason, detail: wrong, serverMessage: messageIn(document.value) });
  }

  /** Reads JSON; what is secret in it is made known before anything can show it. */
  #read(body: Buffer): Parsed<unknown> {
    const document = readJson(body);
    const { onSecret } = this.#options;
    if (onSecret !== undefined && 'value' in document) {
      for (const secret of secretTextsIn(document.value)) onSecret(secret, 'answer');
    }
    return document;
  }

  /** Where a redirect leads; without a query, which may carry a secret. */
  #target(location: string | undefined): string | null {
    const base = this.#options.baseUrl.href;
    if (location === undefined || !URL.canParse(location, base)) return null;
    const { origin, pathname } = new URL(location, base);
    return origin === 'null' ? null : `${origin}${pathname}`;
  }

  #failure(
    call: Call<unknown>,
    problem: Problem & Partial<FailureFacts>,
    { sent, attempts, credential }: { sent: boolean; attempts: number; credential: Credential },
  ): ServerFailure {
    const { baseUrl, timeout, proxy } = this.#options;
    const { serverMessage, detail, reason, retryAfter, members, doubt, outOfPatience, changed } = problem;
    const strip = this.#stripper(credential);
    const clean = this.#cleaner(credential);
    return new ServerFailure({
      // An earlier try may have been carried out, which `unreachable` would deny.
      kind: problem.kind === 'unreachable' && sent ? 'lost' : problem.kind,
      operation: call.operation,
      title: call.title,
      method: call.method,
      // Nothing that the server said is in it, so a declared secret stands there by chance.
      path: oneLine(strip(call.path)),
      scope: call.scope,
      origin: baseUrl.origin,
      status: problem.status,
      serverMessage: serverMessage == null ? null : clean(serverMessage) || null,
      attempts,
      retryAfter: retryAfter ?? null,
      sent,
      reason: reason ?? null,
      detail: detail == null ? null : clean(detail),
      timeout,
      ...(proxy == null ? {} : { proxy: proxy.origin }),
      ...(doubt === undefined ? {} : { doubt }),
      ...(changed === undefined ? {} : { changed }),
      ...(outOfPatience === undefined ? {} : { outOfPatience }),
      ...(members === undefined ? {} : { members: members.map(clean) }),
    });
  }

  /** What a server said, on one line and without secrets. */
  #cleaner(credential: Credential): (text: string) => string {
    const strip = this.#stripper(credential);
    return (text) => oneLine(this.#options.redact(strip(text)));
  }

  /** Servers echo tokens in error messages, as they are or as a URL has them. */
  #stripper({ value }: Credential): (text: string) => string {
    const token = value.slice(value.indexOf(' ') + 1);
    const echoes = [...new Set([value, token, encodeURIComponent(token)])].filter(Boolean);
    return (text) => echoes.reduce((rest, echo) => rest.replaceAll(echo, '***'), text);
  }
}

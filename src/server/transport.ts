import { setMaxListeners } from 'node:events';
import type { Dispatcher } from 'undici';
import { oneLine } from '../base/escape.js';
import { stringifyJson } from '../base/json.js';
import { version } from '../base/version.js';
import { mask } from '../secrets/redactor.js';
import type { Answer, Call, TransportOptions } from './call.js';
import type { Route } from './connections.js';
import type { Credential } from './credentials.js';
import { exchange, statusAndReason } from './exchange.js';
import { Expired, type FailureFacts, leavesOpen, ServerFailure, shortReason, Withheld } from './failures.js';
import { type AttemptVerdict, isOverloaded, judgeResponse, type ProblemFacts } from './judge.js';
import { showsInternals } from './messages.js';
import type { Scope } from './operations.js';
import { Pace } from './pace.js';
import { defaultRetries, pauseBefore, RetryBudget, seconds, sleepSeconds } from './retry.js';

const defaultMaxAnswerBytes = 64 * 2 ** 20;

/** How often a permit is confirmed if it expires before the request is sent. */
const CONFIRMATIONS = 10;

interface Attempted<T> {
  readonly verdict: AttemptVerdict<T>;
  readonly credential: Credential;
}

/** Why nothing was sent; `withheld` is the error of the permit. */
type NotAttempted = 'expired' | 'unwanted' | { readonly withheld: unknown };

/** Sends requests to one server, and follows no redirect. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #route: Route;
  #pool: Promise<Dispatcher> | undefined;
  readonly #pace: Pace;
  readonly #retryBudget: RetryBudget;
  readonly #delay: (seconds: number) => Promise<void>;
  readonly #closing = new AbortController();

  constructor(options: TransportOptions) {
    const { baseUrl, concurrency, rate, tls = {}, proxy = null, signal } = options;
    const { delay = sleepSeconds, patience } = options;
    this.#options = options;
    // A pause must not keep the process running after closing.
    const ending = AbortSignal.any([signal, this.#closing.signal]);
    // Every pause adds a listener; this is not a leak.
    setMaxListeners(0, ending);
    this.#delay = (time) => delay(time, ending);
    this.#retryBudget = patience ?? new RetryBudget();
    this.#pace = new Pace({ maxInFlight: concurrency, rate, delay: this.#delay, now: seconds });
    this.#route = { origin: baseUrl.origin, tls, proxy };
  }

  /** Sends a request, with retries. Throws a `ServerFailure`, an `Expired`, a `Withheld`, or what the credentials throw. */
  async call<T>(call: Call<T>): Promise<Answer<T>> {
    const { signal, retries = defaultRetries } = this.#options;
    let sent = false;
    let doubt = false;
    let renewed = false;
    const { earlierAttempts: before = 0 } = call;
    let repeats = before;
    let last: ServerFailure | undefined;
    for (let attempts = before + 1; ; attempts++) {
      const attempted = await this.#attemptInTurn(call, attempts);
      if (attempted === 'expired') throw new Expired(last);
      if (attempted === 'unwanted') throw new Error('the request is no longer wanted');
      if ('withheld' in attempted) throw new Withheld(last, attempted.withheld);
      const { verdict, credential } = attempted;
      if ('value' in verdict) return { status: verdict.status, attempts, data: verdict.value };
      sent ||= verdict.sent;
      const { problem } = verdict;
      const earlier = doubt ? { doubt } : {};
      const fail = (more: Partial<FailureFacts> = {}): ServerFailure =>
        this.#failure(call, { ...problem, ...earlier, ...more }, { sent, attempts, credential });
      doubt ||= leavesOpen({ ...problem, method: call.method, sent: verdict.sent });
      // A POST is only repeated if it was never sent.
      const mustNotRepeat = call.method === 'POST' && sent;
      if (problem.kind === 'unauthorized' && !mustNotRepeat && !renewed && !signal.aborted) {
        renewed = true;
        const renewal = await this.#renew(credential, call.scope);
        if (renewal === true) continue;
        throw fail({ detail: renewal });
      }
      repeats += 1;
      const pause = pauseBefore(repeats + 1, problem.retryAfter ?? null, this.#options.random ?? Math.random);
      const willRetry = verdict.isTransient && !mustNotRepeat && repeats <= retries && !signal.aborted;
      // The server asks for fewer requests: delay the others too, even if this one is not retried.
      const mustHoldOthers = isOverloaded(verdict) && problem.retryAfter != null;
      const hasBudget = (willRetry || mustHoldOthers) && this.#retryBudget.take(pause);
      if (!willRetry || !hasBudget) {
        if (hasBudget) void this.#pace.hold(pause);
        throw fail(willRetry ? { outOfPatience: true } : {});
      }
      this.#options.onRetry?.({
        attempt: attempts + 1,
        of: attempts + 1 + retries - repeats,
        why: shortReason(problem),
        ...(problem.retryAfter == null ? {} : { wait: pause }),
      });
      if (mustHoldOthers || problem.status === 429) await this.#pace.hold(pause);
      else await this.#delay(pause);
      if (signal.aborted) throw fail();
      last = fail();
      if (call.earlierAttempts !== undefined && call.confirm === undefined) throw new Expired(last);
      if (!sent || call.confirm === undefined) continue;
      const done = await call.confirm().catch((failure: unknown) => {
        throw failure instanceof ServerFailure ? fail() : failure;
      });
      if (done === 'changed') throw fail({ changed: true });
      if (done !== 'not-done') return { status: 200, attempts, data: done.done };
    }
  }

  /** Closes the connections; requests in flight fail. */
  async close(): Promise<void> {
    this.#closing.abort();
    await (await this.#pool)?.destroy();
  }

  /** Makes one attempt when a slot is free, with current credentials. */
  async #attemptInTurn<T>(call: Call<T>, attempt: number): Promise<Attempted<T> | NotAttempted> {
    const slot = await this.#pace.begin();
    let outcome: 'fine' | 'crowded' | 'other' = 'other';
    try {
      if (isExpired(call)) return 'expired';
      if (call.isWanted?.() === false) return 'unwanted';
      const credential = await this.#options.credentials.current(call.scope);
      // Getting the token may have taken long.
      if (call.isWanted?.() === false) return 'unwanted';
      const attempted = await this.#attemptPermitted(call, credential, attempt);
      if (typeof attempted === 'string' || 'withheld' in attempted) return attempted;
      const { verdict } = attempted;
      if ('value' in verdict) {
        outcome = 'fine';
        this.#retryBudget.answered();
      } else if (isOverloaded(verdict)) outcome = 'crowded';
      return attempted;
    } finally {
      this.#pace.end(slot, outcome);
    }
  }

  /** Makes one attempt with a permit that holds when the request is sent. */
  async #attemptPermitted<T>(
    call: Call<T>,
    credential: Credential,
    attempt: number,
  ): Promise<Attempted<T> | NotAttempted> {
    for (let round = 1; round <= CONFIRMATIONS; round += 1) {
      try {
        await call.permit?.confirm();
      } catch (failure) {
        return { withheld: failure };
      }
      if (isExpired(call)) return 'expired';
      const attempted = await this.#attempt(call, credential, attempt);
      if (attempted !== 'withheld') return attempted;
    }
    return {
      withheld: new Error(`the permit expired before the request could be sent, ${CONFIRMATIONS} times`),
    };
  }

  async #attempt<T>(
    call: Call<T>,
    credential: Credential,
    attempt: number,
  ): Promise<Attempted<T> | 'withheld'> {
    const { timeout, maxAnswerBytes = defaultMaxAnswerBytes, onAttempt } = this.#options;
    const limits = { timeout, maxBytes: maxAnswerBytes, permit: call.permit };
    const request = this.#request(call, credential);
    const began = performance.now();
    // The server may close a kept-alive connection at the moment of a request, which would leave the outcome of a POST unknown.
    const outcome =
      call.method === 'POST'
        ? await (await connections()).exchangeOnce(this.#route, request, limits)
        : await exchange(await this.#openPool(), request, limits);
    if (outcome.status === null && outcome.reason === 'withheld') return 'withheld';
    const verdict = judgeResponse(call, outcome, this.#options);
    const serverMessage = 'problem' in verdict ? verdict.problem.serverMessage : null;
    onAttempt?.({
      operation: call.operation,
      method: call.method,
      path: call.path,
      ...statusAndReason(outcome),
      milliseconds: performance.now() - began,
      attempt,
      ...(serverMessage != null && showsInternals(serverMessage)
        ? { raw: this.#redactorFor(credential)(serverMessage) }
        : {}),
    });
    return { verdict, credential };
  }

  #openPool(): Promise<Dispatcher> {
    const { concurrency, timeout } = this.#options;
    // A pool that is opened after closing would never be closed.
    this.#closing.signal.throwIfAborted();
    this.#pool ??= connections().then(({ openRoute }) =>
      openRoute(this.#route, { connections: concurrency, seconds: timeout }),
    );
    return this.#pool;
  }

  /** True if there is another credential now; otherwise the reason, if known. */
  async #renew(refused: Credential, scope: Scope): Promise<true | string | null> {
    try {
      return (await this.#options.credentials.renew(refused, scope)) || null;
    } catch (failure) {
      return `it could not be renewed: ${failure instanceof Error ? failure.message : String(failure)}`;
    }
  }

  #request(call: Call<unknown>, credential: Credential): Dispatcher.DispatchOptions {
    const { baseUrl } = this.#options;
    return {
      origin: baseUrl.origin,
      method: call.method,
      path: `${baseUrl.prefix}${call.path}`,
      headers: {
        [credential.name]: credential.value,
        accept: 'application/json',
        // Without it, a server may compress its answers.
        'accept-encoding': 'identity',
        'user-agent': `idops/${version}`,
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(call.body === undefined ? {} : { body: stringifyJson(call.body) }),
      idempotent: call.method !== 'POST',
    };
  }

  #failure(
    call: Call<unknown>,
    problem: ProblemFacts & Partial<FailureFacts>,
    { sent, attempts, credential }: { sent: boolean; attempts: number; credential: Credential },
  ): ServerFailure {
    const { baseUrl, timeout, proxy } = this.#options;
    const { serverMessage, detail, reason, retryAfter, members, doubt, outOfPatience, changed } = problem;
    const maskCredential = this.#credentialMasker(credential);
    const redact = this.#redactorFor(credential);
    return new ServerFailure({
      // An earlier attempt may have succeeded, which `unreachable` would deny.
      kind: problem.kind === 'unreachable' && sent ? 'lost' : problem.kind,
      operation: call.operation,
      title: call.title,
      method: call.method,
      // A path contains no text of the server, so a declared secret in it is a coincidence.
      path: oneLine(maskCredential(call.path)),
      scope: call.scope,
      origin: baseUrl.origin,
      status: problem.status,
      serverMessage: serverMessage == null ? null : redact(serverMessage) || null,
      attempts,
      retryAfter: retryAfter ?? null,
      sent,
      reason: reason ?? null,
      detail: detail == null ? null : redact(detail),
      timeout,
      proxy: proxy?.origin,
      doubt,
      changed,
      outOfPatience,
      members: members?.map(redact),
    });
  }

  /** Redacts text of the server and puts it on one line. */
  #redactorFor(credential: Credential): (text: string) => string {
    const strip = this.#credentialMasker(credential);
    return (text) => oneLine(this.#options.redact(strip(text)));
  }

  /** Masks the token, which servers echo in error messages, plain or URL-encoded. */
  #credentialMasker({ value }: Credential): (text: string) => string {
    const token = value.slice(value.indexOf(' ') + 1);
    const echoes = [...new Set([value, token, encodeURIComponent(token)])].filter(Boolean);
    return (text) => echoes.reduce((rest, echo) => rest.replaceAll(echo, mask), text);
  }
}

/** Loaded with the first request: it takes a tenth of the processor time of an empty plan. */
const connections = () => import('./connections.js');

function isExpired({ freshUntil }: Call<unknown>): boolean {
  return freshUntil !== undefined && performance.now() > freshUntil;
}

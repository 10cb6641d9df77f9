import { setTimeout as sleep } from 'node:timers/promises';
import { type AnswerHeaders, type ExchangeOutcome, firstHeader } from './exchange.js';
import { faultOf, proxyPrefix } from './failures.js';

/** Retries of a request: four attempts in all. */
export const defaultRetries = 3;
/** Maximum of seconds for a pause that the server asks for. */
const longestPause = 60;
/** Seconds of the first pause; each later one is twice as long, up to the longest. */
const firstPause = 1;
const longestOwnPause = 30;
/** Maximum of seconds that a run waits for retries without a good answer. */
export const defaultRetryBudget = 300;
/** Seconds that a good answer adds to the budget. */
const refund = 1;

const retriedStatuses: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);

/** A monotonic clock, in seconds. */
export function seconds(): number {
  return performance.now() / 1000;
}

/** Waits, or less if the signal aborts. */
export type Delay = (seconds: number, signal: AbortSignal) => Promise<void>;

/** Whether a retry may help. */
export function isTransientFailure(outcome: ExchangeOutcome): boolean {
  const needsPerson = (reason: string) => faultOf(reason) === 'certificate' || reason === `${proxyPrefix}407`;
  if (outcome.status === null) return outcome.sent || !needsPerson(outcome.reason);
  return retriedStatuses.has(outcome.status);
}

/** Seconds before an attempt: as the server asks, otherwise exponential with full jitter. */
export function pauseBefore(nextAttempt: number, retryAfter: number | null, random: () => number): number {
  return retryAfter === null
    ? random() * Math.min(firstPause * 2 ** (nextAttempt - 2), longestOwnPause)
    : Math.min(retryAfter, longestPause);
}

/** Seconds of the longest `Retry-After`. A date is relative to the server's `Date`, since clocks differ; a past one is ignored. */
export function retryAfterSeconds(headers: AnswerHeaders): number | null {
  const waits = (headers.get('retry-after') ?? []).flatMap((value) => {
    const wait = waitSeconds(value.trim(), headers);
    return wait === null ? [] : [wait];
  });
  return waits.length === 0 ? null : Math.max(...waits);
}

function waitSeconds(value: string, headers: AnswerHeaders): number | null {
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const until = httpDate(value);
  if (until === null) return null;
  const date = firstHeader(headers, 'date');
  const now = (date === undefined ? null : httpDate(date)) ?? Date.now();
  return until <= now ? null : Math.ceil((until - now) / 1000);
}

function httpDate(text: string): number | null {
  const time = /^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

/**
 * The seconds that a run may still wait for retries. Concurrent pauses count once. Good answers add some, so that a long run on a flaky
 * server continues, and a run on a dead server ends soon.
 */
export class RetryBudget {
  readonly #limit: number;
  readonly #now: () => number;
  #left: number;
  #chargedUntil = Number.NEGATIVE_INFINITY;

  constructor(limit = defaultRetryBudget, now = seconds) {
    this.#limit = limit;
    this.#left = limit;
    this.#now = now;
  }

  /** Takes seconds for a pause; false if not enough are left. */
  take(seconds: number): boolean {
    const now = this.#now();
    const end = now + seconds;
    const cost = Math.max(0, end - Math.max(now, this.#chargedUntil));
    if (cost > this.#left) return false;
    this.#left -= cost;
    this.#chargedUntil = Math.max(end, this.#chargedUntil);
    return true;
  }

  answered(): void {
    this.#left = Math.min(this.#limit, this.#left + refund);
  }
}

/** Resolves at once if the signal aborts. */
export async function sleepSeconds(seconds: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(seconds * 1000, undefined, { signal });
  } catch (interruption) {
    if (!signal.aborted) throw interruption;
  }
}

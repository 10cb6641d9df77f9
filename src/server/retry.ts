import { setTimeout as sleep } from 'node:timers/promises';
import { type AnswerHeaders, type Exchanged, firstHeader } from './exchange.js';
import { faultOf, proxyMark } from './failures.js';

/** How many times a request is repeated at most where nothing else is said: four tries in all. */
export const defaultRetries = 3;
/** Seconds that a server may ask to wait at most. */
const longestPause = 60;
/** Seconds that the first pause may last; each later one may last twice as long, up to the longest. */
const firstPause = 1;
const longestOwnPause = 30;
/** Seconds that a run waits for other tries at most, as long as nothing is answered meanwhile. */
export const defaultPatience = 300;
/** Seconds that a good answer gives back of it. */
const relief = 1;

const retriedStatuses: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);

/** The time in seconds; of a clock that nobody sets. */
export function seconds(): number {
  return performance.now() / 1000;
}

/** Waits that many seconds, or less when the signal aborts. */
export type Delay = (seconds: number, signal: AbortSignal) => Promise<void>;

/** Whether another try may go better, as far as the outcome of this one tells. */
export function mayPass(outcome: Exchanged): boolean {
  const needsPerson = (reason: string) => faultOf(reason) === 'certificate' || reason === `${proxyMark}407`;
  if (outcome.status === null) return outcome.sent || !needsPerson(outcome.reason);
  return retriedStatuses.has(outcome.status);
}

/** The pause before the next try: what the server asks for, else exponential with full jitter. */
export function pauseBefore(nextTry: number, retryAfter: number | null, random: () => number): number {
  return retryAfter === null
    ? random() * Math.min(firstPause * 2 ** (nextTry - 2), longestOwnPause)
    : Math.min(retryAfter, longestPause);
}

/**
 * Reads both forms of `Retry-After`, the longest wait where several are asked for. A date counts from the server's own,
 * whose clock may differ from ours; one that is over says nothing about how long to wait.
 */
export function retryAfterSeconds(headers: AnswerHeaders): number | null {
  const waits = (headers.get('retry-after') ?? []).flatMap((value) => {
    const wait = waitOf(value.trim(), headers);
    return wait === null ? [] : [wait];
  });
  return waits.length === 0 ? null : Math.max(...waits);
}

function waitOf(value: string, headers: AnswerHeaders): number | null {
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
 * How long a run still waits. Pauses at the same time count once; good answers give some of it back, so that a
 * long run on a flaky server ends and a short one on a dead server does too.
 */
export class Patience {
  readonly #most: number;
  readonly #now: () => number;
  #left: number;
  #paidUntil = Number.NEGATIVE_INFINITY;

  /** `now` gives seconds. */
  constructor(most: number, now: () => number) {
    this.#most = most;
    this.#left = most;
    this.#now = now;
  }

  /** Takes a pause out of it; says false, and takes nothing, where not enough is left. */
  take(seconds: number): boolean {
    const now = this.#now();
    const end = now + seconds;
    const cost = Math.max(0, end - Math.max(now, this.#paidUntil));
    if (cost > this.#left) return false;
    this.#left -= cost;
    this.#paidUntil = Math.max(end, this.#paidUntil);
    return true;
  }

  /** A request was answered well. */
  answered(): void {
    this.#left = Math.min(this.#most, this.#left + relief);
  }
}

/** Waits for real; resolves at once when the signal aborts. */
export async function sleepSeconds(seconds: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(seconds * 1000, undefined, { signal });
  } catch (interruption) {
    if (!signal.aborted) throw interruption;
  }
}

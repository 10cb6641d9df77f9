/** How many intervals may pass without a successful cycle. */
const MAX_MISSED_INTERVALS = 3;
/** Seconds without progress before a cycle can count as hanging, however short the interval is. No pause between retries is that long. */
const MIN_HANG_TIME = 600;

export type Verdict = { readonly fine: true } | { readonly fine: false; readonly reason: string };

export interface HealthOptions {
  /** Seconds from the beginning of a cycle to that of the next. */
  readonly interval: number;
  /** Seconds that one request may take. */
  readonly timeout: number;
  /** Seconds of a monotonic clock. */
  readonly now: () => number;
}

/** Tracks whether the cycles of a watch succeed and make progress. */
export class Health {
  readonly #options: HealthOptions;
  /** When a cycle last succeeded, or when the process started. */
  #since: number;
  /** Seconds that the last successful cycle took. */
  #lastDuration = 0;
  #hadSuccess = false;
  #lastFailure: string | null = null;
  #cycle: { readonly began: number; sign: number } | null = null;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#since = options.now();
  }

  start(): void {
    const now = this.#options.now();
    this.#cycle = { began: now, sign: now };
  }

  /** Records progress of the running cycle. */
  progress(): void {
    if (this.#cycle !== null) this.#cycle.sign = this.#options.now();
  }

  /** Ends the cycle; `failure` is why it failed, without private data, or null. */
  finish(failure: string | null): void {
    const now = this.#options.now();
    if (failure === null) {
      this.#since = now;
      this.#lastDuration = this.#cycle === null ? 0 : now - this.#cycle.began;
      this.#hadSuccess = true;
    }
    this.#lastFailure = failure;
    this.#cycle = null;
  }

  /** Whether a cycle succeeded recently. */
  ready(): Verdict {
    const { interval, now } = this.#options;
    const age = now() - this.#since;
    // A cycle may take longer than the interval.
    if (age <= MAX_MISSED_INTERVALS * Math.max(interval, this.#lastDuration)) return this.alive();
    const since = this.#hadSuccess
      ? `no turn succeeded for ${Math.round(age)} s`
      : 'no turn has succeeded yet';
    const why = this.#lastFailure ?? 'one is running';
    return { fine: false, reason: `${since}: ${why}` };
  }

  /** False if a cycle hangs, so that a new process could do better. */
  alive(): Verdict {
    const { interval, timeout, now } = this.#options;
    const silence = this.#cycle === null ? 0 : now() - this.#cycle.sign;
    if (silence <= Math.max(MAX_MISSED_INTERVALS * interval, 2 * timeout, MIN_HANG_TIME))
      return { fine: true };
    return { fine: false, reason: `a turn has made no progress for ${Math.round(silence)} s` };
  }
}

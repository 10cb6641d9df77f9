/** So many intervals may pass without a turn that went well. */
const INTERVALS = 3;
/** Seconds after which a turn that gives no sign of life hangs, however short the interval is: no pause between tries is that long. */
const SILENCE = 600;

/** Whether something is as it should be, and why not. */
export type Verdict = { readonly fine: true } | { readonly fine: false; readonly reason: string };

export interface HealthOptions {
  /** Seconds from the beginning of a turn to that of the next. */
  readonly interval: number;
  /** Seconds that one request may take. */
  readonly timeout: number;
  /** The time in seconds, of a clock that nobody sets. */
  readonly now: () => number;
}

/** What is known of the turns so far. */
export class Health {
  readonly #options: HealthOptions;
  /** When a turn went well for the last time, or when all began. */
  #since: number;
  /** Seconds that this turn took. */
  #took = 0;
  #hadSuccess = false;
  #wrong: string | null = null;
  #turn: { readonly began: number; sign: number } | null = null;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#since = options.now();
  }

  start(): void {
    const now = this.#options.now();
    this.#turn = { began: now, sign: now };
  }

  /** Something was done in the turn that is under way. */
  progress(): void {
    if (this.#turn !== null) this.#turn.sign = this.#options.now();
  }

  /** The turn is over; `wrong` says in words that anybody may read why it came to nothing, and is null where it went well. */
  finish(wrong: string | null): void {
    const now = this.#options.now();
    if (wrong === null) {
      this.#since = now;
      this.#took = this.#turn === null ? 0 : now - this.#turn.began;
      this.#hadSuccess = true;
    }
    this.#wrong = wrong;
    this.#turn = null;
  }

  /** Whether turns go well, or have not done so for a short time alone. */
  ready(): Verdict {
    const { interval, now } = this.#options;
    const age = now() - this.#since;
    // Where turns take longer than the interval, the next one can't be expected earlier.
    if (age <= INTERVALS * Math.max(interval, this.#took)) return this.alive();
    const since = this.#hadSuccess ? `no turn went well for ${Math.round(age)} s` : 'no turn went well yet';
    const why = this.#wrong ?? 'one is under way';
    return { fine: false, reason: `${since}: ${why}` };
  }

  /** Whether a new process could do better: false where a turn hangs. */
  alive(): Verdict {
    const { interval, timeout, now } = this.#options;
    const silence = this.#turn === null ? 0 : now() - this.#turn.sign;
    if (silence <= Math.max(INTERVALS * interval, 2 * timeout, SILENCE)) return { fine: true };
    return { fine: false, reason: `a turn gives no sign of life for ${Math.round(silence)} s` };
  }
}

export interface PaceOptions {
  /** How many requests may be under way at once, at most. */
  readonly most: number;
  /** How many may be started in a second; undefined for any number. */
  readonly rate: number | undefined;
  /** Waits that many seconds, or less when the run is interrupted. */
  readonly delay: (seconds: number) => Promise<void>;
  /** The time in seconds. */
  readonly now: () => number;
}

/** The turn of one request, from `begin` to `end`. */
export interface Turn {
  readonly era: number;
}

/**
 * Says when a request may start. Where the server has too much to do, half as many may be under way at once, down to
 * one, and nothing starts for as long as it asks; good answers let in one more for each round of them.
 */
export class Pace {
  readonly #options: PaceOptions;
  readonly #waiting: (() => void)[] = [];
  #window: number;
  #running = 0;
  #era = 0;
  #held: Promise<unknown> = Promise.resolve();
  #nextStart = Number.NEGATIVE_INFINITY;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#window = options.most;
  }

  /** How many may be under way at once now. */
  get width(): number {
    return Math.floor(this.#window);
  }

  /** Resolves when a request may start; each turn has to be ended. */
  async begin(): Promise<Turn> {
    if (this.#running < this.width && this.#waiting.length === 0) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    for (let held: unknown; held !== this.#held; ) {
      held = this.#held;
      await this.#held;
    }
    await this.#inRate();
    return { era: this.#era };
  }

  /** Ends a turn: `crowded` where the server said, or looks as if, it gets too many requests. */
  end(turn: Turn, outcome: 'fine' | 'crowded' | 'other'): void {
    this.#running -= 1;
    if (outcome === 'fine') this.#window = Math.min(this.#options.most, this.#window + 1 / this.width);
    // Answers to what was under way at the same time tell the same once more.
    if (outcome === 'crowded' && turn.era === this.#era) {
      this.#window = Math.max(1, this.#window / 2);
      this.#era += 1;
    }
    while (this.#running < this.width) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#running += 1;
      next();
    }
  }

  /** Lets nothing start for that long; resolves when it is over, or when the run is interrupted. */
  async hold(seconds: number): Promise<void> {
    const pause = this.#options.delay(seconds);
    this.#held = Promise.all([this.#held, pause]);
    await pause;
  }

  async #inRate(): Promise<void> {
    const { rate, now, delay } = this.#options;
    if (rate === undefined) return;
    const time = now();
    const start = Math.max(time, this.#nextStart);
    this.#nextStart = start + 1 / rate;
    if (start > time) await delay(start - time);
  }
}

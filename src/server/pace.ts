export interface PaceOptions {
  /** Maximum of requests in flight. */
  readonly maxInFlight: number;
  /** Maximum of requests a second; undefined for no limit. */
  readonly rate: number | undefined;
  /** Waits, or less if the run is interrupted. */
  readonly delay: (seconds: number) => Promise<void>;
  /** In seconds. */
  readonly now: () => number;
}

/** The slot of one request, from `begin` to `end`. Each reduction of the limit starts a new era. */
export interface Slot {
  readonly era: number;
}

/**
 * Decides when a request may start. If the server is overloaded, halves the limit of requests in flight, down to one, and starts none
 * for the time that the server asks; each round of good answers raises the limit by one.
 */
export class Pace {
  readonly #options: PaceOptions;
  readonly #waiting: (() => void)[] = [];
  #window: number;
  #running = 0;
  #era = 0;
  #hold: Promise<unknown> = Promise.resolve();
  #nextStart = Number.NEGATIVE_INFINITY;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#window = options.maxInFlight;
  }

  /** The present maximum of requests in flight. */
  get width(): number {
    return Math.floor(this.#window);
  }

  /** Resolves when a request may start; each slot must be ended. */
  async begin(): Promise<Slot> {
    if (this.#running < this.width && this.#waiting.length === 0) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    for (let hold: unknown; hold !== this.#hold; ) {
      hold = this.#hold;
      await this.#hold;
    }
    await this.#inRate();
    return { era: this.#era };
  }

  /** Ends a slot; `crowded` if the server seems overloaded. */
  end(slot: Slot, outcome: 'fine' | 'crowded' | 'other'): void {
    this.#running -= 1;
    if (outcome === 'fine') this.#window = Math.min(this.#options.maxInFlight, this.#window + 1 / this.width);
    // Requests that were in flight together count once.
    if (outcome === 'crowded' && slot.era === this.#era) {
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

  /** Starts no request for some seconds; resolves after them, or if the run is interrupted. */
  async hold(seconds: number): Promise<void> {
    const pause = this.#options.delay(seconds);
    this.#hold = Promise.all([this.#hold, pause]);
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

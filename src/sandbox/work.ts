import { setTimeout as wait, setImmediate as yieldOnce } from 'node:timers/promises';
import type { Intercept } from './options.js';
import { type Pool, PoolExhausted } from './pool.js';

/** How long a step keeps a connection of the pool. */
const connectionMs = 10;

/** Thrown to stop a request and close its connection. */
export class ConnectionCut extends Error {}

/** Stops a request after some writes. */
type Interruption = Extract<Intercept, { kind: 'cut' | 'drop' }>;

export interface WorkOptions {
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
  pool: Pool | undefined;
  /** Milliseconds until the answer. */
  latency: number;
  interruption: Interruption | undefined;
}

/**
 * Processes one request in steps. Each step takes a database connection. If the client disconnects between two steps, processing
 * stops, and what is written stays.
 */
export class Work {
  readonly #options: WorkOptions;
  readonly #started = performance.now();
  #interruption: Interruption | undefined;
  #stepDelay: number;
  #writes = 0;

  constructor(conditions: WorkOptions) {
    this.#options = conditions;
    this.#interruption = conditions.interruption;
    this.#stepDelay = conditions.latency / 2;
  }

  /** Spreads the latency over this many steps. */
  setSteps(steps: number): void {
    this.#stepDelay = this.#options.latency / (steps + 1);
  }

  /** A step that changes nothing. */
  async read<T>(act: () => T): Promise<T> {
    if (this.#interruption?.step === this.#writes) this.#interrupt(this.#interruption);
    const release = await this.#options.pool?.acquire(this.#options.signal);
    try {
      await this.pause(Math.max(this.#stepDelay, release === undefined ? 0 : connectionMs));
      return await act();
    } finally {
      release?.();
    }
  }

  /** A step that writes. */
  async write<T>(act: () => T): Promise<T> {
    const result = await this.read(act);
    this.#writes += 1;
    return result;
  }

  /** Waits, at least until other requests had a turn; rejects if the client disconnects. */
  async pause(ms: number): Promise<void> {
    const { signal } = this.#options;
    if (ms > 0) await wait(ms, undefined, { signal });
    else await yieldOnce(undefined, { signal });
  }

  /** Throws an interruption that is still due, then waits for the rest of the latency. */
  async finish(): Promise<void> {
    if (this.#interruption !== undefined) this.#interrupt(this.#interruption);
    const remaining = this.#options.latency - (performance.now() - this.#started);
    if (remaining > 0) await this.pause(remaining);
  }

  #interrupt({ kind }: Interruption): never {
    this.#interruption = undefined;
    throw kind === 'cut' ? new ConnectionCut() : new PoolExhausted(performance.now() - this.#started);
  }
}

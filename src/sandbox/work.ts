import { setTimeout as wait, setImmediate as yieldOnce } from 'node:timers/promises';
import { Dropped, type Pool } from './pool.js';

/** How long a step holds a connection of the pool. */
const holdMs = 10;

/** When to end the work: after that many writes, by a cut connection or a lack of database connections. */
export interface Breach {
  kind: 'cut' | 'drop';
  step: number;
}

/** Ends the work and the connection. */
export class Cut extends Error {}

/** The conditions of the work. */
export interface Conditions {
  /** Aborts when the client goes away. */
  signal: AbortSignal;
  pool: Pool | undefined;
  /** Milliseconds for an answer. */
  latency: number;
  breach: Breach | undefined;
}

/**
 * The work for one request, step by step. Each step takes a database connection. If the client goes away between two steps, the
 * work ends: what is written stays.
 */
export class Work {
  readonly #conditions: Conditions;
  readonly #started = performance.now();
  #breach: Breach | undefined;
  #share: number;
  #written = 0;

  constructor(conditions: Conditions) {
    this.#conditions = conditions;
    this.#breach = conditions.breach;
    this.#share = conditions.latency / 2;
  }

  /** Sets the number of steps, over which the latency is spread. */
  expect(steps: number): void {
    this.#share = this.#conditions.latency / (steps + 1);
  }

  /** A step that changes nothing. */
  async read<T>(act: () => T): Promise<T> {
    if (this.#breach?.step === this.#written) this.#strike(this.#breach);
    const release = await this.#conditions.pool?.take(this.#conditions.signal);
    try {
      await this.pause(Math.max(this.#share, release === undefined ? 0 : holdMs));
      return await act();
    } finally {
      release?.();
    }
  }

  /** A step that writes. */
  async write<T>(act: () => T): Promise<T> {
    const result = await this.read(act);
    this.#written += 1;
    return result;
  }

  /** Waits, at least until other requests had their turn; rejects if the client goes away. */
  async pause(ms: number): Promise<void> {
    const { signal } = this.#conditions;
    if (ms > 0) await wait(ms, undefined, { signal });
    else await yieldOnce(undefined, { signal });
  }

  /** Ends the work: fails if it should have failed by now, and waits for the rest of the latency. */
  async finish(): Promise<void> {
    if (this.#breach !== undefined) this.#strike(this.#breach);
    const left = this.#conditions.latency - (performance.now() - this.#started);
    if (left > 0) await this.pause(left);
  }

  #strike({ kind }: Breach): never {
    this.#breach = undefined;
    throw kind === 'cut' ? new Cut() : new Dropped(performance.now() - this.#started);
  }
}

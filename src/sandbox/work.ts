import { setTimeout as wait, setImmediate as yieldOnce } from 'node:timers/promises';
import { Dropped, type Pool } from './pool.js';

/** How long a step holds a connection of a pool that can run out. */
const holdMs = 10;

/** Where a work is to end: after so many of its writes, with a cut connection or for want of a database's. */
export interface Breach {
  kind: 'cut' | 'drop';
  step: number;
}

/** The work ends here, and so does the connection. */
export class Cut extends Error {}

/** What a work happens under. */
export interface Conditions {
  /** Aborts when the client goes away. */
  signal: AbortSignal;
  pool: Pool | undefined;
  /** What an answer takes, in milliseconds. */
  latency: number;
  breach: Breach | undefined;
}

/**
 * The work for one request, step by step. Each step takes a connection of the database for its time; between
 * two of them the client can go away, which ends the work: what is written stays, what is not never will be.
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

  /** Says how many steps there will be, so that the latency spreads over them. */
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

  /** Waits, at least until other requests had their turn; rejects when the client goes away. */
  async pause(ms: number): Promise<void> {
    const { signal } = this.#conditions;
    if (ms > 0) await wait(ms, undefined, { signal });
    else await yieldOnce(undefined, { signal });
  }

  /** The end of the work: breaks off what was to break off by now, and waits what is left of the latency. */
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

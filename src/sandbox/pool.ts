/** With a pool of 2, 100 concurrent requests succeed, and 200 do not, as on Boruta. */
const maxQueuePerConnection = 60;

/** Thrown if a step gets no connection because too many wait. */
export class PoolExhausted extends Error {
  constructor(waitedMs: number) {
    super(`connection not available and request was dropped from queue after ${Math.round(waitedMs)}ms`);
  }
}

interface Waiter {
  since: number;
  take(): void;
  drop(waitedMs: number): void;
}

/** The connections of a database. Steps queue for a free one; if the queue is too long, its oldest entry is dropped. */
export class Pool {
  readonly #maxQueue: number;
  #free: number;
  readonly #queue: Waiter[] = [];

  constructor(size: number) {
    this.#free = size;
    this.#maxQueue = size * maxQueuePerConnection;
  }

  /** Takes a connection; resolves to a function that releases it. Rejects with `PoolExhausted`, or if `signal` aborts. */
  acquire(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve(() => this.#release());
    }
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#queue.splice(this.#queue.indexOf(waiter), 1);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        since: performance.now(),
        take: () => {
          signal.removeEventListener('abort', onAbort);
          resolve(() => this.#release());
        },
        drop: (waitedMs) => {
          signal.removeEventListener('abort', onAbort);
          reject(new PoolExhausted(waitedMs));
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#queue.push(waiter);
      if (this.#queue.length <= this.#maxQueue) return;
      const oldest = this.#queue.shift();
      oldest?.drop(performance.now() - oldest.since);
    });
  }

  #release(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#free += 1;
    else next.take();
  }
}

/** How many may wait for each connection: with a pool of 2, 100 requests at once succeed, and 200 do not. */
const waitingPerConnection = 60;

/** A step got no connection, since too many waited. */
export class Dropped extends Error {
  constructor(waitedMs: number) {
    super(`connection not available and request was dropped from queue after ${Math.round(waitedMs)}ms`);
  }
}

interface Waiting {
  since: number;
  take(): void;
  drop(waitedMs: number): void;
}

/** The connections of a database. Steps queue for a free one; if the queue is too long, its head is dropped. */
export class Pool {
  readonly #longest: number;
  #free: number;
  readonly #line: Waiting[] = [];

  constructor(size: number) {
    this.#free = size;
    this.#longest = size * waitingPerConnection;
  }

  /** Takes a connection; resolves to a function that releases it. Rejects with `Dropped`, or if `signal` aborts. */
  take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve(() => this.#give());
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#line.splice(this.#line.indexOf(waiting), 1);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        since: performance.now(),
        take: () => {
          signal.removeEventListener('abort', leave);
          resolve(() => this.#give());
        },
        drop: (waitedMs) => {
          signal.removeEventListener('abort', leave);
          reject(new Dropped(waitedMs));
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#line.push(waiting);
      if (this.#line.length <= this.#longest) return;
      const oldest = this.#line.shift();
      oldest?.drop(performance.now() - oldest.since);
    });
  }

  #give(): void {
    const next = this.#line.shift();
    if (next === undefined) this.#free += 1;
    else next.take();
  }
}

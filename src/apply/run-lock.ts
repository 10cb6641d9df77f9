import { hasProblem } from '../base/problems.js';
import type { Permit } from '../server/exchange.js';
import type { Lock } from '../state/backend.js';

/** Milliseconds for which a confirmation of the lock is valid, by both clocks. */
const CONFIRMATION_LIFETIME = 30_000;
/** Milliseconds between two beats, and between two that show that this process was suspended. */
const HEARTBEAT = 50;
const STALL = 250;

/** A time by two clocks: the monotonic one stops while the machine sleeps, and the wall clock can be set. */
interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

const moment = (): Moment => ({ monotonic: performance.now(), wall: Date.now() });

function isWithin({ monotonic, wall }: Moment, milliseconds: number): boolean {
  return performance.now() - monotonic < milliseconds && Math.abs(Date.now() - wall) < milliseconds;
}

/** Confirms the lock of a run right before each request: another process may have taken it while this one was suspended. */
export class RunLock {
  readonly #lock: Pick<Lock, 'confirm' | 'lease'>;
  readonly #heartbeat: NodeJS.Timeout;
  #lastBeat = moment();
  /** How often this process was suspended. */
  #stalls = 0;
  /** The last successful confirmation: its start, and the number of stalls before it. */
  #confirmed: { readonly began: Moment; readonly stalls: number } | undefined;
  /** Whether the last confirmation got no answer. */
  #unanswered = false;
  #confirming: Promise<void> | undefined;

  constructor(lock: Pick<Lock, 'confirm' | 'lease'>) {
    this.#lock = lock;
    this.#heartbeat = setInterval(() => this.#checkForStall(), HEARTBEAT);
    this.#heartbeat.unref();
  }

  /** Confirms the lock, once in each turn of the event loop. Throws a ProblemsError, `locked` if the lock was lost. */
  async confirm(): Promise<void> {
    this.#checkForStall();
    if (this.#confirming === undefined) {
      const confirming = this.#askLock();
      const askAgain = (): void => {
        if (this.#confirming === confirming) this.#confirming = undefined;
      };
      confirming.then(() => setImmediate(askAgain), askAgain);
      this.#confirming = confirming;
    }
    await this.#confirming;
  }

  /** The permit for a request. If the lock can't be confirmed, a change with an earlier request (`begun`) may finish within the lease. */
  permit(begun: boolean): Permit {
    const isLeased = (): boolean =>
      begun &&
      this.#unanswered &&
      this.#confirmed !== undefined &&
      isWithin(this.#confirmed.began, this.#lock.lease);
    return {
      confirm: () =>
        this.confirm().catch((failure: unknown) => {
          if (!isLeased()) throw failure;
        }),
      holds: () => {
        this.#checkForStall();
        const isConfirmed =
          this.#confirmed?.stalls === this.#stalls && isWithin(this.#confirmed.began, CONFIRMATION_LIFETIME);
        return isConfirmed || isLeased();
      },
    };
  }

  end(): void {
    clearInterval(this.#heartbeat);
  }

  async #askLock(): Promise<void> {
    const now = { began: moment(), stalls: this.#stalls };
    try {
      await this.#lock.confirm();
      this.#confirmed = now;
      this.#unanswered = false;
    } catch (failure) {
      this.#unanswered = !hasProblem(failure, 'locked');
      throw failure;
    }
  }

  #checkForStall(): void {
    if (!isWithin(this.#lastBeat, STALL)) {
      this.#stalls += 1;
      // A pending confirmation began before the stall.
      this.#confirming = undefined;
    }
    this.#lastBeat = moment();
  }
}

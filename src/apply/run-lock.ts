import { hasProblem } from '../base/problems.js';
import type { Permit } from '../server/exchange.js';
import type { Lock } from '../state/backend.js';

/** Milliseconds for which a confirmation of the lock is good, by both clocks. */
const CONFIRMATION_LIFETIME = 30_000;
/** Milliseconds between two beats, and how many mean that this process stood still. */
const HEARTBEAT = 50;
const STALL = 250;

/** A time by both clocks: the monotonic one stops while a machine sleeps, and the other one can be set. */
interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

const moment = (): Moment => ({ monotonic: performance.now(), wall: Date.now() });

function isWithin({ monotonic, wall }: Moment, milliseconds: number): boolean {
  return performance.now() - monotonic < milliseconds && Math.abs(Date.now() - wall) < milliseconds;
}

/** Confirms the lock of a run right before each request: another process may have taken it while this one stood still. */
export class RunLock {
  readonly #lock: Pick<Lock, 'confirm' | 'lease'>;
  readonly #heartbeat: NodeJS.Timeout;
  #lastBeat = moment();
  /** How often this process stood still. */
  #stalls = 0;
  /** The last successful confirmation: when it began, and the stops until then. */
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

  /** Permits a request. If the lock can't be confirmed, a change that is begun is finished within the lease. */
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
      // It began before the process stood still.
      this.#confirming = undefined;
    }
    this.#lastBeat = moment();
  }
}

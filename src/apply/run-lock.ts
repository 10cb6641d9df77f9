import { ProblemsError } from '../base/problems.js';
import type { Permit } from '../server/exchange.js';
import type { Lock } from '../state/backend.js';

/** Milliseconds for which a look at the lock holds good, by both clocks. */
const GOOD = 30_000;
/** Milliseconds between two beats, and from one to the next after which this process stood still. */
const BEAT = 50;
const STILL = 250;

/** A time by both clocks: the monotonic one stops where a machine sleeps, and the other one can be set. */
interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

const moment = (): Moment => ({ monotonic: performance.now(), wall: Date.now() });

function isWithin({ monotonic, wall }: Moment, milliseconds: number): boolean {
  return performance.now() - monotonic < milliseconds && Math.abs(Date.now() - wall) < milliseconds;
}

/** The lock of a run, asked for right before each request: somebody may have taken it while this process stood still. */
export class RunLock {
  readonly #lock: Pick<Lock, 'confirm' | 'lease'>;
  readonly #beats: NodeJS.Timeout;
  #beat = moment();
  /** How often this process stood still. */
  #stops = 0;
  /** The last look that found the lock: when it began, and the stops until then. */
  #found: { readonly began: Moment; readonly stops: number } | undefined;
  /** Whether the last look found out nothing. */
  #isAway = false;
  #looking: Promise<void> | undefined;

  constructor(lock: Pick<Lock, 'confirm' | 'lease'>) {
    this.#lock = lock;
    this.#beats = setInterval(() => this.#notice(), BEAT);
    this.#beats.unref();
  }

  /** Throws a ProblemsError, `locked` if the lock was lost. One look serves all that ask at the same time. */
  async look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
  }

  /** What a request needs to leave. If nobody can be asked, what is begun is brought to its end within the lease. */
  permit(begun: boolean): Permit {
    const isLeased = (): boolean =>
      begun && this.#isAway && this.#found !== undefined && isWithin(this.#found.began, this.#lock.lease);
    return {
      confirm: () =>
        this.look().catch((failure: unknown) => {
          if (!isLeased()) throw failure;
        }),
      holds: () => isLeased() || this.#isSure(),
    };
  }

  /** From now on nothing is noticed any more. */
  end(): void {
    clearInterval(this.#beats);
  }

  async #look(): Promise<void> {
    this.#notice();
    const now = { began: moment(), stops: this.#stops };
    try {
      await this.#lock.confirm();
      this.#found = now;
      this.#isAway = false;
    } catch (failure) {
      this.#isAway = !isLost(failure);
      throw failure;
    }
  }

  #isSure(): boolean {
    this.#notice();
    return this.#found?.stops === this.#stops && isWithin(this.#found.began, GOOD);
  }

  #notice(): void {
    if (!isWithin(this.#beat, STILL)) this.#stops += 1;
    this.#beat = moment();
  }
}

/** Whether a failure to confirm a lock says that somebody else has it, or nobody. */
export function isLost(failure: unknown): boolean {
  return failure instanceof ProblemsError && failure.problems.some(({ code }) => code === 'locked');
}

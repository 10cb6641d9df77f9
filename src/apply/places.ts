import type { Change } from '../plan/plan.js';

/** Something under way, in a wrapper that nobody waits for by accident. */
interface Begun {
  readonly ended: Promise<void>;
}

/** Who may let another change begin before it has ended itself. */
export class Places {
  readonly #held = new Map<Change, () => void>();

  /** Does the work for a change; resolves when another may take its place, at the latest when it has ended. */
  untilGivenUp(change: Change, work: () => Promise<void>): Promise<Begun> {
    return new Promise((resolve) => {
      const ended = Promise.resolve()
        .then(work)
        .finally(() => this.#held.delete(change));
      const free = (): void => resolve({ ended });
      this.#held.set(change, free);
      ended.then(free, free);
    });
  }

  /** What gives up the place of a change; undefined where it keeps it to its end. */
  givingUp(change: Change): (() => void) | undefined {
    return this.#held.get(change);
  }
}

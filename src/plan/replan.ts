import type { Live } from '../kinds/kind.js';
import type { Owed } from '../kinds/loss.js';
import type { Change } from './plan.js';

/** Makes single changes of a plan anew: on what is there by then, and for what an update left behind. */
export interface Replan {
  /** When what the plan is built on began to be read, as `performance.now()` tells it. */
  readonly observedAt: number;
  /**
   * The same object planned on what the server shows now, with lists read no earlier than that; undefined where it
   * can't be asked about it. Throws what reading throws.
   */
  again(change: Change, notBefore: number): Promise<Change | undefined>;
  /**
   * What brings an object that an update took something from to what was asked for, or back to what was there before
   * it; undefined where nothing can.
   */
  repair(change: Change, owed: Owed, live: Live, aim: 'asked' | 'before'): Change | undefined;
}

/** For a plan whose changes can't be made anew: what was planned is sent, and nothing is mended. */
export const noReplan: Replan = {
  observedAt: Number.POSITIVE_INFINITY,
  again: async () => undefined,
  repair: () => undefined,
};

import type { Shard } from '../base/shard.js';

/** How shards that read a list at the same time tell each other its pages. Its failures are thrown, and are no reason not to read it. */
export interface SharedPages {
  /** Says that a shard begins to read a list; null where there is no place to say it yet. */
  join(list: string, shard: Shard): Promise<SharedReading | null>;
}

/**
 * One shard's reading of a list. What it takes from others was asked for after it joined, so that it is no older than what it reads
 * itself.
 */
export interface SharedReading {
  /** The numbers of the shards that read it now, this one among them, lowest first; of those that split the state alike. */
  readers(): Promise<readonly number[]>;
  /** Says which pages it asks for next, and gives those of them that nobody else does. */
  claim(pages: readonly number[]): Promise<readonly number[]>;
  /** Gives the others a page that it claimed. */
  put(page: number, text: string): Promise<void>;
  /** The pages of these that others gave. */
  found(pages: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** Says that it has all of them. The last one takes everything away. */
  leave(): Promise<void>;
}

/** Milliseconds for which a shard counts as one that reads: one that was killed doesn't say that it left. */
export const READS_FOR = 10_000;

/** Milliseconds after which what is there of a list was left by shards that were killed: none is read for so long. */
export const LEFT = 10 * 60_000;

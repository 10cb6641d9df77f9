import { hash } from 'node:crypto';

/** One of the parts that a project's objects are split into, so that as many runners do one each. */
export interface Shard {
  /** Which part, from 1. */
  readonly index: number;
  /** How many parts there are. */
  readonly count: number;
}

/** More parts than this no fleet has, and each has a lock of its own. */
export const MAX_SHARDS = 1000;

/** Reads `2/4`; undefined where that is no part of a whole. */
export function parseShard(text: string): Shard | undefined {
  const [, first = '', second = ''] = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(text) ?? [];
  const [index, count] = [Number(first), Number(second)];
  return index >= 1 && index <= count && count <= MAX_SHARDS ? { index, count } : undefined;
}

/** Whether they are the same part. */
export function isShard(one: Shard, { index, count }: Shard): boolean {
  return one.index === index && one.count === count;
}

/** A part as people write it: `2/4`. */
export function shardText({ index, count }: Shard): string {
  return `${index}/${count}`;
}

/** A part as a name that files, refs and runs can have: `2-of-4`. */
export function shardName({ index, count }: Shard): string {
  return `${index}-of-${count}`;
}

/** The part that such a name means; undefined where it means none. */
export function shardNamed(name: string): Shard | undefined {
  const [, index, count] = /^(\d+)-of-(\d+)$/.exec(name) ?? [];
  return index === undefined ? undefined : parseShard(`${index}/${count}`);
}

/**
 * Which of so many parts an address belongs to, from 1: by its hash, so that it is the same on every machine, whatever else is
 * declared. A UUID is the same in capitals.
 */
export function indexOf(address: string, count: number): number {
  // Only these letters, so that no version of Unicode has a part in it.
  const text = address.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return (Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16) % count) + 1;
}

/** A name that begins with this one says of which run it is a part: `RUN.2-of-4`, or `RUN.2-of-4.02` where it was begun again. */
export function partOfRun(
  name: string,
): { readonly run: string; readonly shard: Shard; readonly attempt: number } | undefined {
  const [, run, part = '', attempt = '1'] = /^([^.]+)\.(\d+-of-\d+)(?:\.(\d\d))?$/.exec(name) ?? [];
  const shard = shardNamed(part);
  return run === undefined || shard === undefined ? undefined : { run, shard, attempt: Number(attempt) };
}

/** Whether something is named as the journal of a run, or of a part of one, is. */
export function isJournalName(name: string): boolean {
  return /^\d{8}T\d{6}Z-[0-9a-f]{6}$/.test(runOf(name));
}

/** The run that a journal is of: the same for the journals of all its parts. */
export function runOf(name: string): string {
  return partOfRun(name)?.run ?? name;
}

/** The name of a part's journal. */
export function partName(run: string, shard: Shard, attempt: number): string {
  const again = attempt === 1 ? '' : `.${String(attempt).padStart(2, '0')}`;
  return `${run}.${shardName(shard)}${again}`;
}

/** What a part of a run is called, however often it was begun. */
export function partCalled(journal: string): string {
  const part = partOfRun(journal);
  return part === undefined ? journal : partName(part.run, part.shard, 1);
}

/** Whether a journal is of what goes by a name: itself, its run, or its part of that, however often it was begun. */
export function isOfRun(journal: string, name: string): boolean {
  return journal === name || runOf(journal) === name || partCalled(journal) === name;
}

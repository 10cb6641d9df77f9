import { hash } from 'node:crypto';

/** One of the parts into which a project's objects are split, one for each runner. */
export interface Shard {
  /** Which part, from 1. */
  readonly index: number;
  /** How many parts there are. */
  readonly count: number;
}

/** The maximum number of shards; each has its own lock. */
export const MAX_SHARDS = 1000;

/** Parses `2/4`; undefined if it is invalid. */
export function parseShard(text: string): Shard | undefined {
  const [, first = '', second = ''] = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(text) ?? [];
  const [index, count] = [Number(first), Number(second)];
  return index >= 1 && index <= count && count <= MAX_SHARDS ? { index, count } : undefined;
}

/** Whether two shards are the same. */
export function sameShard(one: Shard, { index, count }: Shard): boolean {
  return one.index === index && one.count === count;
}

/** A shard as `2/4`. */
export function shardText({ index, count }: Shard): string {
  return `${index}/${count}`;
}

/** A shard as `2-of-4`, for names of files, refs and runs. */
export function shardName({ index, count }: Shard): string {
  return `${index}-of-${count}`;
}

/** Parses `2-of-4`; undefined if it is invalid. */
export function parseShardName(name: string): Shard | undefined {
  const [, index, count] = /^(\d+)-of-(\d+)$/.exec(name) ?? [];
  return index === undefined ? undefined : parseShard(`${index}/${count}`);
}

/** The index of the shard of an address, from its hash: the same on every machine, and for a UUID in upper case. */
export function shardIndex(address: string, count: number): number {
  // ASCII only, so that it doesn't depend on the version of Unicode.
  const text = address.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return (Number.parseInt(hash('sha256', text, 'hex').slice(0, 12), 16) % count) + 1;
}

/** Parses the journal name of a shard of a run: `RUN.2-of-4`, or `RUN.2-of-4.02` for its second attempt. */
export function parsePartName(
  name: string,
): { readonly run: string; readonly shard: Shard; readonly attempt: number } | undefined {
  const [, run, part = '', attempt = '1'] = /^([^.]+)\.(\d+-of-\d+)(?:\.(\d\d))?$/.exec(name) ?? [];
  const shard = parseShardName(part);
  return run === undefined || shard === undefined ? undefined : { run, shard, attempt: Number(attempt) };
}

/** Whether a name is that of a journal, of a run or a shard of one. */
export function isJournalName(name: string): boolean {
  return /^\d{8}T\d{6}Z-[0-9a-f]{6}$/.test(runOf(name));
}

/** The run of a journal, also for a journal of a shard. */
export function runOf(name: string): string {
  return parsePartName(name)?.run ?? name;
}

/** The journal name of a shard. */
export function partName(run: string, shard: Shard, attempt: number): string {
  const again = attempt === 1 ? '' : `.${String(attempt).padStart(2, '0')}`;
  return `${run}.${shardName(shard)}${again}`;
}

/** The journal name of a shard without the attempt. */
export function partWithoutAttempt(journal: string): string {
  const part = parsePartName(journal);
  return part === undefined ? journal : partName(part.run, part.shard, 1);
}

/** Whether a name, of a journal, a run or a shard of a run, matches this journal. */
export function matchesJournal(journal: string, name: string): boolean {
  return journal === name || runOf(journal) === name || partWithoutAttempt(journal) === name;
}

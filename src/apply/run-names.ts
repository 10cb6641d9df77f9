import { randomBytes } from 'node:crypto';
import { partOfRun, type Shard } from '../base/shard.js';

/** A name that comes after those of all runs before, even where they are of the same second or the clock was set back. */
export function nextRun(known: readonly (string | undefined)[], now: Date): string {
  const newest =
    known
      .flatMap((name) => name ?? [])
      .toSorted()
      .at(-1) ?? '';
  const latest = momentOf(newest);
  const first = runName(new Date(Math.max(now.getTime(), latest)));
  return first > newest ? first : runName(new Date(Math.max(now.getTime(), latest + 1000)));
}

/** The time in the name of a run, in milliseconds; 0 where it has none. */
function momentOf(run: string): number {
  const [, date = '', time = ''] = /^(\d{8}T)(\d{6})Z-/.exec(run) ?? [];
  const iso = `${date.replace(/(....)(..)(..)T/, '$1-$2-$3T')}${time.replace(/(..)(..)(..)/, '$1:$2:$3')}Z`;
  return Date.parse(iso) || 0;
}

function runName(now: Date): string {
  return `${now.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z-${randomBytes(3).toString('hex')}`;
}

/** How often a shard has begun its part of a run, as the names of journals tell. */
export function attemptsOf(names: readonly string[], run: string, { index, count }: Shard): number {
  const attempts = names.flatMap((name) => {
    const part = partOfRun(name);
    const isOwn = part?.run === run && part.shard.index === index && part.shard.count === count;
    return isOwn ? [part.attempt] : [];
  });
  return Math.max(0, ...attempts);
}

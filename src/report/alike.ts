import type { ChangeResult } from '../apply/result.js';

/** Results of which more than this ended in the same way are told together, and so many of them are named. */
const FEW = 3;

/** The names that an address has in it, apart from those that are too short to be told from other text. */
export function namesIn(address: string): string[] {
  return address
    .split('/')
    .slice(1)
    .filter((name) => name.length > 2);
}

/** A text without these names, where they stand alone: the same for others of which the same is said. */
export function withoutNames(text: string, names: readonly string[]): string {
  return names
    .toSorted((a, b) => b.length - a.length)
    .reduce((shorter, name) => shorter.replace(alone(name), '…'), text);
}

function alone(name: string): RegExp {
  const letters = '[\\p{L}\\p{M}\\p{N}_-]';
  return new RegExp(`(?<!${letters})${name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}(?!${letters})`, 'gu');
}

/** What is said of an object without what is its own: its values, and its names. */
export function gistOf({ address, gist }: Pick<ChangeResult, 'address' | 'gist'>, said: string): string {
  return withoutNames(gist ?? said, namesIn(address));
}

/** Results in their order, those that ended in the same way together, where the first of them stands. */
export function alike(results: readonly ChangeResult[]): readonly (readonly ChangeResult[])[] {
  const groups = new Map<string, ChangeResult[]>();
  const keys = results.map((result, index) => {
    const { status, error, action, httpStatus } = result;
    if (status === 'applied' || error === null) return String(index);
    return JSON.stringify([status, action, httpStatus, gistOf(result, error)]);
  });
  for (const [index, result] of results.entries()) {
    const key = keys[index] ?? '';
    groups.set(key, [...(groups.get(key) ?? []), result]);
  }
  return [...groups.values()].flatMap((group) =>
    group.length > FEW ? [group] : group.map((result) => [result]),
  );
}

/** The first few addresses of a group, and how many more there are. */
export function someOf(results: readonly ChangeResult[]): string {
  return firstFew(results, ({ address }) => address);
}

/** The first few of many, and how many more there are. */
export function firstFew<T>(all: readonly T[], show: (one: T) => string): string {
  const named = all.slice(0, FEW).map(show);
  const more = all.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}

import type { ChangeResult } from '../apply/result.js';
import { groupBy } from '../base/values.js';

/** Larger groups of equal items are shown as one. */
const maxUngrouped = 3;

/** Groups items by key, in the order of the first items. Items without a key, and those of small groups, get a group each. */
export function groupByKey<T>(items: readonly T[], keyOf: (item: T) => string | null): (readonly T[])[] {
  const groups = groupBy<string | T, T>(items, (item) => keyOf(item) ?? item);
  return [...groups.values()].flatMap((group) =>
    group.length > maxUngrouped ? [group] : group.map((item) => [item]),
  );
}

/** The names in an address that are long enough to be replaced. */
export function namesIn(address: string): string[] {
  return address
    .split('/')
    .slice(1)
    .filter((name) => name.length > 2);
}

/** A text in which `…` replaces these names, unless they are parts of longer words. */
export function withoutNames(text: string, names: readonly string[]): string {
  return names
    .filter((name) => name !== '')
    .sort((a, b) => b.length - a.length)
    .reduce((shorter, name) => shorter.replaceAll(name, maskWholeWord), text);
}

const [letterBefore, letterAfter] = [/[\p{L}\p{M}\p{N}_-]$/u, /^[\p{L}\p{M}\p{N}_-]/u];

/** A replacer for `replaceAll`; a regular expression for each name would take 1 ms. */
function maskWholeWord(name: string, at: number, text: string): string {
  const end = at + name.length;
  // A character has two units at most.
  const isPart =
    letterBefore.test(text.slice(Math.max(0, at - 2), at)) || letterAfter.test(text.slice(end, end + 2));
  return isPart ? name : '…';
}

/** A message in which `…` replaces the values and names of its object. */
export function commonMessage(
  { address, ownValues = [] }: Pick<ChangeResult, 'address' | 'ownValues'>,
  message: string,
): string {
  const common = ownValues.reduce((text, value) => text.replaceAll(value, '…'), message);
  return withoutNames(common, namesIn(address));
}

export function groupResults(results: readonly ChangeResult[]): (readonly ChangeResult[])[] {
  return groupByKey(results, (result) => {
    const { status, error, action, httpStatus } = result;
    if (status === 'applied' || error === null) return null;
    return JSON.stringify([status, action, httpStatus, commonMessage(result, error)]);
  });
}

import type { ChangeResult } from '../apply/result.js';
import { groupBy } from '../base/values.js';

/** More equal items than this are grouped. */
const FEW = 3;

/** Groups items by key, in the order of the first. Items without a key, and of small groups, stay alone. */
export function groupByKey<T>(items: readonly T[], keyOf: (item: T) => string | null): (readonly T[])[] {
  const groups = groupBy<string | T, T>(items, (item) => keyOf(item) ?? item);
  return [...groups.values()].flatMap((group) =>
    group.length > FEW ? [group] : group.map((item) => [item]),
  );
}

/** The names in an address, apart from very short ones. */
export function namesIn(address: string): string[] {
  return address
    .split('/')
    .slice(1)
    .filter((name) => name.length > 2);
}

/** A text without these names, if they are words of their own. */
export function withoutNames(text: string, names: readonly string[]): string {
  return names
    .filter((name) => name !== '')
    .sort((a, b) => b.length - a.length)
    .reduce((shorter, name) => shorter.replaceAll(name, unlessPart), text);
}

const [letterBefore, letterAfter] = [/[\p{L}\p{M}\p{N}_-]$/u, /^[\p{L}\p{M}\p{N}_-]/u];

/** What stands for a name: itself in a longer word. A regular expression for each name would take 1 ms. */
function unlessPart(name: string, at: number, text: string): string {
  const end = at + name.length;
  // A character has two units at most.
  const isPart =
    letterBefore.test(text.slice(Math.max(0, at - 2), at)) || letterAfter.test(text.slice(end, end + 2));
  return isPart ? name : '…';
}

/** A message without the values and names of its object. */
export function commonMessage(
  { address, ownValues = [] }: Pick<ChangeResult, 'address' | 'ownValues'>,
  message: string,
): string {
  const shared = ownValues.reduce((text, own) => text.replaceAll(own, '…'), message);
  return withoutNames(shared, namesIn(address));
}

export function groupResults(results: readonly ChangeResult[]): (readonly ChangeResult[])[] {
  return groupByKey(results, (result) => {
    const { status, error, action, httpStatus } = result;
    if (status === 'applied' || error === null) return null;
    return JSON.stringify([status, action, httpStatus, commonMessage(result, error)]);
  });
}

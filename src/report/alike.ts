import type { ChangeResult } from '../apply/result.js';

/** Results of which more than this ended in the same way are told together. */
const FEW = 3;

/** What went wrong with an object, without what names it: the same for others with which the same went wrong. */
export function withoutNames(error: string, address: string): string {
  const names = address
    .split('/')
    .slice(1)
    .filter((name) => name.length > 2)
    .toSorted((a, b) => b.length - a.length);
  return names.reduce((text, name) => text.replaceAll(name, '…'), error);
}

/** `430 not sent: the credentials were refused (401)`. */
export function leftText(count: number, reason: string): string {
  return `${count} ${reason.replace(/^interrupted before it was sent$/, 'not sent: interrupted')}`;
}

/** Results in their order, those that ended in the same way together, where the first of them stands. */
export function alike(results: readonly ChangeResult[]): readonly (readonly ChangeResult[])[] {
  const groups = new Map<string, ChangeResult[]>();
  const keys = results.map((result, index) => {
    const { status, error, address, action, httpStatus } = result;
    if (status === 'applied' || error === null) return String(index);
    return JSON.stringify([status, action, httpStatus, withoutNames(error, address)]);
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
  const named = results.slice(0, FEW).map(({ address }) => address);
  const more = results.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}

import type { Asked, DiscoverContext, Discovery, Identity, KindName } from './kind.js';

/** Whether an object is among those that are asked for. */
export function isAsked({ options }: Discovery, identity: Identity, asked: Asked): boolean {
  return Object.entries(options).every(([option, part]) => {
    const wanted = asked[option] ?? [];
    return wanted.length === 0 || wanted.includes(identity[part] ?? '');
  });
}

/** The ids of one kind that are known, or asked for: those alone where some are. */
export function idsOf(kind: KindName, option: string, { asked, known }: DiscoverContext): string[] {
  const wanted = asked[option] ?? [];
  const ids =
    wanted.length > 0
      ? wanted
      : known.flatMap((one) => (one.kind === kind && one.identity.id !== undefined ? [one.identity.id] : []));
  return [...new Set(ids)].sort();
}

/** What is said of rows that no document can name. */
export function withoutIds(count: number, nouns: string): string[] {
  if (count === 0) return [];
  return [
    `${count} of the server's ${nouns} came without an id, so that nothing can be written down of ${count === 1 ? 'it' : 'them'}`,
  ];
}

import { allSettledEach } from '../base/concurrency.js';
import type { Fields, Value } from '../base/values.js';
import type { Parser } from '../server/answers.js';
import type { ExtraRead, PathParameters } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import { type Catalog, lackText } from './catalog.js';
import type {
  Asked,
  DiscoverContext,
  Discovered,
  Discovery,
  Finding,
  Identity,
  KindName,
  Live,
  ObserveContext,
} from './kind.js';

/** Whether options ask for an object; without what the server shows, whether they may. */
export function isAsked(discovery: Discovery, identity: Identity, asked: Asked, live?: Live): boolean {
  const { options, within } = discovery;
  const isIn = (option: string, id: unknown): boolean => {
    const wanted = asked[option] ?? [];
    return wanted.length === 0 || (typeof id === 'string' && wanted.includes(id));
  };
  return (
    Object.entries(options).every(([option, part]) => isIn(option, identity[part])) &&
    (within === undefined ||
      live === undefined ||
      isIn(within.option, within.idOf({ ...live.beside, ...live.fields })))
  );
}

/** Whether an option names this object. */
export function isAskedByName({ options }: Discovery, identity: Identity, asked: Asked): boolean {
  return Object.entries(options).some(([option, part]) => asked[option]?.includes(identity[part] ?? ''));
}

/** The ids that options ask for, otherwise the known ones. */
export function idsOf(kind: KindName, option: string, { asked, known }: DiscoverContext): string[] {
  const wanted = asked[option] ?? [];
  const ids =
    wanted.length > 0
      ? wanted
      : known.flatMap((one) => (one.kind === kind && one.identity.id !== undefined ? [one.identity.id] : []));
  return [...new Set(ids)].sort();
}

/** An object that was found. */
export function findingOf(id: Value | undefined, called: Value | undefined, fields: Fields): Finding {
  const identity = { id: String(id) };
  const live = { exists: true, identity, fields };
  return { identity, called: typeof called === 'string' ? called : null, live };
}

/** The objects of a list. */
export function foundIn(list: Catalog | null, nouns: string, find: (row: Fields) => Finding): Discovered {
  if (list === null) return { found: [], notes: [`the server offers no list of ${nouns}`] };
  const found = list.rows().map(find);
  return { found, notes: withoutIds(list.anonymous, nouns) };
}

/** A note about rows without an id. */
export function withoutIds(count: number, nouns: string): string[] {
  if (count === 0) return [];
  return [
    `${count} of the server's ${nouns} ${count === 1 ? 'has' : 'have'} no id, so idops can't list or pull ${count === 1 ? 'it' : 'them'}`,
  ];
}

/** Observes each object on its own. */
export async function observeEach<T extends { readonly identity: Identity }>(
  objects: readonly T[],
  observe: (identity: Identity) => Promise<Live>,
): Promise<ReadonlyMap<T, Live>> {
  return new Map(
    await allSettledEach(objects, async (object) => [object, await observe(object.identity)] as const),
  );
}

/** Reads one object; null if the server has none. */
export async function readOne<T>(
  { reader, limit }: ObserveContext,
  read: ExtraRead,
  params: PathParameters,
  parse: Parser<T>,
): Promise<T | null> {
  return await limit(() => reader.showExtra(read, params, parse));
}

/** An object that doesn't exist. With a profile whose servers can create it, a document may. */
export function missing(identity: Identity, noun: string, profile?: Profile): Live {
  const creatable = profile?.creates === true;
  const trouble = lackText(noun, `with the id ${identity.id}`, 'id', creatable);
  return { exists: false, identity, fields: {}, trouble, ...(creatable ? { missing: true } : {}) };
}

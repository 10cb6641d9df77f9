import { allSettledEach } from '../base/concurrency.js';
import type { Fields, Value } from '../base/values.js';
import type { Parser } from '../server/answers.js';
import type { ExtraRead, PathParameters } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import { type Catalog, noSuchObjectMessage } from './catalog.js';
import type {
  DiscoverContext,
  Discovery,
  DiscoveryFilters,
  DiscoveryResult,
  FoundObject,
  Identity,
  KindName,
  Live,
  ObserveContext,
} from './kind.js';

/** Whether options select an object. Without `live`, a filter by parent is not applied. */
export function matchesFilters(
  discovery: Discovery,
  identity: Identity,
  asked: DiscoveryFilters,
  live?: Live,
): boolean {
  const { options, parentFilter } = discovery;
  const isIn = (option: string, id: unknown): boolean => {
    const wanted = asked[option] ?? [];
    return wanted.length === 0 || (typeof id === 'string' && wanted.includes(id));
  };
  return (
    Object.entries(options).every(([option, part]) => isIn(option, identity[part])) &&
    (parentFilter === undefined ||
      live === undefined ||
      isIn(parentFilter.option, parentFilter.idOf({ ...live.readOnly, ...live.fields })))
  );
}

/** Whether an option names this object explicitly. */
export function isNamedByFilter(
  { options }: Discovery,
  identity: Identity,
  asked: DiscoveryFilters,
): boolean {
  return Object.entries(options).some(([option, part]) => asked[option]?.includes(identity[part] ?? ''));
}

/** The ids that an option names; without any, those of known objects. */
export function idsOf(kind: KindName, option: string, { filters, known }: DiscoverContext): string[] {
  const wanted = filters[option] ?? [];
  const ids =
    wanted.length > 0
      ? wanted
      : known.flatMap((one) => (one.kind === kind && one.identity.id !== undefined ? [one.identity.id] : []));
  return [...new Set(ids)].sort();
}

/** A found object with an id. */
export function foundObject(id: Value | undefined, called: Value | undefined, fields: Fields): FoundObject {
  const identity = { id: String(id) };
  const live = { exists: true, identity, fields };
  return { identity, displayName: typeof called === 'string' ? called : null, live };
}

/** The objects of a list, with a note if the server doesn't offer it. */
export function discoverInList(
  list: Catalog | null,
  nouns: string,
  find: (row: Fields) => FoundObject,
): DiscoveryResult {
  if (list === null) return { found: [], notes: [`the server offers no list of ${nouns}`] };
  const found = list.rows().map(find);
  return { found, notes: noteOnMissingIds(list.rowsWithoutId, nouns) };
}

/** A note about rows without an id. */
export function noteOnMissingIds(count: number, nouns: string): string[] {
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

/** The answer for an object that doesn't exist. `profile` is given if documents can create such objects. */
export function missing(identity: Identity, noun: string, profile?: Profile): Live {
  const creatable = profile?.creates === true;
  const reason = noSuchObjectMessage(noun, `with the id ${identity.id}`, 'id', creatable);
  return { exists: false, identity, fields: {}, reason, ...(creatable ? { missing: true } : {}) };
}

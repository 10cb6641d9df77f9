import { pages } from '../server/answers.js';
import { type ExtraRead, operations, type Scope } from '../server/operations.js';
import type { Profile, ProfileName } from '../server/profiles.js';
import type { Reader } from '../server/reader.js';
import { type Catalog, readCatalog } from './catalog.js';
import type { Declared } from './declared.js';
import { changedBy, type OrganizationIndex, type OtherNames, readOrganizations } from './organizations.js';

/** What the server lists as a whole: references of manifests are looked up in it, and it may answer for a kind. */
interface Lists {
  readonly organizations: OrganizationIndex;
  readonly scopes: Catalog;
  readonly roles: Catalog;
}

export type ListName = keyof Lists;

/** The lists that were read. One that isn't there wasn't needed, or the profile has no read for it. */
export type References = {
  /** Null where the profile has a read for it and the server doesn't offer it. */
  readonly [name in ListName]?: Lists[name] | null;
};

/** Lists that are being read, once for all that need them. */
export type HeldLists = { -readonly [name in ListName]?: BeingRead[name] };

/** Lists that were read, and when that began, as `performance.now()` tells it. */
export interface ReadLists {
  readonly at: number;
  readonly lists: HeldLists;
}

type BeingRead = { readonly [name in ListName]: Promise<Lists[name] | null> };

/** How a list is read. */
interface ListType<N extends ListName> {
  /** The scope that reading it takes; undefined where the profile has no read for it. */
  scope(profile: Profile): Scope | undefined;
  /** Reads it whole; null where the server offers no such list. Throws what the reader throws. */
  read(reader: Reader, profile: Profile): BeingRead[N];
  /** The list as it will be when the documents are applied; as it is where this is left out. */
  after?(list: Lists[N], declared: readonly Declared[], others: OtherNames): Lists[N];
}

/** The lists that servers offer beyond the document. */
const reads: {
  readonly [profile in ProfileName]: { readonly scopes?: ExtraRead; readonly roles?: ExtraRead };
} = {
  documented: {},
  boruta: {
    scopes: { title: 'list scopes', path: '/api/scopes', scope: 'users:manage:all' },
    roles: { title: 'list roles', path: '/api/roles', scope: 'users:manage:all' },
  },
};

/** The list that a profile's server has of something beyond the document; undefined where it has none. */
export function listRead(name: 'scopes' | 'roles', profile: Profile): ExtraRead | undefined {
  return reads[profile.name][name];
}

const types: { readonly [name in ListName]: ListType<name> } = {
  organizations: {
    scope: () => operations.listOrganizations.scope,
    read: readOrganizations,
    after: changedBy,
  },
  scopes: {
    scope: ({ name }) => reads[name].scopes?.scope,
    read: async (reader, { name }) => {
      const { scopes } = reads[name];
      return scopes === undefined ? null : await readCatalog('scopes', scopes, pages.scope, reader);
    },
  },
  roles: {
    scope: ({ name }) => reads[name].roles?.scope,
    read: async (reader, { name }) => {
      const { roles } = reads[name];
      return roles === undefined ? null : await readCatalog('roles', roles, pages.role, reader);
    },
  },
};

/** The lists, in the order in which messages name them. */
export const listNames: readonly ListName[] = ['organizations', 'scopes', 'roles'];

/** The scope that reading a list takes; undefined where the profile has no read for it. */
export function listScope(name: ListName, profile: Profile): Scope | undefined {
  return types[name].scope(profile);
}

/** A list, read now unless it is held already; `onRead` is called when that is done. */
export function holdList<N extends ListName>(
  held: HeldLists,
  name: N,
  { reader, profile }: { readonly reader: Reader; readonly profile: Profile },
  onRead: () => void,
): BeingRead[N] {
  const type: ListType<N> = types[name];
  const before: BeingRead[N] | undefined = held[name];
  if (before !== undefined) return before;
  const list = type.read(reader, profile);
  held[name] = list;
  // Whoever waits for the list hears of its failure.
  list.then(onRead, () => {});
  return list;
}

/** What was held, when all of it is read. */
export async function heldLists(held: HeldLists): Promise<References> {
  const references: { -readonly [name in ListName]?: References[name] } = {};
  const take = async <N extends ListName>(name: N): Promise<void> => {
    const list: BeingRead[N] | undefined = held[name];
    if (list !== undefined) references[name] = await list;
  };
  for (const name of listNames) await take(name);
  return references;
}

/** The lists as they will be when the documents are applied; `others` are names of organizations that are known of before. */
export function afterwards(
  references: References,
  declared: readonly Declared[],
  others: OtherNames,
): References {
  const next: { -readonly [name in ListName]?: References[name] } = { ...references };
  const take = <N extends ListName>(name: N): void => {
    const type: ListType<N> = types[name];
    const list: Lists[N] | null | undefined = references[name];
    if (list != null && type.after !== undefined) next[name] = type.after(list, declared, others);
  };
  for (const name of listNames) take(name);
  return next;
}

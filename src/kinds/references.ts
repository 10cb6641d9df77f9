import { error, type Place, type Problem } from '../base/problems.js';
import type { Fields } from '../base/values.js';
import { type Page, type Parser, pages } from '../server/answers.js';
import { type ExtraRead, operations, type Scope } from '../server/operations.js';
import type { Profile, ProfileName } from '../server/profiles.js';
import type { Reader } from '../server/reader.js';
import { type Catalog, readCatalog } from './catalog.js';
import type { Declared } from './declared.js';
import { changedBy, type OrganizationIndex, type OtherNames, readOrganizations } from './organizations.js';

/** Lists of the server, in which references are looked up. */
interface Lists {
  readonly organizations: OrganizationIndex;
  readonly scopes: Catalog;
  readonly roles: Catalog;
  readonly backends: Catalog;
  /** Found by their username. */
  readonly users: Catalog;
}

export type ListName = keyof Lists;

/** The lists that were read; one is absent if it wasn't needed or the profile has no read for it. */
export type References = {
  /** Null if the server doesn't offer it. */
  readonly [name in ListName]?: Lists[name] | null;
};

/** Lists that are being read, once each. */
export type HeldLists = { -readonly [name in ListName]?: BeingRead[name] };

/** Lists, and the `performance.now()` before reading them. */
export interface ReadLists {
  readonly at: number;
  readonly lists: HeldLists;
}

type BeingRead = { readonly [name in ListName]: Promise<Lists[name] | null> };

interface ListType<N extends ListName> {
  /** The required scope; undefined if the profile has no read for it. */
  scope(profile: Profile): Scope | undefined;
  /** Null if the server doesn't offer it. */
  read(reader: Reader, profile: Profile): BeingRead[N];
  /** The list after applying documents; omitted if they don't change it. */
  after?(list: Lists[N], declared: readonly Declared[], others: OtherNames): Lists[N];
}

type ExtraList = Exclude<ListName, 'organizations'>;

/** Lists beyond the documented API. */
const reads: { readonly [profile in ProfileName]: { readonly [name in ExtraList]?: ExtraRead } } = {
  documented: {},
  boruta: {
    scopes: { title: 'list scopes', path: '/api/scopes', scope: 'users:manage:all' },
    roles: { title: 'list roles', path: '/api/roles', scope: 'users:manage:all' },
    backends: { title: 'list backends', path: '/api/backends', scope: 'identity-providers:manage:all' },
    users: { title: 'list users', path: '/api/users', scope: 'users:manage:all', pageSize: 1000 },
  },
};

/** The read of a list; undefined if the profile has none. */
export function listRead(name: ExtraList, profile: Profile): ExtraRead | undefined {
  return reads[profile.name][name];
}

/** The problem of a name that no list of the profile's servers can resolve. */
export function unlisted({ name }: Profile, what: string, place: Place): Problem {
  return error(
    'profile-field',
    `a server of the profile ${name} has no list to find ${what} in by name`,
    [place],
    'use the id; if the server is a Boruta, set "profile: boruta" under server',
  );
}

function listed(
  name: ExtraList,
  parse: Parser<Page<Fields>>,
  called?: string,
): Pick<ListType<'scopes'>, 'scope'> & { read(reader: Reader, profile: Profile): Promise<Catalog | null> } {
  return {
    scope: (profile) => listRead(name, profile)?.scope,
    read: async (reader, profile) => {
      const read = listRead(name, profile);
      return read === undefined ? null : await readCatalog(name, read, parse, reader, called);
    },
  };
}

const types: { readonly [name in ListName]: ListType<name> } = {
  organizations: {
    scope: () => operations.listOrganizations.scope,
    read: readOrganizations,
    after: changedBy,
  },
  scopes: listed('scopes', pages.scope),
  roles: listed('roles', pages.role),
  backends: listed('backends', pages.backend),
  users: listed('users', pages.user, 'username'),
};

/** In the order of messages. */
export const listNames: readonly ListName[] = ['organizations', 'scopes', 'roles', 'backends', 'users'];

export function listScope(name: ListName, profile: Profile): Scope | undefined {
  return types[name].scope(profile);
}

/** A list, read now unless it was already; calls `onRead` after reading. */
export function holdList<N extends ListName>(
  held: HeldLists,
  name: N,
  { reader, profile }: { readonly reader: Reader; readonly profile: Profile },
  onRead?: () => void,
): BeingRead[N] {
  const type: ListType<N> = types[name];
  const before: BeingRead[N] | undefined = held[name];
  if (before !== undefined) return before;
  const list = type.read(reader, profile);
  held[name] = list;
  // Failures go to the callers that await the list.
  list.then(onRead, () => {});
  return list;
}

/** Waits for all lists. */
export async function heldLists(held: HeldLists): Promise<References> {
  const references: { -readonly [name in ListName]?: References[name] } = {};
  const take = async <N extends ListName>(name: N): Promise<void> => {
    const list: BeingRead[N] | undefined = held[name];
    if (list !== undefined) references[name] = await list;
  };
  for (const name of listNames) await take(name);
  return references;
}

/** The lists after applying documents. */
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

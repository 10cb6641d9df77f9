import { identifierKey, plannedId } from '../base/identifiers.js';
import type { KindName } from '../base/kind-names.js';
import { error, type Place, type Problem } from '../base/problems.js';
import type { Fields, Value } from '../base/values.js';
import { type Page, type Parser, pages } from '../server/answers.js';
import { type ExtraRead, operations, type Scope } from '../server/operations.js';
import type { Profile, ProfileName } from '../server/profiles.js';
import type { Reader } from '../server/reader.js';
import { Catalog, type CatalogOptions, type OtherNames, readRows } from './catalog.js';
import type { Declared, Identity } from './declared.js';
import { readListing } from './listing.js';

/** Lists of the server that are read once for all that use them, in the order of messages. */
export const listNames = [
  'organizations',
  'scopes',
  'roles',
  'backends',
  'identityProviders',
  'clients',
  'keyPairs',
  'users',
] as const;

export type ListName = (typeof listNames)[number];

/** The lists that were read. A list is absent if it wasn't needed or the profile can't read it. */
export type References = {
  /** Null if the server doesn't offer it. */
  readonly [name in ListName]?: Catalog | null;
};

/** Requested lists, each read once. */
export type PendingLists = { [name in ListName]?: Promise<Catalog | null> };

/** Lists, and the `performance.now()` before they were requested. */
export interface ReadLists {
  readonly at: number;
  readonly lists: PendingLists;
}

interface ListType extends CatalogOptions {
  readonly noun: string;
  readonly parse: Parser<Page<Fields>>;
  /** The kind of the rows, and the fields that documents can change. */
  readonly documents?: { readonly kind: KindName; readonly fields: readonly string[] };
  /** The kind of rows that documents can only delete. */
  readonly deletedBy?: KindName;
}

const types: { readonly [name in ListName]: ListType } = {
  organizations: {
    noun: 'organization',
    parse: pages.organization,
    documents: { kind: 'Organization', fields: ['name', 'label'] },
  },
  scopes: {
    noun: 'scope',
    parse: pages.scope,
    documents: { kind: 'Scope', fields: ['name', 'label', 'public'] },
  },
  roles: { noun: 'role', parse: pages.role, documents: { kind: 'Role', fields: ['name', 'scopes'] } },
  backends: {
    noun: 'backend',
    parse: pages.object,
    documents: {
      kind: 'Backend',
      fields: ['name', 'type', 'is_default', 'create_default_organization', 'roles', 'metadata_fields'],
    },
  },
  identityProviders: {
    noun: 'identity provider',
    parse: pages.object,
    documents: { kind: 'IdentityProvider', fields: ['name', 'backend', 'backend_id'] },
  },
  clients: { noun: 'client', parse: pages.keyHolder },
  keyPairs: { noun: 'key pair', parse: pages.keyPair },
  // Found by their username.
  users: { noun: 'user', parse: pages.user, nameField: 'username', deletedBy: 'User' },
};

/** The noun for a row of a list, for messages. */
export function nounOf(name: ListName): string {
  return types[name].noun;
}

/** The list with a noun; undefined if there is none. */
export function listOfNoun(noun: string): ListName | undefined {
  return listNames.find((name) => nounOf(name) === noun);
}

type ExtraList = Exclude<ListName, 'organizations'>;

/** Reads of lists that the documented API doesn't have. */
const reads: { readonly [profile in ProfileName]: { readonly [name in ExtraList]?: ExtraRead } } = {
  documented: {},
  boruta: {
    scopes: { title: 'list scopes', path: '/api/scopes', scope: 'users:manage:all' },
    roles: { title: 'list roles', path: '/api/roles', scope: 'users:manage:all' },
    backends: { title: 'list backends', path: '/api/backends', scope: 'identity-providers:manage:all' },
    identityProviders: {
      title: 'list identity providers',
      path: '/api/identity-providers',
      scope: 'identity-providers:manage:all',
    },
    clients: { title: 'list clients', path: '/api/clients', scope: 'clients:manage:all' },
    keyPairs: { title: 'list key pairs', path: '/api/key-pairs', scope: 'clients:manage:all' },
    users: { title: 'list users', path: '/api/users', scope: 'users:manage:all', pageSize: 1000 },
  },
};

/** The read of a list; undefined if the profile has none. */
export function listRead(name: ExtraList, profile: Profile): ExtraRead | undefined {
  return reads[profile.name][name];
}

/** The problem of a name that no list of the profile's servers can resolve. */
export function unlisted({ name }: Profile, what: string, place: Place): Problem {
  const message = `a server of the profile ${name} has no list to find ${what} in by name`;
  const hint = 'use the id; if the server is a Boruta, set "profile: boruta" under server';
  return error('profile-field', message, [place], hint);
}

/** The required scope; undefined if the profile has no read for it. */
export function listScope(name: ListName, profile: Profile): Scope | undefined {
  return name === 'organizations' ? operations.listOrganizations.scope : listRead(name, profile)?.scope;
}

/** Any one of these scopes is enough to read the lists of scopes and roles. */
const READING: ReadonlySet<Scope> = new Set([
  'scopes:manage:all',
  'users:manage:all',
  'clients:manage:all',
  'identity-providers:manage:all',
]);

/** The given scopes, and those that reading the lists needs in addition. */
export function withListScopes(scopes: readonly Scope[], names: readonly ListName[], profile: Profile) {
  const isRead = scopes.some((scope) => READING.has(scope));
  const needed = names.filter((name) => !isRead || (name !== 'scopes' && name !== 'roles'));
  return [...scopes, ...needed.flatMap((name) => listScope(name, profile) ?? [])];
}

/** Reads a whole list; null if the server doesn't offer it. Throws a ProblemsError if its ids don't match its count. */
export async function readList(name: ListName, reader: Reader, profile: Profile): Promise<Catalog | null> {
  const { parse, documents, ...options } = types[name];
  const creatable = profile.creates && documents !== undefined;
  if (name === 'organizations') {
    const rows = await readListing(name, (number, wanted) => reader.listOrganizations(number, wanted));
    return new Catalog(rows, { ...options, creatable });
  }
  const read = listRead(name, profile);
  const rows = read === undefined ? null : await readRows(name, read, parse, reader);
  return rows === null ? null : new Catalog(rows, { ...options, creatable });
}

/** Requests a list unless it was already requested. Calls `onRead` after it was read. */
export function readListOnce(
  held: PendingLists,
  name: ListName,
  { reader, profile }: { readonly reader: Reader; readonly profile: Profile },
  onRead?: () => void,
): Promise<Catalog | null> {
  const { [name]: before } = held;
  if (before !== undefined) return before;
  const list = readList(name, reader, profile);
  held[name] = list;
  // Callers that await the list get the failure.
  list.then(onRead, () => {});
  return list;
}

/** Waits for all lists. */
export async function awaitLists(held: PendingLists): Promise<References> {
  const references: { -readonly [name in ListName]?: Catalog | null } = {};
  for (const name of listNames) {
    const { [name]: list } = held;
    if (list !== undefined) references[name] = await list;
  }
  return references;
}

/** The value that a document gives a field of a list row, with references resolved. */
export type ListedField = (declared: Declared, field: string, row: Fields, references: References) => Value;

/** The lists as they are after the documents are applied. */
export function listsAfter(
  references: References,
  declared: readonly Declared[],
  others: OtherNames,
  valueIn: ListedField,
): References {
  const next: { -readonly [name in ListName]?: Catalog | null } = { ...references };
  for (const name of listNames) {
    const { documents, deletedBy } = types[name];
    const { [name]: list } = references;
    if (list == null) continue;
    if (documents !== undefined)
      next[name] = listAfter(list, documents, declared, others, (...given) => valueIn(...given, next));
    else if (deletedBy !== undefined) {
      const gone = declared.filter(({ kind, absent }) => kind === deletedBy && absent);
      next[name] = list.afterPlan({ deleted: new Set(gone.flatMap(({ identity }) => identity.id ?? [])) });
    }
  }
  return next;
}

function listAfter(
  list: Catalog,
  { kind, fields: listed }: NonNullable<ListType['documents']>,
  declared: readonly Declared[],
  others: OtherNames,
  valueIn: (declared: Declared, field: string, row: Fields) => Value,
): Catalog {
  const changed = new Map<string, Fields>();
  const created = new Map<string, Fields>();
  const deleted = new Set<string>();
  const recreated = new Map(others.recreated);
  for (const document of declared) {
    if (document.kind !== kind) continue;
    const { id: given, name: called = '' } = document.identity;
    const [row, ...namesakes] = given === undefined ? list.byNameOrLiveName(called) : [list.byId(given)];
    if (namesakes.length > 0) continue;
    if (document.absent) {
      if (row !== undefined) deleted.add(String(row.id));
      continue;
    }
    if (row === undefined && (document.creates !== true || !isMissing(list, document.identity))) continue;
    const values = Object.fromEntries(
      listed.flatMap((field): [string, Value][] => {
        // Without an id, the name finds the object.
        if (document.fields[field] === undefined || (field === 'name' && row && given === undefined))
          return [];
        return [[field, valueIn(document, field, row ?? {})]];
      }),
    );
    const address = `${kind}/${called}`;
    const { replaces } = document;
    // While the plan is applied, the object gets its id. An object that was there before the plan is somebody else's.
    const isOwn = replaces !== undefined && recreated.get(identifierKey(replaces)) === plannedId(address);
    if (replaces !== undefined && (row === undefined || isOwn))
      recreated.set(identifierKey(replaces), String(row?.id ?? plannedId(address)));
    if (row === undefined) created.set(address, { id: given ?? plannedId(address), ...values });
    else if (Object.keys(values).length > 0) changed.set(String(row.id), values);
  }
  return list.afterPlan({ changed, created, deleted }, { ...others, recreated });
}

/** Whether the server certainly has no object with an identity, so it can be created. */
export function isMissing(list: Catalog, { id, name = '' }: Identity): boolean {
  if (list.isIncomplete) return false;
  return id === undefined ? list.lacksName(name) : list.byId(id) === undefined;
}

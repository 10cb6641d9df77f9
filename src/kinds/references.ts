import { plannedId } from '../base/identifiers.js';
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

/** Lists of the server, in which references are looked up, in the order of messages. */
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

/** The lists that were read; one is absent if it wasn't needed or the profile has no read for it. */
export type References = {
  /** Null if the server doesn't offer it. */
  readonly [name in ListName]?: Catalog | null;
};

/** Lists that are being read, once each. */
export type PendingLists = { [name in ListName]?: Promise<Catalog | null> };

/** Lists, and the `performance.now()` before reading them. */
export interface ReadLists {
  readonly at: number;
  readonly lists: PendingLists;
}

interface ListType extends CatalogOptions {
  readonly noun: string;
  readonly parse: Parser<Page<Fields>>;
  /** The kind of the rows, and their fields that documents may change. */
  readonly documents?: { readonly kind: KindName; readonly fields: readonly string[] };
  /** The kind of rows that documents may only delete. */
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

/** What the rows of a list are, for messages. */
export function nounOf(name: ListName): string {
  return types[name].noun;
}

/** The list in which a thing is found by name. */
export function listOfNoun(noun: string): ListName | undefined {
  return listNames.find((name) => nounOf(name) === noun);
}

type ExtraList = Exclude<ListName, 'organizations'>;

/** Lists beyond the documented API. */
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

/** The scopes that any one of reads the lists of scopes and of roles. */
const READING: ReadonlySet<Scope> = new Set([
  'scopes:manage:all',
  'users:manage:all',
  'clients:manage:all',
  'identity-providers:manage:all',
]);

/** Some scopes, and those that reading lists needs beside them. */
export function withListScopes(scopes: readonly Scope[], names: readonly ListName[], profile: Profile) {
  const isRead = scopes.some((scope) => READING.has(scope));
  const needed = names.filter((name) => !isRead || (name !== 'scopes' && name !== 'roles'));
  return [...scopes, ...needed.flatMap((name) => listScope(name, profile) ?? [])];
}

/** Reads a whole list; null if the server doesn't offer it. Throws if it doesn't add up. */
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

/** A list, read now unless it was already; calls `onRead` after reading. */
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
  // Failures go to the callers that await the list.
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

/** What is used of a field of a document in the lists: with the ids and names of the lists. */
export type ListedField = (declared: Declared, field: string, row: Fields, references: References) => Value;

/** The lists after applying documents. */
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
  for (const document of declared) {
    if (document.kind !== kind) continue;
    const { id: given, name: called = '' } = document.identity;
    const [row, ...alike] = given === undefined ? list.byNameOrLiveName(called) : [list.byId(given)];
    if (alike.length > 0) continue;
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
    if (row === undefined) created.set(address, { id: given ?? plannedId(address), ...values });
    else if (Object.keys(values).length > 0) changed.set(String(row.id), values);
  }
  return list.afterPlan({ changed, created, deleted }, others);
}

/** Whether there is surely no object of an identity, so that it can be created. */
export function isMissing(list: Catalog, { id, name = '' }: Identity): boolean {
  if (list.isIncomplete) return false;
  return id === undefined ? list.lacksName(name) : list.byId(id) === undefined;
}

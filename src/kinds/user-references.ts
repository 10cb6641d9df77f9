import { type Fields, isMap, mapValues, type Value } from '../base/values.js';
import type { Profile } from '../server/profiles.js';
import { wrongName } from './by-name.js';
import type { Catalog } from './catalog.js';
import { asElements, instantOf, keyOf, listsOf, memberKey, referenceOf } from './fields.js';
import type { Declared, ResolveContext, Resolved } from './kind.js';
import type { OrganizationIndex } from './organizations.js';
import { type ListName, listScope, type References } from './references.js';
import { userTraits } from './user-schema.js';

/** The lists that the references of a user's document need. */
export function listsOfUser({ fields }: Declared, profile: Profile): readonly ListName[] {
  const filled = (set: Value | undefined): boolean => listsOf(set).some(({ list }) => list.length > 0);
  return [
    // Memberships that are sent unchanged are looked up too.
    ...((userTraits[profile.name].whole?.includes('organizations') ?? false) || filled(fields.organizations)
      ? (['organizations'] as const)
      : []),
    ...(listScope('scopes', profile) !== undefined && filled(fields.authorized_scopes)
      ? (['scopes'] as const)
      : []),
    ...(listScope('roles', profile) !== undefined && filled(fields.roles) ? (['roles'] as const) : []),
  ];
}

/**
 * A user's fields with the id and the server's name in each element of a list, as far as lists of the server tell them. Servers use
 * only ids: a wrong name beside an id would mislead a reviewer.
 */
export function resolveUser(fields: Fields, context: ResolveContext): Resolved {
  const { references, present, profile, wished, at } = context;
  const resolved: Fields = { ...fields };
  const troubles: string[] = [];
  const confirmed: string[] = [];
  const warnings: Resolved['warnings'][number][] = [];
  /** Looks up each list of a declared set. */
  const take = (
    field: string,
    noun: string,
    lookUp: (list: readonly Value[], joined: boolean) => LookedUp,
  ): void => {
    const declared = fields[field];
    const found = listsOf(declared).map(({ path, list }) => ({
      path,
      ...lookUp(list, isMap(declared ?? null)),
    }));
    if (found.length === 0) return;
    troubles.push(...found.flatMap((one) => one.troubles));
    if (found.every(({ sure }) => sure)) confirmed.push(field);
    const [only] = found;
    if (Array.isArray(declared)) resolved[field] = only?.elements ?? [];
    else {
      const parts: { [part: string]: Fields[] } = {};
      for (const { path, elements } of found) parts[path[0] ?? ''] = elements;
      troubles.push(...contradictions(field, noun, parts, at));
      resolved[field] = mapValues(parts, uniqueElements);
    }
  };
  const inCatalog =
    (catalog: Catalog | null | undefined, noun: string, field: string) =>
    (list: readonly Value[], joined: boolean) =>
      findAll(list.map(referenceOf), {
        catalog,
        noun,
        own: asElements(present[field] ?? null),
        byMember: joined,
        strict: wished(field),
        live: userTraits[profile.name].reads?.one !== undefined,
      });
  take('authorized_scopes', 'scope', inCatalog(references.scopes, 'scope', 'authorized_scopes'));
  take('roles', 'role', inCatalog(references.roles, 'role', 'roles'));
  const { organizations } = references;
  if (organizations != null) {
    const own = asElements(present.organizations ?? null);
    // A shared name is ambiguous, in removals too.
    const told = own.every(({ name }) => typeof name !== 'string' || organizations.byName(name).length <= 1);
    take('organizations', 'organization', (list, joined) => {
      const members = memberships(list, organizations, wished('organizations'), joined);
      warnings.push(
        ...members.stale.map((message) => ({ code: 'stale-name' as const, message, field: 'organizations' })),
      );
      // Roles in a membership are in no list.
      return { ...members, sure: userTraits[profile.name].hasRoles && members.sure && (joined || told) };
    });
  }
  return { fields: resolved, troubles: [...new Set(troubles)], confirmed, warnings };
}

/** Elements without repetitions, which several documents may cause. */
function uniqueElements(elements: readonly Fields[]): Fields[] {
  return [...new Map(elements.map((element) => [keyOf(element), element])).values()];
}

/** Members that one document declares and another one removes, and members with two ends. */
function contradictions(
  field: string,
  noun: string,
  parts: { readonly [part: string]: readonly Fields[] },
  at: ResolveContext['at'],
): string[] {
  const first = new Map<string, { readonly element: Fields; readonly place: string }>();
  const twice = Object.entries(parts).flatMap(([part, elements]) =>
    elements.flatMap((element, index) => {
      if (part === 'remove' || part === 'stay') return [];
      const place = at(field, part, index);
      const before = first.get(keyOf(element));
      if (before === undefined) first.set(keyOf(element), { element, place });
      if (before === undefined || instantOf(before.element.until) === instantOf(element.until)) return [];
      return [
        `the ${noun} "${String(element.name ?? element.id)}" ends differently at ${before.place} and ${place}: declare one end`,
      ];
    }),
  );
  const { remove = [], ...others } = parts;
  const removed = new Map(remove.map((element, index) => [keyOf(element), index]));
  const both = Object.entries(others).flatMap(([part, elements]) =>
    elements.flatMap((element, index) => {
      const other = removed.get(keyOf(element));
      if (other === undefined) return [];
      return [
        `the ${noun} "${String(element.name ?? element.id)}" is declared at ${at(field, part, index)} and removed at ${at(field, 'remove', other)}: remove one of the two`,
      ];
    }),
  );
  return [...twice, ...both];
}

/** The elements of a user's lists that still exist on the server. */
export function existing(lists: Fields, { organizations, scopes, roles }: References): Fields {
  const isIn = (catalog: Catalog | null | undefined, { id }: Fields): boolean =>
    catalog == null || catalog.unsure || (typeof id === 'string' && catalog.byId(id) !== undefined);
  const kept = Object.entries(lists).map(([field, list]): [string, Value] => {
    if (!Array.isArray(list)) return [field, list];
    const elements = asElements(list);
    if (field === 'authorized_scopes') return [field, elements.filter((scope) => isIn(scopes, scope))];
    if (field === 'roles') return [field, elements.filter((role) => isIn(roles, role))];
    return [field, elements.filter((member) => isIn(organizations, member))];
  });
  return Object.fromEntries(kept.filter(([, list]) => !Array.isArray(list) || list.length > 0));
}

interface LookedUp {
  readonly elements: Fields[];
  readonly troubles: readonly string[];
  /** Whether a list of the server confirmed every name. */
  readonly sure: boolean;
}

interface Search {
  /** Undefined or null if there is no list. */
  readonly catalog: Catalog | null | undefined;
  readonly noun: string;
  /** The user's present elements, which the server surely has. */
  readonly own: readonly Fields[];
  /** Whether only the declared elements are managed. */
  readonly byMember: boolean;
  /** Refuse names that differ from the server's. */
  readonly strict: boolean;
  /** Whether the present elements are live. */
  readonly live: boolean;
}

function findAll(list: readonly Fields[], { catalog, noun, own, byMember, strict, live }: Search): LookedUp {
  // An empty set needs no list; removals show the live names.
  if (catalog == null) {
    return { elements: [...list], troubles: [], sure: live && catalog === undefined && list.length === 0 };
  }
  // A shared name is ambiguous, in removals too.
  const isShared = (name: string): boolean => catalog.byName(name).length > 1;
  const troubles: string[] = [];
  let sure = byMember || own.every(({ name }) => typeof name !== 'string' || !isShared(name));
  const elements = list.map((element) => {
    const row = typeof element.id === 'string' ? byId(element.id) : byName(String(element.name));
    if (typeof row === 'string') {
      troubles.push(row);
      return element;
    }
    if (typeof row?.name !== 'string' || isShared(row.name)) sure = false;
    if (row === undefined) return element;
    const misnamed = strict ? nameConflict(noun, element, row) : undefined;
    if (misnamed !== undefined) troubles.push(misnamed);
    return asOnServer(element, row, own);
  });
  return { elements, troubles, sure };

  function byId(id: string): Fields | string | undefined {
    const row = catalog?.byId(id) ?? own.find((one) => one.id === id);
    // It may be a row without an id.
    if (row !== undefined || catalog?.unsure === true) return row;
    if (!strict) return `the server has no ${noun} with the id ${id} any more, so it can't be restored`;
    return `the server has no ${noun} with the id ${id}: correct the id, or create the ${noun} there`;
  }

  function byName(name: string): Fields | string {
    const listed = catalog?.byName(name) ?? [];
    const found = listed.length > 0 ? listed : own.filter((one) => one.name === name);
    const ids = [...new Set(found.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])))];
    const [row] = found;
    if (row !== undefined && ids.length === 1) return row;
    if (ids.length > 1) {
      return `${ids.length} ${noun}s are called "${name}" (${ids.join(', ')}): refer to one by its id`;
    }
    const unsure = catalog?.unsure === true ? ' (its list has rows without an id)' : '';
    if (!strict) return `the server has no ${noun} "${name}"${unsure} any more, so it can't be restored`;
    const lack = `the server has no ${noun} "${name}"${unsure}: correct the name, or create the ${noun} there`;
    return `${lack}${catalog?.proposal(name) ?? ''}`;
  }
}

function nameConflict(noun: string, { id, name }: Fields, row: Fields): string | undefined {
  if (typeof name !== 'string' || typeof row.name !== 'string' || name === row.name) return undefined;
  return wrongName(noun, String(id), row.name, name);
}

/**
 * An element as the server knows it, without declared values that the server decides: the scopes of a role, `public` of a scope.
 */
function asOnServer(element: Fields, row: Fields, own: readonly Fields[]): Fields {
  const { scopes: _, ...declared } = element;
  const isNew = !own.some(({ id }) => id === row.id);
  return {
    ...declared,
    ...(declared.public !== undefined && row.public !== undefined ? { public: row.public } : {}),
    ...(isNew && row.scopes !== undefined ? { scopes: row.scopes } : {}),
    ...(row.id === undefined ? {} : { id: row.id }),
    ...(typeof row.name === 'string' ? { name: row.name } : {}),
  };
}

/** Memberships with their organizations; `stale` has a sentence for each former name. */
function memberships(
  references: readonly Value[],
  index: OrganizationIndex,
  strict: boolean,
  joined: boolean,
): LookedUp & { readonly stale: readonly string[] } {
  const troubles: string[] = [];
  const stale: string[] = [];
  const seen = new Set<string>();
  let sure = true;
  const elements = references.flatMap((reference): Fields[] => {
    const element = isMap(reference) ? reference : {};
    const row = findMember(reference, index);
    if (typeof row === 'string') {
      troubles.push(row);
      return [];
    }
    const id = String(row.id);
    // Several documents may add the same member.
    if (seen.has(id) && !joined) {
      troubles.push(`the organization ${id} is twice in organizations: remove one of the two`);
      return [];
    }
    seen.add(id);
    if (typeof row.name !== 'string' || index.byName(row.name).length > 1) sure = false;
    const { name } = element;
    const standing = strict && typeof name === 'string' ? index.checkName(id, name) : 'right';
    const present = index.presentName(id);
    if (standing === 'wrong') {
      troubles.push(wrongName('organization', id, present ?? '', String(name)));
    }
    if (strict && element.id === undefined && memberKey(reference) === present && present !== row.name) {
      stale.push(
        `this plan renames the organization "${present}" to "${String(row.name)}": write "${String(row.name)}" here too, or the next plan is blocked`,
      );
    }
    if (standing === 'stale') {
      stale.push(
        `the organization with the id ${id} is called "${String(row.name)}" now, and "${String(name)}" is a former name: write "${String(row.name)}"`,
      );
    }
    return [{ ...row, ...element, id, ...(typeof row.name === 'string' ? { name: row.name } : {}) }];
  });
  return { elements, troubles, sure, stale };
}

function findMember(reference: Value, organizations: OrganizationIndex): Fields | string {
  if (!isMap(reference)) return organizations.find(String(reference));
  if (typeof reference.id !== 'string') return organizations.findNamed(String(reference.name));
  const row = organizations.byId(reference.id);
  if (row !== undefined) return row;
  // It may be a row without an id.
  if (organizations.unsure) return { id: reference.id };
  return organizations.lacksId(reference.id);
}

import { type Fields, isMap, mapValues, type Value } from '../base/values.js';
import type { Profile } from '../server/profiles.js';
import { wrongName } from './by-name.js';
import type { Catalog } from './catalog.js';
import type { PlanWarning } from './change.js';
import { asElements, memberKey, membersOf } from './fields.js';
import type { Declared, PlanInput, ResolveContext, Resolved, Update } from './kind.js';
import { type ListName, listScope, type References } from './references.js';
import { type LookedUp, SetResolver } from './resolve-sets.js';
import { unknownWhole, wholeFields } from './rules.js';
import { userTraits } from './user-schema.js';

/** The lists that have the elements of a user's sets. */
const listed: { readonly [field: string]: ListName } = {
  organizations: 'organizations',
  authorized_scopes: 'scopes',
  roles: 'roles',
};

/** The lists that the references of a user's document need. */
export function listsOfUser({ fields }: Declared, profile: Profile): readonly ListName[] {
  // Memberships that are sent unchanged are looked up too.
  const isAlways = userTraits[profile.name].whole?.includes('organizations') === true;
  return Object.entries(listed).flatMap(([field, list]) => {
    const isFilled = membersOf(fields[field]).length > 0;
    const isNeeded = isFilled || (isAlways && field === 'organizations');
    return isNeeded && listScope(list, profile) !== undefined ? [list] : [];
  });
}

/**
 * A user's fields with the id and the server's name in each element of a list, as far as lists of the server tell them. Servers use
 * only ids: a wrong name beside an id would mislead a reviewer.
 */
export function resolveUser(fields: Fields, context: ResolveContext): Resolved {
  const { references, present, profile, wished } = context;
  const sets = new SetResolver(fields, context, userTraits[profile.name].read !== undefined);
  sets.takeFrom('authorized_scopes', 'scopes');
  sets.takeFrom('roles', 'roles');
  const { organizations } = references;
  if (organizations != null) {
    const own = asElements(present.organizations);
    // A shared name is ambiguous, in removals too.
    const told = own.every(({ name }) => typeof name !== 'string' || organizations.byName(name).length <= 1);
    sets.take('organizations', 'organization', (list, joined) => {
      const warn = (message: string): void => sets.warn('organizations', message);
      const members = memberships(list, organizations, wished('organizations'), joined, warn);
      // Roles in a membership are in no list.
      return { ...members, sure: userTraits[profile.name].hasRoles && members.sure && (joined || told) };
    });
  }
  return sets.result;
}

/** The elements of a user's lists that still exist on the server. */
export function existing(lists: Fields, references: References): Fields {
  const kept = Object.entries(lists).map(([field, list]): [string, Value] => {
    const { [listed[field] ?? 'organizations']: catalog } = references;
    if (!Array.isArray(list) || catalog == null || catalog.unsure) return [field, list];
    const isIn = ({ id }: Fields): boolean => typeof id === 'string' && catalog.byId(id) !== undefined;
    return [field, asElements(list).filter(isIn)];
  });
  return Object.fromEntries(kept.filter(([, list]) => !Array.isArray(list) || list.length > 0));
}

/** Memberships with their organizations. Warns of each former name. */
function memberships(
  references: readonly Value[],
  index: Catalog,
  strict: boolean,
  joined: boolean,
  warn: (message: string) => void,
): LookedUp {
  const troubles: string[] = [];
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
    if (standing === 'wrong') troubles.push(wrongName('organization', id, present ?? '', String(name)));
    if (strict && element.id === undefined && memberKey(reference) === present && present !== row.name) {
      warn(
        `this plan renames the organization "${present}" to "${String(row.name)}": write "${String(row.name)}" here too, or the next plan is blocked`,
      );
    }
    if (standing === 'stale') {
      warn(
        `the organization with the id ${id} is called "${String(row.name)}" now, and "${String(name)}" is a former name: write "${String(row.name)}"`,
      );
    }
    return [{ ...row, ...element, id, ...(typeof row.name === 'string' ? { name: row.name } : {}) }];
  });
  return { elements, troubles, sure };
}

function findMember(reference: Value, organizations: Catalog): Fields | string {
  if (!isMap(reference)) return organizations.find(String(reference));
  if (typeof reference.id !== 'string') return organizations.findNamed(String(reference.name));
  const row = organizations.byId(reference.id);
  if (row !== undefined) return row;
  // It may be a row without an id.
  if (organizations.unsure) return { id: reference.id };
  return organizations.lacksId(reference.id);
}

/**
 * An update of a user on a server that resets what it isn't sent, and fails halfway on unknown elements: sends everything, after
 * checking every element.
 */
export function replaceUser({ present, desired, profile, references }: PlanInput): Update {
  const { [profile.name]: traits } = userTraits;
  const fields = wholeFields(desired, present.fields, traits);
  const unknown = unknownWhole('user', traits.whole ?? [], fields);
  if (unknown !== undefined) return blocked(unknown, fields);
  const troubles: string[] = [];
  const body = withIds(fields, present.fields, references, troubles);
  troubles.push(...unknownMemberships(body, references.organizations));
  if (troubles.length > 0) return blocked([...new Set(troubles)].join('; '), body);
  return {
    requests: [{ operation: 'updateUser', params: { user_id: present.identity.id ?? '' }, body }],
    expected: body,
    warnings: unlisted(body, references),
  };
}

function blocked(trouble: string, expected: Fields): Update {
  return { requests: [], expected, trouble };
}

/** The lists with an id in each element, found by name among the user's present elements. */
function withIds(fields: Fields, present: Fields, references: References, troubles: string[]): Fields {
  const scopes = asElements(present.authorized_scopes);
  const roles = asElements(present.roles);
  const identified = (list: Value, known: readonly Fields[], noun: string): Fields[] => {
    const elements = asElements(list).map((element) => identify(element, known, noun, troubles));
    const ids = elements.flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
    for (const id of ids.filter((id, index) => ids.indexOf(id) !== index))
      troubles.push(`the ${noun} ${id} is twice: remove one of the two`);
    return elements;
  };
  return mapValues(fields, (list, name) => {
    if (name === 'roles') return identified(list, roles, 'role');
    if (name !== 'authorized_scopes') return list;
    return identified(list, scopes, 'scope').map((scope) => labelled(scope, references.scopes));
  });
}

function identify(element: Fields, known: readonly Fields[], noun: string, troubles: string[]): Fields {
  if (typeof element.id === 'string') return element;
  const ids = new Set(
    known.flatMap(({ id, name }) => (name === element.name && typeof id === 'string' ? [id] : [])),
  );
  const [id] = ids;
  if (id !== undefined && ids.size === 1) return { ...element, id };
  const why = ids.size === 0 ? 'the user does not have it yet' : 'several of the user have this name';
  troubles.push(
    `the ${noun} "${String(element.name)}" needs its id: ${why}, and this server offers no list to find it in`,
  );
  return element;
}

/** Adds the label that the API requires: that of the list of scopes, otherwise the name. */
function labelled(scope: Fields, catalog: Catalog | null | undefined): Fields {
  if (scope.label !== undefined || scope.name === undefined) return scope;
  const listed = typeof scope.id === 'string' ? catalog?.byId(scope.id)?.label : undefined;
  return { ...scope, label: typeof listed === 'string' && listed !== '' ? listed : scope.name };
}

/** Warnings about elements that the lists of the server don't show; they are sent. */
function unlisted(body: Fields, { scopes, roles }: References): PlanWarning[] {
  const strange = (elements: readonly Fields[], catalog: Catalog | null | undefined, noun: string) =>
    elements.flatMap(({ id, name }): PlanWarning[] => {
      if (catalog == null || catalog.unsure || typeof id !== 'string' || catalog.byId(id) !== undefined)
        return [];
      const called = typeof name === 'string' ? `"${name}" (id ${id})` : id;
      const message = `the user has the ${noun} ${called}, which the server's list of ${noun}s doesn't show; it is sent unchanged. If the server runs on several nodes that aren't clustered, each may know other ${noun}s`;
      return [{ code: 'not-in-list', message }];
    });
  const found = [
    ...strange(asElements(body.authorized_scopes), scopes, 'scope'),
    ...strange(asElements(body.roles), roles, 'role'),
  ];
  return [...new Map(found.map((warning) => [warning.message, warning])).values()];
}

/** Memberships of organizations that the server's list doesn't have. */
function unknownMemberships({ organizations = null }: Fields, index: References['organizations']): string[] {
  const memberships = asElements(organizations);
  if (memberships.length === 0) return [];
  if (index == null) return ['the list of organizations was not read'];
  return memberships.flatMap((element) => {
    if (typeof element.id === 'string' && index.byId(element.id) !== undefined) return [];
    const name = typeof element.name === 'string' ? ` ("${element.name}")` : '';
    return [
      `the user is to be a member of the organization ${String(element.id)}${name}, which the list of organizations ` +
        'does not have, and the server would remove all memberships because of it: declare organizations without it, or create it there',
    ];
  });
}

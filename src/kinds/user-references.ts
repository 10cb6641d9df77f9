import { type Fields, isMap, type Value } from '../base/values.js';
import type { Profile } from '../server/profiles.js';
import { wrongNameMessage } from './by-name.js';
import type { Catalog } from './catalog.js';
import { asElements, idOrName, membersOf } from './fields.js';
import type { Declared, ResolveContext, Resolved } from './kind.js';
import { type ListName, listScope, type References } from './references.js';
import { type LookupResult, SetResolver } from './resolve-sets.js';
import { userTraits } from './user-schema.js';

/** The list in which the elements of each set of a user are looked up. */
export const listOfField: { readonly [field: string]: ListName } = {
  organizations: 'organizations',
  authorized_scopes: 'scopes',
  roles: 'roles',
};

/** The lists that the references of a user's document need. */
export function listsForUser({ fields }: Declared, profile: Profile): readonly ListName[] {
  // An update sends undeclared memberships too, so they are always looked up.
  const isAlways = userTraits[profile.name].resetUnlessSent?.includes('organizations') === true;
  return Object.entries(listOfField).flatMap(([field, list]) => {
    const isFilled = membersOf(fields[field]).length > 0;
    const isNeeded = isFilled || (isAlways && field === 'organizations');
    return isNeeded && listScope(list, profile) !== undefined ? [list] : [];
  });
}

/**
 * A user's fields with the id and the server's name in each element, if the server's lists have it. Servers use only ids, so a wrong
 * name with an id would mislead a reviewer.
 */
export function resolveUser(fields: Fields, context: ResolveContext): Resolved {
  const { references, present, profile, isDeclared } = context;
  const sets = new SetResolver(fields, context, userTraits[profile.name].read !== undefined);
  sets.resolveFromList('authorized_scopes', 'scopes');
  sets.resolveFromList('roles', 'roles');
  const { organizations } = references;
  if (organizations != null) {
    const own = asElements(present.organizations);
    // A shared name is ambiguous, in removals too.
    const areOwnNamesUnique = own.every(
      ({ name }) => typeof name !== 'string' || organizations.byName(name).length <= 1,
    );
    sets.resolve('organizations', 'organization', (list, joined) => {
      const warn = (message: string): void => sets.warn('organizations', message);
      const members = memberships(list, organizations, isDeclared('organizations'), joined, warn);
      // No list has the roles of a membership.
      return {
        ...members,
        confirmed: userTraits[profile.name].hasRoles && members.confirmed && (joined || areOwnNamesUnique),
      };
    });
  }
  return sets.result;
}

/** The elements of a user's lists that still exist on the server. */
export function onlyExisting(lists: Fields, references: References): Fields {
  const kept = Object.entries(lists).map(([field, list]): [string, Value] => {
    const { [listOfField[field] ?? 'organizations']: catalog } = references;
    if (!Array.isArray(list) || catalog == null || catalog.isIncomplete) return [field, list];
    const isIn = ({ id }: Fields): boolean => typeof id === 'string' && catalog.byId(id) !== undefined;
    return [field, asElements(list).filter(isIn)];
  });
  return Object.fromEntries(kept.filter(([, list]) => !Array.isArray(list) || list.length > 0));
}

/** Resolves memberships in the list of organizations. Warns about former names. */
function memberships(
  references: readonly Value[],
  index: Catalog,
  strict: boolean,
  joined: boolean,
  warn: (message: string) => void,
): LookupResult {
  const reasons: string[] = [];
  const seen = new Set<string>();
  let confirmed = true;
  const elements = references.flatMap((reference): Fields[] => {
    const element = isMap(reference) ? reference : {};
    // A text may be an id that isn't a UUID.
    const row = isMap(reference)
      ? ((strict ? undefined : index.successor(reference)) ??
        index.lookUp(reference) ?? { id: reference.id ?? null })
      : index.find(String(reference));
    if (typeof row === 'string') {
      reasons.push(row);
      return [];
    }
    const id = String(row.id);
    // Several documents may add the same organization.
    if (seen.has(id) && !joined) {
      reasons.push(`the organization ${id} is twice in organizations: remove one of the two`);
      return [];
    }
    seen.add(id);
    if (typeof row.name !== 'string' || index.byName(row.name).length > 1) confirmed = false;
    const { name } = element;
    const standing = strict && typeof name === 'string' ? index.checkName(id, name) : 'right';
    const present = index.liveName(id);
    if (standing === 'wrong') reasons.push(wrongNameMessage('organization', id, present ?? '', String(name)));
    if (strict && element.id === undefined && idOrName(reference) === present && present !== row.name) {
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
  return { elements, reasons, confirmed };
}

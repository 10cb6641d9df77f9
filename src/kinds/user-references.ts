import { type Fields, filterValues, isMap, mapValues, type Value } from '../base/values.js';
import type { Profile } from '../server/profiles.js';
import { wrongNameMessage } from './by-name.js';
import type { Catalog } from './catalog.js';
import { asElements, idOrName, membersOf } from './fields.js';
import type { Declared, ResolveContext, Resolved } from './kind.js';
import { type ListName, listScope, type References } from './references.js';
import { inList, resolveSets, type SetLookup } from './resolve-sets.js';
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
  const { organizations } = context.references;
  const isLive = userTraits[context.profile.name].read !== undefined;
  const lookups = {
    authorized_scopes: inList('authorized_scopes', 'scopes', context, isLive),
    roles: inList('roles', 'roles', context, isLive),
    ...(organizations == null ? {} : { organizations: inOrganizations(organizations, context) }),
  };
  return resolveSets(fields, lookups, context);
}

/** Looks up memberships in the list of organizations. Warns about former names. */
function inOrganizations(index: Catalog, { present, profile, isDeclared }: ResolveContext): SetLookup {
  const strict = isDeclared('organizations');
  // A shared name is ambiguous, in removals too.
  const isShared = ({ name }: Fields): boolean => typeof name === 'string' && index.byName(name).length > 1;
  const ownIsShared = asElements(present.organizations).some(isShared);
  return {
    noun: 'organization',
    lookUp(list, joined) {
      const reasons: string[] = [];
      const warnings: string[] = [];
      const seen = new Set<string>();
      // No list has the roles of a membership.
      let confirmed = userTraits[profile.name].hasRoles && (joined || !ownIsShared);
      const elements = list.flatMap((reference): Fields[] => {
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
        if (typeof row.name !== 'string' || isShared(row)) confirmed = false;
        const { name } = element;
        const standing = strict && typeof name === 'string' ? index.checkName(id, name) : 'right';
        const live = index.liveName(id);
        if (standing === 'wrong')
          reasons.push(wrongNameMessage('organization', id, live ?? '', String(name)));
        if (strict && element.id === undefined && idOrName(reference) === live && live !== row.name) {
          warnings.push(
            `this plan renames the organization "${live}" to "${String(row.name)}": write "${String(row.name)}" here too, or the next plan is blocked`,
          );
        }
        if (standing === 'stale') {
          warnings.push(
            `the organization with the id ${id} is called "${String(row.name)}" now, and "${String(name)}" is a former name: write "${String(row.name)}"`,
          );
        }
        return [{ ...row, ...element, id, ...(typeof row.name === 'string' ? { name: row.name } : {}) }];
      });
      return { elements, reasons, confirmed, warnings };
    },
  };
}

/** The elements of a user's lists that still exist on the server. */
export function onlyExisting(lists: Fields, references: References): Fields {
  const kept = mapValues(lists, (list, field): Value => {
    const { [listOfField[field] ?? 'organizations']: catalog } = references;
    if (!Array.isArray(list) || catalog == null || catalog.isIncomplete) return list;
    const isIn = ({ id }: Fields): boolean => typeof id === 'string' && catalog.byId(id) !== undefined;
    return asElements(list).filter(isIn);
  });
  return filterValues(kept, (list) => !Array.isArray(list) || list.length > 0);
}

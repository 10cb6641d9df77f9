import type { Fields, Value } from '../base/values.js';
import type { Profile } from '../server/profiles.js';
import { asElements } from './fields.js';
import { holdingsOf } from './holdings.js';
import type { ListName, References } from './references.js';

/** Something that somebody was given. */
export interface Grant {
  readonly type: 'organization' | 'scope' | 'role';
  readonly id: string | null;
  /** The server's name if its lists have the id. */
  readonly name: string | null;
  /** The role that contains the scope, or the organization in which the role is held, by name; null if it is their own. */
  readonly via: string | null;
  /** The elements of lists that give it, from the outermost field inwards. */
  readonly path: readonly { readonly field: string; readonly element: Fields }[];
}

/** How objects of a kind show what they were given. */
export interface Access {
  /** Whether servers of the profile list all of them. */
  listed(profile: Profile): boolean;
  /** The fields with lists of what is given. */
  fields(profile: Profile): readonly string[];
  /** The lists that have the names. */
  readonly lists: readonly ListName[];
  of(fields: Fields, references: References): Grant[];
  /** Null if unknown. */
  blocked(fields: Fields): boolean | null;
}

/** The memberships, scopes and roles of a user: own ones, those within memberships, and the scopes that the roles contain. */
export function grantsOf(fields: Fields, references: References): Grant[] {
  const { organizations = null, authorized_scopes = null, roles = null } = fields;
  const memberships = asElements(organizations).flatMap((element) => {
    const path = [{ field: 'organizations', element }];
    const id = textOrNull(element.id);
    const name =
      (id === null ? null : textOrNull(references.organizations?.byId(id)?.name)) ?? textOrNull(element.name);
    const own: Grant = { type: 'organization', id, name, via: null, path };
    return [own, ...held({ roles: element.roles ?? null }, references, name ?? id, path)];
  });
  return [...memberships, ...held({ authorized_scopes, roles }, references, null, [])];
}

function held(fields: Fields, references: References, via: string | null, outer: Grant['path']): Grant[] {
  return holdingsOf(fields, references).map(({ type, id = null, name = null, element, through }) => ({
    type,
    id,
    name,
    via: through === undefined ? via : (through.name ?? through.id ?? ''),
    path: [
      ...outer,
      {
        field: type === 'scope' && through === undefined ? 'authorized_scopes' : 'roles',
        element: through?.element ?? element,
      },
    ],
  }));
}

function textOrNull(value: Value | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

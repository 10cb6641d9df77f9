import { type Fields, isMap, reveal, type Value } from '../base/values.js';
import type { Profile } from '../server/profiles.js';
import type { Catalog } from './catalog.js';
import { asElements, elementKey } from './fields.js';
import type { ListName, References } from './references.js';

/** A scope or role that an object has or will have. */
export interface Holding {
  readonly type: 'scope' | 'role';
  readonly id: string | undefined;
  /** The server's name if its lists have the id, otherwise that of the element. */
  readonly name: string | undefined;
  /** Whether the name is from a list of the server. */
  readonly listed: boolean;
  /** The element that grants it, in a list of the object or of the role. */
  readonly element: Fields;
  /** The path of the field, membership and role that grant it. */
  readonly path: string;
  /** The role that contains the scope. */
  readonly role?: Holding;
  /** The object from which a new object gets it, such as `the backend "Staff"`. */
  readonly giver?: string;
}

/** The scopes and roles of a user: direct ones, those of memberships, and the scopes in the roles. */
export function holdingsOf(fields: Fields, { scopes, roles }: References): Holding[] {
  const holding = (type: Holding['type'], element: Fields, path: string, catalog: Catalog | null = null) => {
    const id = textIn(element.id);
    const row = id === undefined ? undefined : catalog?.byId(id);
    const listed = textIn(row?.name);
    return { type, id, name: listed ?? textIn(element.name), listed: listed !== undefined, element, path };
  };
  const scopesIn = (list: Value | undefined, path: string): Holding[] =>
    asElements(list).map((element) => holding('scope', element, path, scopes));
  const rolesIn = (list: Value | undefined, path: string): Holding[] =>
    asElements(list).flatMap((element) => {
      const role = holding('role', element, path, roles);
      const row = role.id === undefined ? undefined : roles?.byId(role.id);
      const inner = row?.scopes ?? element.scopes;
      return [role, ...scopesIn(inner, `${path}/${elementKey(element)}`).map((one) => ({ ...one, role }))];
    });
  return [
    ...scopesIn(fields.authorized_scopes, 'authorized_scopes'),
    ...rolesIn(fields.roles, 'roles'),
    ...rolesIn(fields['backend.roles'], 'backend.roles'),
    ...asElements(fields.organizations).flatMap((membership) =>
      rolesIn(membership.roles, `organizations/${elementKey(membership)}`),
    ),
  ];
}

/** The scopes in a set of an object of another kind. */
export function scopesGiven(fields: Fields, set: string, references: References): Holding[] {
  const given = holdingsOf({ authorized_scopes: fields[set] ?? null }, references);
  return given.map((holding) => ({ ...holding, path: set }));
}

function textIn(value: Value | undefined): string | undefined {
  const text = value === undefined ? undefined : reveal(value);
  return typeof text === 'string' ? text : undefined;
}

/** A membership, scope or role of a user. */
export interface Grant {
  readonly type: 'organization' | 'scope' | 'role';
  readonly id: string | null;
  /** The server's name if its lists have the id. */
  readonly name: string | null;
  /** The name of the role that contains the scope, or of the organization or backend that has the role; null if the user has it directly. */
  readonly via: string | null;
  /** The list elements that grant it, outermost first. */
  readonly path: readonly { readonly field: string; readonly element: Fields }[];
}

/** How objects of a kind show their access. */
export interface Access {
  /** Whether the profile's servers list all objects of the kind. */
  listed(profile: Profile): boolean;
  /** The fields that contain grants. */
  fields(profile: Profile): readonly string[];
  /** The lists that contain the names. */
  readonly lists: readonly ListName[];
  grants(fields: Fields, references: References): Grant[];
  /** Null if unknown. */
  blocked(fields: Fields): boolean | null;
}

/** The memberships, scopes and roles of a user: direct ones, those of memberships and of the backend, and the scopes in the roles. */
export function grantsOf(fields: Fields, references: References): Grant[] {
  const { organizations = null, authorized_scopes = null, roles = null, backend } = fields;
  const memberships = asElements(organizations).flatMap((element) => {
    const path = [{ field: 'organizations', element }];
    const id = textOrNull(element.id);
    const name =
      (id === null ? null : textOrNull(references.organizations?.byId(id)?.name)) ?? textOrNull(element.name);
    const own: Grant = { type: 'organization', id, name, via: null, path };
    return [own, ...grantsOfHoldings({ roles: element.roles ?? null }, references, name ?? id, path)];
  });
  const own = grantsOfHoldings({ authorized_scopes, roles }, references, null, []);
  if (!isMap(backend)) return [...memberships, ...own];
  // All users of a backend have its roles, and servers don't list them among their own.
  const { id = null, name = id, roles: shared = null } = backend;
  const path = [{ field: 'backend', element: backend }];
  return [...memberships, ...own, ...grantsOfHoldings({ roles: shared }, references, textOrNull(name), path)];
}

function grantsOfHoldings(
  fields: Fields,
  references: References,
  via: string | null,
  outer: Grant['path'],
): Grant[] {
  return holdingsOf(fields, references).map(({ type, id = null, name = null, element, role }) => ({
    type,
    id,
    name,
    via: role === undefined ? via : (role.name ?? role.id ?? ''),
    path: [
      ...outer,
      {
        field: type === 'scope' && role === undefined ? 'authorized_scopes' : 'roles',
        element: role?.element ?? element,
      },
    ],
  }));
}

function textOrNull(value: Value | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

import { isPathParameter } from '../base/identifiers.js';
import type { Fields } from '../base/values.js';

/** The scope that an operation requires. */
export type Scope = 'clients:manage:all' | 'users:manage:all' | 'identity-providers:manage:all' | BorutaScope;

/** A scope that no documented operation requires. */
export type BorutaScope = 'scopes:manage:all' | 'configuration:manage:all';

export interface Operation {
  readonly title: string;
  readonly method: 'GET' | 'PATCH' | 'POST' | 'DELETE';
  /** `:name` segments are parameters. */
  readonly path: string;
  readonly scope: Scope;
  /** The member that wraps a request body. */
  readonly wrapper?: string;
  /** Whether a 409 means that the server's cache was outdated. It drops the cache, so a retry succeeds. */
  readonly outdates?: true;
}

/** The eight operations of the Identity Administration API, in the order of its section 4. */
const documented = {
  regenerateDid: {
    title: 'regenerate the DID of a client',
    method: 'POST',
    path: '/api/clients/:client_id/regenerate_did',
    scope: 'clients:manage:all',
  },
  updateUser: {
    title: 'update a user',
    method: 'PATCH',
    path: '/api/users/:user_id',
    scope: 'users:manage:all',
    wrapper: 'user',
  },
  updateTemplate: {
    title: 'update an email template',
    method: 'PATCH',
    path: '/api/backends/:backend_id/email-templates/:template_type',
    scope: 'identity-providers:manage:all',
    wrapper: 'template',
  },
  deleteTemplate: {
    title: 'delete an email template',
    method: 'DELETE',
    path: '/api/backends/:backend_id/email-templates/:template_type',
    scope: 'identity-providers:manage:all',
  },
  updateKeyPair: {
    title: 'update a key pair',
    method: 'PATCH',
    path: '/api/key-pairs/:key_pair_id',
    scope: 'clients:manage:all',
    wrapper: 'key_pair',
  },
  updateOrganization: {
    title: 'update an organization',
    method: 'PATCH',
    path: '/api/organizations/:organization_id',
    scope: 'users:manage:all',
    wrapper: 'organization',
  },
  showTemplate: {
    title: 'show an email template',
    method: 'GET',
    path: '/api/backends/:backend_id/email-templates/:template_type',
    scope: 'identity-providers:manage:all',
  },
  listOrganizations: {
    title: 'list organizations',
    method: 'GET',
    path: '/api/organizations',
    scope: 'users:manage:all',
  },
} as const satisfies Record<string, Operation>;

type Writes<N extends string> = {
  readonly [name in `create${N}` | `update${N}` | `delete${N}`]: Operation & {
    readonly method: Exclude<Operation['method'], 'GET'>;
  };
};

/** The writes of a Boruta resource: for `Scope`, `createScope`, `updateScope` and `deleteScope`. */
function writesOf<N extends string>(
  name: N,
  noun: string,
  {
    path,
    id,
    wrapper,
    scope,
  }: { readonly path: string; readonly id: string; readonly wrapper: string; readonly scope: Scope },
): Writes<N> {
  const one = `${path}/:${id}`;
  return {
    [`create${name}`]: { title: `create ${noun}`, method: 'POST', path, scope, wrapper },
    [`update${name}`]: { title: `update ${noun}`, method: 'PATCH', path: one, scope, wrapper },
    [`delete${name}`]: { title: `delete ${noun}`, method: 'DELETE', path: one, scope },
  } as Writes<N>;
}

const boruta = {
  ...writesOf('Scope', 'a scope', {
    path: '/api/scopes',
    id: 'scope_id',
    wrapper: 'scope',
    scope: 'scopes:manage:all',
  }),
  ...writesOf('Role', 'a role', {
    path: '/api/roles',
    id: 'role_id',
    wrapper: 'role',
    scope: 'scopes:manage:all',
  }),
  ...writesOf('Backend', 'a backend', {
    path: '/api/backends',
    id: 'backend_id',
    wrapper: 'backend',
    scope: 'identity-providers:manage:all',
  }),
  ...writesOf('IdentityProvider', 'an identity provider', {
    path: '/api/identity-providers',
    id: 'identity_provider_id',
    wrapper: 'identity_provider',
    scope: 'identity-providers:manage:all',
  }),
  ...writesOf('Client', 'a client', {
    path: '/api/clients',
    id: 'client_id',
    wrapper: 'client',
    scope: 'clients:manage:all',
  }),
  rotateKeyPair: {
    title: 'rotate a key pair',
    method: 'POST',
    path: '/api/key-pairs/:key_pair_id/rotate',
    scope: 'clients:manage:all',
  },
  createOrganization: {
    title: 'create an organization',
    method: 'POST',
    path: '/api/organizations',
    scope: 'users:manage:all',
    wrapper: 'organization',
  },
  deleteOrganization: {
    title: 'delete an organization',
    method: 'DELETE',
    path: '/api/organizations/:organization_id',
    scope: 'users:manage:all',
  },
  updatePageTemplate: {
    title: 'update a page template',
    method: 'PATCH',
    path: '/api/identity-providers/:identity_provider_id/templates/:template_type',
    scope: 'identity-providers:manage:all',
    wrapper: 'template',
    outdates: true,
  },
  deletePageTemplate: {
    title: 'delete a page template',
    method: 'DELETE',
    path: '/api/identity-providers/:identity_provider_id/templates/:template_type',
    scope: 'identity-providers:manage:all',
  },
  updateErrorTemplate: {
    title: 'update an error template',
    method: 'PATCH',
    path: '/api/configuration/error-templates/:template_type',
    scope: 'configuration:manage:all',
    wrapper: 'template',
  },
  deleteErrorTemplate: {
    title: 'delete an error template',
    method: 'DELETE',
    path: '/api/configuration/error-templates/:template_type',
    scope: 'configuration:manage:all',
  },
  createUser: {
    title: 'create a user',
    method: 'POST',
    path: '/api/users',
    scope: 'users:manage:all',
    wrapper: 'user',
  },
  deleteUser: {
    title: 'delete a user',
    method: 'DELETE',
    path: '/api/users/:user_id',
    scope: 'users:manage:all',
  },
} as const satisfies Record<string, Operation>;

/** The documented operations, and those of Boruta. */
export const operations = { ...documented, ...boruta };

/** The name of one of the operations of the API. */
export type OperationName = keyof typeof operations;
export type ReadOperation = 'showTemplate' | 'listOrganizations';
export type WriteOperation = Exclude<OperationName, ReadOperation>;

/** A write of a plan, with everything that will be sent. */
export interface WriteRequest {
  /** The operation. */
  readonly operation: WriteOperation;
  /** The parameters of its path. */
  readonly params: PathParameters;
  /** The resource without its wrapper; absent for an operation without a body. */
  readonly body?: Fields;
  /** Members of the body outside the wrapper. */
  readonly beside?: Fields;
  /** For a request whose repetition would undo it: before a retry, a read must show that it wasn't done. */
  readonly confirm?: {
    /** The object before the request. If a read shows other values, somebody changed it. */
    readonly from: Fields;
  };
}

/**
 * The path of an operation with percent-encoded parameters, so that an id can't reach another operation. Throws if a parameter is
 * missing or unusable.
 */
export function operationPath(name: OperationName, params: PathParameters = {}): string {
  return fillPath(operations[name].path, params);
}

/** Parameters by name, not encoded. */
export interface PathParameters {
  readonly [name: string]: string;
}

/**
 * A path with its `:name` segments replaced, percent-encoded. Throws if a parameter is missing, empty, not well-formed, or `.` or
 * `..`, which URL parsers would resolve.
 */
export function fillPath(path: string, params: PathParameters): string {
  return path.replace(/:([a-z_]+)/g, (_, parameter: string) => {
    const value = Object.hasOwn(params, parameter) ? params[parameter] : undefined;
    if (value === undefined || !isPathParameter(value)) {
      throw new Error(`unusable path parameter ${parameter} for ${path}`);
    }
    return encodeURIComponent(value);
  });
}

/** The write with a method and a path, without its body; undefined if the API has none. */
export function requestOf(method: string, path: string): WriteRequest | undefined {
  for (const [operation, { method: own, path: pattern }] of Object.entries(operations)) {
    const names = [...pattern.matchAll(/:([a-z_]+)/g)].map(([, name = '']) => name);
    const found = new RegExp(`^${pattern.replace(/:[a-z_]+/g, '([^/]+)')}$`).exec(path);
    if (own !== method || own === 'GET' || found === null) continue;
    const values = found.slice(1).map(decoded);
    if (!values.every((value) => value !== undefined && isPathParameter(value))) return undefined;
    const params = Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
    return { operation: operation as WriteOperation, params };
  }
  return undefined;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** An undocumented GET of a profile. */
export interface ExtraRead {
  /** For messages: `show a user`. */
  readonly title: string;
  /** Below the base URL; `:name` segments are parameters. */
  readonly path: string;
  /** Rows of a page; by default the server's number. */
  readonly pageSize?: number;
  readonly scope: Scope;
}

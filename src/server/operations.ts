import { isPathParameter } from '../base/identifiers.js';
import type { Fields } from '../base/values.js';

/** The three scopes of the API; each operation requires one. */
export type Scope = 'clients:manage:all' | 'users:manage:all' | 'identity-providers:manage:all';

interface Operation {
  readonly title: string;
  readonly method: 'GET' | 'PATCH' | 'POST' | 'DELETE';
  /** `:name` segments are parameters. */
  readonly path: string;
  readonly scope: Scope;
  /** The one member that a request body is wrapped in. */
  readonly wrapper?: string;
}

/** The eight operations of the Identity Administration API, in the order of its section 4. */
export const operations = {
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

/** The name of an operation of the API document. */
export type OperationName = keyof typeof operations;
export type ReadOperation = 'showTemplate' | 'listOrganizations';
export type WriteOperation = Exclude<OperationName, ReadOperation>;

/** A write as the plan names it: everything that will be sent, and nothing that is found out later. */
export interface WriteRequest {
  /** The operation of the API document. */
  readonly operation: WriteOperation;
  /** What its path names. */
  readonly params: PathParameters;
  /** The resource without its wrapper; absent for an operation without a body. */
  readonly body?: Fields;
  /** Doing it twice undoes it, so a GET of its path has to show that it wasn't done before it is sent again. */
  readonly confirm?: {
    /** How the object is where it wasn't done: what is otherwise somebody else has done since. */
    readonly from: Fields;
  };
}

/**
 * The path of an operation with its parameters percent-encoded, so that an id can't reach another operation.
 * Throws where a parameter is missing or can't stand in a path.
 */
export function operationPath(name: OperationName, params: PathParameters = {}): string {
  return fillPath(operations[name].path, params);
}

/** Path parameters by name, not yet encoded. */
export interface PathParameters {
  readonly [name: string]: string;
}

/**
 * A path with its `:name` segments filled in, percent-encoded.
 * Throws where a parameter is missing or empty, is `.` or `..`, which URL parsers would resolve away, or isn't
 * well-formed text.
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

/** The write that a method and a path are, without its body; undefined where they are none of the API's. */
export function requestOf(method: string, path: string): WriteRequest | undefined {
  for (const operation of writeOperations) {
    const { method: own, path: pattern } = operations[operation];
    const names = [...pattern.matchAll(/:([a-z_]+)/g)].map(([, name = '']) => name);
    const found = new RegExp(`^${pattern.replace(/:[a-z_]+/g, '([^/]+)')}$`).exec(path);
    if (own !== method || found === null) continue;
    const values = found.slice(1).map(decoded);
    if (!values.every((value) => value !== undefined && isPathParameter(value))) return undefined;
    const params = Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
    return { operation, params };
  }
  return undefined;
}

const writeOperations: readonly WriteOperation[] = [
  'regenerateDid',
  'updateUser',
  'updateTemplate',
  'deleteTemplate',
  'updateKeyPair',
  'updateOrganization',
];

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** A GET that the document doesn't have and some servers offer. A profile names it: plain data. */
export interface ExtraRead {
  /** What it does, as an error names it: `show a user`. */
  readonly title: string;
  /** Below the base URL; `:name` segments are parameters. */
  readonly path: string;
  /** How many rows are asked for at a time; the server's own number if left out. */
  readonly pageSize?: number;
  /** The scope that it requires. */
  readonly scope: Scope;
}

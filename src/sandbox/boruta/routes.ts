import type { Refused } from '../http.js';
import type { Scope } from '../options.js';
import { type Route, route } from '../routes.js';
import { notFound, ok, rowNotFound } from './answers.js';
import { backends, showBackend } from './backends.js';
import { clients, regenerateDid, regenerateKeyPair } from './clients.js';
import { emailTemplates } from './email-templates.js';
import { identityProviders } from './identity-providers.js';
import { createKeyPair, keyPairs, rotateKeyPair, updateKeyPair } from './key-pairs.js';
import type { RunOperation } from './operation.js';
import { listOrganizations, organizations } from './organizations.js';
import { errorTemplates, pageTemplates } from './page-templates.js';
import { create, list, type Resource, remove, show, update } from './resource.js';
import { roles } from './roles.js';
import { scopes } from './scopes.js';
import { createUser } from './user-creation.js';
import { listUsers, updateUser, users } from './users.js';

/** What a route does. */
export interface Handler {
  /**
   * The member that wraps the resource in the body. If it is missing, the server refuses the request if `checked`, and crashes
   * otherwise. If it contains a text or a list, a checked wrapper crashes the server unless it is `castable`.
   */
  wrapper?: { name: string; checked: boolean; castable?: boolean };
  /** The refusal of an id that isn't a UUID, if it isn't 400. */
  notUuid?: (sent: string) => Refused;
  /** The number of steps; default: one for a GET, two for a write. */
  steps?: number;
  run: RunOperation;
}

const manageClients = 'clients:manage:all';
const manageUsers = 'users:manage:all';
const manageProviders = 'identity-providers:manage:all';
const manageScopes = 'scopes:manage:all';
const manageConfiguration = 'configuration:manage:all';
const anyManagement: readonly Scope[] = [manageScopes, manageUsers, manageClients, manageProviders];
const keyPair = { name: 'key_pair', checked: false };

/** The refusal of resources that accept any text as an id. */
const unknownBackend = (): Refused => rowNotFound('Backend');

/** The routes of a write with PATCH or PUT. */
function patch(path: string, scope: Scope, handle: Handler): Route<Handler>[] {
  return ['PATCH', 'PUT'].map((method) => route(method, path, scope, handle));
}

/** POST, PATCH, PUT and DELETE of a resource. */
function writes<Row extends { id: string }>(
  path: string,
  scope: Scope,
  resource: Resource<Row>,
  handle: Omit<Handler, 'run'>,
): Route<Handler>[] {
  const { wrapper: _, ...withoutBody } = handle;
  return [
    route('POST', path, scope, { ...handle, run: create(resource) }),
    ...patch(`${path}/:id`, scope, { ...handle, run: update(resource) }),
    route('DELETE', `${path}/:id`, scope, { ...withoutBody, run: remove(resource) }),
  ];
}

/** GET, PATCH and DELETE of templates. */
function templates(
  path: string,
  scope: Scope,
  { show, update, remove }: Readonly<Record<'show' | 'update' | 'remove', RunOperation>>,
): Route<Handler>[] {
  return [
    route('GET', path, scope, { run: show }),
    route('PATCH', path, scope, { wrapper: { name: 'template', checked: false }, run: update }),
    route('DELETE', path, scope, { run: remove }),
  ];
}

/** The documented operations, and others of the server. */
export const routes: readonly Route<Handler>[] = [
  route('GET', '/api/clients', manageClients, { run: list(clients) }),
  route('GET', '/api/clients/:id', manageClients, { run: show(clients) }),
  ...writes('/api/clients', manageClients, clients, { wrapper: { name: 'client', checked: false } }),
  route('POST', '/api/clients/:id/regenerate_did', manageClients, { run: regenerateDid }),
  route('POST', '/api/clients/:id/regenerate_key_pair', manageClients, { run: regenerateKeyPair }),
  route('GET', '/api/key-pairs', manageClients, { run: list(keyPairs) }),
  route('GET', '/api/key-pairs/:id', manageClients, { run: show(keyPairs) }),
  route('POST', '/api/key-pairs', manageClients, { wrapper: keyPair, run: createKeyPair }),
  ...patch('/api/key-pairs/:id', manageClients, { wrapper: keyPair, run: updateKeyPair }),
  route('DELETE', '/api/key-pairs/:id', manageClients, { run: remove(keyPairs) }),
  route('POST', '/api/key-pairs/:id/rotate', manageClients, { run: rotateKeyPair }),
  route('GET', '/api/users', manageUsers, { run: listUsers }),
  route('GET', '/api/users/:id', manageUsers, { run: show(users) }),
  route('POST', '/api/users', manageUsers, {
    wrapper: { name: 'user', checked: true },
    steps: 9,
    run: createUser,
  }),
  route('DELETE', '/api/users/:id', manageUsers, { run: remove(users) }),
  ...patch('/api/users/:id', manageUsers, {
    wrapper: { name: 'user', checked: true },
    steps: 9,
    run: updateUser,
  }),
  route('GET', '/api/organizations', manageUsers, { run: listOrganizations }),
  route('GET', '/api/organizations/:id', manageUsers, { notUuid: notFound, run: show(organizations) }),
  ...writes('/api/organizations', manageUsers, organizations, {
    wrapper: { name: 'organization', checked: true },
    notUuid: notFound,
  }),
  route('GET', '/api/roles', anyManagement, { run: list(roles) }),
  route('GET', '/api/roles/:id', manageScopes, { run: show(roles) }),
  ...writes('/api/roles', manageScopes, roles, { wrapper: { name: 'role', checked: false } }),
  route('GET', '/api/scopes', anyManagement, { run: list(scopes) }),
  route('GET', '/api/scopes/:id', anyManagement, { run: show(scopes) }),
  ...writes('/api/scopes', manageScopes, scopes, { wrapper: { name: 'scope', checked: false } }),
  route('GET', '/api/backends', manageProviders, { run: list(backends) }),
  route('GET', '/api/backends/:id', manageProviders, { notUuid: unknownBackend, run: showBackend }),
  ...writes('/api/backends', manageProviders, backends, {
    wrapper: { name: 'backend', checked: true, castable: true },
    notUuid: unknownBackend,
    steps: 5,
  }),
  route('GET', '/api/identity-providers', manageProviders, { run: list(identityProviders) }),
  route('GET', '/api/identity-providers/:id', manageProviders, {
    notUuid: unknownBackend,
    run: show(identityProviders),
  }),
  ...writes('/api/identity-providers', manageProviders, identityProviders, {
    wrapper: { name: 'identity_provider', checked: false },
    notUuid: unknownBackend,
  }),
  ...templates('/api/identity-providers/:id/templates/:type', manageProviders, pageTemplates),
  ...templates('/api/configuration/error-templates/:type', manageConfiguration, errorTemplates),
  // There is no uploaded configuration file.
  route('GET', '/api/configuration', manageConfiguration, { run: ({ work }) => work.read(() => ok([])) }),
  ...templates('/api/backends/:id/email-templates/:type', manageProviders, emailTemplates),
];

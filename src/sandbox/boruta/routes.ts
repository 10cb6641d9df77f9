import type { Route } from '../routes.js';
import { listBackends, listRoles, listScopes } from './catalogue.js';
import { regenerateDid, showClient } from './clients.js';
import { listKeyPairs, showKeyPair, updateKeyPair } from './key-pairs.js';
import type { Run } from './operation.js';
import { listOrganizations, showOrganization, updateOrganization } from './organizations.js';
import { deleteTemplate, showTemplate, updateTemplate } from './templates.js';
import { listUsers, showUser, updateUser } from './users.js';

/** What a route does, and in which member the body wraps its resource. */
export interface Handler {
  wrapper?: string;
  /** How many steps the work has; by default one for a GET and two for a write. */
  steps?: number;
  run: Run;
}

const clients = 'clients:manage:all';
const users = 'users:manage:all';
const providers = 'identity-providers:manage:all';
const template = '/api/backends/:id/email-templates/:type';

/** The document's operations, and those that it doesn't tell of. */
export const routes: readonly Route<Handler>[] = [
  { method: 'GET', path: '/api/clients/:id', scope: clients, handle: { run: showClient } },
  {
    method: 'POST',
    path: '/api/clients/:id/regenerate_did',
    scope: clients,
    handle: { run: regenerateDid },
  },
  { method: 'GET', path: '/api/key-pairs', scope: clients, handle: { run: listKeyPairs } },
  { method: 'GET', path: '/api/key-pairs/:id', scope: clients, handle: { run: showKeyPair } },
  {
    method: 'PATCH',
    path: '/api/key-pairs/:id',
    scope: clients,
    handle: { wrapper: 'key_pair', run: updateKeyPair },
  },
  { method: 'GET', path: '/api/users', scope: users, handle: { run: listUsers } },
  { method: 'GET', path: '/api/users/:id', scope: users, handle: { run: showUser } },
  {
    method: 'PATCH',
    path: '/api/users/:id',
    scope: users,
    handle: { wrapper: 'user', steps: 9, run: updateUser },
  },
  { method: 'GET', path: '/api/organizations', scope: users, handle: { run: listOrganizations } },
  { method: 'GET', path: '/api/organizations/:id', scope: users, handle: { run: showOrganization } },
  {
    method: 'PATCH',
    path: '/api/organizations/:id',
    scope: users,
    handle: { wrapper: 'organization', run: updateOrganization },
  },
  { method: 'GET', path: '/api/roles', scope: users, handle: { run: listRoles } },
  { method: 'GET', path: '/api/scopes', scope: users, handle: { run: listScopes } },
  { method: 'GET', path: '/api/backends', scope: providers, handle: { run: listBackends } },
  { method: 'GET', path: template, scope: providers, handle: { run: showTemplate } },
  {
    method: 'PATCH',
    path: template,
    scope: providers,
    handle: { wrapper: 'template', run: updateTemplate },
  },
  { method: 'DELETE', path: template, scope: providers, handle: { run: deleteTemplate } },
];

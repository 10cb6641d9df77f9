import type { Route } from '../routes.js';
import { regenerateDid, showClient } from './clients.js';
import { listKeyPairs, showKeyPair, updateKeyPair } from './key-pairs.js';
import type { Run } from './operation.js';
import { listOrganizations, updateOrganization } from './organizations.js';
import { deleteTemplate, showTemplate, updateTemplate } from './templates.js';
import { listUsers, showUser, updateUser } from './users.js';

/** What a route does, and in which member the body wraps its resource. */
export interface Handler {
  wrapper?: string;
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
  { method: 'PATCH', path: '/api/users/:id', scope: users, handle: { wrapper: 'user', run: updateUser } },
  { method: 'GET', path: '/api/organizations', scope: users, handle: { run: listOrganizations } },
  {
    method: 'PATCH',
    path: '/api/organizations/:id',
    scope: users,
    handle: { wrapper: 'organization', run: updateOrganization },
  },
  { method: 'GET', path: template, scope: providers, handle: { run: showTemplate } },
  {
    method: 'PATCH',
    path: template,
    scope: providers,
    handle: { wrapper: 'template', run: updateTemplate },
  },
  { method: 'DELETE', path: template, scope: providers, handle: { run: deleteTemplate } },
];

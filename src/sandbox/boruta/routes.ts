import type { Scope } from '../options.js';
import { type Route, route } from '../routes.js';
import { catalogue, listAll, showConfiguration, showOne } from './catalogue.js';
import { regenerateDid } from './clients.js';
import { updateKeyPair } from './key-pairs.js';
import type { Run } from './operation.js';
import { listOrganizations, updateOrganization } from './organizations.js';
import { deleteTemplate, showTemplate, updateTemplate } from './templates.js';
import { listUsers, updateUser } from './users.js';

/** What a route does, and the member that wraps the resource in its body. */
export interface Handler {
  /** `checked` if a missing wrapper is refused; otherwise it crashes the server, which shows the request. */
  wrapper?: { name: string; checked: boolean };
  /** The number of steps of the work; by default one for a GET and two for a write. */
  steps?: number;
  run: Run;
}

const clients = 'clients:manage:all';
const users = 'users:manage:all';
const providers = 'identity-providers:manage:all';
const anyOfThem: readonly Scope[] = [users, clients, providers];
/** They need an undocumented scope, which counts as granted with all documented ones. */
const further: readonly Scope[] = [];
const template = '/api/backends/:id/email-templates/:type';

/** A write that takes PATCH and PUT. */
function update(path: string, scope: Scope, handle: Handler): Route<Handler>[] {
  return ['PATCH', 'PUT'].map((method) => route(method, path, scope, handle));
}

/** The documented operations, and others of the server. */
export const routes: readonly Route<Handler>[] = [
  route('GET', '/api/clients', clients, { run: listAll(catalogue.clients) }),
  route('GET', '/api/clients/:id', clients, { run: showOne(catalogue.clients) }),
  route('POST', '/api/clients/:id/regenerate_did', clients, { run: regenerateDid }),
  route('GET', '/api/key-pairs', clients, { run: listAll(catalogue.keyPairs) }),
  route('GET', '/api/key-pairs/:id', clients, { run: showOne(catalogue.keyPairs) }),
  ...update('/api/key-pairs/:id', clients, {
    wrapper: { name: 'key_pair', checked: false },
    run: updateKeyPair,
  }),
  route('GET', '/api/users', users, { run: listUsers }),
  route('GET', '/api/users/:id', users, { run: showOne(catalogue.users) }),
  ...update('/api/users/:id', users, {
    wrapper: { name: 'user', checked: true },
    steps: 9,
    run: updateUser,
  }),
  route('GET', '/api/organizations', users, { run: listOrganizations }),
  route('GET', '/api/organizations/:id', users, { run: showOne(catalogue.organizations) }),
  ...update('/api/organizations/:id', users, {
    wrapper: { name: 'organization', checked: true },
    run: updateOrganization,
  }),
  route('GET', '/api/roles', anyOfThem, { run: listAll(catalogue.roles) }),
  route('GET', '/api/roles/:id', further, { run: showOne(catalogue.roles) }),
  route('GET', '/api/scopes', anyOfThem, { run: listAll(catalogue.scopes) }),
  route('GET', '/api/scopes/:id', anyOfThem, { run: showOne(catalogue.scopes) }),
  route('GET', '/api/backends', providers, { run: listAll(catalogue.backends) }),
  route('GET', '/api/backends/:id', providers, { run: showOne(catalogue.backends) }),
  route('GET', '/api/identity-providers', providers, { run: listAll(catalogue.identityProviders) }),
  route('GET', '/api/identity-providers/:id', providers, { run: showOne(catalogue.identityProviders) }),
  route('GET', '/api/configuration', further, { run: showConfiguration }),
  route('GET', template, providers, { run: showTemplate }),
  route('PATCH', template, providers, {
    wrapper: { name: 'template', checked: false },
    run: updateTemplate,
  }),
  route('DELETE', template, providers, { run: deleteTemplate }),
];

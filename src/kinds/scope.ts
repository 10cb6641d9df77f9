import * as z from 'zod';
import { nullish, optional } from '../base/members.js';
import { textOf, value } from './fields.js';
import type { Kind } from './kind.js';
import { resource } from './resource.js';
import { text } from './schema.js';

/** The scopes of the server's own API that can't be changed. */
const ownScopes = ['users', 'clients', 'identity-providers', 'scopes', 'roles', 'upstreams'].map(
  (name) => `${name}:manage:all`,
);

/** A scope, which users, roles and clients can be given. */
export const scope: Kind = resource(
  {
    name: 'Scope',
    noun: 'scope',
    about: 'A scope that users, roles and clients can get.',
    list: 'scopes',
    path: '/api/scopes',
    param: 'scope_id',
    scope: 'scopes:manage:all',
    fields: { name: value, label: value, public: value },
    shape: () => ({
      label: nullish(text(), 'The display name.', 'Read bills'),
      public: optional(z.boolean(), 'Whether any client may ask for the scope.', false),
    }),
    traits: {
      emptyIsNull: ['label'],
      protectsObjects: ownScopes,
      limits: { characters: { name: 255, label: 255 }, nonBlank: { name: null } },
    },
    creation: {
      refusal: ({ name }) =>
        /[\t-\r ]/.test(textOf(name))
          ? 'the name of a scope has no space: use a colon, as in "bills:read"'
          : undefined,
      idRefusal:
        'roles keep a hidden row for a deleted scope, and would have this one again: leave out the id, so that it gets a new one',
    },
    deletes: ', and takes it from users, roles and clients',
  },
  {
    uniqueNames: true,
    // The new name may be a privileged one.
    grants: ({ name = null }) =>
      name === null
        ? []
        : [
            {
              type: 'scope',
              id: undefined,
              name: textOf(name) || undefined,
              listed: true,
              element: { name },
              path: 'name',
            },
          ],
    revokes: ({ id, name }, after) =>
      typeof id === 'string' &&
      (after === null || (after.name !== undefined && textOf(after.name) !== textOf(name)))
        ? [{ type: 'scope', id, name: textOf(name), listed: true, element: { id }, path: 'name' }]
        : [],
  },
);

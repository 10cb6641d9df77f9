import { optional } from '../base/members.js';
import { set, textOf, value } from './fields.js';
import { scopesGiven } from './holdings.js';
import type { Kind } from './kind.js';
import { resource } from './resource.js';
import { referenceSet } from './schema.js';

/** A role: scopes that users and backends are given together. */
export const role: Kind = resource(
  {
    name: 'Role',
    noun: 'role',
    about: 'A role: scopes that users get together.',
    list: 'roles',
    path: '/api/roles',
    param: 'role_id',
    scope: 'scopes:manage:all',
    fields: { name: value, scopes: set() },
    shape: () => ({
      scopes: optional(
        referenceSet('scope', 'billing:read'),
        'The scopes of the role: a list of all, or {add, remove}.',
        ['billing:read'],
      ),
    }),
    traits: { limits: { characters: { name: 255 }, nonBlank: { name: null } } },
    sets: { scopes: 'scopes' },
    deletes: ', and takes it from users and backends',
  },
  {
    uniqueNames: true,
    grants: (fields, references) => scopesGiven(fields, 'scopes', references),
    revokes({ id, ...before }, after) {
      const role = {
        type: 'role',
        id: String(id),
        name: textOf(before.name),
        listed: true,
        element: {},
        path: '',
      } as const;
      const kept = new Set(scopesGiven({ ...before, ...after }, 'scopes', {}).map((scope) => scope.id));
      const isRenamed = after?.name !== undefined && textOf(after.name) !== textOf(before.name);
      return [
        ...(after === null ? [role] : []),
        // After a rename, a rule of `safety.keep` with the old name matches nobody; one with the id still does.
        ...(isRenamed ? [{ ...role, id: undefined }] : []),
        ...scopesGiven(before, 'scopes', {})
          .filter((scope) => after === null || !kept.has(scope.id))
          .map((scope) => ({ ...scope, role })),
      ];
    },
  },
);

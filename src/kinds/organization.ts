import { z } from 'zod';
import { error } from '../problems.js';
import { value } from './fields.js';
import type { Kind } from './kind.js';
import { document, identifier, text } from './schema.js';

export const organization: Kind = {
  name: 'Organization',
  noun: 'organization',
  schema: document('Organization', {
    id: identifier().optional(),
    name: z.union([identifier(), text()]).optional(),
    label: text().nullable().optional(),
  }),
  identity: ['id', 'name'],
  fields: { name: value, label: value },
  scopes: { read: 'users:manage:all', write: 'users:manage:all' },
  identities: ({ identity }) =>
    identity.id === undefined ? [`name ${identity.name}`] : [`id ${identity.id}`],
  check: (declared) =>
    declared
      .filter(({ identity }) => identity.id === undefined && identity.name === undefined)
      .map(({ place }) =>
        error(
          'missing-field',
          'an Organization needs an "id" or a "name"',
          [place],
          'add the name that it has on the server',
        ),
      ),
};

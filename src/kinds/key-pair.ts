import { z } from 'zod';
import { error } from '../problems.js';
import { value } from './fields.js';
import type { Kind } from './kind.js';
import { document, identifier, text } from './schema.js';

export const keyPair: Kind = {
  name: 'KeyPair',
  noun: 'key pair',
  schema: document('KeyPair', {
    id: identifier(),
    public_key: text().nullable().optional(),
    is_default: z.boolean().nullable().optional(),
  }),
  identity: ['id'],
  fields: { public_key: value, is_default: value },
  scopes: { read: null, write: 'clients:manage:all' },
  identities: ({ identity }) => [`id ${identity.id}`],
  check: (declared) => {
    const defaults = declared.filter(({ fields }) => fields.is_default === true);
    if (defaults.length < 2) return [];
    return [
      error(
        'two-defaults',
        `${defaults.length} key pairs have "is_default: true", and a server has one default`,
        defaults.map((pair) => pair.placeOf('is_default')),
        'keep it on the one that is to be the default',
      ),
    ];
  },
};

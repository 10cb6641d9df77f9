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
  scopes: { read: 'clients:manage:all', write: 'clients:manage:all' },
  sequential: true,
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
  addressPart: ({ id }) => id ?? '',
  readable: () => false,
  observe: () => Promise.resolve(new Map()),
  update({ present, desired, changed }) {
    // A `false` that changes nothing stays unsaid: it is sent only where another pair takes over.
    const body = Object.fromEntries(
      Object.entries(desired).filter(
        ([field, asked]) => field !== 'is_default' || asked === true || changed.has(field),
      ),
    );
    return {
      requests: [{ operation: 'updateKeyPair', params: { key_pair_id: present.identity.id ?? '' }, body }],
      expected: body,
    };
  },
  destructions: (fields) =>
    fields.some(({ path, after }) => path === 'is_default' && after === true)
      ? ['moves the default key pair']
      : [],
};

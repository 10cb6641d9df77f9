import { z } from 'zod';
import type { Kind } from './kind.js';
import { document, identifier } from './schema.js';

export const client: Kind = {
  name: 'Client',
  noun: 'client',
  schema: document('Client', {
    id: identifier(),
    did_generation: z.int().min(0, 'must be 0 or more').optional(),
  }),
  identity: ['id'],
  fields: {},
  scopes: { read: null, write: 'clients:manage:all' },
  identities: ({ identity }) => [`id ${identity.id}`],
  check: () => [],
};

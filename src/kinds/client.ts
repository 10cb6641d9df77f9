import { z } from 'zod';
import type { Identity, Kind, PlanInput, Verdict } from './kind.js';
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
  scopes: { read: 'clients:manage:all', write: 'clients:manage:all' },
  identities: ({ identity }) => [`id ${identity.id}`],
  check: () => [],
  addressPart: ({ id }) => id ?? '',
  readable: () => false,
  observe: () => Promise.resolve(new Map()),
  decide,
  // A client has no fields to update: its DID is regenerated, and that is decided above.
  update: () => ({ requests: [], expected: {} }),
  destructions: () => [],
};

function decide({ declared, present }: PlanInput): Verdict | undefined {
  const { generation } = declared;
  if (generation === undefined) return undefined;
  const recorded = present.generation;
  const nothing = { fields: [], requests: [], destructions: [] };
  if (present.pendingRun !== undefined) {
    return {
      ...nothing,
      action: 'blocked',
      reason: `run ${present.pendingRun} sent a regeneration whose outcome is not known: look at the client's DID on the server; nothing is sent by itself`,
    };
  }
  const fields = [
    { path: 'did_generation', type: 'value' as const, before: recorded, after: generation, sensitive: false },
  ];
  if (recorded === undefined) return { ...nothing, action: 'adopt', fields };
  if (generation < recorded) {
    return {
      ...nothing,
      fields,
      action: 'blocked',
      reason: `did_generation ${generation} is smaller than the recorded ${recorded}: a generation never goes back; declare ${recorded}, or more to regenerate`,
    };
  }
  if (generation === recorded) return { ...nothing, action: 'unchanged' };
  return { ...regeneration(present.identity), fields };
}

/** What regenerating a client's DID means. */
export function regeneration(identity: Identity): Verdict {
  return {
    action: 'regenerate',
    fields: [],
    requests: [{ operation: 'regenerateDid', params: { client_id: identity.id ?? '' } }],
    destructions: ['regenerates the DID'],
  };
}

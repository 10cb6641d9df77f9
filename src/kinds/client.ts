import { z } from 'zod';
import { answers } from '../server/answers.js';
import { settle } from '../settle.js';
import type { Fields } from '../values.js';
import type { Identity, Kind, PlanInput, Verdict } from './kind.js';
import { missing, readOne } from './reading.js';
import { profileProblems } from './rules.js';
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
  decisive: ['did'],
  scopes: { read: 'clients:manage:all', write: 'clients:manage:all' },
  identities: ({ identity }) => [`id ${identity.id}`],
  check: profileProblems,
  addressPart: ({ id }) => id ?? '',
  readable: ({ reads }) => reads.client !== undefined,
  async observe(objects, context) {
    const { client: read } = context.profile.reads;
    if (read === undefined) return new Map();
    return new Map(
      await settle(
        objects.map(async (object) => {
          const { identity } = object;
          const params = { client_id: identity.id ?? '' };
          const shown = await readOne(context, read, params, answers.client.one);
          // The rest of a client is nobody's business here, least of all its keys.
          const fields = typeof shown?.did === 'string' ? { did: shown.did } : {};
          const found = shown === null ? missing(identity, 'client') : { exists: true, identity, fields };
          return [object, found] as const;
        }),
      ),
    );
  },
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
      reason: `run ${present.pendingRun} sent a regeneration whose outcome is not known: look at the client's DID on the server${presentDid(present.fields)} and say what you found with idops runs settle ${present.pendingRun} Client/${present.identity.id} --done or --not-done; nothing is sent by itself`,
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
  return { ...regeneration(present.identity, present.fields), fields };
}

function presentDid({ did }: Fields): string {
  return typeof did === 'string' ? `, which is ${did} now` : '';
}

/** What regenerating a client's DID means; `present` is what is known of the client. */
export function regeneration(identity: Identity, present: Fields): Verdict {
  return {
    action: 'regenerate',
    fields: [],
    requests: [{ operation: 'regenerateDid', params: { client_id: identity.id ?? '' } }],
    destructions: [`regenerates the DID${presentDid(present)}`],
  };
}

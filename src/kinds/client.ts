import * as z from 'zod';
import { allSettled, allSettledEach } from '../base/concurrency.js';
import { optional } from '../base/members.js';
import { compareText, type Fields, lazy, type Value } from '../base/values.js';
import { answers, pages } from '../server/answers.js';
import { idsOf, missing, readOne, withoutIds } from './discovery.js';
import { firstText } from './fields.js';
import type {
  DiscoverContext,
  Discovered,
  Finding,
  Identity,
  Kind,
  PlanInput,
  Present,
  Verdict,
} from './kind.js';
import { profileProblems } from './rules.js';
import { document, identifier, UUID } from './schema.js';
import type { ProfileTraits } from './traits.js';

const traits: ProfileTraits = {
  documented: {},
  boruta: {
    reads: {
      one: { title: 'show a client', path: '/api/clients/:client_id', scope: 'clients:manage:all' },
      all: { title: 'list clients', path: '/api/clients', scope: 'clients:manage:all' },
    },
    unsafe: true,
  },
};

const schema = lazy(() =>
  document('Client', "A client's DID.", {
    id: identifier().meta({ description: 'The id of the client.', examples: [UUID] }),
    did_generation: optional(
      z.int().min(0, 'must be 0 or more'),
      'Raise it to regenerate the DID once. The first number is only recorded.',
      1,
    ),
  }),
);

export const client: Kind = {
  name: 'Client',
  noun: 'client',
  get schema() {
    return schema();
  },
  identity: ['id'],
  fields: {},
  decisive: ['did'],
  scopes: { read: 'clients:manage:all', write: 'clients:manage:all' },
  traits,
  identities: ({ identity }) => [`id ${identity.id}`],
  check: (declared, profile) => profileProblems(declared, profile, traits),
  addressPart: ({ id }) => id ?? '',
  called: ({ name }) => firstText(name),
  readable: ({ name }) => traits[name].reads?.one !== undefined,
  async observe(objects, context) {
    const { one: read } = traits[context.profile.name].reads ?? {};
    if (read === undefined) return new Map();
    return new Map(
      await allSettledEach(objects, async (object) => {
        const { identity } = object;
        const params = { client_id: identity.id ?? '' };
        const shown = await readOne(context, read, params, answers.client);
        const found =
          shown === null
            ? missing(identity, 'client')
            : { exists: true, identity, fields: shownClient(shown), ...named(shown) };
        return [object, found] as const;
      }),
    );
  },
  discovery: { options: { client: 'id' }, find },
  decide,
  regeneration: {
    field: 'did',
    name: 'name',
    noun: 'DID',
    verdict: regeneration,
    same: (did) =>
      `the DID is the same as before (${did}): the server derives it from the client's key, which did not change`,
  },
  // A client has no fields to update; `decide` regenerates.
  update: () => ({ requests: [], expected: {} }),
  destructions: () => [],
};

function named({ name }: Fields): { called?: string } {
  return typeof name === 'string' ? { called: name } : {};
}

/** Only the DID: idops needs nothing else of a client, least of all its keys. */
function shownClient({ did }: Fields): Fields {
  return did === undefined ? {} : { did };
}

/** From the list, if the server offers one; otherwise reads each client that is named somewhere. */
async function find(context: DiscoverContext): Promise<Discovered> {
  const { one, all } = traits[context.profile.name].reads ?? {};
  const wanted = context.asked.client ?? [];
  const rows = all === undefined ? null : await context.rows('clients', all, pages.client);
  if (rows !== null) {
    const found = rows
      .filter(({ id }) => wanted.length === 0 || wanted.includes(String(id)))
      .flatMap(asFinding);
    return {
      found: found.sort((a, b) => compareText(a.identity.id ?? '', b.identity.id ?? '')),
      notes: withoutIds(rows.filter(({ id }) => typeof id !== 'string').length, 'clients'),
    };
  }
  if (one === undefined) return { found: [], notes: [] };
  const ids = idsOf('Client', 'client', context);
  const shown = await allSettled(
    ids.map(async (id) => {
      const client = await readOne(context, one, { client_id: id }, answers.client);
      return client === null ? [] : asFinding({ ...client, id });
    }),
  );
  const unnamed =
    'the server offers no list of clients, so only those are found that a manifest, the state or --client ID names';
  return { found: shown.flat(), notes: wanted.length > 0 ? [] : [unnamed] };
}

function asFinding(client: Fields): Finding[] {
  const { id, name } = client;
  if (typeof id !== 'string') return [];
  const called = typeof name === 'string' ? name : null;
  return [
    { identity: { id }, called, live: { exists: true, identity: { id }, fields: shownClient(client) } },
  ];
}

function decide({ declared, present }: PlanInput): Verdict | undefined {
  const { generation } = declared;
  if (generation === undefined) return undefined;
  const recorded = present.generation;
  const nothing = { fields: [], requests: [], destructions: [] };
  if (present.pendingRun !== undefined) {
    return {
      ...nothing,
      action: 'blocked',
      reason: `run ${present.pendingRun} sent a regeneration whose outcome is not known: look at the client's DID on the server${presentDid(present.fields, present.shown)} and say what you found with idops runs settle ${present.pendingRun} Client/${present.identity.id} --done or --not-done; nothing is sent by itself`,
    };
  }
  const fields = [
    { path: 'did_generation', type: 'value' as const, before: recorded, after: generation, sensitive: false },
  ];
  if (recorded === undefined) return { ...nothing, action: 'adopt', fields };
  const moved = movedDid(present);
  if (generation < recorded) {
    return {
      ...nothing,
      fields,
      action: 'blocked',
      reason: `did_generation ${generation} is smaller than the recorded ${recorded}: a generation never goes back; declare ${recorded}, or more to regenerate`,
    };
  }
  if (generation === recorded) {
    if (moved !== undefined) {
      return { ...nothing, action: 'unchanged', warnings: [{ code: 'did-moved', message: moved }] };
    }
    // A record made by `runs settle` has no DID.
    const unrecorded = present.fields.did !== undefined && present.record?.fields.did === undefined;
    return { ...nothing, action: unrecorded ? 'adopt' : 'unchanged' };
  }
  if (moved !== undefined) return { ...nothing, fields, action: 'blocked', reason: moved };
  return { ...regeneration(present.identity, present.fields, present.shown), fields };
}

/** The problem of a DID that differs from the record: somebody else regenerated it. */
function movedDid({ fields, record, identity }: Present): string | undefined {
  const { did: now } = fields;
  const { did: then } = record?.fields ?? {};
  if (record === undefined || !isKnown(now) || !isKnown(then) || then === now) return undefined;
  const { id } = identity;
  return (
    `the client's DID was ${then ?? 'none'} when run ${record.run} recorded it at ${record.at}, and is ${now ?? 'none'} now: it was regenerated by hand, or by a run that this state, ` +
    `an older copy perhaps, doesn't know of; nothing is regenerated by itself: look at it, and if it is right, forget the record with idops state rm Client/${id}: the next apply sends nothing and records the declared number`
  );
}

/** Whether the DID is known; null if the client has none. */
function isKnown(did: Value | undefined): did is string | null {
  return typeof did === 'string' || did === null;
}

function presentDid({ did }: Fields, shown: Fields): string {
  if (typeof did !== 'string') return '';
  return shown.did === undefined ? `, which was ${did} when it was recorded` : `, which is ${did} now`;
}

function regeneration(identity: Identity, present: Fields, shown: Fields): Verdict {
  return {
    action: 'regenerate',
    fields: [],
    requests: [{ operation: 'regenerateDid', params: { client_id: identity.id ?? '' } }],
    destructions: [`regenerates the DID${presentDid(present, shown)}`],
  };
}

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Plan, summarize } from '../../src/plan/plan.js';
import type { SandboxSeed } from '../../src/sandbox/index.js';
import { operationPath, operations } from '../../src/server/operations.js';
import { applyAll } from '../approving.js';
import { type Doc, layout, world } from './generating.js';
import { inPlace, type Place } from './writing.js';

/** The requests of a plan, as the server's log has them. */
function planned(plan: Plan): string[] {
  return plan.changes.flatMap(({ requests }) =>
    requests.map(
      ({ operation, params }) => `${operations[operation].method} ${operationPath(operation, params)}`,
    ),
  );
}

const levels = ['/api/organizations/', '/api/users/', '/api/key-pairs/', '/api/backends/', '/api/clients/'];

function level(request: string): number {
  return levels.findIndex((path) => request.includes(` ${path}`));
}

/** Plans and applies, and expects of both what every run promises. */
async function converge({ sandbox, session, writing }: Place): Promise<Plan> {
  const start = sandbox.requests.length;
  const before = sandbox.snapshot();
  const plan = await session((it) => it.plan());
  const reads = sandbox.requests.slice(start);
  expect(reads.map(({ method }) => method).filter((method) => method !== 'GET')).toEqual([]);
  expect(sandbox.snapshot()).toEqual(before);
  expect(plan.changes.flatMap(({ reason }) => reason ?? [])).toEqual([]);

  const middle = sandbox.requests.length;
  const { result, made } = await writing(async (it) => {
    const again = await it.plan();
    return { made: again, ...(await applyAll(it, again)) };
  });
  expect(made.digest).toBe(plan.digest);
  expect(result.results.filter(({ status }) => status !== 'applied')).toEqual([]);
  const writes = sandbox.requests
    .slice(middle)
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path }) => `${method} ${path}`);
  expect([...writes].sort()).toEqual(planned(plan).sort());
  expect(writes.map(level)).toEqual(writes.map(level).sort((a, b) => a - b));
  const pairs = (requests: string[]) => requests.filter((request) => level(request) === 2);
  expect(pairs(writes)).toEqual(pairs(planned(plan)));

  const next = await session((it) => it.plan());
  const { unchanged, ...rest } = summarize(next);
  expect(rest).toEqual({ update: 0, delete: 0, regenerate: 0, adopt: 0, blocked: 0 });
  expect(unchanged).toBe(plan.changes.length);
  return plan;
}

/** Takes out of a server's data what the documents mention, and what the server moves along with it. */
function unmentioned(seed: SandboxSeed, docs: readonly Doc[], plan: Plan): SandboxSeed {
  const rest = structuredClone(seed);
  const movesDefault = docs.some((doc) => doc.kind === 'KeyPair' && doc.is_default === true);
  if (movesDefault) for (const pair of rest.keyPairs) pair.is_default = null;
  const strip = (object: object | undefined, doc: object): void => {
    for (const field of Object.keys(doc)) {
      if (field !== 'id' && object !== undefined) Reflect.deleteProperty(object, field);
    }
  };
  for (const doc of docs) {
    if (doc.kind === 'Organization') {
      const changed = plan.changes.find(
        ({ kind, apply: { identity } }) =>
          kind === 'Organization' &&
          (doc.id === undefined ? identity.name === doc.name : identity.id === doc.id),
      );
      strip(
        rest.organizations.find(({ id }) => id === changed?.apply.identity.id),
        doc,
      );
    } else if (doc.kind === 'User') {
      const user = rest.users.find(({ id }) => id === doc.id);
      const backend = rest.backends.find(({ id }) => id === user?.backend_id);
      if (typeof doc.backend === 'object' && doc.backend !== null) strip(backend, doc.backend);
      strip(user, doc);
    } else if (doc.kind === 'KeyPair') {
      strip(
        rest.keyPairs.find(({ id }) => id === doc.id),
        doc,
      );
    } else if (doc.kind === 'EmailTemplate') {
      const isMeant = (it: { backend_id: string; type: string }) =>
        it.backend_id === doc.backend_id && it.type === doc.type;
      if (doc.state === 'absent') rest.templates = rest.templates.filter((it) => !isMeant(it));
      else strip(rest.templates.find(isMeant), { ...doc, backend_id: undefined });
    }
  }
  for (const change of plan.changes) {
    if (change.action !== 'regenerate') continue;
    for (const client of rest.clients) if (client.id === change.apply.identity.id) client.did = null;
  }
  return rest;
}

/** Templates that a document brought into being weren't there to stay as they were. */
function withoutNew(after: SandboxSeed, before: SandboxSeed): SandboxSeed {
  const known = new Set(before.templates.map(({ id }) => id));
  return { ...after, templates: after.templates.filter(({ id }) => known.has(id)) };
}

it('a plan only reads, apply sends just what it says, the next plan is empty, and nothing else is touched', async () => {
  await fc.assert(
    fc.asyncProperty(world, fc.integer({ min: 1, max: 4 }), async ({ seed, rounds }, pageSize) => {
      await inPlace({ seed, pageSize }, async (place) => {
        for (const docs of rounds) {
          place.declare(docs);
          const before = place.sandbox.snapshot();
          const plan = await converge(place);
          const after = withoutNew(place.sandbox.snapshot(), before);
          expect(unmentioned(after, docs, plan)).toEqual(unmentioned(before, docs, plan));
        }
      });
    }),
    { numRuns: 100 },
  );
});

it('a server that leaves out all that it may, or adds what nobody knows, is converged just so', async () => {
  await fc.assert(
    fc.asyncProperty(world, fc.boolean(), async ({ seed, rounds: [docs = []] }, omits) => {
      // Where rows come without ids, nothing can be found by name, and absence shows itself as no id.
      const findable = docs.filter(
        (doc) =>
          !omits ||
          (doc.kind === 'Organization'
            ? doc.id !== undefined
            : doc.kind !== 'User' && doc.state !== 'absent'),
      );
      const options = omits ? { omitOptionalFields: true } : { addUnknownFields: true };
      await inPlace({ seed, ...options }, async (place) => {
        place.declare(findable);
        await converge(place);
      });
    }),
    { numRuns: 60 },
  );
});

it('key order, document order, file layout and the order in sets change neither digest nor changes', async () => {
  await fc.assert(
    fc.asyncProperty(world, layout, layout, async ({ seed, rounds: [docs = []] }, one, other) => {
      await inPlace({ seed }, async (place) => {
        const plans: Plan[] = [];
        for (const chosen of [one, other]) {
          place.declare(docs, chosen);
          plans.push(await place.session((session) => session.plan()));
        }
        const [a, b] = plans.map(({ digest, changes }) => ({
          digest,
          changes: changes.map(({ address, action, destructions }) => [
            address,
            action,
            [...destructions].sort(),
          ]),
        }));
        expect(b).toEqual(a);
      });
    }),
    { numRuns: 100 },
  );
});

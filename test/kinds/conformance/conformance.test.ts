import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kindNames } from '../../../src/base/kind-names.js';
import { ProblemsError } from '../../../src/base/problems.js';
import { addressOf, kinds } from '../../../src/kinds/index.js';
import type { Kind } from '../../../src/kinds/kind.js';
import { loadManifests } from '../../../src/manifests/load.js';
import type { Change, Plan, Source } from '../../../src/plan/plan.js';
import { loadProject } from '../../../src/project/index.js';
import type { SandboxSeed } from '../../../src/sandbox/index.js';
import { applyAll } from '../../approving.js';
import { validator } from '../../e2e/schemas.js';
import { isSoak } from '../../often.js';
import { converge } from '../../properties/converge.js';
import { layout } from '../../properties/scenario.js';
import { inWorkspace, type Workspace } from '../../properties/workspace.js';
import type { Doc } from '../generating/values.js';
import { type Case, cases, comparable, type Scenario } from './cases.js';
import { changeOf, samples } from './samples.js';

/** Few runs, because there are many cases. Failing examples are small enough without shrinking. */
const settings = { numRuns: isSoak ? 4 : 2, endOnFailure: true };

const manifestSchema = validator('manifest');

/** Applies the first manifest, declares the second one, and runs the work. */
async function afterFirst<T>(
  { profile }: Case,
  { seed, first, second }: Scenario,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  return await inWorkspace({ seed, profile: profile.name }, async (workspace) => {
    workspace.declare(first);
    await converge(workspace);
    workspace.declare(second);
    return await work(workspace);
  });
}

/** The next plan, and the requests for it. */
async function planned({ sandbox, session }: Workspace): Promise<{ plan: Plan; asked: string[] }> {
  const before = sandbox.requests.length;
  const plan = await session((it) => it.plan());
  const asked = sandbox.requests.slice(before).map(({ method, path }) => `${method} ${path}`);
  return { plan, asked };
}

/** How many reads a plan needs: one of the list or one for each object, plus the lists that they refer to. */
async function expectedReads({ kind, profile }: Case, { folder }: Workspace): Promise<number> {
  const project = await loadProject({ cwd: folder, variables: {} });
  const { declared } = await loadManifests(project, { profile, lenient: false });
  const lists = new Set<string>(
    declared.flatMap((document) => kind.referenceLists?.(document, profile) ?? []),
  );
  if (!kind.readable(profile)) return lists.size;
  const { byName } = kind;
  const named = declared.filter(({ identity }) => byName !== undefined && identity[byName.id] === undefined);
  const finding = named.flatMap(({ identity }) => byName?.lists(identity) ?? []);
  // The list in which a name is looked up also contains the other objects.
  if (kind.creation !== undefined && named.length > 0) return new Set([...lists, ...finding]).size;
  return kind.listedIn === undefined ? lists.size + declared.length : lists.add(kind.listedIn).size;
}

/** A document with its last field misspelt. */
function misspelt(doc: Doc): { readonly field: string; readonly wrong: string; readonly doc: Doc } {
  const field = Object.keys(doc).findLast((name) => name !== 'kind') ?? '';
  const wrong = field.length > 3 ? field.slice(0, -1) : `${field}${field.at(-1)}`;
  const members = Object.entries(doc).map(([name, value]) => [name === field ? wrong : name, value]);
  return { field, wrong, doc: { ...Object.fromEntries(members), kind: doc.kind } };
}

/** Every address that the parts of an object's identity can form. */
function possibleAddresses({ name, identity, naming, byName }: Kind, doc: Doc, { apply }: Change): string[] {
  const known: { [part: string]: unknown } = { ...apply.before, ...apply.identity, ...doc };
  const parts = identity.flatMap((part) => (typeof known[part] === 'string' ? [[part, known[part]]] : []));
  if (naming === undefined || byName !== undefined) return [addressOf(name, Object.fromEntries(parts))];
  // An object can be named by its present or its future name.
  return identity.flatMap((part) =>
    [doc[part], apply.identity[part], apply.before[part]].flatMap((value) =>
      typeof value === 'string' ? [addressOf(name, { [part]: value })] : [],
    ),
  );
}

/** The source of the present values that a document is compared with. */
function sourceOf({ kind, profile }: Case, doc: Doc): Source {
  // No server shows how often something was regenerated.
  const { counter = '' } = kind.regeneration ?? {};
  const isNumber = counter in doc && Object.keys(doc).length === 3;
  if (kind.readable(profile) && !isNumber) return 'live';
  const unmanaged = ['kind', 'whole', ...kind.identity.filter((part) => kind.fields[part] === undefined)];
  return Object.keys(doc).every((field) => unmanaged.includes(field)) ? 'unknown' : 'recorded';
}

/** The server's data without what the documents declare and without templates that they created. */
function withoutDeclared(data: SandboxSeed, before: SandboxSeed, docs: readonly Doc[], plan: Plan): unknown {
  const rest = structuredClone(data);
  const there = new Set(before.templates.map(({ backend_id, type }) => `${backend_id} ${type}`));
  rest.templates = rest.templates.filter(({ backend_id, type }) => there.has(`${backend_id} ${type}`));
  for (const doc of docs) samples[doc.kind].removeDeclared(rest, doc, changeOf(plan, doc));
  return comparable(rest);
}

it('every kind has a sample, and is tested on both servers', () => {
  expect(Object.keys(samples).sort()).toEqual([...kindNames].sort());
  expect(cases.map(({ kind, profile }) => `${kind.name} ${profile.name}`)).toEqual(
    kinds.flatMap(({ name, onlyProfile }) => [
      ...(onlyProfile === undefined ? [`${name} documented`] : []),
      `${name} boruta`,
    ]),
  );
});

/** Parts of identities that could be confused with other parts, or with two parts joined. */
const awkward = ['a', 'b', 'a/b', 'a/', '/b', '/', 'a%2Fb', 'a%b', '%', '*', 'ä', 'A'];

const withOneIdentity = kinds.filter(({ naming, byName }) => naming === undefined || byName !== undefined);

describe.each(withOneIdentity)('$name', ({ name, identity, byName }) => {
  it('has another address for each identity', () => {
    const identities = identity
      .filter((part) => byName?.names.includes(part) !== true)
      .reduce<{ [part: string]: string }[]>(
        (all, part) => all.flatMap((one) => awkward.map((it) => ({ ...one, [part]: it }))),
        [{}],
      );
    const addresses = identities.map((one) => addressOf(name, one));
    expect(addresses.filter((address) => !address.startsWith(`${name}/`))).toEqual([]);
    const twice = addresses.filter((address, index) => addresses.indexOf(address) !== index);
    expect(twice).toEqual([]);
  });
});

describe.each(cases)('$kind.name, $profile.name', (on) => {
  const { kind, profile, scenarios } = on;

  it('schema: accepts what can be declared, and refuses a misspelt field with a suggestion', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async ({ seed, first, second }) => {
        for (const doc of [...first, ...second]) {
          expect(kind.schema().safeParse(doc).error?.issues ?? []).toEqual([]);
          // The validator rejects objects without a prototype, so the document is cloned.
          manifestSchema(structuredClone(doc));
          expect(manifestSchema.errors ?? []).toEqual([]);
        }
        const [original] = second;
        if (original === undefined) throw new Error('nothing is declared');
        const { field, wrong, doc } = misspelt(original);
        expect(kind.schema().safeParse(doc).success).toBe(false);
        expect(manifestSchema(structuredClone(doc))).toBe(false);
        await inWorkspace({ seed, profile: profile.name }, async ({ declare, session, sandbox }) => {
          declare([doc]);
          const refused = await session(async () => undefined).catch((failure: unknown) => failure);
          const problems = refused instanceof ProblemsError ? refused.problems : [];
          expect(problems.map(({ code }) => code)).toContain('unknown-field');
          const problem = problems.find(({ code }) => code === 'unknown-field');
          expect(`${problem?.message} ${problem?.hint}`).toContain(`"${wrong}"`);
          expect(`${problem?.message} ${problem?.hint}`).toContain(`"${field}"`);
          expect(sandbox.requests).toEqual([]);
        });
      }),
      settings,
    );
  });

  /** Checks a property in every scenario, after its first manifest was applied and its second one declared. */
  const always = (holds: (workspace: Workspace, scenario: Scenario) => Promise<void>): Promise<void> =>
    fc.assert(
      fc.asyncProperty(scenarios, (scenario) =>
        afterFirst(on, scenario, (workspace) => holds(workspace, scenario)),
      ),
      settings,
    );

  it('address: each object has its own, and as a target it selects only that object', async () => {
    await always(async (workspace, scenario) => {
      const { plan } = await planned(workspace);
      expect(plan.changes.map(({ kind }) => kind)).toEqual(scenario.second.map(() => kind.name));
      const addresses = plan.changes.map(({ address }) => address);
      expect(new Set(addresses).size).toBe(scenario.second.length);
      for (const doc of scenario.second) {
        const change = changeOf(plan, doc);
        if (change === undefined) throw new Error(`${JSON.stringify(doc)} is not in the plan`);
        expect(possibleAddresses(kind, doc, change)).toContain(change.address);
      }
      for (const address of addresses.filter((one) => !one.includes('*'))) {
        const targeted = await workspace.session((it) => it.plan({ targets: [address] }));
        expect(targeted.changes.map((change) => change.address)).toEqual([address]);
      }
    });
  });

  it('observe: reads only what is needed, with GETs, and reports the source of present values', async () => {
    await always(async (workspace, scenario) => {
      const { plan, asked } = await planned(workspace);
      expect(asked.filter((request) => !request.startsWith('GET '))).toEqual([]);
      expect([asked.length, asked]).toEqual([await expectedReads(on, workspace), asked]);
      for (const doc of scenario.second) expect(changeOf(plan, doc)?.observed).toBe(sourceOf(on, doc));
    });
  });

  it('plan: has only what is declared, and is the same for any layout', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, layout, async (scenario, other) => {
        await afterFirst(on, scenario, async (workspace) => {
          const { plan } = await planned(workspace);
          expect(plan.changes.some(({ requests }) => requests.length > 0)).toBe(true);
          for (const doc of scenario.second) {
            const change = changeOf(plan, doc);
            const declared = Object.keys(doc);
            const named = change?.fields.map(({ path }) => path.split(/[.[]/)[0] ?? '') ?? [];
            if (change?.action !== 'delete') expect(declared).toEqual(expect.arrayContaining(named));
          }
          const again = (await planned(workspace)).plan;
          expect(again.digest).toBe(plan.digest);
          workspace.declare([...scenario.second].reverse(), other);
          const otherwise = (await planned(workspace)).plan;
          expect(otherwise.digest).toBe(plan.digest);
          expect(otherwise.changes.map(({ address, action }) => [address, action])).toEqual(
            plan.changes.map(({ address, action }) => [address, action]),
          );
        });
      }),
      settings,
    );
  });

  it('apply: sends the requests of the plan, touches nothing else, and leaves nothing to do', async () => {
    await always(async (workspace, scenario) => {
      const before = workspace.sandbox.snapshot();
      const { plan } = await converge(workspace);
      const after = workspace.sandbox.snapshot();
      expect(withoutDeclared(after, before, scenario.second, plan)).toEqual(
        withoutDeclared(before, before, scenario.second, plan),
      );
    });
  });

  it("undo: restores everything, and reports what can't be restored", async () => {
    await always(async (workspace, scenario) => {
      const before = workspace.sandbox.snapshot();
      const { plan, run } = await converge(workspace);
      const left = await workspace.writing(async (it) => {
        const undo = await it.planUndo(run ?? '');
        const { result } = await applyAll(it, undo.plan);
        expect(result.results.filter(({ status }) => status !== 'applied')).toEqual([]);
        return undo.left;
      });
      const regenerations = plan.changes.filter(({ action }) => action === 'regenerate');
      const { counter = '' } = kind.regeneration ?? {};
      expect(regenerations.length > 0).toBe(scenario.second.some((doc) => counter in doc));
      expect(left.map(({ address }) => address).sort()).toEqual(
        regenerations.map(({ address }) => address).sort(),
      );
      expect(left.filter(({ reason }) => reason === '')).toEqual([]);
      const after = workspace.sandbox.snapshot();
      for (const data of [before, after]) {
        for (const change of regenerations) {
          const doc = scenario.second.find((one) => changeOf(plan, one) === change);
          if (doc !== undefined) samples[kind.name].removeDeclared(data, doc, change);
        }
      }
      expect(comparable(after)).toEqual(comparable(before));
    });
  });
});

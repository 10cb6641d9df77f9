import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRuns } from '../../src/apply/find-runs.js';
import { loadManifests } from '../../src/manifests/load.js';
import { isStoredPlan, parseStoredPlan, staleness } from '../../src/plan/stored.js';
import { loadProject, type Project } from '../../src/project/index.js';
import { pastRun } from '../../src/report/past.js';
import { problemsText } from '../../src/report/problems.js';
import { resultText } from '../../src/report/result-text.js';
import { planText } from '../../src/report/text.js';
import { type Intercept, type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { problemsOf } from '../../src/session/failures.js';
import { openForWriting, openSession } from '../../src/session/open.js';
import type { Session } from '../../src/session/session.js';
import { fileBackend } from '../../src/state/file/index.js';
import { applyAll } from '../approving.js';
import { ids } from '../demo-ids.js';
import { often } from '../often.js';

let folder: string;
let sandbox: Sandbox;
let intercept: (method: string) => Intercept | undefined = () => undefined;

const manifests = `kind: Organization
name: acme
label: New
---
kind: User
id: ${ids.ada}
group: new
organizations: [acme]
whole: [metadata]
metadata: {department: {value: x, status: valid}}
backend: {smtp_password: hunter22}
---
kind: EmailTemplate
backend_id: ${ids.backend}
type: tx_code
txt_content: "{{ tx_code }}"
---
kind: Client
id: ${ids.portal}
did_generation: 1
`;

let state: string;
let journal: { readonly name: string; readonly text: string };
let storedPlan: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'idops-fuzz-'));
  sandbox = await startSandbox({ intercept: ({ method }) => intercept(method) });
  await mkdir(join(folder, 'manifests'));
  await writeFile(join(folder, 'idops.yaml'), configuration());
  await writeFile(join(folder, 'manifests/all.yaml'), manifests);
  await within(openForWriting(await load(), 'apply'), async (session) => {
    const plan = await session.plan();
    storedPlan = await session.storePlan(plan);
    await applyAll(session, plan);
  });
  state = await readFile(join(folder, '.idops/state.json'), 'utf8');
  const [name = ''] = await readdir(join(folder, '.idops/runs'));
  journal = { name, text: await readFile(join(folder, '.idops/runs', name), 'utf8') };
});

afterAll(async () => {
  await sandbox.close();
  await rm(folder, { recursive: true });
});

function configuration(): string {
  return `version: 1\nserver: {base_url: "${sandbox.url}", auth: {token: ${sandbox.token}}}\n`;
}

async function load(): Promise<Project> {
  return await loadProject({ cwd: folder, variables: {} });
}

/** Runs work in a session, and closes it. */
async function within<S extends Session, T>(
  opening: Promise<S>,
  work: (session: S) => Promise<T>,
): Promise<T> {
  const session = await opening;
  return await work(session).finally(() => session.close());
}

/** Runs work with hostile input: it may fail with problems, but not with an internal error. */
async function harmless(work: () => Promise<unknown>): Promise<void> {
  const before = prototypes();
  try {
    await work();
  } catch (failure) {
    const problems = problemsOf(failure);
    expect(problems.filter(({ code }) => code === 'internal')).toEqual([]);
    expect(problemsText(problems, { color: false })).not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);
  }
  expect(prototypes()).toEqual(before);
}

function prototypes(): unknown {
  return [Object.prototype, Array.prototype, Function.prototype, String.prototype].map((prototype) =>
    Reflect.ownKeys(prototype).map(String),
  );
}

const nastyKey = fc.constantFrom(...'__proto__ constructor prototype toString id kind data'.split(' '), '');
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(null, true, 0, -1, 1e308, 2 ** 53, '', '\u0000', '\ud800', '__proto__', ids.ada),
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(fc.oneof(nastyKey, fc.string({ maxLength: 5 })), tie('value')), { maxLength: 4 }).map(
      // JSON.parse keeps a member named __proto__.
      (entries) =>
        JSON.parse(
          `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`,
        ),
    ),
  ),
})).value;

/** A change at one place of a JSON document; `at` is the fraction of its values before that place. */
const spoiling = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  how: fc.constantFrom('replace', 'remove', 'rename', 'add'),
  key: nastyKey,
  value: json,
});

type Spoiling = typeof spoiling extends fc.Arbitrary<infer T> ? T : never;

function spoil(text: string, { at, how, key, value }: Spoiling): string {
  const root: unknown = JSON.parse(text);
  const places: [{ [key: string]: unknown }, string][] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [name, member] of Object.entries(node)) {
      places.push([node as { [key: string]: unknown }, name]);
      walk(member);
    }
  };
  walk(root);
  const [parent, name] = places[Math.floor(at * places.length)] ?? [];
  if (parent === undefined || name === undefined) return text;
  // Also adds a member named __proto__.
  const add = (member: unknown) =>
    Object.defineProperty(parent, key, {
      value: member,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  if (how === 'replace') parent[name] = value;
  if (how === 'rename') add(parent[name]);
  if (how === 'remove' || how === 'rename') delete parent[name];
  if (how === 'add') add(value);
  return JSON.stringify(root);
}

const cut = fc.double({ min: 0, max: 1, noNaN: true });

/** A text with a part removed, doubled or replaced. */
const torn = (text: () => string) =>
  fc
    .record({ from: cut, to: cut, twice: fc.boolean(), noise: fc.string({ unit: 'binary', maxLength: 6 }) })
    .map(({ from, to, twice, noise }) => {
      const whole = text();
      const [a, b] = [from, to].map((part) => Math.floor(part * whole.length)).sort((x, y) => x - y);
      return whole.slice(0, a) + (twice ? whole.slice(a, b) : '') + noise + whole.slice(b);
    });

describe('hostile', () => {
  const yamlPart = fc.oneof(
    fc.constantFrom(
      ...'kind: User\n¦kind: Client\n¦kind: EmailTemplate\n¦id: x\n¦---\n'.split('¦'),
      ...'__proto__: {polluted: yes}\n¦constructor: {prototype: {polluted: yes}}\n¦metadata:\n'.split('¦'),
      ...'  ¦- ¦? ¦: ¦&a ¦*a ¦<<: *a\n¦!!js/function ¦!!python/object:os.system ¦{a: ¦[¦]¦}¦|\n'.split('¦'),
      ...'>-\n¦"¦\'¦\\x41¦%YAML 1.1\n¦#¦\t¦${¦${A:-¦$$¦{file: ../../etc/passwd}\n'.split('¦'),
      ...'txt_content: {file: /etc/passwd}\n¦whole: [¦organizations: [¦state: absent\n'.split('¦'),
    ),
    fc.string({ unit: 'binary', maxLength: 6 }),
  );

  test('manifests cause only problems', async () => {
    const project = await load();
    const text = fc.oneof(
      fc.array(yamlPart, { maxLength: 14 }).map((parts) => parts.join('')),
      torn(() => manifests),
    );
    await fc.assert(
      fc.asyncProperty(text, async (hostile) => {
        await writeFile(join(folder, 'manifests/all.yaml'), hostile);
        await harmless(async () => {
          const { problems } = await loadManifests(project, { lenient: true });
          problemsText(problems, { color: false });
        });
      }),
      { numRuns: often(400) },
    );
    await writeFile(join(folder, 'manifests/all.yaml'), manifests);
  });

  test('configurations cause only problems', async () => {
    const text = fc.oneof(
      torn(() => `${configuration()}vars: {a: "\${b}", b: x}\nenvironments: {p: {state: {path: y}}}\n`),
      fc
        .array(fc.oneof(yamlPart, fc.constantFrom('version: 1\n', 'server: ', 'auth: ', 'tls: {ca_file: ')), {
          maxLength: 10,
        })
        .map((parts) => parts.join('')),
    );
    await fc.assert(
      fc.asyncProperty(text, async (hostile) => {
        await writeFile(join(folder, 'hostile.yaml'), hostile);
        await harmless(async () => {
          const project = await loadProject({ cwd: folder, variables: {}, config: 'hostile.yaml' });
          project.state();
          project.patterns();
          project.safety().maxDestructive;
          await project.server();
        });
      }),
      { numRuns: often(300) },
    );
    await rm(join(folder, 'hostile.yaml'));
  });

  test('state files cause problems or a plan', async () => {
    const path = join(folder, '.idops/state.json');
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          spoiling.map((how) => spoil(state, how)),
          torn(() => state),
        ),
        async (hostile) => {
          await writeFile(path, hostile);
          await harmless(async () => {
            const plan = await within(openSession(await load()), (session) => session.plan());
            planText(plan, { color: false, debug: true });
          });
        },
      ),
      { numRuns: often(120) },
    );
    await writeFile(path, state);
  });

  test('journals cause problems, or runs that can be shown and settled', async () => {
    const path = join(folder, '.idops/runs', journal.name);
    const statePath = join(folder, '.idops/state.json');
    const lines = (): string[] => journal.text.trimEnd().split('\n');
    const hostile = fc.oneof(
      torn(() => journal.text),
      fc.record({ line: cut, how: spoiling, ended: fc.boolean() }).map(({ line, how, ended }) => {
        const all = lines();
        const index = Math.min(all.length - 1, Math.floor(line * all.length));
        const spoiled = all.map((one, at) => (at === index ? spoil(one, how) : one));
        return `${(ended ? spoiled : spoiled.slice(0, -1)).join('\n')}\n`;
      }),
    );
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        await writeFile(path, text);
        // In the state, this run has not ended, so that its journal is settled.
        await writeFile(statePath, JSON.stringify({ ...JSON.parse(state), last_run: '0', resources: {} }));
        await harmless(async () => {
          const { runs } = await readRuns((await fileBackend({ path: statePath, allowTracked: true })).runs);
          for (const run of runs) await pastRun(run);
        });
        await harmless(async () =>
          within(openSession(await load()), async (session) => {
            await session.plan();
            await session.planUndo(journal.name.slice(0, -'.jsonl'.length));
          }),
        );
      }),
      { numRuns: often(120) },
    );
    await writeFile(path, journal.text);
    await writeFile(statePath, state);
  });

  test('stored plans cause a problem, or are compared', async () => {
    const plan = await within(openSession(await load()), (session) => session.plan());
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          json.map((value) => JSON.stringify(value)),
          spoiling.map((how) => spoil(storedPlan, how)),
          torn(() => storedPlan),
        ),
        async (text) => {
          await harmless(async () => {
            const read = parseStoredPlan(text, 'plan.json');
            problemsText(isStoredPlan(read) ? await staleness(read, plan) : [read], { color: false });
          });
        },
      ),
      { numRuns: often(300) },
    );
  });

  test('responses cause a failure or a result, and no write if planning failed', async () => {
    const body = fc.oneof(
      json.map((value) => JSON.stringify(value)),
      json.map((data) => JSON.stringify({ data })),
      json.map((data) => JSON.stringify({ data: [data], total_pages: 1 })),
      fc
        .record({ id: json, name: json, label: json, txt_content: json })
        .map((row) => JSON.stringify({ data: row })),
      fc
        .record({ id: json, name: json })
        .map((row) => JSON.stringify({ data: [row], total_pages: 1e6, total_entries: 1 })),
      fc.string({ unit: 'binary' }),
    );
    const status = fc.constantFrom(200, 200, 200, 201, 204, 302, 400, 401, 403, 404, 422, 500);
    await fc.assert(
      fc.asyncProperty(body, status, fc.constantFrom('GET', 'PATCH'), async (text, code, method) => {
        intercept = (asked) => (asked === method ? { kind: 'answer', status: code, body: text } : undefined);
        sandbox.requests.length = 0;
        const network = { delay: async () => {} };
        await harmless(async () =>
          within(openForWriting(await load(), 'apply', { network }), async (session) => {
            const plan = await session.plan({ assert: true });
            planText(plan, { color: false, debug: true });
            if (method !== 'PATCH') return;
            const { result, problems } = await applyAll(session, plan);
            expect(problems).toEqual([]);
            resultText(result, { color: false, debug: true });
          }),
        );
        if (method === 'GET') {
          expect(sandbox.requests.filter((request) => request.method !== 'GET')).toEqual([]);
        }
      }),
      { numRuns: often(200) },
    );
    intercept = () => undefined;
  });
});

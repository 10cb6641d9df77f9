import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ChangeResult } from '../../src/apply/result.js';
import { loadProject } from '../../src/project/index.js';
import { type Intercept, type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { openForWriting } from '../../src/session/open.js';
import { applyAll } from '../approving.js';
import { often } from '../often.js';

const users = often(2_000);
const templates = often(2_700);
/** Reading and writing everything takes more than twice as many requests. */
const requests = often(10_000);
const share = 0.05;

/** A seeded generator of numbers from 0 to 1, without 1. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const answer = (status: number): Intercept => ({ kind: 'answer', status, body: { code: 'FAULT' } });
const passing: readonly Intercept[] = [
  { kind: 'reset', when: 'before' },
  { kind: 'reset', when: 'after' },
  { kind: 'truncate' },
  ...[408, 425, 429, 502, 503, 504].map(answer),
  { kind: 'replace', status: 503, body: { code: 'FAULT' } },
  { kind: 'answer', status: 429, headers: { 'retry-after': '1' } },
];
/** Faults that are not retried. Reads get none of them, because a failed read ends the plan. */
const final: readonly Intercept[] = [
  answer(500),
  { kind: 'replace', status: 500, body: { code: 'FAULT' } },
  { kind: 'replace', body: '<html>' },
];

const templateType = (number: number): string => `type_${number}`;

/** Writes a project with many objects, and starts a server with other values. */
async function begin(folder: string, intercept: (method: string) => Intercept | undefined): Promise<Sandbox> {
  const sandbox = await startSandbox({ intercept: ({ method }) => intercept(method) });
  const [user] = sandbox.data.users;
  if (user === undefined) throw new Error('the sandbox has no users');
  sandbox.data.users = Array.from({ length: users }, (_, number) => ({
    ...user,
    id: `u${number}`,
    group: 'old',
  }));
  sandbox.data.templates = Array.from({ length: templates }, (_, number) => ({
    id: `t${number}`,
    backend_id: sandbox.data.backends[0]?.id ?? '',
    type: templateType(number),
    txt_content: 'old',
    html_content: 'old',
  }));
  const backend = sandbox.data.backends[0]?.id ?? '';
  const documents = [
    ...Array.from({ length: users }, (_, number) => `kind: User\nid: u${number}\ngroup: new\n`),
    ...Array.from(
      { length: templates },
      (_, number) =>
        `kind: EmailTemplate\nbackend_id: ${backend}\ntype: ${templateType(number)}\ntxt_content: new\n`,
    ),
  ];
  await mkdir(join(folder, 'manifests'));
  await writeFile(join(folder, 'manifests/all.yaml'), documents.join('---\n'));
  await writeFile(
    join(folder, 'idops.yaml'),
    `version: 1\nserver: {base_url: "${sandbox.url}", auth: {token: ${sandbox.token}}}\n`,
  );
  return sandbox;
}

test(`${requests} requests with 5 % random faults end converged, and each result on the way is true`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'idops-random-'));
  const random = numbers(20_26);
  let faultsMade = 0;
  const sandbox = await begin(folder, (method) => {
    if (random() >= share) return undefined;
    const choice = method === 'GET' ? passing : [...passing, ...final];
    faultsMade += 1;
    return choice[Math.floor(random() * choice.length)];
  });
  try {
    /** The addresses of the objects that the server has as declared. */
    const doneNow = (): Set<string> =>
      new Set([
        ...sandbox.data.users.filter(({ group }) => group === 'new').map(({ id }) => `User/${id}`),
        ...sandbox.data.templates
          .filter(({ txt_content }) => txt_content === 'new')
          .map(({ backend_id, type }) => `EmailTemplate/${backend_id}/${type}`),
      ]);
    const seen = new Set<string>();
    let toDo = users + templates;
    let runs = 0;
    while (toDo > 0 && runs < 10) {
      runs += 1;
      const session = await openForWriting(await loadProject({ cwd: folder, variables: {} }), 'apply', {
        concurrency: 50,
        network: { delay: async () => {}, random },
      });
      const plan = await session.plan();
      const { result, problems } = await applyAll(session, plan);
      await session.close();
      expect(problems).toEqual([]);
      const done = doneNow();
      const index = new Map(result.results.map((one) => [one.address, one]));
      for (const { address, action } of plan.changes) {
        const one = index.get(address);
        if (action === 'unchanged') expect(done.has(address), address).toBe(true);
        else if (one === undefined) throw new Error(`${address} has no result`);
        else expectTrue(one, done.has(address));
        seen.add(one?.status ?? action);
      }
      toDo = result.results.length;
    }
    expect(sandbox.requests.length).toBeGreaterThan(requests);
    expect(faultsMade).toBeGreaterThan(requests * share * 0.8);
    expect(runs).toBeLessThan(6);
    // With few requests, a final fault may never occur.
    if (requests < 10_000) seen.add('failed');
    expect(seen).toEqual(new Set(['applied', 'failed', 'unknown', 'unchanged']));
    expect(sandbox.data.users.every(({ group }) => group === 'new')).toBe(true);
    expect(sandbox.data.templates.every(({ txt_content }) => txt_content === 'new')).toBe(true);
    expect(sandbox.data.templates.every(({ html_content }) => html_content === 'old')).toBe(true);
  } finally {
    await sandbox.close();
    await rm(folder, { recursive: true });
  }
});

function expectTrue({ address, status, error }: ChangeResult, done: boolean): void {
  if (status === 'applied') expect(done, address).toBe(true);
  else if (status === 'failed' || status === 'skipped') expect(done, address).toBe(false);
  else expect(error, address).toContain('not known');
}

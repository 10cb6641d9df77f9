import { describe, expect, it } from 'vitest';
import type { SandboxOptions, SandboxSeed } from '../../src/sandbox/index.js';
import { ids } from '../sandbox/asking.js';
import { project, startedSeed, sure, type TestProject } from './running.js';

const path = /^PATCH \/api\/users\//;

function userId(index: number): string {
  return `40000000-0000-4000-8000-${String(index + 100).padStart(12, '0')}`;
}

/** 32 users that are like one of the demo's. */
async function crowd(like: string): Promise<SandboxSeed> {
  const seed = await startedSeed();
  const original = seed.users.find(({ id }) => id === like);
  if (original === undefined) throw new Error('no such user');
  seed.users.push(
    ...Array.from({ length: 32 }, (_, index) => ({ ...structuredClone(original), id: userId(index) })),
  );
  return seed;
}

interface Applied {
  readonly code: number | null;
  readonly touched: readonly string[];
  readonly results: readonly {
    readonly address: string;
    readonly status: string;
    readonly error: string | null;
  }[];
}

async function applied({ idops, sandbox }: TestProject): Promise<Applied> {
  const before = new Map(sandbox.snapshot().users.map((user) => [user.id, JSON.stringify(user)]));
  const { code, stdout } = await idops('apply --yes --format json');
  const touched = sandbox.snapshot().users.filter((user) => before.get(user.id) !== JSON.stringify(user));
  return { code, touched: touched.map(({ id }) => id), results: JSON.parse(stdout).results };
}

function declaring(field: string, { length }: { readonly length: number }, ...others: string[]): string {
  const users = Array.from({ length }, (_, index) => userId(index));
  return [...others, ...users].map((id) => `kind: User\nid: ${id}\n${field}\n`).join('---\n');
}

async function at(manifest: string, like: string, options: SandboxOptions = {}): Promise<TestProject> {
  const seed = await crowd(like);
  return await project(
    { 'idops.yaml': sure, 'manifests/users.yaml': manifest },
    { profile: 'boruta', seed, ...options },
  );
}

const skippedFor =
  /^not sent: the response for User\/\S+ looks like a server of the profile boruta; its error says what to do$/;
const advice = /this may be a server of the profile boruta, .*set "profile: boruta" under server$/;

const blockedFor =
  /error\[blocked\]: User\/\S+ is blocked: what came back about User\/\S+ in run \S+ looks like a server of the profile boruta/;

describe('32 users under documented, written out, on a Boruta', () => {
  it.each([
    ['who have lists, which the server empties and fails at', 'group: ops', ids.ada],
    ['who have none, and whose other fields the server resets', 'group: ops', ids.grace],
    ['whose metadata is written', 'whole: [metadata]\nmetadata: {a: {value: 1, status: valid}}', ids.ada],
  ])('%s: one at most is touched', async (_, field, like) => {
    const site = await at(declaring(field, { length: 32 }), like);
    const { code, touched, results } = await applied(site);
    expect(code).toBe(1);
    expect(site.writes().filter((sent) => path.test(sent))).toHaveLength(1);
    expect(touched.length).toBeLessThanOrEqual(1);
    expect(results.filter(({ status }) => status === 'applied')).toEqual([]);
    const skipped = results.filter(({ status }) => status === 'skipped');
    expect(skipped).toHaveLength(31);
    for (const { error } of skipped) expect(error).toMatch(skippedFor);
    expect(results.filter(({ error }) => advice.test(error ?? ''))).toHaveLength(1);
    const sent = site.sandbox.requests.length;
    // Not even where another user is the first by now.
    await site.write({ 'manifests/users.yaml': `kind: User\nid: ${userId(7)}\n${field}\n` });
    const next = await site.idops('apply --yes');
    expect(next.code).toBe(1);
    expect(next.stderr.replace(/\s+/g, ' ')).toMatch(blockedFor);
    expect(site.sandbox.requests.slice(sent).filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('of whom the first is not there: one more is touched at most', async () => {
    const site = await at(declaring('group: ops', { length: 31 }, ids.nobody), ids.ada);
    const { code, touched } = await applied(site);
    expect(code).toBe(1);
    expect(touched.length).toBeLessThanOrEqual(1);
    expect(site.writes().length).toBeLessThanOrEqual(2);
  });

  it('of whom the first is refused in a way that tells nothing: one more is touched at most', async () => {
    const seen = new Set<string>();
    const site = await at(declaring('group: ops', { length: 32 }), ids.ada, {
      intercept: ({ method, path: asked }) => {
        if (method !== 'PATCH' || seen.size > 2) return undefined;
        seen.add(asked);
        return seen.size > 2 ? undefined : { kind: 'answer', status: 422, body: { message: 'no' } };
      },
    });
    const { touched } = await applied(site);
    expect(touched.length).toBeLessThanOrEqual(1);
    expect(site.writes().length).toBeLessThanOrEqual(3);
  });
});

it('32 users under documented on a server of the document are all written', async () => {
  const site = await at(declaring('group: ops', { length: 32 }), ids.ada, { profile: 'documented' });
  const { code, touched, results } = await applied(site);
  expect(code).toBe(0);
  expect(touched).toHaveLength(32);
  expect(results.every(({ status }) => status === 'applied')).toBe(true);
  expect(site.writes()).toHaveLength(32);
});

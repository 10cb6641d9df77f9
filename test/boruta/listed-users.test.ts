import { expect, test } from 'vitest';
import type { SandboxSeed, SandboxUser } from '../../src/sandbox/index.js';
import { loadSeed } from '../../src/sandbox/seed.js';
import { type Doc, type Site, site } from './site.js';

const idOf = (number: number): string => `40000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** A server with the given number of users. */
function seedOf(count: number): SandboxSeed {
  const seed = loadSeed('demo');
  const users = Array.from({ length: count }, (_, at): SandboxUser[] =>
    seed.users.slice(0, 1).map((user) => ({ ...structuredClone(user), id: idOf(at + 1) })),
  );
  return { ...seed, users: users.flat() };
}

const declared = (count: number): Doc[] =>
  Array.from({ length: count }, (_, at) => ({ kind: 'User', id: idOf(at + 1), group: 'staff finance' }));

/** The distinct paths at which users were read. */
function readsOf({ sandbox }: Site): string[] {
  const paths = sandbox.requests.map(({ path }) => path).filter((path) => path.startsWith('/api/users'));
  return [...new Set(paths.map((path) => path.replace(/[0-9a-f-]{36}/, ':id')))];
}

test.each([
  ['few are read one by one', 50, 50, ['/api/users/:id']],
  [
    'many are read by the list, if they are half of all',
    51,
    102,
    ['/api/users?page_size=1', '/api/users?page_size=1000'],
  ],
  ['many are read one by one, if they are fewer', 51, 103, ['/api/users?page_size=1', '/api/users/:id']],
])('%s', async (_, wanted, there, reads) => {
  const at = await site({ seed: seedOf(there) });
  const { changes } = await at.plan(...declared(wanted));
  expect(changes.map(({ action, observed }) => [action, observed])).toEqual(
    changes.map(() => ['unchanged', 'live']),
  );
  expect(readsOf(at)).toEqual(reads);
});

test('a user that the list omits or cuts is read individually, as is each user right before it is written', async () => {
  const at = await site({ seed: seedOf(60) });
  const headers = { accept: 'application/json', authorization: `Bearer ${at.sandbox.token}` };
  const shown = JSON.parse(
    await (await fetch(`${at.sandbox.url}/api/users?page_size=500`, { headers })).text(),
  );
  const [{ roles: _, ...partial }, ...others] = shown.data;
  const body = { ...shown, data: [partial, ...others.slice(0, -1)], total_entries: 59 };
  at.fault = ({ path }) => (path.endsWith('page_size=1000') ? { kind: 'replace', body } : undefined);
  const documents = declared(60).map((one) => (one.id === idOf(3) ? { ...one, group: 'ops' } : one));
  const ran = await at.apply(...documents);
  expect(ran.statuses).toEqual({ [`User/${idOf(3)}`]: 'applied' });
  const alone = at.sandbox.requests.filter(
    ({ method, path }) => method === 'GET' && path.includes(idOf(0).slice(0, 9)),
  );
  expect(alone.map(({ path }) => path)).toEqual([1, 60, 3].map((number) => `/api/users/${idOf(number)}`));
});

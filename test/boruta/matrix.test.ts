import { beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../../src/base/values.js';
import { emailTypes } from '../../src/sandbox/boruta/built-in-templates.js';
import type { SandboxSeed, SandboxUser } from '../../src/sandbox/index.js';
import { startedSeed } from '../e2e/running.js';
import { comparable, type Doc, ids, restore, site, subsets, templateOf, todo } from './site.js';

/** A value to declare, and its effect on the data. */
interface FieldCase<T> {
  readonly declared: Json;
  readonly effect: (object: T, data: SandboxSeed) => void;
}

type FieldCases<T> = { readonly [field: string]: readonly [present: Json, ...changes: FieldCase<T>[]] };

let seed: SandboxSeed;
beforeAll(async () => {
  seed = await startedSeed();
});

function one<T extends { id: string }>(rows: readonly T[], id: string): T {
  const found = rows.find((row) => row.id === id);
  if (found === undefined) throw new Error(`no ${id}`);
  return found;
}

const scope = (id: string, name: string): Json => ({ id, name });
const valid = (value: string): Json => ({ value, status: 'valid' });

describe('users', () => {
  const set =
    <K extends keyof SandboxUser>(field: K, value: (data: SandboxSeed) => SandboxUser[K]) =>
    (user: SandboxUser, data: SandboxSeed): void => {
      user[field] = value(data);
    };
  const fieldCases: FieldCases<SandboxUser> = {
    group: [
      'staff finance',
      { declared: 'finance staff', effect: set('group', () => 'finance staff') },
      { declared: null, effect: set('group', () => null) },
      { declared: '', effect: set('group', () => null) },
    ],
    metadata: [
      { department: valid('finance') },
      {
        declared: { department: valid('audit') },
        effect: ({ metadata }) => void Object.assign(metadata, { department: valid('audit') }),
      },
      { declared: { phone: null }, effect: ({ metadata }) => void Reflect.deleteProperty(metadata, 'phone') },
      {
        declared: { office: valid('London') },
        effect: ({ metadata }) => void Object.assign(metadata, { office: valid('London') }),
      },
      { declared: null, effect: set('metadata', () => ({})) },
    ],
    authorized_scopes: [
      [scope(ids.billingRead, 'billing:read'), { name: 'billing:write' }],
      { declared: [], effect: set('authorized_scopes', () => []) },
      { declared: null, effect: set('authorized_scopes', () => []) },
      {
        declared: [{ name: 'billing:write' }],
        effect: set('authorized_scopes', ({ scopes }) => [one(scopes, ids.billingWrite)]),
      },
      {
        declared: [scope(ids.reportsRead, 'reports:read'), scope(ids.billingRead, 'billing:read')],
        effect: set('authorized_scopes', ({ scopes }) => [
          one(scopes, ids.reportsRead),
          one(scopes, ids.billingRead),
        ]),
      },
    ],
    organizations: [
      ['acme', { id: ids.globex }],
      { declared: [], effect: set('organizations', () => []) },
      {
        declared: ['initech', 'acme'],
        effect: (user) => {
          user.organizations = [
            { id: ids.initech, roles: [] },
            ...user.organizations.filter(({ id }) => id === ids.acme),
          ];
        },
      },
      { declared: [{ name: 'globex' }], effect: set('organizations', () => [{ id: ids.globex, roles: [] }]) },
    ],
    roles: [
      [{ id: ids.member }],
      { declared: [], effect: set('roles', () => []) },
      { declared: null, effect: set('roles', () => []) },
      {
        declared: [{ name: 'accountant' }],
        effect: set('roles', ({ roles }) => [one(roles, ids.accountant)]),
      },
      {
        declared: [{ id: ids.accountant }, { name: 'member' }],
        effect: set('roles', ({ roles }) => [one(roles, ids.member), one(roles, ids.accountant)]),
      },
    ],
  };
  /** One user for each case, so that a single plan covers all cases. */
  interface UserCase {
    readonly id: string;
    readonly what: string;
    readonly declared: { readonly [field: string]: Json };
    readonly effect: FieldCase<SandboxUser>['effect'];
  }
  const userCases: UserCase[] = [];
  for (const fields of subsets(Object.keys(fieldCases))) {
    const asIs = Object.fromEntries(fields.map((field) => [field, fieldCases[field]?.[0] ?? null]));
    const add = (what: string, declared: UserCase['declared'], effect: UserCase['effect']): void => {
      const id = `40000000-0000-4000-8000-${String(userCases.length + 100).padStart(12, '0')}`;
      userCases.push({ id, what: `${fields.join(', ')} ${what}`, declared, effect });
    };
    add('as they are', asIs, () => {});
    for (const field of fields) {
      const [, ...changes] = fieldCases[field] ?? [null];
      for (const { declared, effect } of changes) {
        add(`with ${field}: ${JSON.stringify(declared)}`, { ...asIs, [field]: declared }, effect);
      }
    }
  }

  test('every subset, every change', async () => {
    const ada = one(seed.users, ids.ada);
    const start = structuredClone(seed);
    start.users.push(...userCases.map(({ id }) => ({ ...structuredClone(ada), id })));
    const wanted = structuredClone(start);
    for (const { organizations } of wanted.users) for (const one of organizations) one.roles = [];
    for (const { id, effect } of userCases) effect(one(wanted.users, id), wanted);
    const at = await site({ seed: start, concurrency: 16 });
    const ran = await at.apply(...userCases.map(({ id, declared }) => ({ kind: 'User', id, ...declared })));
    const unchanged = ran.plan.changes.filter(({ action }) => action === 'unchanged');
    expect(unchanged).toHaveLength(userCases.filter(({ what }) => what.endsWith('as they are')).length);
    expect(new Set(Object.values(ran.statuses))).toEqual(new Set(['applied']));
    const got = structuredClone(at.sandbox.data);
    for (const { id, what } of userCases) {
      const [user, expected] = [got, wanted].map((data) => ({ ...seed, users: [one(data.users, id)] }));
      if (user !== undefined && expected !== undefined)
        expect(comparable(user), what).toEqual(comparable(expected));
    }
    expect(comparable({ ...got, users: [] })).toEqual(comparable({ ...seed, users: [] }));
    expect(todo(await at.plan())).toEqual([]);
  });
});

describe('email templates', () => {
  const own = 'Own text for {{ user.username }}\n';
  const halves = ['txt_content', 'html_content'] as const;
  test.each([...emailTypes.keys()])('%s', async (type) => {
    const fallback = emailTypes.get(type);
    if (fallback === undefined) throw new Error('no built-in text');
    const at = await site();
    for (const customised of [true, false]) {
      const start = structuredClone(seed);
      start.templates = start.templates.filter((template) => template.type !== type);
      const id = ids.resetPassword;
      const present = customised ? { txt_content: 'txt was\n', html_content: '<p>html was</p>' } : fallback;
      if (customised) start.templates.push({ id, backend_id: ids.backend, type, ...present });
      for (const fields of subsets(halves)) {
        for (const half of fields) {
          for (const asked of new Set([own, fallback[half], present[half], `${present[half]}\n`])) {
            restore(at, start);
            const declared = Object.fromEntries(
              fields.map((field) => [field, field === half ? asked : present[field]]),
            );
            const what = `${customised ? 'customised' : 'built-in'} ${fields} with ${half}: ${asked}`;
            await at.apply({ kind: 'EmailTemplate', backend_id: ids.backend, type, ...declared });
            const { txt_content, html_content } = templateOf(at, type) ?? fallback;
            expect({ txt_content, html_content }, what).toEqual({ ...present, ...declared });
            expect(todo(await at.plan()), what).toEqual([]);
          }
        }
      }
      restore(at, start);
      const both = { txt_content: `${own}1`, html_content: `${own}2` };
      at.writes();
      await at.apply({ kind: 'EmailTemplate', backend_id: ids.backend, type, ...both });
      expect(
        at.writes().map((line) => line.split(' ')[0]),
        'one request where both change',
      ).toEqual(['PATCH']);
      expect(templateOf(at, type)).toMatchObject(both);
      await at.apply({ kind: 'EmailTemplate', backend_id: ids.backend, type, state: 'absent' });
      expect(templateOf(at, type)).toBeUndefined();
      expect(todo(await at.plan())).toEqual([]);
    }
  });
});

describe('key pairs', () => {
  const pairs = [ids.firstKey, ids.secondKey, ids.thirdKey];
  const cases = [null, ...pairs].flatMap((former) =>
    pairs.flatMap((next) => subsets(pairs).map((declared) => ({ former, next, declared }))),
  );
  test('every move of the default, with every subset of the pairs declared', async () => {
    const at = await site();
    for (const { former, next, declared } of cases) {
      if (!declared.includes(next)) continue;
      restore(at, seed);
      for (const pair of at.sandbox.data.keyPairs) pair.is_default = pair.id === former ? true : null;
      at.writes();
      const what = JSON.stringify({ former, next, declared });
      await at.apply(...declared.map((id) => ({ kind: 'KeyPair', id, is_default: id === next })));
      const defaults = at.sandbox.data.keyPairs.filter(({ is_default }) => is_default === true);
      expect(
        defaults.map(({ id }) => id),
        what,
      ).toEqual([next]);
      // Without a default, the server creates one more pair, which no operation can prevent.
      expect(at.sandbox.data.keyPairs, what).toHaveLength(former === null ? 4 : 3);
      expect(at.writes(), what).toEqual(former === next ? [] : [`PATCH /api/key-pairs/${next}`]);
      expect(todo(await at.plan()), what).toEqual([]);
    }
  });
});

describe('concurrency', () => {
  const documents: Doc[] = [
    { kind: 'Organization', id: ids.acme, name: 'acme-2' },
    { kind: 'Organization', name: 'umbrella', label: 'Umbrella' },
    { kind: 'User', id: ids.ada, group: 'ops', organizations: ['acme-2', 'initech'] },
    { kind: 'User', id: ids.grace, roles: [{ id: ids.member }], organizations: [] },
    { kind: 'KeyPair', id: ids.firstKey, is_default: false },
    { kind: 'KeyPair', id: ids.thirdKey, is_default: true },
    {
      kind: 'EmailTemplate',
      backend_id: ids.backend,
      type: 'reset_password_instructions',
      html_content: '<p>{{ url }}</p>',
    },
    { kind: 'EmailTemplate', backend_id: ids.backend, type: 'tx_code', state: 'absent' },
    { kind: 'Client', id: ids.wallet, did_generation: 1 },
  ];
  test('1 and 16 give the same result', async () => {
    const ends = await Promise.all(
      [1, 16].map(async (concurrency) => {
        const at = await site({ concurrency });
        const ran = await at.apply(...documents);
        expect(new Set(ran.results.map(({ status }) => status))).toEqual(new Set(['applied']));
        expect(todo(await at.plan())).toEqual([]);
        return comparable(at.sandbox.snapshot());
      }),
    );
    expect(ends[0]).toEqual(ends[1]);
  });
});

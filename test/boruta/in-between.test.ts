import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { emailTypes } from '../../src/sandbox/boruta/built-in-templates.js';
import {
  always,
  type Doc,
  ids,
  memberships,
  once,
  removeRow,
  type Site,
  site,
  templateOf,
  todo,
  user,
} from './site.js';

const ada = `User/${ids.ada}`;
const ops = { kind: 'User', id: ids.ada, group: 'ops' };
const resetDoc = { kind: 'EmailTemplate', backend_id: ids.backend, type: 'reset_password_instructions' };
const reset = `EmailTemplate/${ids.backend}/reset_password_instructions`;

/** Applies, and lets a person act before the first write; `asked` false means `--yes`. Returns the reads after the act. */
async function inBetween(at: Site, documents: readonly Doc[], person: () => unknown, asked = true) {
  await at.declare(...documents);
  let seen = 0;
  const ran = await at.applyAfter(() => {
    seen = at.sandbox.requests.length;
    person();
  }, asked);
  const reads = at.sandbox.requests.slice(seen).filter(({ method }) => method === 'GET');
  return { ...ran, reads: reads.map(({ path }) => path) };
}

describe('a person changes the object while a request for it is retried', () => {
  /** Lets the first PATCHes fail in the given ways, and the person act after the first failure. */
  async function retried(fails: readonly (503 | 429 | 'reset')[], person: (at: Site) => void) {
    const at = await site();
    let failed = 0;
    at.fault = ({ method }) => {
      if (method !== 'PATCH' || failed === fails.length) return undefined;
      const how = fails[failed] ?? 503;
      failed += 1;
      if (failed === 1) person(at);
      return how === 'reset' ? { kind: 'reset', when: 'before' } : { kind: 'answer', status: how, body: {} };
    };
    return { at, ran: await at.apply(ops) };
  }

  test.each([[[503]], [[429]], [['reset']], [[503, 503, 503]]] as const)(
    '%j: what nobody declared stays as that person left it',
    async (fails) => {
      const { at, ran } = await retried(fails, (at) =>
        Object.assign(user(at), { authorized_scopes: [], roles: [] }),
      );
      expect(ran.results).toMatchObject([{ status: 'applied', attempts: fails.length + 1 }]);
      expect(user(at)).toMatchObject({ group: 'ops', authorized_scopes: [], roles: [] });
      expect((await at.undo(ran.run)).statuses).toEqual({ [ada]: 'applied' });
      expect(user(at)).toMatchObject({ group: 'staff finance', authorized_scopes: [], roles: [] });
    },
  );

  test('a declared field that the person changed is not overwritten', async () => {
    const { at, ran } = await retried([503], (at) => Object.assign(user(at), { group: 'by hand' }));
    expect(ran.statuses[ada]).toMatch(/^skipped: .*group/);
    expect(user(at).group).toBe('by hand');
  });

  test('no more than the usual tries are made', async () => {
    const { at, ran } = await retried([503, 503, 503, 503, 503], () => {});
    expect(ran.results).toMatchObject([{ status: 'failed', attempts: 4 }]);
    expect(at.writes().filter((write) => write.startsWith('PATCH'))).toHaveLength(4);
  });
});

describe.each([
  ['while the question was open', true],
  ['right before the request, without a question', false],
])('an undeclared value that a person changed %s', (_, asked) => {
  test('stays: a membership, a scope, a role, a metadata key', async () => {
    const at = await site();
    const ran = await inBetween(
      at,
      [{ kind: 'User', id: ids.ada, group: 'ops', metadata: { a: { value: 1, status: 'valid' } } }],
      () => {
        const found = user(at);
        found.organizations = [...found.organizations, { id: ids.initech, roles: [] }];
        found.authorized_scopes = found.authorized_scopes.slice(1);
        found.roles = [];
        found.metadata = { ...found.metadata, since: { value: 'x', status: 'valid' } };
      },
      asked,
    );
    expect(ran.statuses).toEqual({ [ada]: 'applied' });
    expect(memberships(at)).toContain(ids.initech);
    expect(user(at)).toMatchObject({
      group: 'ops',
      authorized_scopes: [{}],
      roles: [],
      metadata: { since: { value: 'x', status: 'valid' }, a: { value: 1, status: 'valid' } },
    });
    expect(todo(await at.plan())).toEqual([]);
  });

  test('stays: the label of an organization, the other half of a template', async () => {
    const at = await site();
    const ran = await inBetween(
      at,
      [
        { kind: 'Organization', id: ids.acme, name: 'acme-2' },
        { ...resetDoc, txt_content: 'New {{ url }}\n' },
      ],
      () => {
        const acme = at.sandbox.data.organizations.find(({ id }) => id === ids.acme);
        if (acme !== undefined) acme.label = 'Set since';
        Object.assign(templateOf(at) ?? {}, { html_content: '<p>{{ url }} set since</p>' });
      },
      asked,
    );
    expect(Object.values(ran.statuses)).toEqual(['applied', 'applied']);
    const acme = at.sandbox.data.organizations.find(({ id }) => id === ids.acme);
    expect(acme).toMatchObject({ name: 'acme-2', label: 'Set since' });
    const bodies = { txt_content: 'New {{ url }}\n', html_content: '<p>{{ url }} set since</p>' };
    expect(templateOf(at)).toMatchObject(bodies);
    expect(todo(await at.plan())).toEqual([]);
  });

  test('is in the journal, so that an undo restores it', async () => {
    const at = await site();
    const organizations = [{ id: ids.initech, roles: [] }];
    await inBetween(at, [ops], () => Object.assign(user(at), { organizations }), asked);
    await at.undo('2');
    expect(user(at)).toMatchObject({ group: 'staff finance', organizations });
  });
});

describe('a declared value that is no longer as the plan showed it', () => {
  const now = (fields: object) => (at: Site) => Object.assign(user(at), fields);
  const body = (fields: object) => (at: Site) => Object.assign(templateOf(at) ?? {}, fields);
  const organizations = [{ id: ids.initech, roles: [] }];
  const department = (value: string) => ({ department: { value, status: 'valid' } });
  const cases: readonly [Doc, (at: Site) => unknown, string, string][] = [
    [ops, now({ group: 'since' }), ada, 'group'],
    // The server already had the declared value.
    [ops, now({ group: 'ops' }), ada, 'group'],
    // The server had the declared value before the person acted.
    [{ ...ops, group: 'staff finance', organizations: ['acme'] }, now({ group: 'since' }), ada, 'group'],
    [{ kind: 'User', id: ids.ada, organizations: ['acme'] }, now({ organizations }), ada, 'organizations'],
    [
      { kind: 'User', id: ids.ada, metadata: department('x') },
      now({ metadata: department('since') }),
      ada,
      'metadata.department',
    ],
    [{ ...resetDoc, txt_content: 'New {{ url }}\n' }, body({ txt_content: 'since' }), reset, 'txt_content'],
    [{ ...resetDoc, state: 'absent' }, body({ html_content: 'since' }), reset, 'html_content'],
    [
      { kind: 'Organization', id: ids.acme, label: 'New' },
      (at) => at.sandbox.data.organizations.map((row) => Object.assign(row, { label: 'since' })),
      'Organization/acme',
      'label',
    ],
    [
      { kind: 'KeyPair', id: ids.secondKey, is_default: true },
      (at) =>
        at.sandbox.data.keyPairs.map((row) => Object.assign(row, { is_default: row.id === ids.thirdKey })),
      `KeyPair/${ids.secondKey}`,
      'defaults',
    ],
  ];
  test.each(cases)(
    '%j is skipped as stale, named, and not overwritten',
    async (document, person, address, field) => {
      const at = await site();
      let left: unknown;
      const ran = await inBetween(at, [document], () => {
        person(at);
        left = at.sandbox.snapshot();
      });
      expect(ran.statuses[address]).toMatch(/^skipped: .*stale/);
      expect(ran.statuses[address]).toContain(field);
      expect(at.writes()).toEqual([]);
      expect(at.sandbox.snapshot()).toEqual(left);
    },
  );

  test("doesn't stop the other objects", async () => {
    const at = await site();
    const documents = [ops, { kind: 'User', id: ids.grace, group: 'ops' }];
    const { statuses } = await inBetween(at, documents, () => Object.assign(user(at), { group: 'since' }));
    expect(statuses).toEqual({ [ada]: expect.stringMatching(/^skipped/), [`User/${ids.grace}`]: 'applied' });
  });
});

describe('objects are read again', () => {
  test('after a question: each written object, and the list of organizations once', async () => {
    const at = await site();
    const documents = [
      { kind: 'Organization', id: ids.acme, name: 'acme', label: 'New' },
      { kind: 'Organization', id: ids.globex, name: 'globex', label: 'New' },
      ops,
      { kind: 'User', id: ids.grace, group: 'staff' },
    ];
    user(at, ids.grace).group = 'staff';
    const ran = await inBetween(at, documents, () => {});
    expect([...ran.reads].sort()).toEqual(['/api/organizations?page=1', `/api/users/${ids.ada}`]);
  });

  test('without one: objects that are sent with undeclared values, once, right before the request', async () => {
    const at = await site();
    const documents = [
      ops,
      { kind: 'Organization', id: ids.acme, label: 'New' },
      { kind: 'Organization', id: ids.globex, name: 'globex', label: 'New' },
      { ...resetDoc, state: 'absent' },
    ];
    const ran = await inBetween(at, documents, () => {}, false);
    expect([...ran.reads].sort()).toEqual([`/api/organizations/${ids.acme}`, `/api/users/${ids.ada}`]);
  });

  test('without one: the journal has the object as it was then', async () => {
    const at = await site();
    await at.declare(ops);
    let left = 1;
    at.fault = ({ method, path }) => {
      if (method === 'GET' && path.includes(ids.ada) && left-- === 0)
        user(at).metadata = { since: { value: 'x', status: 'valid' } };
      return undefined;
    };
    const { run } = await at.apply();
    const lines = (await readFile(join(at.folder, '.idops', 'runs', `${run}.jsonl`), 'utf8')).split('\n');
    const sending = lines.map((line) => JSON.parse(line || '{}')).find(({ type }) => type === 'sending');
    expect(sending.before.fields.metadata).toEqual({ since: { value: 'x', status: 'valid' } });
  });

  test('without one: an object with a declared field that a person changed is not written', async () => {
    const at = await site();
    const ran = await inBetween(at, [ops], () => Object.assign(user(at), { group: 'by hand' }), false);
    expect(ran.statuses[ada]).toMatch(/^skipped: not sent, stale: .*\(group\)/);
    expect(at.writes()).toEqual([]);
  });

  test("an object that can't be read then is not written", async () => {
    const at = await site();
    const ran = await inBetween(at, [ops], () =>
      always(at, 'GET', { kind: 'answer', status: 500, body: {} }),
    );
    expect(ran.statuses[ada]).toMatch(/^skipped: .*could not be read/);
    expect(at.writes()).toEqual([]);
  });

  test('a user who no longer exists is skipped', async () => {
    const at = await site();
    const ran = await inBetween(at, [ops], () => removeRow(at.sandbox.data.users, ids.ada));
    expect(ran.statuses[ada]).toMatch(/^skipped: .*no user/);
    expect(at.writes()).toEqual([]);
  });
});

describe("a person's change after a failed request is no loss", () => {
  const edits: readonly [string, (found: ReturnType<typeof user>) => object][] = [
    ['a scope is taken away', ({ authorized_scopes }) => ({ authorized_scopes: authorized_scopes.slice(1) })],
    ['other memberships are set', () => ({ organizations: [{ id: ids.initech, roles: [] }] })],
    [
      'a role within a membership goes',
      ({ organizations }) => ({ organizations: organizations.map((one) => ({ ...one, roles: [] })) }),
    ],
    ['metadata is emptied', () => ({ metadata: {} })],
    [
      'a metadata key goes',
      ({ metadata }) => ({ metadata: Object.fromEntries(Object.entries(metadata).slice(1)) }),
    ],
  ];
  test.each(edits)('within the run: %s', async (_, edit) => {
    const at = await site();
    once(at, 'PATCH', { kind: 'drop', step: 1 });
    let goal: unknown;
    at.sandbox.requests.push = function push(...entries) {
      const patched = this.some(({ method }) => method === 'PATCH');
      if (goal === undefined && patched && entries.some(({ method }) => method === 'GET')) {
        Object.assign(user(at), edit(user(at)));
        goal = at.sandbox.snapshot();
      }
      return Array.prototype.push.apply(this, entries);
    };
    await at.apply(ops);
    expect(goal).toBeDefined();
    expect(at.sandbox.snapshot()).toEqual(goal);
  });

  test("before anything was written, an empty list is somebody's change", async () => {
    const at = await site();
    once(at, 'PATCH', { kind: 'drop', step: 0 });
    at.sandbox.requests.push = function push(...entries) {
      if (this.some(({ method }) => method === 'PATCH')) user(at).roles = [];
      return Array.prototype.push.apply(this, entries);
    };
    const ran = await at.apply(ops);
    expect(ran.statuses[ada]).toMatch(/^failed/);
    expect(user(at).roles).toEqual([]);
    await at.apply(ops);
    expect(user(at)).toMatchObject({ group: 'ops', roles: [] });
  });
});

test('a request that the plan did not name is not sent', async () => {
  const at = await site();
  const type = 'confirmation_instructions';
  const html_content = emailTypes.get(type)?.html_content ?? '';
  const customised = { id: ids.nobody, backend_id: ids.backend, type, txt_content: 'since', html_content };
  const ran = await inBetween(at, [{ ...resetDoc, type, html_content: '<p>{{ url }}</p>' }], () =>
    at.sandbox.data.templates.push(customised),
  );
  expect(Object.values(ran.statuses)).toEqual([
    expect.stringMatching(/^skipped: .*a request that the plan does not have/),
  ]);
  expect(at.writes()).toEqual([]);
});

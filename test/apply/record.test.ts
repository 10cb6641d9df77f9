import { describe, expect, it } from 'vitest';
import { recordOutcome, withSeen } from '../../src/apply/record.js';
import type { ObservedOutcome, RequestedChange } from '../../src/apply/recorded-fields.js';
import { verify } from '../../src/apply/verify.js';
import { noProgress } from '../../src/base/progress.js';
import { defaultSafety } from '../../src/base/safety.js';
import { type Fields, Sensitive } from '../../src/base/values.js';
import { kindOf } from '../../src/kinds/index.js';
import { buildPlan } from '../../src/plan/build.js';
import type { Action } from '../../src/plan/plan.js';
import { Hasher } from '../../src/secrets/hash.js';
import { emptyState, type ResourceRecord, type State } from '../../src/state/state.js';
import { declared, documented } from '../plan/fixtures.js';

const server = 'https://id.example.com';
const at = '2026-01-31T12:00:00.000Z';
const empty = { ...emptyState(server), salt: 'salt' };
const hasher = new Hasher(empty);

function requestedChange(expected: Fields, parts: Partial<RequestedChange> = {}): RequestedChange {
  return {
    key: 'User/u',
    kind: 'User',
    identity: { id: 'u' },
    action: 'update',
    expected,
    managed: Object.keys(expected),
    ...parts,
  };
}

function outcomeWith(after: Fields | undefined, parts: Partial<ObservedOutcome> = {}): ObservedOutcome {
  return { status: 'applied', ambiguous: false, after, unverified: [], ...parts };
}

function withOutcome(state: State, ...rest: Tail<Parameters<typeof recordOutcome>>): State {
  const resources = { ...state.resources };
  return recordOutcome(resources, ...rest) ? { ...state, resources } : state;
}

type Tail<T> = T extends [unknown, ...infer Rest] ? Rest : never;

function record(state: State, what: RequestedChange, outcome: ObservedOutcome, run = 'run-1'): State {
  return withOutcome(state, what, outcome, { run, at, hasher, readable: false, documented: true });
}

function recordIn(state: State, key = 'User/u'): ResourceRecord | undefined {
  return state.resources[key];
}

/** The action that a plan has for a user, given a state. */
async function actionFor(state: State, fields: Fields): Promise<Action | undefined> {
  const unexpected = () => Promise.reject(new Error('nobody asked for this'));
  const { plan } = await buildPlan({
    declared: [declared('User', { id: 'u' }, fields)],
    reader: {
      listOrganizations: unexpected,
      showTemplate: unexpected,
      showExtra: unexpected,
      listExtra: unexpected,
    },
    state,
    hasher,
    selection: { targets: [], kinds: [] },
    prune: false,
    assert: false,
    restores: 'none',
    checks: { levels: {}, profile: 'documented' },
    concurrency: 1,
    progress: noProgress,
    server,
    profile: documented,
    environment: null,
    toolVersion: '0.0.0',
    now: new Date(at),
    recognise: null,
    safety: defaultSafety,
  });
  return plan.changes[0]?.action;
}

describe('an update', () => {
  const open = outcomeWith(undefined, { status: 'failed', ambiguous: true });

  it('records what the server showed, with the run and the time', () => {
    const state = record(
      empty,
      requestedChange({ group: 'staff' }),
      outcomeWith({ group: 'staff', username: 'ada' }),
    );
    expect(recordIn(state)).toEqual({
      kind: 'User',
      identity: { id: 'u' },
      recorded_at: at,
      run: 'run-1',
      managed: ['group'],
      fields: { group: 'staff', username: 'ada' },
      hashes: {},
    });
  });

  it("records sent values that the response doesn't show", () => {
    const shown = outcomeWith({ group: 'staff' }, { unverified: ['blocked'] });
    const state = record(empty, requestedChange({ group: 'staff', blocked: true }), shown);
    expect(recordIn(state)?.fields).toEqual({ group: 'staff', blocked: true });
  });

  it('keeps recorded fields that neither the manifest nor the response mentions', () => {
    const first = record(empty, requestedChange({}), outcomeWith({ group: 'staff', metadata: { a: 1 } }));
    const second = record(first, requestedChange({ blocked: true }), outcomeWith({ blocked: true }), 'run-2');
    expect(recordIn(second)?.fields).toEqual({ group: 'staff', metadata: { a: 1 }, blocked: true });
    expect(recordIn(second)?.run).toBe('run-2');
  });

  it('leaves the record unchanged if the server refused it', () => {
    const before = record(empty, requestedChange({ group: 'staff' }), outcomeWith({ group: 'staff' }));
    expect(
      record(before, requestedChange({ group: 'x' }), outcomeWith(undefined, { status: 'failed' })),
    ).toBe(before);
    expect(
      record(before, requestedChange({ group: 'x' }), outcomeWith(undefined, { status: 'skipped' })),
    ).toBe(before);
  });

  it("records the server's value if it did not converge, so that the next plan shows it", async () => {
    const other = outcomeWith({ group: 'other' }, { status: 'not_converged' });
    const state = record(empty, requestedChange({ group: 'staff' }), other);
    expect(recordIn(state)?.fields).toEqual({ group: 'other' });
    expect(await actionFor(state, { group: 'staff' })).toBe('update');
  });

  it('is sent again on top of its own values if its outcome is unknown', async () => {
    const before = record(
      empty,
      requestedChange({ blocked: true }),
      outcomeWith({ blocked: true, metadata: { a: 1 } }),
    );
    const state = record(before, requestedChange({ metadata: { a: 2 } }), open);
    expect(recordIn(state)?.uncertain).toEqual(['metadata']);
    expect(await actionFor(state, { metadata: { a: 2 } })).toBe('update');
    expect(await actionFor(state, { blocked: true })).toBe('unchanged');
  });

  it('settles an uncertain field if it succeeds', () => {
    const uncertain = record(empty, requestedChange({ group: 'x' }), open);
    const settled = record(uncertain, requestedChange({ group: 'x' }), outcomeWith({ group: 'x' }));
    expect(recordIn(settled)?.uncertain).toBeUndefined();
  });

  it("records only values that weren't shown, for a kind that is read each time", () => {
    const parts = { key: 'Organization/1', kind: 'Organization', identity: { id: '1' } } as const;
    const organization = requestedChange({ id: '1', name: 'acme', label: 'ACME' }, parts);
    const outcome = outcomeWith({ id: '1', name: 'acme' }, { unverified: ['label'] });
    const state = withOutcome(empty, organization, outcome, {
      run: 'run-1',
      at,
      hasher,
      readable: true,
      documented: true,
    });
    expect(recordIn(state, 'Organization/1')?.fields).toEqual({ label: 'ACME' });
  });
});

describe('the values that a run left in a live object', () => {
  const organization = (label: string, before?: Fields): RequestedChange =>
    requestedChange(
      { name: 'acme', label },
      { key: 'Organization/1', kind: 'Organization', identity: { id: '1' }, ...(before && { before }) },
    );
  const left = (state: State) => recordIn(state, 'Organization/1')?.left;
  const next = (state: State, what: RequestedChange, outcome: ObservedOutcome, run: string): State =>
    withOutcome(state, what, outcome, { run, at, hasher, readable: true, documented: true });
  const shown = { id: '1', name: 'acme', label: 'ACME' };
  const first = next(empty, organization('ACME'), outcomeWith(shown), 'run-1');

  it('are recorded as the server shows them', () => {
    expect(left(first)).toEqual({ run: 'run-1', fields: { name: 'acme', label: 'ACME' }, hashes: {} });
  });

  it('stay if a later run changed nothing', () => {
    const failed = outcomeWith(shown, { status: 'failed' });
    expect(left(next(first, organization('x', shown), failed, 'run-2'))).toEqual(left(first));
    const refused = outcomeWith(undefined, { status: 'failed' });
    expect(left(next(first, organization('x', shown), refused, 'run-2'))).toEqual(left(first));
  });

  it('become those of a later run that was done in part', () => {
    const part = outcomeWith({ ...shown, name: 'other' }, { status: 'failed' });
    const after = next(first, organization('x', shown), part, 'run-2');
    expect(left(after)).toMatchObject({ run: 'run-2', fields: { name: 'other', label: 'ACME' } });
    expect(recordIn(after, 'Organization/1')).toMatchObject({ run: 'run-1', managed: ['name', 'label'] });
  });

  it('become unknown if the outcome of a run is unknown', () => {
    const open = outcomeWith(undefined, { status: 'unknown', ambiguous: true });
    expect(left(next(first, organization('x', shown), open, 'run-2'))).toBeUndefined();
  });

  it('holds no secret', () => {
    const what = { ...organization('x'), expected: { label: new Sensitive('hush') } };
    const state = next(empty, what, outcomeWith({ ...shown, label: 'hush' }), 'run-1');
    expect(JSON.stringify(state)).not.toContain('hush');
    expect(left(state)).toMatchObject({ fields: { label: null }, hashes: { '/label': expect.any(String) } });
  });
});

describe('a secret', () => {
  const password = { backend: { smtp_port: 587, smtp_password: new Sensitive('hush') } };
  const unshown = outcomeWith({ backend: { smtp_port: 587 } }, { unverified: ['backend.smtp_password'] });

  it("is recorded as a hash if the response doesn't show it", async () => {
    const state = record(empty, requestedChange(password), unshown);
    expect(JSON.stringify(state)).not.toContain('hush');
    expect(recordIn(state)?.hashes).toEqual({ '/backend/smtp_password': hasher.hash('hush') });
    expect(await actionFor(state, password)).toBe('unchanged');
    const other = { backend: { smtp_password: new Sensitive('new') } };
    expect(await actionFor(state, other)).toBe('update');
  });

  it('stays recorded if a later response to another change leaves it out', async () => {
    const first = record(empty, requestedChange(password), unshown);
    const later = outcomeWith({ group: 'staff', backend: { smtp_port: 587 } });
    const second = record(first, requestedChange({ group: 'staff' }), later);
    expect(await actionFor(second, password)).toBe('unchanged');
  });

  it('from the environment is recorded as a hash if the server shows it', async () => {
    const hush = new Sensitive('hush');
    const secret = requestedChange({ group: hush, metadata: { token: { value: hush } } });
    const state = record(
      empty,
      secret,
      outcomeWith({ group: 'hush', metadata: { token: { value: 'hush' } } }),
    );
    expect(JSON.stringify(state)).not.toContain('hush');
    expect(await actionFor(state, { group: new Sensitive('hush') })).toBe('unchanged');
    expect(await actionFor(state, { group: new Sensitive('other') })).toBe('update');
  });

  it('inside a set is recorded as a hash of the whole set', async () => {
    const scopes = [
      { id: '2', name: 'b', label: 'plain' },
      { id: '1', name: 'a', label: new Sensitive('hush') },
    ];
    const shown = [
      { id: '1', name: 'a', label: 'hush', public: false },
      { id: '2', name: 'b', label: 'plain', public: false },
    ];
    const state = record(
      empty,
      requestedChange({ authorized_scopes: scopes }),
      outcomeWith({ authorized_scopes: shown }),
    );
    expect(JSON.stringify(state)).not.toContain('hush');
    expect(await actionFor(state, { authorized_scopes: [...scopes].reverse() })).toBe('unchanged');
  });

  it('inside a set that did not converge is sent again', async () => {
    const scopes = [{ id: '1', name: 'a', label: new Sensitive('hush') }];
    const expected = { authorized_scopes: scopes };
    const shown = { authorized_scopes: [] };
    const { different } = verify(kindOf('User'), expected, shown);
    expect(different).toHaveLength(1);
    const state = record(empty, requestedChange(expected), outcomeWith(shown, { status: 'not_converged' }));
    expect(await actionFor(state, expected)).toBe('update');
  });
});

it('a key pair that becomes the default is the only recorded default', () => {
  const pair = (id: string): RequestedChange => ({
    key: `KeyPair/${id}`,
    kind: 'KeyPair',
    identity: { id },
    action: 'update',
    expected: { is_default: true },
    managed: ['is_default'],
  });
  const first = record(empty, pair('a'), outcomeWith({ id: 'a', is_default: true }));
  const second = record(first, pair('b'), outcomeWith({ id: 'b', is_default: true }), 'run-2');
  expect(recordIn(second, 'KeyPair/b')?.fields.is_default).toBe(true);
  expect(recordIn(second, 'KeyPair/b')?.uncertain).toBeUndefined();
  expect(recordIn(second, 'KeyPair/a')?.uncertain).toEqual(['is_default']);
});

describe("a client's generation", () => {
  const client = (generation: number | undefined, action: Action): RequestedChange => ({
    key: 'Client/c',
    kind: 'Client',
    identity: { id: 'c' },
    action,
    expected: {},
    managed: [],
    ...(generation === undefined ? {} : { generation }),
  });

  it('is recorded by an adoption', () => {
    const state = record(empty, client(3, 'adopt'), outcomeWith(undefined));
    expect(recordIn(state, 'Client/c')?.did_generation).toBe(3);
  });

  it('is recorded by a regeneration, with the DID', () => {
    const state = record(
      empty,
      client(4, 'regenerate'),
      outcomeWith({ id: 'c', did: 'did:key:z', secret: 'x' }),
    );
    expect(recordIn(state, 'Client/c')).toMatchObject({ did_generation: 4, fields: { did: 'did:key:z' } });
  });

  it('stays if the regeneration failed', () => {
    const before = record(empty, client(3, 'adopt'), outcomeWith(undefined));
    expect(record(before, client(4, 'regenerate'), outcomeWith(undefined, { status: 'failed' }))).toBe(
      before,
    );
  });

  it('stays if the outcome is unknown, and the run is recorded as open', () => {
    const before = record(empty, client(3, 'adopt'), outcomeWith(undefined));
    const open = outcomeWith(undefined, { status: 'unknown', ambiguous: true });
    const state = record(before, client(4, 'regenerate'), open, 'run-2');
    expect(recordIn(state, 'Client/c')).toMatchObject({ did_generation: 3, pending_regeneration: 'run-2' });
  });

  it('stays if a person regenerates the DID, which settles an open outcome', () => {
    const before = record(empty, client(3, 'adopt'), outcomeWith(undefined));
    const open = record(before, client(4, 'regenerate'), outcomeWith(undefined, { status: 'unknown' }));
    const state = record(open, client(undefined, 'regenerate'), outcomeWith({ did: 'did:key:z' }));
    expect(recordIn(state, 'Client/c')?.did_generation).toBe(3);
    expect(recordIn(state, 'Client/c')?.pending_regeneration).toBeUndefined();
  });
});

describe('a deletion', () => {
  const template: RequestedChange = {
    key: 'EmailTemplate/b/t',
    kind: 'EmailTemplate',
    identity: { backend_id: 'b', type: 't' },
    action: 'delete',
    expected: {},
    managed: [],
  };

  it("records the server's response as a hash", () => {
    const state = record(
      empty,
      template,
      outcomeWith({ id: 't', txt_content: 'built in', html_content: '' }),
    );
    expect(recordIn(state, template.key)).toMatchObject({ fields: {}, deleted: expect.any(String) });
    expect(JSON.stringify(state)).not.toContain('built in');
  });

  it('that failed is not recorded', () => {
    expect(record(empty, template, outcomeWith(undefined, { status: 'failed' }))).toBe(empty);
  });

  it('is forgotten when the template is written again', () => {
    const gone = record(empty, template, outcomeWith({ id: 't' }));
    const written: RequestedChange = { ...template, action: 'update', expected: { txt_content: 'x' } };
    const back = record(gone, written, outcomeWith({ txt_content: 'x' }));
    expect(recordIn(back, template.key)?.deleted).toBeUndefined();
  });
});

describe('the observed values of an object', () => {
  const seen = (fields: Fields, expected: Fields = fields) => ({
    key: 'Organization/o',
    kind: 'Organization' as const,
    identity: { id: 'o' },
    expected,
    managed: Object.keys(expected),
    fields,
  });
  const see = (resources: State['resources'], ...all: Parameters<typeof seen>) =>
    withSeen(resources, [seen(...all)], { at, hasher });

  it('are recorded once without a run: only declared fields, and secrets as hashes', async () => {
    const shown = { name: 'acme', label: 'secret', other: 'x' };
    const declaredFields = { name: 'acme', label: new Sensitive('secret') };
    const resources = await see({}, shown, declaredFields);
    const { 'Organization/o': made } = resources;
    expect(made).toMatchObject({ run: null, managed: ['name', 'label'] });
    expect(made?.left).toMatchObject({ run: null, fields: { name: 'acme', label: null } });
    expect(JSON.stringify(made)).not.toMatch(/secret"|"other"/);
    expect(await see(resources, shown, declaredFields)).toBe(resources);
    expect(await see(resources, { ...shown, label: 'else' }, declaredFields)).not.toBe(resources);
  });

  it('keep what a run recorded, and add the former name of the object', async () => {
    const wrote: ResourceRecord = {
      kind: 'Organization',
      identity: { id: 'o' },
      recorded_at: at,
      run: 'run-1',
      managed: ['label'],
      fields: {},
      hashes: {},
      did_generation: 3,
      left: { run: 'run-1', fields: { name: 'old', label: 'a' }, hashes: {} },
    };
    const { 'Organization/o': made } = await see({ 'Organization/o': wrote }, { name: 'new', label: 'b' });
    expect(made).toEqual({
      ...wrote,
      left: { run: null, fields: { name: 'new', label: 'b' }, hashes: {} },
      former_names: ['old'],
    });
  });
});

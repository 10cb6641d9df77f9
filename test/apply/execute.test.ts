import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { error, ProblemsError } from '../../src/base/problems.js';
import type { Kind } from '../../src/kinds/kind.js';
import { orderChanges } from '../../src/plan/order.js';
import type { Change } from '../../src/plan/plan.js';
import { noReplan, type Replan } from '../../src/plan/replan.js';
import { Expired, type FailureKind, kindOfStatus, Withheld } from '../../src/server/failures.js';
import { changeFor, declared, live, recorded } from '../plan/fixtures.js';
import { resultOf } from '../report/plans.js';
import { failure, kinds, run } from './fakes.js';

const backend_id = 'b';

function user(id: string, group = 'staff'): Change {
  return changeFor(declared('User', { id }, { group }));
}

function organization(id: string, label = 'new'): Change {
  const identity = { id, name: `name ${id}` };
  return changeFor(declared('Organization', identity, { label }), {
    live: live(identity, { id, name: `name ${id}`, label: 'old' }),
  });
}

function template(type: string, txt_content = 'new'): Change {
  const identity = { backend_id, type };
  return changeFor(declared('EmailTemplate', identity, { txt_content }), {
    live: live(identity, { ...identity, id: type, txt_content: 'old', html_content: '<p>' }),
  });
}

function noTemplate(type: string): Change {
  const identity = { backend_id, type };
  return changeFor(declared('EmailTemplate', identity, {}, { absent: true }), {
    live: live(identity, { ...identity, id: type, txt_content: 'old' }),
  });
}

function keyPair(id: string, is_default: boolean): Change {
  return changeFor(declared('KeyPair', { id }, { is_default }), {
    recorded: recorded({ is_default: !is_default }),
  });
}

function client(id: string): Change {
  return changeFor(declared('Client', { id }, {}, { generation: 2 }), {
    recorded: recorded({}, { generation: 1 }),
  });
}

/** The lines of a log with the given start. */
function linesStarting(log: readonly string[], start: string): string[] {
  return log.filter((line) => line.startsWith(start));
}

/** A promise, and the function that resolves it. */
function deferred(): { readonly done: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const done = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  return { done, resolve: () => resolve() };
}

/** A server that stores the sent fields and returns them. */
function echo({ body = {} }: { body?: object }) {
  return { ...body } as { [field: string]: string };
}

describe('sending', () => {
  it('skips unchanged and blocked objects', async () => {
    const blocked: Change = { ...user('b'), action: 'blocked', requests: [] };
    const known = { recorded: recorded({ group: 'x' }) };
    const unchanged = changeFor(declared('User', { id: 'c' }, { group: 'x' }), known);
    const { log, results } = await run([blocked, unchanged], { respond: echo });
    expect(log).toEqual([]);
    expect(results).toEqual([]);
  });

  it('starts a kind only after the one before it has ended', async () => {
    const changes = orderChanges([
      client('c'),
      template('t'),
      keyPair('k', true),
      user('u'),
      organization('o'),
    ]);
    const { log } = await run(changes, {
      respond: async (request) => {
        for (let turns = request.operation === 'updateUser' ? 20 : 1; turns > 0; turns -= 1) await turn();
        return echo(request);
      },
    });
    expect(log.filter((line) => /^(PATCH|POST)/.test(line))).toEqual([
      'PATCH organizations/o',
      'PATCH users/u',
      'PATCH key-pairs/k',
      'PATCH backends/b/email-templates/t',
      'POST clients/c/regenerate_did',
    ]);
  });

  it('sends a change after those that it awaits, kind by kind, and skips it if one of them failed', async () => {
    const awaiting = (change: Change, ...awaited: Change[]): Change => ({
      ...change,
      awaits: awaited.map(({ apply }) => apply.key),
    });
    const [a, k, failing] = [user('a'), keyPair('k', true), user('f')];
    const late = awaiting(organization('late'), k);
    const changes = [
      awaiting(user('last'), late),
      awaiting(keyPair('z', true), a),
      awaiting(user('b'), failing),
      late,
    ];
    const { log, results } = await run([...changes, a, k, failing], {
      respond: (request) =>
        request.params.user_id === 'f' ? failure(kinds.user, { status: 422 }) : echo(request),
    });
    expect(linesStarting(log, 'PATCH')).toEqual([
      ...['users/a', 'users/f', 'key-pairs/z', 'key-pairs/k', 'organizations/late', 'users/last'].map(
        (path) => `PATCH ${path}`,
      ),
    ]);
    expect(results.find(({ address }) => address === 'User/b')).toMatchObject({
      status: 'skipped',
      error: expect.stringContaining('User/f was not granted what this change removes'),
    });
  });

  it('sends several requests at once, up to the limit', async () => {
    const users = Array.from({ length: 12 }, (_, index) => user(String(index)));
    const { busiest } = await run(users, {
      concurrency: 4,
      respond: async (request) => {
        await turn();
        return echo(request);
      },
    });
    expect(busiest).toBe(4);
  });

  it('sends one key pair at a time, the new default first', async () => {
    const changes = orderChanges([keyPair('a', false), keyPair('z', true), keyPair('b', false)]);
    const { log, busiest } = await run(changes, {
      respond: async (request) => {
        await turn();
        return echo(request);
      },
    });
    expect(linesStarting(log, 'PATCH')).toEqual([
      'PATCH key-pairs/z',
      'PATCH key-pairs/a',
      'PATCH key-pairs/b',
    ]);
    expect(busiest).toBe(1);
  });

  it('sends nothing for an adoption, which is journaled and applied', async () => {
    const adoption = changeFor(declared('Client', { id: 'c' }, {}, { generation: 1 }));
    const { log, results } = await run([adoption], { respond: echo });
    expect(log).toEqual(['sending Client/c nothing', 'settled Client/c']);
    expect(results).toMatchObject([{ action: 'adopt', status: 'applied', httpStatus: null, attempts: 0 }]);
  });
});

describe('a response', () => {
  it('with the sent values is success', async () => {
    const { results } = await run([user('a')], { respond: echo });
    expect(results).toEqual([resultOf({ address: 'User/a' })]);
  });

  it('that leaves a field out is success, with the field as unverified', async () => {
    const { results } = await run([user('a')], { respond: () => ({}) });
    expect(results).toMatchObject([{ status: 'applied', unverified: ['group'] }]);
  });

  it('with another value has not converged', async () => {
    const { results } = await run([user('a')], { respond: () => ({ group: 'other' }) });
    expect(results).toMatchObject([{ status: 'not_converged', httpStatus: 200 }]);
    expect(results[0]?.error).toContain('group: asked "staff", the server has "other"');
  });

  it('with another value of an undeclared field that was sent has not converged', async () => {
    const { results } = await run([template('t')], {
      respond: () => ({ id: 't', type: 't', backend_id, txt_content: 'new', html_content: 'built-in' }),
    });
    const error = expect.stringContaining('html_content');
    expect(results).toMatchObject([{ status: 'not_converged', error }]);
  });

  it('with another name for the id of a scope has not converged', async () => {
    const scope = (name: string) => ({ authorized_scopes: [{ id: 's', name, label: 'A' }] });
    const planned = changeFor(declared('User', { id: 'a' }, scope('a:b')));
    const { results } = await run([planned], { respond: () => scope('users:manage:all') });
    const error = expect.stringContaining('the scope with the id s is called "users:manage:all", not "a:b"');
    expect(results).toMatchObject([{ status: 'not_converged', error }]);
  });

  it("about another object leaves the outcome unknown if the object can't be read", async () => {
    const { results, outcomes } = await run([user('a')], { respond: () => ({ id: 'b', group: 'staff' }) });
    expect(results).toMatchObject([{ status: 'unknown' }]);
    expect(results[0]?.error).toContain('another object');
    expect(outcomes.get('User/a')?.ambiguous).toBe(true);
  });

  it('about another object is read back if possible', async () => {
    const { log, statuses } = await run([template('t')], {
      respond: () => ({ id: 'x', type: 'other', backend_id, txt_content: 'new' }),
      templates: () => ({ id: 't', type: 't', backend_id, txt_content: 'new', html_content: '<p>' }),
    });
    expect(log).toContain('GET t');
    expect(statuses).toEqual({ 'EmailTemplate/b/t': 'applied' });
  });

  it('to a DELETE that finds nothing is success', async () => {
    const { statuses } = await run([noTemplate('t')], { respond: () => ({}) });
    expect(statuses).toEqual({ 'EmailTemplate/b/t': 'applied' });
  });

  it('to a regeneration that shows no DID is success, with the DID unverified', async () => {
    const { results } = await run([client('c')], { respond: () => ({ id: 'c' }) });
    expect(results).toMatchObject([{ status: 'applied', unverified: ['did'] }]);
  });
});

describe('a failure', () => {
  it('that refuses the credentials stops all other changes', async () => {
    const changes = [organization('o'), user('a'), keyPair('k', true), client('c')];
    const { log, results } = await run(changes, {
      respond: () => failure(kinds.organization, { kind: 'unauthorized', status: 401 }),
    });
    expect(linesStarting(log, 'P')).toEqual(['PATCH organizations/o']);
    expect(results.map(({ status }) => status)).toEqual(['failed', 'skipped', 'skipped', 'skipped']);
    expect(results[1]?.error).toContain('401');
  });

  it('for a missing scope stops only changes that need the same scope, and names it', async () => {
    const changes = [organization('o'), user('a'), keyPair('k', true), template('t'), client('c')];
    const lacking: { [operation: string]: Kind } = {
      updateOrganization: kinds.organization,
      updateKeyPair: kinds.keyPair,
    };
    const { statuses, results } = await run(changes, {
      respond: (request) => {
        const { [request.operation]: kind } = lacking;
        return kind === undefined ? echo(request) : failure(kind, { kind: 'forbidden', status: 403 });
      },
    });
    expect(statuses).toEqual({
      'Organization/o/name o': 'failed',
      'User/a': 'skipped',
      'KeyPair/k': 'failed',
      'EmailTemplate/b/t': 'applied',
      'Client/c': 'skipped',
    });
    expect(results.find(({ address }) => address === 'User/a')?.error).toContain('users:manage:all');
    expect(results.find(({ address }) => address === 'Client/c')?.error).toContain('clients:manage:all');
  });

  it('of the new default keeps the former default', async () => {
    const changes = orderChanges([keyPair('a', false), keyPair('z', true)]);
    const { log, statuses } = await run(changes, {
      respond: () => failure(kinds.keyPair, { kind: 'refused', status: 422 }),
    });
    expect(linesStarting(log, 'PATCH')).toEqual(['PATCH key-pairs/z']);
    expect(statuses).toEqual({ 'KeyPair/z': 'failed', 'KeyPair/a': 'skipped' });
  });

  it('of the new default to converge keeps the former default too', async () => {
    const changes = orderChanges([keyPair('a', false), keyPair('z', true)]);
    const { statuses } = await run(changes, { respond: () => ({ is_default: false }) });
    expect(statuses).toEqual({ 'KeyPair/z': 'not_converged', 'KeyPair/a': 'skipped' });
  });
});

describe('a failure with an open outcome', () => {
  const failures: [FailureKind, number | null][] = [
    ['server-error', 500],
    ['lost', null],
    ['answer', 200],
  ];

  it.each(failures)(
    '%s: a template is read back, and is success if it has the sent values',
    async (kind, status) => {
      const { log, statuses } = await run([template('t')], {
        respond: () => failure(kinds.template, { kind, status }),
        templates: () => ({ id: 't', txt_content: 'new', html_content: '<p>' }),
      });
      const sent = ['sending EmailTemplate/b/t', 'PATCH backends/b/email-templates/t'];
      expect(log).toEqual([...sent, 'GET t', 'settled EmailTemplate/b/t']);
      expect(statuses).toEqual({ 'EmailTemplate/b/t': 'applied' });
    },
  );

  it("is a failure if the template doesn't have the sent values", async () => {
    const { results } = await run([template('t')], {
      respond: () => failure(kinds.template, {}),
      templates: () => ({ id: 't', txt_content: 'old', html_content: '<p>' }),
    });
    const own = 'asked "new", the server has "old"';
    expect(results).toMatchObject([{ status: 'failed', httpStatus: 500, ownValues: [own] }]);
    expect(results[0]?.error).toMatch(/read back: txt_content: asked "new", the server has "old"$/);
  });

  it('reads the list of organizations once, however many outcomes are open', async () => {
    const { log, statuses } = await run([organization('1'), organization('2'), organization('3')], {
      respond: () => failure(kinds.organization, {}),
      organizations: [
        { id: '1', name: 'name 1', label: 'new' },
        { id: '2', name: 'name 2', label: 'old' },
      ],
    });
    expect(linesStarting(log, 'GET')).toEqual(['GET organizations 1']);
    expect(Object.values(statuses)).toEqual(['applied', 'failed', 'failed']);
  });

  it('is success for a deletion if the template is gone, otherwise a failure', async () => {
    const { statuses } = await run([noTemplate('gone'), noTemplate('there')], {
      respond: () => failure(kinds.template, {}),
      templates: (type) => (type === 'gone' ? null : { id: 't', txt_content: 'old' }),
    });
    expect(statuses).toEqual({ 'EmailTemplate/b/gone': 'applied', 'EmailTemplate/b/there': 'failed' });
  });

  const unread = () => {
    throw failure(kinds.template, { kind: 'lost', status: null });
  };
  it.each([
    ['reading back shows nothing of it', () => ({})],
    ['it can not be read back', unread],
  ])('stays open if %s', async (_, templates) => {
    const { results, outcomes } = await run([template('t')], {
      respond: () => failure(kinds.template, {}),
      templates,
    });
    expect(results).toMatchObject([{ status: 'unknown', error: expect.stringContaining('not known') }]);
    expect(outcomes.get('EmailTemplate/b/t')?.ambiguous).toBe(true);
  });

  it("of a user is reported as unknown, since the profile can't read users", async () => {
    const { log, results, outcomes } = await run([user('a')], { respond: () => failure(kinds.user, {}) });
    expect(linesStarting(log, 'GET')).toEqual([]);
    expect(results[0]?.status).not.toBe('applied');
    expect(results[0]?.error).toContain('not known');
    expect(outcomes.get('User/a')?.ambiguous).toBe(true);
  });

  it('is a plain failure if no connection was made', async () => {
    const { results, outcomes } = await run([user('a'), client('c')], {
      respond: () => failure(kinds.user, { kind: 'unreachable', status: null, sent: false }),
    });
    expect(results.map(({ status }) => status)).toEqual(['failed', 'failed']);
    expect(outcomes.get('User/a')?.ambiguous).toBe(false);
    expect(outcomes.get('Client/c')?.ambiguous).toBe(false);
  });

  it.each(failures)('%s: a regeneration is sent once, and its outcome is unknown', async (kind, status) => {
    const { log, statuses } = await run([client('c')], {
      respond: () => failure(kinds.client, { kind, status }),
    });
    expect(linesStarting(log, 'POST')).toHaveLength(1);
    expect(statuses).toEqual({ 'Client/c': 'unknown' });
  });

  it('is one if a regeneration answers with another client', async () => {
    const { statuses } = await run([client('c')], { respond: () => ({ id: 'd', did: 'did:key:z' }) });
    expect(statuses).toEqual({ 'Client/c': 'unknown' });
  });

  it.each([
    [422, 'failed'],
    [409, 'unknown'],
  ])('of a regeneration that was answered with %i: %s', async (status, wanted) => {
    const { log, results, outcomes } = await run([client('c')], {
      respond: () => failure(kinds.client, { kind: kindOfStatus(status), status, method: 'POST' }),
    });
    expect(linesStarting(log, 'POST')).toHaveLength(1);
    expect(results).toMatchObject([{ status: wanted, httpStatus: status }]);
    expect(results[0]?.error?.includes('not known')).toBe(wanted === 'unknown');
    expect(outcomes.get('Client/c')?.ambiguous).toBe(wanted === 'unknown');
  });
});

describe('an interruption', () => {
  it('finishes requests in flight, and starts nothing new', async () => {
    const interrupt = new AbortController();
    const { log, statuses } = await run([user('a'), user('b'), client('c')], {
      concurrency: 1,
      signal: interrupt.signal,
      respond: (request) => {
        interrupt.abort();
        return echo(request);
      },
    });
    expect(log).toEqual(['sending User/a', 'PATCH users/a', 'settled User/a']);
    expect(statuses).toEqual({ 'User/a': 'applied', 'User/b': 'skipped', 'Client/c': 'skipped' });
  });
});

describe('a full disk', () => {
  it("keeps back a request that couldn't be journaled", async () => {
    const { log, fatal, statuses } = await run([user('a'), user('b')], {
      concurrency: 1,
      respond: echo,
      disk: () => {
        throw new Error('no space left');
      },
    });
    expect(log).toEqual([]);
    expect(fatal).toBeDefined();
    expect(statuses).toEqual({ 'User/a': 'skipped', 'User/b': 'skipped' });
  });

  it("that writes an answer slowly doesn't delay the next request, and the run waits for it", async () => {
    const { log } = await run([user('a'), user('b')], {
      concurrency: 1,
      respond: echo,
      disk: async (line) => {
        if (line === 'settled User/a') for (let turns = 20; turns > 0; turns -= 1) await turn();
      },
    });
    const sent = ['sending User/a', 'PATCH users/a', 'sending User/b', 'PATCH users/b'];
    expect(log).toEqual([...sent, 'settled User/b', 'settled User/a']);
  });

  it('after an answer ends the run, and reports what was done', async () => {
    const { log, fatal, statuses } = await run([user('a'), user('b'), client('c')], {
      concurrency: 1,
      respond: echo,
      disk: (line) => {
        if (line.startsWith('settled')) throw new Error('no space left');
      },
    });
    expect(linesStarting(log, 'P')).toEqual(['PATCH users/a']);
    expect(fatal).toBeDefined();
    expect(statuses).toEqual({ 'User/a': 'applied', 'User/b': 'skipped', 'Client/c': 'skipped' });
  });

  it('keeps back a request whose object was being read again', async () => {
    const [reading, full] = [deferred(), deferred()];
    const { log, statuses } = await run([user('a'), user('b')], {
      concurrency: 1,
      respond: echo,
      disk: async (line) => {
        if (line !== 'settled User/a') return;
        await reading.done;
        setImmediate(full.resolve);
        throw new Error('no space left');
      },
      replan: {
        ...noReplan,
        carries: ({ address }) => address === 'User/b',
        again: async () => {
          reading.resolve();
          await full.done;
          return user('b');
        },
      },
    });
    expect(linesStarting(log, 'P')).toEqual(['PATCH users/a']);
    expect(statuses).toEqual({ 'User/a': 'applied', 'User/b': 'skipped' });
  });

  it("doesn't make a request with an open outcome look as if it hadn't been sent", async () => {
    const { log, statuses } = await run([template('a'), template('b')], {
      respond: (request) =>
        request.params.template_type === 'a' ? failure(kinds.template, {}) : echo(request),
      templates: () => ({ id: 'a', txt_content: 'old', html_content: '<p>' }),
      disk: (line) => {
        if (line === 'settled EmailTemplate/b/b') throw new Error('no space left');
      },
    });
    expect(log).toContain('PATCH backends/b/email-templates/a');
    expect(statuses['EmailTemplate/b/a']).not.toBe('skipped');
  });
});

describe('a request that must not leave', () => {
  const lost = new ProblemsError([error('locked', 'the lock is gone')]);

  it('is skipped with all later changes, and the journal records it', async () => {
    const { log, results, fatal } = await run([user('a'), user('b')], {
      concurrency: 1,
      respond: () => new Withheld(undefined, lost),
    });
    expect(log).toEqual(['sending User/a', 'PATCH users/a', 'settled User/a']);
    expect(results).toMatchObject([
      { status: 'skipped', error: 'not sent: the lock is gone', attempts: 0 },
      { status: 'skipped', error: 'not sent: the lock of the state was lost' },
    ]);
    expect(fatal).toBeUndefined();
  });

  it('has its change read back, if part of it was sent before', async () => {
    const planned = template('t');
    const two = { ...planned, requests: [...planned.requests, ...planned.requests] };
    const { log, results } = await run([two], {
      respond: (request, number) => (number === 1 ? echo(request) : new Withheld(undefined, lost)),
      templates: () => ({ id: 't', txt_content: 'old', html_content: '<p>' }),
    });
    expect(log.slice(-2)).toEqual(['GET t', 'settled EmailTemplate/b/t']);
    const error = expect.stringContaining('not sent: the lock is gone; read back: ');
    expect(results).toMatchObject([{ status: 'failed', error }]);
  });

  it('has an unknown outcome if an earlier try may have been done', async () => {
    const met = failure(kinds.user, { kind: 'lost', status: null });
    const { results } = await run([user('a')], { respond: () => new Withheld(met, lost) });
    const error = expect.stringContaining('not sent: the lock is gone; what the server did');
    expect(results).toMatchObject([{ status: 'unknown', error }]);
  });
});

describe('a change that waits until its observation expires', () => {
  const planned = user('a');

  /** A plan whose changes are planned again with the given function. */
  function replanWith(again: Replan['again']): Replan {
    return { ...noReplan, again, observedAt: performance.now() };
  }

  it('is planned again before it is sent', async () => {
    const fresh = changeFor(declared('User', { id: 'a' }, { group: 'staff' }));
    const { log, statuses } = await run([planned], {
      replan: replanWith(async () => fresh),
      respond: (request, number) => (number === 1 ? new Expired(undefined) : echo(request)),
    });
    const once = ['sending User/a', 'PATCH users/a'];
    expect(log).toEqual([...once, ...once, 'settled User/a']);
    expect(statuses).toEqual({ 'User/a': 'applied' });
  });

  it('is skipped if the live object has changed, and the journal records the end', async () => {
    const moved = changeFor(declared('User', { id: 'a' }, { group: 'staff' }), {
      live: live({ id: 'a' }, { id: 'a', group: 'since' }),
    });
    const replan = replanWith(async () => moved);
    const { log, results } = await run([planned], { replan, respond: () => new Expired(undefined) });
    expect(log).toEqual(['sending User/a', 'PATCH users/a', 'settled User/a']);
    expect(results).toMatchObject([{ status: 'skipped', error: expect.stringContaining('group') }]);
  });

  it('counts the tries before the wait', async () => {
    const refused = (attempts: number) => failure(kinds.user, { kind: 'refused', status: 429, attempts });
    const { log, results } = await run([planned], {
      replan: { ...replanWith(async () => planned), observedAt: performance.now() },
      respond: (_request, _number, tried = 0) =>
        tried < 3 ? new Expired(refused(tried + 1)) : refused(tried + 1),
    });
    expect(linesStarting(log, 'PATCH')).toHaveLength(4);
    expect(results).toMatchObject([{ status: 'failed', httpStatus: 429, attempts: 4 }]);
  });

  it('is tried a limited number of times', async () => {
    const replan = replanWith(async () => planned);
    const { log, statuses } = await run([planned], { replan, respond: () => new Expired(undefined) });
    expect(linesStarting(log, 'PATCH')).toHaveLength(5);
    expect(statuses).toEqual({ 'User/a': 'skipped' });
  });
});

describe('an error such as another profile has', () => {
  const members = ['code', 'message', 'errors', 'errors.resource'];
  const refusing = () => failure(kinds.user, { kind: 'refused', status: 422, members });
  const failing = () => failure(kinds.user, { kind: 'server-error', status: 500, members });

  it('carries no advice if the server is known not to have that profile', async () => {
    const rig = { respond: refusing, probed: { kind: 'plain' } } as const;
    const { results, statuses } = await run([user('a'), user('b')], rig);
    expect(statuses).toEqual({ 'User/a': 'failed', 'User/b': 'failed' });
    for (const { error } of results) expect(error).not.toContain('profile boruta');
  });

  it('carries the advice once if it stops the others, which refer to it', async () => {
    const rig = { respond: failing, probed: { kind: 'unclear', status: 403 } } as const;
    const { results, log } = await run([user('a'), user('b'), user('c')], rig);
    expect(linesStarting(log, 'PATCH')).toHaveLength(1);
    expect(results[0]?.error).toContain('set "profile: boruta" under server');
    for (const { status, error } of results.slice(1)) {
      expect(status).toBe('skipped');
      expect(error).toMatch(/^not sent: .*User\/a .*profile boruta/);
      expect(error).not.toContain('set "profile');
    }
  });
});

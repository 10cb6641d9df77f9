import { describe, expect, test } from 'vitest';
import type { Intercept, SandboxRequest } from '../../src/sandbox/index.js';
import {
  always,
  changeOf,
  comparable,
  type Doc,
  ids,
  journalLines,
  memberships,
  once,
  removeRow,
  site,
  templateOf,
  todo,
  user,
} from './site.js';

const ada = `User/${ids.ada}`;
const reset = `EmailTemplate/${ids.backend}/reset_password_instructions`;
const resetDoc = { kind: 'EmailTemplate', backend_id: ids.backend, type: 'reset_password_instructions' };

/** A server without lists of scopes and roles, so that idops can't detect a wrong id. */
function withoutLists({ path }: SandboxRequest): Intercept | undefined {
  return /^\/api\/(scopes|roles)/.test(path) ? { kind: 'replace', status: 404, body: {} } : undefined;
}

describe('a user on a server that does half of a request', () => {
  test('an unknown scope id is accepted and not kept: not converged', async () => {
    const at = await site();
    at.fault = withoutLists;
    const authorized_scopes = [{ id: ids.nobody, name: 'nobody:knows' }];
    const ran = await at.apply({ kind: 'User', id: ids.ada, authorized_scopes });
    expect(ran.statuses[ada]).toMatch(/^not_converged: .*authorized_scopes/);
    expect(user(at).authorized_scopes).toEqual([]);
    expect((await at.undo(ran.run)).statuses).toEqual({ [ada]: 'applied' });
    expect(user(at).authorized_scopes.map(({ name }) => name)).toEqual(['billing:read', 'billing:write']);
  });

  test('an unknown role gives 500 after the rest was written; the result shows it, and undo restores it', async () => {
    const at = await site();
    const start = at.sandbox.snapshot();
    at.fault = withoutLists;
    const ran = await at.apply({ kind: 'User', id: ids.ada, group: 'ops', roles: [{ id: ids.nobody }] });
    expect(ran.statuses[ada]).toMatch(/^failed: .*500.*read back: roles: asked .*, the server has \[\]/);
    expect(ran.statuses[ada]).not.toContain(at.sandbox.token);
    expect(user(at)).toMatchObject({ group: 'ops', roles: [] });
    const undone = await at.undo(ran.run);
    expect(undone).toMatchObject({ statuses: { [ada]: 'applied' }, left: [] });
    expect(comparable(at.sandbox.snapshot())).toEqual(comparable(start));
  });

  test('an organization that is deleted between plan and apply empties the memberships', async () => {
    const at = await site();
    once(at, 'PATCH', { kind: 'delay', ms: 0 }, () => removeRow(at.sandbox.data.organizations, ids.initech));
    const ran = await at.apply({ kind: 'User', id: ids.ada, organizations: ['acme', 'initech'] });
    expect(ran.statuses[ada]).toMatch(
      /^failed: .*500.*it had lost organizations \("acme"\); the values from before were restored/,
    );
    expect(memberships(at)).toEqual([ids.acme, ids.globex]);
  });

  test('a 422 may have emptied the scopes, so it is read back too', async () => {
    const at = await site();
    const start = at.sandbox.snapshot();
    const answer = { code: 'UNPROCESSABLE_ENTITY', message: 'no', errors: { scope_id: ["can't be blank"] } };
    once(at, 'PATCH', { kind: 'answer', status: 422, body: answer }, () => {
      // The server writes the group before it rejects the scopes.
      user(at).group = 'ops';
      user(at).authorized_scopes = [];
    });
    const ran = await at.apply({ kind: 'User', id: ids.ada, group: 'ops' });
    expect(ran.statuses[ada]).toMatch(
      /^failed: .*422.*it had lost authorized_scopes \("billing:read", "billing:write"\); the values from before were restored/,
    );
    expect(comparable(at.sandbox.snapshot())).toEqual(comparable(start));
  });

  test("the token's own user is protected, and the others are written at any concurrency", async () => {
    const outcomes = [1, 16].map(async (concurrency) => {
      const at = await site({ tokens: { owner: ['users:manage:all'] }, ownUser: ids.ada, concurrency });
      const ran = await at.apply(
        { kind: 'User', id: ids.ada, group: 'ops' },
        { kind: 'User', id: ids.grace, group: 'ops' },
      );
      expect(ran.statuses[ada]).toMatch(/^failed: .*403.*protected/);
      expect(ran.statuses[`User/${ids.grace}`]).toBe('applied');
    });
    await Promise.all(outcomes);
  });

  const role: Doc = { kind: 'Role', name: 'member', scopes: [] };
  const own = { id: ids.nobody, name: 'users:manage:all', label: null, public: false };
  test.each<[string, readonly Doc[], readonly string[]]>([
    [
      'a second user stops',
      [
        ...[ids.ada, ids.grace].map((id): Doc => ({ kind: 'User', id, group: 'ops' })),
        { kind: 'Organization', name: 'initech', state: 'absent' },
      ],
      ['failed', 'failed', 'skipped'],
    ],
    [
      'a second client stops',
      [
        ...[ids.portal, ids.wallet].map((id): Doc => ({ kind: 'Client', id, name: 'New' })),
        { kind: 'KeyPair', id: ids.secondKey, is_default: true },
      ],
      ['failed', 'failed', 'skipped'],
    ],
    ['a scope stops', [{ kind: 'Scope', name: 'reports:read', label: 'New' }, role], ['failed', 'skipped']],
    [
      "a scope of the server's own API doesn't stop",
      [{ kind: 'Scope', name: own.name, label: 'New' }, role],
      ['failed', 'failed'],
    ],
  ])('a 403 for %s what needs the same scope', async (_, documents, expected) => {
    const at = await site({ concurrency: 1 });
    at.sandbox.data.scopes.push(own);
    always(at, 'PATCH', { kind: 'answer', status: 403, body: { code: 'FORBIDDEN' } });
    const { results } = await at.apply(...documents);
    expect(results.map(({ status }) => status)).toEqual(expected);
    const [stopped] = results.filter(({ status }) => status === 'skipped');
    if (stopped !== undefined) expect(stopped.error).toMatch(/credentials lack the scope [a-z]+:manage:all/);
  });
});

describe('a user that is not sent', () => {
  const blocked: readonly [string, Omit<Doc, 'kind'>, RegExp][] = [
    [ids.nobody, { group: 'ops' }, /no user .* "create: true"/],
    [ids.ada, { authorized_scopes: [{ name: 'reports:burn' }] }, /the server has no scope "reports:burn"/],
    [ids.ada, { organizations: [{ id: ids.nobody }] }, /no organization with the id/],
  ];
  test.each(blocked)('%s with %j is blocked', async (id, fields, reason) => {
    const at = await site();
    const change = changeOf(await at.plan({ kind: 'User', id, ...fields }), `User/${id}`);
    expect(change).toMatchObject({ action: 'blocked', requests: [] });
    expect(change.reason).toMatch(reason);
  });

  test('an undeclared membership in an organization that the list lacks is blocked', async () => {
    const at = await site();
    // The list omits globex, as if these credentials can't see that row.
    const body = { data: [{ id: ids.acme, name: 'acme' }], total_pages: 1, total_entries: 1 };
    at.fault = ({ path }) => (path.startsWith('/api/organizations') ? { kind: 'replace', body } : undefined);
    const plan = await at.plan({ kind: 'User', id: ids.ada, group: 'ops' });
    expect(changeOf(plan, ada).reason).toMatch(/member of the organization .*globex.*remove all memberships/);
  });

  test('a field that the server would reset but did not show is blocked', async () => {
    const at = await site({ omitOptionalFields: true });
    expect(changeOf(await at.plan({ kind: 'User', id: ids.ada, group: 'ops' }), ada).reason).toMatch(
      /does not show metadata and authorized_scopes/,
    );
    const organization = { kind: 'Organization', id: ids.acme, name: 'x' };
    expect(todo(await at.plan(organization)).join()).toMatch(/does not show label|no organization/);
  });
});

describe('a template that is deleted and written again', () => {
  const txt = { ...resetDoc, txt_content: 'New {{ url }}\n' };

  test('both requests are in the plan and in the journal', async () => {
    const at = await site();
    const { requests } = changeOf(await at.plan(txt), reset);
    expect(requests.map(({ operation }) => operation)).toEqual(['deleteTemplate', 'updateTemplate']);
    await at.apply();
    const operations = (await journalLines(at))
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type === 'sending')
      .map(({ operation, last }) => [operation, last]);
    expect(operations).toEqual([
      ['deleteTemplate', false],
      ['updateTemplate', true],
    ]);
  });

  const failures: readonly [string, Intercept][] = [
    ['refused', { kind: 'answer', status: 422, body: {} }],
    ['a failure', { kind: 'answer', status: 500, body: {} }],
    ['forbidden', { kind: 'answer', status: 403, body: {} }],
  ];
  test.each(failures)(
    '%s after the DELETE: the next apply writes both halves, or undo does',
    async (_, fault) => {
      for (const repair of ['apply', 'undo'] as const) {
        const at = await site();
        const start = at.sandbox.snapshot();
        const before = templateOf(at);
        always(at, 'PATCH', fault);
        const ran = await at.apply(txt);
        expect(ran.statuses[reset]).toMatch(/^failed: .*lost: txt_content, html_content/);
        at.fault = undefined;
        at.writes();
        if (repair === 'undo') {
          expect((await at.undo(ran.run)).statuses).toEqual({ [reset]: 'applied' });
          expect(comparable(at.sandbox.snapshot())).toEqual(comparable(start));
          continue;
        }
        const change = changeOf(await at.plan(), reset);
        expect(change.fields.map(({ path }) => path).sort()).toEqual(['html_content', 'txt_content']);
        expect(change.warnings.map(({ code }) => code)).toContain('restores');
        expect((await at.apply()).statuses).toEqual({ [reset]: 'applied' });
        expect(at.writes().map((line) => line.split(' ')[0])).toEqual(['PATCH']);
        expect(templateOf(at)).toMatchObject({
          ...before,
          txt_content: txt.txt_content,
          id: expect.any(String),
        });
        expect(todo(await at.plan())).toEqual([]);
      }
    },
  );

  test.each(failures)('%s once after the DELETE: the same run loses no body', async (how, fault) => {
    const at = await site();
    const start = at.sandbox.snapshot();
    once(at, 'PATCH', fault);
    const ran = await at.apply(txt);
    const after = templateOf(at);
    const before = start.templates.find(({ type }) => type === resetDoc.type);
    // A failed request is retried; a refused one would be refused again.
    const wanted = how === 'a failure' ? { ...before, ...txt } : before;
    expect(after).toMatchObject({ txt_content: wanted?.txt_content, html_content: before?.html_content });
    expect(ran.statuses[reset]).toMatch(
      how === 'a failure' ? /^applied/ : /^failed: .*the values from before were restored/,
    );
    expect(todo(await at.plan())).toEqual(how === 'a failure' ? [] : [`update ${reset}`]);
    expect(changeOf(await at.plan(), reset).warnings.map(({ code }) => code)).not.toContain('restores');
  });

  test('the other body is restored even if the declared one equals the built-in text', async () => {
    const at = await site();
    const html = templateOf(at)?.html_content;
    const { emailTypes } = await import('../../src/sandbox/boruta/built-in-templates.js');
    const declared = { ...resetDoc, txt_content: emailTypes.get(resetDoc.type)?.txt_content ?? '' };
    always(at, 'PATCH', { kind: 'answer', status: 500, body: {} });
    await at.apply(declared);
    at.fault = undefined;
    expect((await at.apply()).statuses).toEqual({ [reset]: 'applied' });
    expect(templateOf(at)?.html_content).toBe(html);
    expect(todo(await at.plan())).toEqual([]);
  });

  test('a PATCH with a lost response is read back before a retry, since a second PATCH would undo it', async () => {
    const at = await site();
    once(at, 'PATCH', { kind: 'reset', when: 'after' });
    expect((await at.apply(txt)).statuses).toEqual({ [reset]: 'applied' });
    expect(at.writes().map((line) => line.split(' ')[0])).toEqual(['DELETE', 'PATCH']);
    expect(todo(await at.plan())).toEqual([]);
  });

  test('a template that somebody deleted meanwhile needs no DELETE', async () => {
    const at = await site();
    once(at, 'DELETE', { kind: 'delay', ms: 0 }, () => at.sandbox.data.templates.splice(0));
    expect((await at.apply(txt)).statuses).toEqual({ [reset]: 'applied' });
    expect(at.sandbox.requests.find(({ method }) => method === 'DELETE')?.status).toBe(404);
    expect(todo(await at.plan())).toEqual([]);
  });

  test('a PATCH that was not done is sent again', async () => {
    const at = await site();
    once(at, 'PATCH', { kind: 'answer', status: 503, headers: { 'retry-after': '0' } });
    expect((await at.apply(txt)).statuses).toEqual({ [reset]: 'applied' });
    expect(at.writes().map((line) => line.split(' ')[0])).toEqual(['DELETE', 'PATCH', 'PATCH']);
    expect(todo(await at.plan())).toEqual([]);
  });
});

describe('key pairs', () => {
  test('two defaults are blocked, with what to do', async () => {
    const at = await site();
    for (const pair of at.sandbox.data.keyPairs) pair.is_default = pair.id !== ids.thirdKey;
    const plan = await at.plan({ kind: 'KeyPair', id: ids.thirdKey, is_default: true });
    expect(todo(plan)).toEqual([
      expect.stringMatching(
        /^blocked .*2 default key pairs \(.*take the default away from all but one by hand/,
      ),
    ]);
  });

  test('without a default, a warning says that the server creates another pair', async () => {
    const at = await site();
    for (const pair of at.sandbox.data.keyPairs) pair.is_default = false;
    const plan = await at.plan({ kind: 'KeyPair', id: ids.firstKey, is_default: true });
    expect(plan.changes[0]?.warnings.map(({ code }) => code)).toEqual(['extra-key-pair']);
  });
});

describe('clients', () => {
  const declare = (generation: number) => ({ kind: 'Client', id: ids.portal, did_generation: generation });

  test('a missing client is blocked, and no secret is stored anywhere', async () => {
    const at = await site();
    const plan = await at.plan({ kind: 'Client', id: ids.nobody, did_generation: 1 });
    expect(todo(plan)[0]).toMatch(/^blocked .*no client/);
    await at.apply(declare(1));
    await at.apply(declare(2));
    expect((await journalLines(at)).join()).not.toContain('demo-client-secret-portal');
  });

  test('a lost response is settled only by a different DID', async () => {
    for (const other of [true, false]) {
      const at = await site();
      const [client] = at.sandbox.data.clients;
      if (client === undefined) throw new Error('no client');
      await at.apply(declare(1));
      if (other) client.public_key = `${client.public_key}rotated`;
      once(at, 'POST', { kind: 'reset', when: 'after' });
      const ran = await at.apply(declare(2));
      expect(ran.results[0]?.status).toBe(other ? 'applied' : 'unknown');
      expect(todo(await at.plan())).toEqual(
        other ? [] : [expect.stringMatching(/^blocked .*outcome is not known.*which is did:key/)],
      );
    }
  });
});

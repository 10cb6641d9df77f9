import { describe, expect, test } from 'vitest';
import { allScopes } from '../../src/sandbox/options.js';
import { ids } from '../demo-ids.js';
import { type Answer, boruta, type SandboxApi, templatePath } from './api.js';

const spaces = ['', ' ', '\t\n', '\u00a0', '\u2003\u2028', '\u3000\u0085'];

const patch = ({ ask }: SandboxApi, user: unknown): Promise<Answer> =>
  ask('PATCH', `/api/users/${ids.ada}`, { user });

/** The present lists of Ada, so that a PATCH with them keeps the lists. */
const whole = {
  authorized_scopes: [{ id: ids.billingRead }, { id: ids.billingWrite }],
  organizations: [{ id: ids.acme }, { id: ids.globex }],
  roles: [{ id: ids.member }],
};

/** Expects that a PATCH with the given fields is refused and changes nothing. */
async function refusedWith(status: number, fields: object): Promise<Answer> {
  const { withoutEffect } = await boruta();
  return await withoutEffect(status, 'PATCH', `/api/users/${ids.ada}`, { user: { ...whole, ...fields } });
}

/** A text with its escaped form, for the title of a test. */
const shown = (text: string): [string, string] => [JSON.stringify(text), text];

describe('texts of only white space count as empty', () => {
  test.each(spaces.map(shown))('null as a label: %s', async (_, text) => {
    const { ask } = await boruta();
    const organization = { name: 'acme', label: text };
    const answer = await ask('PATCH', `/api/organizations/${ids.acme}`, { organization });
    expect(answer.body.data?.label).toBeNull();
  });

  test.each(spaces.map(shown))('422 as a name: %s', async (_, name) => {
    const { withoutEffect } = await boruta();
    const answer = await withoutEffect(422, 'PATCH', `/api/organizations/${ids.acme}`, {
      organization: { name },
    });
    expect(answer.body.errors).toHaveProperty('name');
  });

  test('white space around a text stays', async () => {
    const { ask } = await boruta();
    const organization = { name: '\u00a0acme ', label: ' a\n' };
    const answer = await ask('PATCH', `/api/organizations/${ids.acme}`, { organization });
    expect(answer.body.data).toMatchObject(organization);
  });
});

describe('NUL gives 400', () => {
  test.each([
    ['name', `/api/organizations/${ids.acme}`, { organization: { name: 'a\0b' } }],
    ['label', `/api/organizations/${ids.acme}`, { organization: { name: 'a', label: '\0' } }],
    ['group', `/api/users/${ids.ada}`, { user: { ...whole, group: 'a\0' } }],
    ['txt_content', templatePath('tx_code'), { template: { txt_content: '\0', html_content: 'b' } }],
    ['html_content', templatePath('tx_code'), { template: { txt_content: 'a', html_content: 'b\0' } }],
  ])('in %s', async (_, path, body) => {
    const { withoutEffect } = await boruta();
    await withoutEffect(400, 'PATCH', path, body);
  });

  test.each([
    [{ a: { value: '\0', status: 'valid' } }],
    [{ a: { value: { deep: ['\0'] }, status: 'valid' } }],
    [{ 'a\0': { value: 'a', status: 'valid' } }],
    [{ a: { value: 'a', status: '\0' } }],
  ])('500 inside metadata: %j', async (metadata) => {
    await refusedWith(500, { metadata });
  });
});

describe('only a list with an invalid member is emptied', () => {
  const lists = ['authorized_scopes', 'organizations', 'roles'] as const;
  const [acme, read, member] = [{ id: ids.acme }, { id: ids.billingRead }, { id: ids.member }];

  test.each([
    ['a scope twice', { authorized_scopes: [read, read] }, 422],
    ['a scope without an id', { authorized_scopes: [read, { name: 'billing:write' }] }, 422],
    ['the id of a scope over 255 characters', { authorized_scopes: [read, { id: 'x'.repeat(256) }] }, 500],
    ['an organization twice', { organizations: [acme, { id: ids.acme.toUpperCase() }] }, 500],
    ['an unknown organization', { organizations: [acme, { id: ids.nobody }] }, 500],
    ['a wrong id behind an unknown one', { organizations: [{ id: ids.nobody }, { id: 'acme' }] }, 422],
    ['a role twice', { roles: [member, { id: ids.accountant }, member] }, 422],
    ['an unknown role', { roles: [{ id: ids.nobody }] }, 500],
  ])('%s: %j gives %i', async (_, sent, status) => {
    const api = await boruta();
    expect((await patch(api, { ...whole, ...sent })).status).toBe(status);
    const left = lists.filter((list) => api.user(ids.ada)[list].length > 0);
    expect(left).toEqual(lists.filter((list) => !(list in sent)));
  });
});

describe('ids', () => {
  test.each<[unknown, number, number, number]>([
    [[{}], 422, 422, 422],
    [[{ id: null }], 422, 422, 422],
    [[{ id: '' }], 422, 422, 422],
    [[{ id: 1 }], 422, 422, 422],
    [[null], 422, 422, 422],
    [[{ id: 'acme' }], 200, 422, 500],
    [['text'], 500, 500, 500],
    [[[]], 500, 500, 500],
    [{}, 200, 200, 200],
    [{ id: ids.member }, 500, 500, 500],
    ['text', 500, 500, 500],
  ])('%j as authorized_scopes, organizations and roles gives %i, %i, %i', async (list, ...statuses) => {
    for (const [at, name] of (['authorized_scopes', 'organizations', 'roles'] as const).entries()) {
      const api = await boruta();
      const answer = await patch(api, { ...whole, [name]: list });
      expect(answer.status).toBe(statuses[at]);
      const shown = await api.ask('GET', `/api/users/${ids.ada}`);
      expect(shown.body.data?.[name]).toEqual([]);
    }
  });

  test('of a scope may have 255 characters', async () => {
    const authorized_scopes = [{ id: 'x'.repeat(255) }];
    expect((await patch(await boruta(), { ...whole, authorized_scopes })).status).toBe(200);
  });

  test('the server uses only ids: a name sent beside an id is ignored', async () => {
    const api = await boruta();
    const answer = await patch(api, {
      authorized_scopes: [{ id: ids.billingWrite, name: 'openid', label: 'Harmless', public: true }],
      organizations: [{ id: ids.umbrella, name: 'acme', label: 'ACME Corp' }],
      roles: [{ id: ids.accountant, name: 'member', scopes: [] }],
    });
    expect(answer.body.data).toMatchObject({
      authorized_scopes: [{ id: ids.billingWrite, name: 'billing:write', public: null }],
      organizations: [{ id: ids.umbrella, name: 'umbrella', label: null }],
      roles: [{ id: ids.accountant, name: 'accountant', scopes: [{}, {}] }],
    });
  });

  test("the protection of the token's own user is bypassed in upper case", async () => {
    const own = { tokens: { own: allScopes }, ownUser: 'abcdef00-0000-4000-8000-000000000001' };
    const { ask, sandbox, user } = await boruta({ ...own });
    const id = own.ownUser;
    sandbox.data.users.push({ ...structuredClone(user(ids.ada)), id });
    const body = { user: { ...whole, group: 'passed' } };
    expect((await ask('PATCH', `/api/users/${id}`, body)).status).toBe(403);
    expect(user(id).group).toBe('staff finance');
    expect((await ask('PATCH', `/api/users/${id.toUpperCase()}`, body)).status).toBe(200);
    expect(user(id).group).toBe('passed');
  });
});

describe('group', () => {
  test('over 255 characters gives 500', async () => {
    await refusedWith(500, { group: 'é'.repeat(256) });
    expect((await patch(await boruta(), { ...whole, group: '😀'.repeat(255) })).status).toBe(200);
  });

  test.each([' a ', 'a   b', '  a', 'a b a'])(
    'is split at single spaces, and no word may be twice: %j is 422',
    async (group) => {
      expect((await refusedWith(422, { group })).body.errors).toHaveProperty('group');
    },
  );

  test.each(['a\tb a', 'a\t\ta', 'a a\u00a0', 'a  b', ' a', 'a '])(
    'a tab is part of a word, an empty one is one: %j is kept',
    async (group) => {
      const api = await boruta();
      expect((await patch(api, { ...whole, group })).body.data?.group).toBe(group);
    },
  );
});

describe('metadata', () => {
  test('display as a list of texts is kept', async () => {
    const api = await boruta();
    const metadata = { department: { value: { any: [1] }, status: '', display: ['web', ''] } };
    expect((await patch(api, { ...whole, metadata })).body.data?.metadata).toEqual(metadata);
  });

  test('integers beyond 2^53 and 10.0 are kept exactly as sent', async () => {
    const { ask, sandbox } = await boruta();
    const numbers = '[1234567890123456789,9007199254740993,10.0,0.1,5,-1.5]';
    const metadata = `{"n":{"value":${numbers},"status":"valid"}}`;
    const path = `/api/users/${ids.grace}`;
    const raw = `{"user":{"metadata":${metadata},"authorized_scopes":[],"organizations":[],"roles":[]}}`;
    expect((await ask('PATCH', path, undefined, { raw })).text).toContain(`"metadata":${metadata}`);
    const again = await boruta({ seed: sandbox.snapshot() });
    expect((await again.ask('GET', path)).text).toContain(`"metadata":${metadata}`);
  });
});

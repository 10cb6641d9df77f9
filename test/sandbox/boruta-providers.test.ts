import { describe, expect, test } from 'vitest';
import { ids } from '../demo-ids.js';
import { type Answer, boruta, type SandboxApi } from './api.js';

const chosen = 'aaaaaaaa-0000-4000-8000-000000000001';
const provider = '90000000-0000-4000-8000-000000000001';
const path = `/api/identity-providers/${provider}`;

const post = (api: SandboxApi, body: object): Promise<Answer> =>
  api.ask('POST', '/api/identity-providers', { identity_provider: body });
const patch = (api: SandboxApi, body: object): Promise<Answer> =>
  api.ask('PATCH', path, { identity_provider: body });
const page = (api: SandboxApi, type: string, content?: object): Promise<Answer> =>
  content === undefined
    ? api.ask('GET', `${path}/templates/${type}`)
    : api.ask('PATCH', `${path}/templates/${type}`, { template: content });

describe('an identity provider', () => {
  const blank = ["can't be blank"];
  const layout = (content: string) => ({ type: 'layout', content });

  test.each([
    [
      'defaults',
      {},
      201,
      { check_password: true, choose_session: true, totpable: false, confirmable: false },
    ],
    ['an unknown backend', { backend_id: ids.nobody }, 422, { backend_id: ['does not exist'] }],
    ['a backend that is no UUID', { backend_id: 'x' }, 500, undefined],
    ['neither name nor backend', { name: null, backend_id: null }, 422, { name: blank, backend_id: blank }],
    ['a name that is taken', { name: 'Company accounts' }, 422, { name: ['has already been taken'] }],
    ['null for a boolean', { totpable: null }, 500, undefined],
    ['an id that is no UUID', { id: 'x' }, 500, undefined],
    ['null as templates', { templates: null }, 422, { templates: ['is invalid'] }],
    ['an id that is taken', { id: provider }, 422, { id: ['has already been taken'] }],
  ])('is created: %s', async (_, body, status, wanted) => {
    const api = await boruta();
    const answer = await post(api, { name: 'new', backend_id: ids.backend, ...body });
    expect(answer.status).toBe(status);
    if (wanted !== undefined)
      expect(status === 201 ? answer.body.data : answer.body.errors).toMatchObject(wanted);
    expect(api.sandbox.data.identityProviders).toHaveLength(status === 201 ? 2 : 1);
  });

  test('shows its whole backend, with secrets, and keeps what a PATCH leaves out', async () => {
    const api = await boruta();
    const answer = await patch(api, { registrable: true, name: 'renamed' });
    expect(answer.body.data).toMatchObject({
      name: 'renamed',
      registrable: true,
      check_password: true,
      backend_id: ids.backend,
      backend: {
        name: 'Company directory',
        smtp_password: 'demo-smtp-password',
        roles: [{ name: 'member' }],
      },
    });
    expect(answer.body.data).not.toHaveProperty('templates');
  });

  test('whose backend changes answers 500, although the change is written', async () => {
    const api = await boruta();
    const [backend] = api.sandbox.data.backends;
    if (backend !== undefined) api.sandbox.data.backends.push({ ...backend, id: chosen, name: 'other' });
    expect((await patch(api, { backend_id: chosen, registrable: true })).status).toBe(500);
    const { body } = await api.ask('GET', path);
    expect(body.data).toMatchObject({ backend_id: chosen, registrable: true, backend: { name: 'other' } });
    expect((await patch(api, { backend_id: chosen })).status).toBe(200);
  });

  test('stays if clients use it', async () => {
    const api = await boruta();
    const answer = await api.ask('DELETE', path);
    const users = [expect.stringContaining(ids.portal)];
    expect([answer.status, answer.body.errors?.client_identity_providers]).toEqual([422, users]);
    expect((await patch(api, { id: chosen })).status).toBe(500);
    await post(api, { id: chosen, name: 'new', backend_id: ids.backend });
    const other = `/api/identity-providers/${chosen}`;
    await api.ask('PATCH', `${other}/templates/layout`, { template: { content: 'L' } });
    expect((await api.ask('DELETE', other)).status).toBe(204);
    expect(api.sandbox.data.pageTemplates).toEqual([]);
    expect((await api.ask('DELETE', '/api/identity-providers/x')).status).toBe(404);
  });

  test("stays if the admin panel's client uses it", async () => {
    const api = await boruta({ adminClient: ids.portal });
    expect((await api.ask('DELETE', path)).status).toBe(403);
    expect((await patch(api, { registrable: true })).status).toBe(200);
  });

  test.each([
    ['others replace all', [{ type: 'new_consent', content: 'C' }], 200, ['new_consent']],
    ['an empty list deletes all', [], 200, []],
    ['null', null, 500, ['layout']],
    ['a type twice', [layout('a'), layout('b')], 500, ['layout']],
    ['an unknown type', [{ type: 'none', content: 'a' }], 422, ['layout']],
    ['no content', [layout(' ')], 422, ['layout']],
    ['left out: all stay', undefined, 200, ['layout']],
  ])('takes templates: %s', async (_, templates, status, types) => {
    const api = await boruta();
    await patch(api, { templates: [layout('L')] });
    expect((await patch(api, { templates })).status).toBe(status);
    expect(api.sandbox.data.pageTemplates.map(({ type }) => type)).toEqual(types);
  });
});

describe('a page', () => {
  test('that was never customised has built-in content and no id', async () => {
    const api = await boruta();
    const answer = await page(api, 'layout');
    expect(answer.body.data).toEqual({
      id: null,
      identity_provider_id: provider,
      type: 'layout',
      content: expect.stringContaining('{{> inner_content }}'),
    });
    for (const method of ['DELETE', 'PUT'])
      expect((await api.ask(method, `${path}/templates/layout`)).status).toBe(404);
  });

  test.each([
    ['the same content again', { content: 'S' }, 200, 'S'],
    ['nothing', {}, 200, 'S'],
    ['other content', { content: ' T\n' }, 200, ' T\n'],
    ['an empty text', { content: '' }, 422, 'S'],
    ['null', { content: null }, 422, 'S'],
    ['white space', { content: ' \n' }, 422, 'S'],
    ['a NUL', { content: 'a\0' }, 400, 'S'],
    ['an unknown type', { type: 'none' }, 422, 'S'],
    ['the type of another', { type: 'layout' }, 500, 'S'],
    ['another provider', { identity_provider_id: ids.nobody }, 500, 'S'],
  ])('gets %s', async (_, template, status, content) => {
    const api = await boruta();
    await page(api, 'layout', { content: 'L' });
    const stored = await page(api, 'new_session', { content: 'S' });
    expect((await page(api, 'new_session', template)).status).toBe(status);
    const { body } = await page(api, 'new_session');
    expect(body.data).toEqual({ ...stored.body.data, content });
  });

  test('without content stores a copy of the built-in one', async () => {
    const api = await boruta();
    const { body } = await page(api, 'new_consent');
    const answer = await page(api, 'new_consent', {});
    expect(answer.body.data).toEqual({ ...body.data, id: expect.any(String) });
  });

  test('moves to the type in the body', async () => {
    const api = await boruta();
    await page(api, 'layout', { content: 'L' });
    await page(api, 'layout', { type: 'new_consent' });
    const [old, moved] = [await page(api, 'layout'), await page(api, 'new_consent')];
    expect([old.body.data?.id, moved.body.data?.content]).toEqual([null, 'L']);
  });

  test('that is deleted is answered with its built-in content', async () => {
    const api = await boruta();
    await page(api, 'layout', { content: 'L' });
    const answer = await api.ask('DELETE', `${path}/templates/layout`);
    expect([answer.status, answer.body]).toEqual([200, (await page(api, 'layout')).body]);
    expect(answer.body.data?.id).toBeNull();
  });

  test.each(['none', 'tx_code'])('of the unknown type %s is 404', async (type) => {
    const api = await boruta();
    expect((await page(api, type)).status).toBe(404);
    const unknown = `/api/identity-providers/${ids.nobody}/templates/layout`;
    expect((await api.ask('GET', unknown)).status).toBe(404);
    expect((await api.ask('GET', unknown.replace(ids.nobody, 'x'))).status).toBe(400);
  });

  test.each([
    ['changed', { content: 'L' }],
    ['read', undefined],
  ])(
    'that was %s and then dropped with its provider is still shown, and refuses one PATCH',
    async (_, content) => {
      const api = await boruta();
      await patch(api, { templates: [{ type: 'layout', content: 'L' }] });
      await page(api, 'layout', content);
      await patch(api, { templates: [] });
      expect((await page(api, 'layout')).body.data?.content).toBe('L');
      expect((await page(api, 'layout', { content: 'M' })).status).toBe(409);
      expect((await page(api, 'layout')).body.data?.id).toBeNull();
      expect((await page(api, 'layout', { content: 'M' })).status).toBe(200);
    },
  );

  test('that was dropped with its provider is shown as it is only after the same content was sent again', async () => {
    const api = await boruta();
    await page(api, 'layout', { content: 'L' });
    await patch(api, { templates: [] });
    expect((await page(api, 'layout', { content: 'L' })).status).toBe(200);
    expect((await page(api, 'layout')).body.data?.id).toBeNull();
    await page(api, 'layout', { content: 'L' });
    await patch(api, { templates: [{ type: 'new_session', content: 'S' }] });
    expect((await page(api, 'layout')).body.data?.id).toBeNull();
  });
});

describe('an error page', () => {
  const error = ({ ask }: SandboxApi, method: string, type: string, template?: object): Promise<Answer> =>
    ask(method, `/api/configuration/error-templates/${type}`, template && { template });

  test('is changed, moved and deleted as a page is', async () => {
    const api = await boruta();
    const builtIn = await error(api, 'GET', '403');
    expect(builtIn.body.data).toEqual({
      id: null,
      type: '403',
      content: expect.stringContaining('{{ reason.message }}'),
    });
    const answer = await error(api, 'PATCH', '403', { content: 'F' });
    expect(answer.body.data).toEqual({ id: expect.any(String), type: '403', content: 'F' });
    expect((await error(api, 'PATCH', '403', { content: '' })).status).toBe(422);
    expect((await error(api, 'PATCH', '403', { type: 404 })).status).toBe(422);
    expect((await error(api, 'PATCH', '403', { type: '404' })).body.data).toMatchObject({
      type: '404',
      content: 'F',
    });
    expect((await error(api, 'DELETE', '404')).body.data?.id).toBeNull();
    expect((await error(api, 'DELETE', '404')).status).toBe(404);
    expect((await error(api, 'GET', '403')).body).toEqual(builtIn.body);
  });

  test.each([
    ['418', 404],
    ['422', 404],
    ['text', 500],
  ])('of type %s gives %s', async (type, status) => {
    expect((await error(await boruta(), 'GET', type)).status).toBe(status);
  });

  test('needs configuration:manage:all', async () => {
    const api = await boruta({ tokens: { some: ['identity-providers:manage:all'] } });
    expect((await error(api, 'GET', '403')).status).toBe(403);
    expect((await page(api, 'layout')).status).toBe(200);
  });
});

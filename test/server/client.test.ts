import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Sensitive } from '../../src/base/values.js';
import { version } from '../../src/base/version.js';
import { answers } from '../../src/server/answers.js';
import { deadlines } from '../deadlines.js';
import { deletion, failureOf, json, regenerate, rename, serve, token, use } from './serving.js';

describe('the reader', () => {
  test('asks for a page of organizations, and never filters', async () => {
    const { origin, received } = await serve((response) =>
      json(response, 200, { data: [{ id: 'o1', name: 'acme' }], page_number: 2, total_pages: 3 }),
    );
    expect(await use(origin).reader.listOrganizations(2)).toEqual({
      rows: [{ id: 'o1', name: 'acme' }],
      totalPages: 3,
    });
    expect(received[0]).toMatchObject({ method: 'GET', url: '/api/organizations?page=2', body: '' });
  });

  test('shows a template', async () => {
    const template = { id: 't1', txt_content: 'a', html_content: 'é', type: 'tx_code', backend_id: 'b1' };
    const { origin } = await serve((response) => json(response, 200, { data: template }));
    expect(await use(origin).reader.showTemplate('b1', 'tx_code')).toEqual(template);
  });

  test('returns null for a template if the server answers 404', async () => {
    const { origin, received } = await serve((response) => json(response, 404, { code: 'NOT_FOUND' }));
    expect(await use(origin).reader.showTemplate('b1', 'tx_code')).toBeNull();
    expect(received).toHaveLength(1);
  });

  test("encodes ids, so that they can't reach another operation", async () => {
    const { origin, received } = await serve((response) => json(response, 404, {}));
    const { reader } = use(origin);
    await reader.showTemplate('../users/1?q=#', 'é %2F/:backend_id');
    expect(received[0]?.url).toBe(
      '/api/backends/..%2Fusers%2F1%3Fq%3D%23/email-templates/%C3%A9%20%252F%2F%3Abackend_id',
    );
  });

  test.each(['', '.', '..', '\ud800'])('sends nothing for the id %j', async (id) => {
    const { origin, received } = await serve((response) => json(response, 404, {}));
    await expect(use(origin).reader.showTemplate(id, 'tx_code')).rejects.toThrow('unusable path parameter');
    expect(received).toHaveLength(0);
  });

  test('uses a read that a profile names', async () => {
    const { origin, received } = await serve((response, { url }) => {
      if (url === '/api/users/u%2F1') json(response, 200, { data: { id: 'u/1', roles: [] } });
      else if (url === '/api/key-pairs') json(response, 200, { data: [{ id: 'k1' }, { id: 'k2' }] });
      else json(response, 404, {});
    });
    const { reader } = use(origin);
    const scope = 'users:manage:all';
    const user = { title: 'show a user', path: '/api/users/:id', scope } as const;
    const keyPairs = {
      title: 'list key pairs',
      path: '/api/key-pairs',
      scope: 'clients:manage:all',
    } as const;
    expect(await reader.showExtra(user, { id: 'u/1' }, answers.user)).toEqual({ id: 'u/1', roles: [] });
    expect(await reader.showExtra(user, { id: 'other' }, answers.user)).toBeNull();
    expect(await reader.showExtra(keyPairs, {}, answers.keyPairs)).toEqual([{ id: 'k1' }, { id: 'k2' }]);
    expect(received.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
  });

  test("names a profile's read and its scope if it fails", async () => {
    const { origin } = await serve((response) => json(response, 403, {}));
    const read = { title: 'show a user', path: '/api/users/:id', scope: 'users:manage:all' } as const;
    const failure = await failureOf(use(origin).reader.showExtra(read, { id: 'u1' }, answers.user));
    expect(failure).toMatchObject({ operation: null, title: 'show a user', kind: 'forbidden' });
    expect(failure.message).toBe(
      'show a user: GET /api/users/u1 answered 403 (forbidden); it needs the scope users:manage:all',
    );
  });

  test('has no way to write', () => {
    expect(Object.keys(use('http://localhost:1').reader).sort()).toEqual([
      'listExtra',
      'listOrganizations',
      'showExtra',
      'showTemplate',
    ]);
  });
});

describe('the writer', () => {
  test("wraps the body, reveals secrets and returns the server's response", async () => {
    const { origin, received } = await serve((response) =>
      json(response, 200, { data: { id: 'u1', blocked: true, unknown: 1 } }),
    );
    const body = { blocked: true, backend: { smtp_password: new Sensitive('hunter2') } };
    const answer = await use(origin).writer.send({
      operation: 'updateUser',
      params: { user_id: 'u1' },
      body,
    });
    expect(answer).toEqual({ status: 200, attempts: 1, data: { id: 'u1', blocked: true } });
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({ method: 'PATCH', url: '/api/users/u1' });
    expect(received[0]?.headers).toMatchObject({
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      'user-agent': `idops/${version}`,
    });
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({
      user: { blocked: true, backend: { smtp_password: 'hunter2' } },
    });
  });

  test.each([
    ['updateOrganization', { organization_id: 'x' }, '/api/organizations/x', 'organization'],
    ['updateKeyPair', { key_pair_id: 'x' }, '/api/key-pairs/x', 'key_pair'],
    [
      'updateTemplate',
      { backend_id: 'b', template_type: 'x' },
      '/api/backends/b/email-templates/x',
      'template',
    ],
  ] as const)('sends %s to its path in its wrapper', async (operation, params, path, wrapper) => {
    const { origin, received } = await serve((response) => json(response, 200, { data: {} }));
    await use(origin).writer.send({ operation, params, body: { id: 'é' } });
    expect(received[0]).toMatchObject({ method: 'PATCH', url: path, body: `{"${wrapper}":{"id":"é"}}` });
  });

  test('sends a member named __proto__ like any other', async () => {
    const { origin, received } = await serve((response) => json(response, 200, { data: {} }));
    const body = JSON.parse('{"metadata": {"__proto__": {"a": 1}}}');
    await use(origin).writer.send({ operation: 'updateUser', params: { user_id: 'u1' }, body });
    expect(received[0]?.body).toBe('{"user":{"metadata":{"__proto__":{"a":1}}}}');
  });

  test('sends a POST without a body, and never shows the secret in the response', async () => {
    const { origin, received } = await serve((response) =>
      json(response, 200, { data: { id: 'c1', did: 'did:key:z6M', secret: 'hunter2' } }),
    );
    const answer = await use(origin).writer.send(regenerate);
    expect(answer).toEqual({ status: 200, attempts: 1, data: { id: 'c1', did: 'did:key:z6M' } });
    expect(received[0]).toMatchObject({ method: 'POST', url: '/api/clients/c1/regenerate_did', body: '' });
    expect(received[0]?.headers).not.toHaveProperty('content-type');
  });

  test('treats a DELETE that finds nothing as done', async () => {
    const { origin, received } = await serve((response) => json(response, 404, { message: 'Not found' }));
    expect(await use(origin).writer.send(deletion)).toEqual({ status: 404, attempts: 1, data: {} });
    expect(received[0]).toMatchObject({ method: 'DELETE', body: '' });
  });
});

describe('a connection', () => {
  test('is kept alive and reused', async () => {
    const { origin, received } = await serve((response) => json(response, 200, { data: [] }));
    const { reader } = use(origin, { concurrency: 2 });
    const pages = Array.from({ length: 30 }, (_, index) => index + 1);
    for (const page of pages) await reader.listOrganizations(page);
    await Promise.all(pages.map((page) => reader.listOrganizations(page)));
    expect(received).toHaveLength(60);
    expect(new Set(received.map(({ socket }) => socket)).size).toBeLessThanOrEqual(2);
  });

  test('is not shared with a POST, which gets a fresh one', async () => {
    const { origin, received } = await serve((response) => json(response, 200, { data: {} }));
    const { writer } = use(origin);
    await writer.send(rename);
    await writer.send(regenerate);
    await writer.send(regenerate);
    expect(new Set(received.map(({ socket }) => socket)).size).toBe(3);
    expect(received.map(({ headers }) => headers.connection)).toEqual(['keep-alive', 'close', 'close']);
  });

  test('sends nothing if it was closed before its first request', async () => {
    const { origin, received } = await serve((response) => json(response, 200, { data: [] }));
    const { reader, close } = use(origin);
    await close();
    await expect(reader.listOrganizations(1)).rejects.toThrow('aborted');
    expect(received).toEqual([]);
  });

  test('that the server has closed costs at most another try', async () => {
    const { origin, received } = await serve((response, { socket }) => {
      json(response, 200, { data: [] });
      response.on('finish', () => setImmediate(() => socket.destroy()));
    });
    const { reader } = use(origin);
    for (let page = 1; page <= 20; page++) await reader.listOrganizations(page);
    expect(new Set(received.map(({ url }) => url)).size).toBe(20);
  });

  test('never has more requests in flight than allowed, and waiting is no timeout', async () => {
    const time = deadlines();
    let most = 0;
    const open: ServerResponse[] = [];
    const { origin, received } = await serve((response) => {
      most = Math.max(most, open.push(response));
    });
    const { reader } = use(origin, { concurrency: 2, timeout: time.seconds });
    const asked = Promise.all(Array.from({ length: 6 }, (_, index) => reader.listOrganizations(index + 1)));
    for (const count of [2, 4, 6]) {
      while (received.length < count) await turn();
      // Turns of the event loop in which one more request could arrive.
      for (let turns = 0; turns < 20; turns += 1) await turn();
      expect(time.begun()).toBe(count);
      for (const response of open.splice(0)) json(response, 200, { data: [] });
    }
    await asked;
    expect(most).toBe(2);
  });

  test('keeps the path of the base URL', async () => {
    const { origin, received } = await serve((response) => json(response, 200, { data: [] }));
    const { reader, writer } = use(`${origin}/identity/admin/`);
    await reader.listOrganizations(1);
    await failureOf(writer.send(rename));
    expect(received.map(({ url }) => url)).toEqual([
      '/identity/admin/api/organizations?page=1',
      '/identity/admin/api/organizations/o1',
    ]);
  });

  test('asks for credentials before each request, and sends nothing without them', async () => {
    const { origin, received } = await serve((response) => json(response, 200, { data: [] }));
    let count = 0;
    const { reader } = use(origin, {
      credentials: {
        current: async () => {
          count += 1;
          if (count === 3) throw new Error('no more');
          return { name: 'authorization', value: `Bearer t${count}` };
        },
        renew: async () => false,
      },
    });
    await reader.listOrganizations(1);
    await reader.listOrganizations(2);
    await expect(reader.listOrganizations(3)).rejects.toThrow('no more');
    expect(received.map(({ headers }) => headers.authorization)).toEqual(['Bearer t1', 'Bearer t2']);
  });
});

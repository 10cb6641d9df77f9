import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { Catalog } from '../../src/kinds/catalog.js';
import { readList } from '../../src/kinds/references.js';
import { secretTextsIn } from '../../src/server/answers.js';
import { type Profile, profiles } from '../../src/server/profiles.js';
import { failureOf, json, listening, problemOf, regenerate, rename, serve, use } from './serving.js';

const row = (id: number) => ({ id: `o${id}`, name: `name ${id}` });

describe('a response to a read', () => {
  const garbage = 'x'.repeat(10 * 2 ** 20);
  const nested = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;

  test.each<[string, string, string]>([
    ['a login page', '<!doctype html><form action="/login">', 'a body that is not JSON (text/html)'],
    ['an error body', '{"code":"BUSY","message":"come back\\nlater"}', 'it says: come back later'],
    ['10 MB of garbage', garbage, 'a body that is not JSON'],
    ['10 MB of a JSON string', `"${garbage}"`, 'an unexpected body'],
    ['a list of lists without end', nested, 'an unexpected body'],
    ['data of another type', '{"data": 7}', 'data: expected'],
    ['a truncated document', '{"data": {"id": "t1", "txt_con', 'a body that is not JSON'],
    ['another type', '{"data": {"type": "other"}}', 'another object than the one asked for: its type'],
    [
      'another backend',
      '{"data": {"backend_id": "b2"}}',
      'another object than the one asked for: its backend_id',
    ],
    ['an inherited type', '{"data": {"__proto__": {"type": "x"}, "type": 5}}', 'data.type: expected string'],
  ])('with 200 and %s is a failure with its own message', async (_, body, sentence) => {
    const { origin } = await serve((response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end(body),
    );
    const failure = await failureOf(use(origin).reader.showTemplate('b1', 'tx_code'));
    expect(failure).toMatchObject({ kind: 'answer', status: 200, attempts: 1 });
    expect(failure.message).toContain(sentence);
    expect(failure.message.length).toBeLessThan(2000);
  });

  test('about another user is a failure', async () => {
    const { origin } = await serve((response) => json(response, 200, { data: { id: 'u2' } }));
    const read = { title: 'show a user', path: '/api/users/:user_id', scope: 'users:manage:all' } as const;
    const parse = (document: unknown) => ({ value: (document as { data: { id: string } }).data });
    const { reader } = use(origin);
    expect((await reader.showExtra(read, { user_id: 'u2' }, parse))?.id).toBe('u2');
    const failure = await failureOf(reader.showExtra(read, { user_id: 'u1' }, parse));
    expect(failure).toMatchObject({ kind: 'answer', reason: 'other-object' });
  });

  test("is accepted if it doesn't say which object it is about", async () => {
    const { origin } = await serve((response) => json(response, 200, { data: { txt_content: 'x' } }));
    expect(await use(origin).reader.showTemplate('b1', 'tx_code')).toEqual({ txt_content: 'x' });
  });
});

describe('a header that is sent twice', () => {
  const twice = (to: ServerResponse, status: number, header: string, values: string[], body = ''): void =>
    void to.writeHead(status, { [header]: values }).end(body);

  test('Retry-After: the longest wait counts', async () => {
    const { origin } = await serve((response, _, count) => {
      if (count === 1) twice(response, 429, 'Retry-After', ['3', 'soon', '7']);
      else json(response, 200, { data: { id: 'o1' } });
    });
    const { writer, pauses } = use(origin);
    expect(await writer.send(rename)).toMatchObject({ status: 200, attempts: 2 });
    expect(pauses).toEqual([7]);
  });

  test('Date, next to a Retry-After that is a date', async () => {
    const { origin } = await serve((response, _, count) => {
      if (count > 1) return json(response, 200, { data: { id: 'o1' } });
      response.sendDate = false;
      response.setHeader('Retry-After', 'Wed, 21 Oct 2026 07:28:05 GMT');
      twice(response, 503, 'Date', ['Wed, 21 Oct 2026 07:28:00 GMT', 'Wed, 21 Oct 2026 07:30:00 GMT']);
    });
    const { writer, pauses } = use(origin);
    await writer.send(rename);
    expect(pauses).toEqual([5]);
  });

  test("Content-Type, of a response that isn't JSON", async () => {
    const { origin } = await serve((response) =>
      twice(response, 200, 'Content-Type', ['text/html', 'text/plain'], '<p>'),
    );
    const failure = await failureOf(use(origin).reader.listOrganizations(1));
    expect(failure).toMatchObject({ kind: 'answer', reason: 'not-json', detail: 'text/html' });
  });

  test('Location, of a redirect', async () => {
    const { origin } = await serve((response) => twice(response, 302, 'Location', ['/login', '/elsewhere']));
    const failure = await failureOf(use(origin).reader.listOrganizations(1));
    expect(failure).toMatchObject({ kind: 'redirect', detail: `${origin}/login` });
  });

  const others = 'Content-Type Date ETag Server Set-Cookie X-Request-Id Cache-Control __proto__'.split(' ');
  test.each(others)('%s, of a valid response, makes no difference', async (header) => {
    const { origin } = await serve((response) =>
      twice(response, 200, header, ['application/json', 'b'], '{"data": []}'),
    );
    expect((await use(origin).reader.listOrganizations(1)).rows).toEqual([]);
  });

  test('Content-Length, with two values: the response is not trusted', async () => {
    const origin = await listening(
      createServer((socket) => {
        socket.once('data', () =>
          socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 12\r\n\r\n{"data": []}'),
        );
      }),
    );
    expect(await failureOf(use(origin).writer.send(regenerate))).toMatchObject({ kind: 'lost', open: true });
  });
});

describe('a list of organizations', () => {
  /** A server that responds with the given pages of a list. */
  async function listing(page: (number: number) => unknown) {
    const { origin, received } = await serve((response, { url }) =>
      json(response, 200, page(Number(new URL(url, 'http://x').searchParams.get('page')))),
    );
    const read = () => readList('organizations', use(origin).reader, profiles.documented as Profile);
    return { read, received };
  }

  const odd = (number: number) => [row(2 * number), row(2 * number + 1)];

  test.each<[string, (number: number) => object, string, number]>([
    [
      'whose page count never ends stops where total_entries says, with rows that repeat',
      (number) => ({ data: [row(1), row(2)], total_pages: number + 1, total_entries: 2 }),
      'o1',
      1,
    ],
    [
      'whose page count never ends stops where total_entries says, with other rows each time',
      (number) => ({ data: odd(number), total_pages: number + 1, total_entries: 2 }),
      'o2',
      1,
    ],
    [
      'whose total_pages grows is read to its end',
      (number) => ({ data: [row(number)], total_pages: Math.min(number + 1, 6), total_entries: 6 }),
      'o6',
      6,
    ],
    [
      'whose total_pages is far too large ends all the same',
      (number) => ({ data: number === 1 ? [row(1)] : [], total_pages: 2e9, total_entries: 1 }),
      'o1',
      9,
    ],
  ])('%s', async (_, page, id, most) => {
    const { read, received } = await listing(page);
    expect((await read())?.byId(id)).toBeDefined();
    expect(received.length).toBeLessThanOrEqual(most);
  });

  test.each<[string, (number: number) => object, string, number]>([
    [
      'with more rows than total_entries is not read for ever',
      (number) => ({ data: odd(number), total_pages: number + 1, total_entries: 3 }),
      'does not add up',
      8,
    ],
    [
      'with ids that repeat across pages is read again, and refused where it goes on',
      (number) => ({ data: [row(number), row(3 - number)], total_pages: 2, total_entries: 4 }),
      '2 organizations were listed, total_entries says 4',
      8,
    ],
    [
      'whose total_pages is too small is refused, since rows are missing',
      (number) => ({ data: [row(number)], total_pages: 1, total_entries: 6 }),
      '1 organizations were listed, total_entries says 6',
      4,
    ],
  ])('%s', async (_, page, message, requests) => {
    const { read, received } = await listing(page);
    expect((await problemOf(read)).message).toContain(message);
    expect(received).toHaveLength(requests);
  });

  test('with ids that repeat once is read again', async () => {
    let requests = 0;
    const { read } = await listing((number) => {
      requests += 1;
      const second = [requests <= 2 ? row(2) : row(3)];
      return { data: number === 1 ? [row(1), row(2)] : second, total_pages: 2, total_entries: 3 };
    });
    const index = await read();
    expect(['o1', 'o2', 'o3'].every((id) => index?.byId(id) !== undefined)).toBe(true);
  });

  test('with ids that are names of inherited members has no such organization', () => {
    const index = new Catalog([{ id: 'constructor', name: '__proto__' }]);
    expect([index.byId('toString'), index.byId('constructor')]).toMatchObject([
      undefined,
      { name: '__proto__' },
    ]);
  });
});

describe('the secrets of a response', () => {
  test('are registered before the response is used, at any place, also in a failure', async () => {
    const refusal = { message: 'no', smtp_password: 'p1', errors: [{ secret: 's1' }] };
    const list = { data: [{ id: 'o1', backend: { ldap_master_password: 'l1', secret: null } }] };
    const { origin } = await serve((response, { method }) =>
      method === 'PATCH' ? json(response, 422, refusal) : json(response, 200, list),
    );
    const secrets: string[] = [];
    const { reader, writer } = use(origin, { onSecret: (secret) => secrets.push(secret) });
    await failureOf(writer.send(rename));
    await reader.listOrganizations(1);
    expect(secrets.sort()).toEqual(['l1', 'p1', 's1']);
  });

  test('are found at any depth', () => {
    let document: unknown = { secret: 'deep' };
    for (let depth = 0; depth < 200_000; depth += 1) document = [document];
    expect(secretTextsIn(document)).toEqual(['deep']);
  });
});

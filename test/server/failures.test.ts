import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer as createPlainServer } from 'node:net';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { Agent, type Dispatcher, errors } from 'undici';
import { describe, expect, test } from 'vitest';
import { exchange } from '../../src/server/exchange.js';
import { failure as failureFor, kinds } from '../apply/fakes.js';
import { afterwards } from '../cleanups.js';
import { deadlines } from '../deadlines.js';
import { deletion, failureOf, json, listening, regenerate, rename, serve, token, use } from './serving.js';

/** The origin of a local port that nothing listens on. */
async function closedPort(): Promise<string> {
  const server = createPlainServer();
  const origin = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return origin;
}

describe('a status other than 2xx', () => {
  test.each([
    [400, 'refused'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'not-found'],
    [409, 'refused'],
    [413, 'refused'],
    [422, 'refused'],
    [500, 'server-error'],
    [501, 'server-error'],
    [301, 'redirect'],
    [304, 'redirect'],
  ])('%i is a failure of kind %s, reported at once', async (status, kind) => {
    const { origin, received } = await serve((response) => response.writeHead(status).end());
    const { writer } = use(origin);
    expect(await failureOf(writer.send(rename))).toMatchObject({
      kind,
      status,
      operation: 'updateOrganization',
      title: 'update an organization',
      method: 'PATCH',
      path: '/api/organizations/o1',
      scope: 'users:manage:all',
      serverMessage: null,
      attempts: 1,
      sent: true,
    });
    expect(received).toHaveLength(1);
  });

  test('names the operation, the response and the required scope', async () => {
    const { origin } = await serve((response) =>
      json(response, 403, { code: 'FORBIDDEN', message: 'You are forbidden\nto access this resource.' }),
    );
    expect((await failureOf(use(origin).writer.send(rename))).message).toBe(
      'update an organization: PATCH /api/organizations/o1 answered 403 (forbidden): You are forbidden to access this resource. It needs the scope users:manage:all',
    );
  });

  test('with an HTML or incomplete body has no message and the same kind', async () => {
    const { origin } = await serve((response, _, count) => {
      response.writeHead(422, { 'content-type': 'text/html', 'content-length': 1000 });
      response.write('<h1>hello</h1>');
      if (count === 1) response.end('x'.repeat(986));
      else response.socket?.end();
    });
    const { writer } = use(origin);
    for (let index = 0; index < 2; index++) {
      const told = { kind: 'refused', status: 422, serverMessage: null, attempts: 1 };
      expect(await failureOf(writer.send(rename))).toMatchObject(told);
    }
  });

  test('never shows the token or another secret, however the server echoes it', async () => {
    const echo = {
      message: `bad header Bearer ${token}`,
      errors: { [token]: [`got ${token}`, encodeURIComponent(token), 'and hunter2\nhunter3'] },
    };
    const { origin } = await serve((response) => json(response, 401, echo));
    const redact = (text: string): string => text.replaceAll('hunter2\nhunter3', '(redacted)');
    const failure = await failureOf(use(origin, { redact }).writer.send(rename));
    expect(failure.serverMessage).toBe(
      'bad header (sensitive): (sensitive): got (sensitive), (sensitive), and (redacted)',
    );
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toMatch(/secret-token|hunter/);
  });

  test('of a redirect is not followed, and its query is not shown', async () => {
    const other = await serve((response) => json(response, 200, { data: {} }));
    const { origin, received } = await serve((response) =>
      response.writeHead(307, { location: `${other.origin}/api/organizations/o1?token=hunter2` }).end(),
    );
    const failure = await failureOf(use(origin).writer.send(rename));
    expect(failure).toMatchObject({ kind: 'redirect', status: 307 });
    expect(failure.message).toContain(
      `a redirect to ${other.origin}/api/organizations/o1 that is not followed`,
    );
    expect(failure.message).not.toContain('hunter2');
    expect([received.length, other.received.length]).toEqual([1, 0]);
  });
});

describe('a 2xx response', () => {
  const unusable: [string, string, string | Buffer][] = [
    ['HTML', 'not-json', '<!doctype html><title>Sign in</title>'],
    ['empty', 'empty', ''],
    ['cut off within its JSON', 'not-json', '{"data": {"id": "o1"'],
    ['no object', 'wrong-type', '"fine"'],
    ['without data', 'wrong-type', '{"id": "o1"}'],
    ['a list', 'wrong-type', '{"data": [{"id": "o1"}]}'],
    ['null', 'wrong-type', '{"data": null}'],
    ['of another type', 'wrong-type', '{"data": {"id": 5}}'],
    ['not UTF-8', 'not-utf-8', Buffer.from('{"data": {"id": "\xe9"}}', 'latin1')],
  ];
  for (const request of [rename, regenerate, deletion]) {
    test.each(unusable)(`with %s fails ${request.operation}, which is sent once`, async (_, reason, body) => {
      const { origin, received } = await serve((response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end(body);
      });
      expect(await failureOf(use(origin).writer.send(request))).toMatchObject({
        kind: 'answer',
        status: 200,
        attempts: 1,
        sent: true,
        reason,
      });
      expect(received).toHaveLength(1);
    });
  }

  test('that is compressed is reported with its encoding', async () => {
    const { origin } = await serve((response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"data": []}'));
    });
    expect((await failureOf(use(origin).reader.listOrganizations(1))).message).toContain(
      'a body with the encoding gzip, though idops accepts none',
    );
  });

  test('with HTML is reported as HTML', async () => {
    const { origin } = await serve((response) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>');
    });
    expect((await failureOf(use(origin).reader.listOrganizations(1))).message).toBe(
      'list organizations: GET /api/organizations?page=1 answered 200 with a body that is not JSON (text/html; charset=utf-8); is base_url correct?',
    );
  });

  test('of another type is reported with the place', async () => {
    const { origin } = await serve((response) => json(response, 200, { data: { id: 5 } }));
    const { message } = await failureOf(use(origin).writer.send(rename));
    expect(message).toContain(
      'answered 200 with an unexpected body: data.id: expected string, received number',
    );
  });

  test('that is too large is not read to its end', async () => {
    const { origin, received } = await serve((response) => {
      response.writeHead(200);
      response.write('{"data": {"id": "');
      response.on('error', () => {});
      const fill = setInterval(() => response.write('x'.repeat(65_536)), 1);
      response.on('close', () => clearInterval(fill));
    });
    const failure = await failureOf(use(origin, { maxAnswerBytes: 300_000 }).writer.send(rename));
    expect(failure).toMatchObject({ kind: 'answer', status: 200, reason: 'too-large', attempts: 1 });
    expect(received).toHaveLength(1);
  });
});

describe('a response that breaks off', () => {
  test('ends with the timeout if it stops', async () => {
    const time = deadlines();
    const { origin } = await serve((response) => {
      response.writeHead(200);
      response.write('{"data": ');
    });
    const pass = () => setImmediate(time.pass);
    subscribe('undici:request:headers', pass);
    afterwards(() => void unsubscribe('undici:request:headers', pass));
    expect(await failureOf(use(origin, { timeout: time.seconds }).writer.send(regenerate))).toMatchObject({
      kind: 'answer',
      status: 200,
      reason: 'timeout',
    });
  });
});

describe('a connection that breaks', () => {
  test.each([
    ['as soon as it is made', true],
    ['after the request was read', false],
  ])('%s: a PATCH is sent again, a POST is not', async (_, early) => {
    const { origin, received, server } = await serve((response) => response.socket?.resetAndDestroy());
    let connections = 0;
    server.on('connection', (socket) => {
      connections += 1;
      if (early) socket.destroy();
    });
    const { writer, pauses } = use(origin);
    const patch = await failureOf(writer.send(rename));
    expect(patch).toMatchObject({ kind: 'lost', status: null, attempts: 4, sent: true });
    expect(patch.message).toMatch(/lost its connection .*; outcome unknown \(after 4 tries\)$/);
    expect(pauses).toHaveLength(3);
    connections = 0;
    received.length = 0;
    expect(await failureOf(writer.send(regenerate))).toMatchObject({ kind: 'lost', attempts: 1, sent: true });
    expect(connections).toBe(1);
    expect(received).toHaveLength(early ? 0 : 1);
  });

  test('and then refuses is lost, because the first try may have been done', async () => {
    const serving = await serve((response) => {
      serving.server.close();
      response.socket?.resetAndDestroy();
    });
    const failure = await failureOf(use(serving.origin).writer.send(rename));
    expect(failure).toMatchObject({ kind: 'lost', sent: true, attempts: 4, reason: 'ECONNREFUSED' });
  });

  test('and then answers 429 leaves the outcome open, because the first try may have been done', async () => {
    const { origin } = await serve((response, _, count) => {
      if (count === 1) response.socket?.resetAndDestroy();
      else response.writeHead(429).end();
    });
    const { writer } = use(origin);
    expect(await failureOf(writer.send(rename))).toMatchObject({ kind: 'refused', status: 429, doubt: true });
    expect((await failureOf(writer.send(rename))).doubt).toBeUndefined();
  });

  test("because of something that isn't HTTP is lost", async () => {
    const origin = await listening(createPlainServer((socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n')));
    const failure = await failureOf(use(origin).writer.send(regenerate));
    expect(failure).toMatchObject({ kind: 'lost', attempts: 1 });
  });
});

describe('a POST', () => {
  const answered = async (status: number, options: Parameters<typeof use>[1] = {}) => {
    const serving = await serve((response) => {
      response.writeHead(status, { location: '/elsewhere', 'retry-after': '0' }).end();
    });
    const failure = await failureOf(use(serving.origin, options).writer.send(regenerate));
    expect(serving.received).toHaveLength(1);
    expect(failure).toMatchObject({ status, attempts: 1, sent: true });
    return failure;
  };

  test.each([400, 401, 403, 404, 422, 425, 429])('that is refused with %i is not open', async (status) => {
    expect((await answered(status)).open).toBe(false);
  });

  test.each([
    300, 301, 302, 303, 304, 307, 308, 402, 405, 407, 408, 409, 410, 413, 414, 423, 451, 499, 500, 502, 503,
    504, 599,
  ])('that is answered with %i is open', async (status) => {
    expect((await answered(status)).open).toBe(true);
  });

  test('whose connection switches to another protocol is open', async () => {
    const origin = await listening(
      createPlainServer((socket) => {
        socket.once('data', () => {
          socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n');
        });
      }),
    );
    expect(await failureOf(use(origin).writer.send(regenerate))).toMatchObject({ attempts: 1, open: true });
  });

  test('that was not sent is not open', async () => {
    expect((await failureOf(use(await closedPort()).writer.send(regenerate))).open).toBe(false);
  });
});

describe('a PATCH or DELETE', () => {
  test.each([
    [308, false],
    [408, false],
    [409, false],
    [500, true],
    [503, true],
  ])('that is answered with %i: open is %s', async (status, open) => {
    const { origin } = await serve((response) => response.writeHead(status).end());
    for (const request of [rename, deletion]) {
      expect((await failureOf(use(origin).writer.send(request))).open).toBe(open);
    }
  });

  test('stays open if its first try is open, whatever the last response is', async () => {
    const { origin } = await serve((response, _, count) => response.writeHead(count === 1 ? 503 : 403).end());
    expect(await failureOf(use(origin).writer.send(rename))).toMatchObject({ status: 403, open: true });
  });
});

describe('a timeout', () => {
  test('while a server is silent: a GET is sent again', async () => {
    const time = deadlines();
    const { origin, received } = await serve(() => time.pass());
    const failure = await failureOf(use(origin, { timeout: time.seconds }).reader.listOrganizations(1));
    expect(failure).toMatchObject({ kind: 'lost', reason: 'timeout', attempts: 4, sent: true });
    expect(failure.message).toBe(
      `list organizations: GET /api/organizations?page=1 got no answer within ${time.seconds} s (after 4 tries)`,
    );
    expect(received).toHaveLength(4);
  });

  test('while TLS is being agreed on: nothing was sent, so even a POST is tried again', async () => {
    const time = deadlines();
    let connections = 0;
    const silent = createPlainServer(() => {
      connections += 1;
      time.pass();
    });
    const origin = await listening(silent, 'https');
    const failure = await failureOf(use(origin, { timeout: time.seconds }).writer.send(regenerate));
    expect(failure).toMatchObject({ kind: 'unreachable', reason: 'timeout', attempts: 4, sent: false });
    expect(failure.message).toContain(
      `got no connection to ${origin}: it did not answer within ${time.seconds} s`,
    );
    expect(connections).toBe(4);
  });

  test('is detected by either of two clocks', async () => {
    class Slow extends Agent {
      override dispatch(_: Agent.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
        handler.onResponseError?.(undefined as never, new errors.ConnectTimeoutError());
        return true;
      }
    }
    const request = { origin: 'https://id.example.com', path: '/', method: 'POST' } as const;
    const outcome = await exchange(new Slow(), request, { timeout: 60, maxBytes: 1 });
    expect(outcome).toEqual({ status: null, sent: false, reason: 'timeout' });
  });
});

describe('no connection', () => {
  test('because it is refused: even a POST is tried again', async () => {
    const origin = await closedPort();
    const { writer, pauses } = use(origin);
    const failure = await failureOf(writer.send(regenerate));
    const told = { kind: 'unreachable', status: null, reason: 'ECONNREFUSED', attempts: 4, sent: false };
    expect(failure).toMatchObject(told);
    expect(failure.message).toBe(
      `regenerate the DID of a client: POST /api/clients/c1/regenerate_did got no connection to ${origin}: the connection was refused (ECONNREFUSED); is the server running, and is the port correct? (after 4 tries)`,
    );
    expect(pauses).toEqual([0.5, 1, 2]);
  });

  test("because the name doesn't resolve", async () => {
    const failure = await failureOf(use('https://idops.invalid').writer.send(regenerate));
    expect(failure).toMatchObject({ kind: 'unreachable', sent: false });
    expect(failure.message).toMatch(/idops\.invalid: its name (does not resolve|could not be looked up)/);
  });

  test("because the port doesn't speak TLS", async () => {
    const { origin, received } = await serve((response) => response.end());
    const failure = await failureOf(use(origin.replace('http:', 'https:')).writer.send(regenerate));
    expect(failure).toMatchObject({ kind: 'unreachable', sent: false, attempts: 4 });
    expect(failure.message).toContain('the TLS handshake failed');
    expect(received).toHaveLength(0);
  });

  test('and then one: a POST is sent, once', async () => {
    const origin = await closedPort();
    const serving = await serve((response) => json(response, 200, { data: { id: 'c1' } }));
    // Connections are refused until the server listens on the port.
    await new Promise((resolve) => serving.server.close(resolve));
    const { writer } = use(origin, {
      delay: async () => {
        if (!serving.server.listening) {
          const port = Number(new URL(origin).port);
          await new Promise<void>((resolve) => serving.server.listen(port, '127.0.0.1', resolve));
        }
      },
    });
    expect(await writer.send(regenerate)).toEqual({ status: 200, attempts: 2, data: { id: 'c1' } });
    expect(serving.received).toHaveLength(1);
  });

  test.each([
    ['CERT_SIGNATURE_FAILURE', 'its certificate is not accepted (CERT_SIGNATURE_FAILURE)'],
    ['EHOSTUNREACH', 'there is no route to it'],
    ['ECONNRESET', 'it closed the connection (ECONNRESET)'],
    ['EMFILE', 'EMFILE'],
  ])('because %s is reported with the reason', (reason, sentence) => {
    const failure = failureFor(kinds.user, { kind: 'unreachable', status: null, sent: false, reason });
    expect(failure.message).toContain(`got no connection to https://id.example.com: ${sentence}`);
  });
});

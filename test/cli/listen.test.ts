import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { listen, type Routes } from '../../src/cli/listen.js';
import { afterwards } from '../cleanups.js';

type Listening = Awaited<ReturnType<typeof listen>>;

const request = (path: string, headers = 'Connection: close\r\n', method = 'GET'): string =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

const paths: Routes = {
  '/there': () => ({ status: 200, type: 'text/plain', body: 'here ö\n' }),
  '/broken': () => Promise.reject(new Error('no')),
};

async function listening(more: Routes = {}): Promise<Listening> {
  const made = await listen({ host: '127.0.0.1', port: 0 }, { ...paths, ...more });
  afterwards(() => made.close());
  return made;
}

/** Sends bytes, and returns all that arrives until the connection closes. */
async function raw({ address }: Listening, text: string): Promise<string> {
  const socket = open(address);
  socket.write(text);
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  return answer;
}

function open(address: string): Socket {
  const { hostname, port } = new URL(address);
  const socket = createConnection(Number(port), hostname);
  socket.on('error', () => {});
  afterwards(() => socket.destroy());
  return socket;
}

/** Resolves when a connection is closed, by an error or not. */
const closed = (socket: Socket) => new Promise<void>((done) => socket.once('close', () => done()));

describe('the HTTP server of watch', () => {
  it('responds to GET and HEAD on its paths, with any query', async () => {
    const { address } = await listening();
    const answer = await fetch(`${address}/there?x=1`);
    expect([answer.status, await answer.text()]).toEqual([200, 'here ö\n']);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const head = await fetch(`${address}/there`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '8', '']);
  });

  it.each(['/', '/there/', '/THERE', '/../there2', '/constructor', '/__proto__', '//there'])(
    'responds to %s with 404',
    async (path) => {
      const at = await listening();
      expect(await raw(at, request(path))).toMatch(/^HTTP\/1\.1 404 /);
    },
  );

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE'])('refuses %s', async (method) => {
    const at = await listening();
    const answer = await raw(at, request('/there', undefined, method));
    expect(answer).toMatch(/^HTTP\/1\.1 405 /);
    expect(answer).toMatch(/\r\nAllow: GET, HEAD\r\n/);
  });

  it('accepts a request target with a host', async () => {
    const at = await listening();
    for (const target of ['http://x/there', 'HTTP://x:9464/there?x=1', 'https://[::1]/there'])
      expect(await raw(at, request(target, ''))).toMatch(/^HTTP\/1\.1 200 /);
    for (const target of ['http://x', 'ftp://x/there', 'http:///elsewhere', '*'])
      expect(await raw(at, request(target, ''))).toMatch(/^HTTP\/1\.1 404 /);
  });

  it('responds to one request per connection, even if many are pipelined', async () => {
    let asked = 0;
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const at = await listening({
      '/counted': async () => {
        asked += 1;
        await released;
        return { status: 200, type: 'text/plain', body: 'once\n' };
      },
    });
    const few = raw(at, request('/counted', '').repeat(3));
    const many = open(at.address);
    const gone = closed(many);
    many.resume().write(request('/counted', '').repeat(20_000));
    while (asked < 2) await new Promise(setImmediate);
    release();
    const answer = await few;
    expect(answer.match(/^HTTP\/1\.1 200 /gm)).toHaveLength(1);
    expect(answer).toContain('\r\nConnection: close\r\n');
    await gone;
    expect(asked).toBe(2);
  });

  it('responds to a new connection, even if many are idle', async () => {
    const at = await listening();
    const idle = Array.from({ length: 64 }, () => open(at.address));
    const gone = idle.map((one) => closed(one));
    for (const one of idle) {
      one.resume();
      if (one.connecting) await once(one, 'connect');
    }
    expect(await raw(at, request('/there', ''))).toMatch(/^HTTP\/1\.1 200 /);
    // The oldest connection was closed for it.
    await gone[0];
    expect(idle.at(-1)?.destroyed).toBe(false);
  });

  it("doesn't wait for a request body", async () => {
    const at = await listening();
    for (const method of ['GET', 'POST']) {
      const answer = await raw(at, `${request('/there', 'Content-Length: 1000000\r\n', method)}x`);
      expect(answer).toMatch(method === 'GET' ? /^HTTP\/1\.1 200 / : /^HTTP\/1\.1 405 /);
      expect(answer).toContain('\r\nConnection: close\r\n');
    }
  });

  it('closes the connection if a handler fails', async () => {
    const at = await listening();
    expect(await raw(at, request('/broken', ''))).toBe('');
    expect((await fetch(`${at.address}/there`)).status).toBe(200);
  });

  it('refuses invalid requests and oversized headers', async () => {
    const at = await listening();
    for (const text of ['nonsense\r\n\r\n', '\x16\x03\x01'])
      expect(await raw(at, text)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await raw(at, `GET /there HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431 /,
    );
  });

  it('closes immediately, also open connections', async () => {
    const at = await listening();
    const silent = open(at.address);
    await once(silent, 'connect');
    silent.write('GET /th');
    const gone = closed(silent);
    await at.close();
    await gone;
    await expect(fetch(`${at.address}/there`)).rejects.toThrow();
  });
});

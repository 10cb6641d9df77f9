import type { IncomingMessage } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { describe, expect, test } from 'vitest';
import { reveal, Sensitive } from '../../src/base/values.js';
import { isProblem, proxyFor } from '../../src/server/proxy.js';
import { deadlines } from '../deadlines.js';
import { issue } from './certificates.js';
import { proxying } from './proxying.js';
import { failureOf, json, listening, regenerate, rename, use } from './serving.js';

describe('the proxy for an address', () => {
  const https = { https_proxy: 'http://proxy:3128' };
  const chosen = { origin: 'http://proxy:3128', variable: 'https_proxy', authorization: null };

  test.each<[string, { [name: string]: string }, unknown]>([
    ['https://id.example.com', {}, null],
    ['https://id.example.com', https, chosen],
    ['https://id.example.com', { https_proxy: 'proxy:3128' }, chosen],
    ['https://id.example.com', { HTTPS_PROXY: 'http://proxy:3128' }, { ...chosen, variable: 'HTTPS_PROXY' }],
    ['https://id.example.com', { ...https, HTTPS_PROXY: 'http://other' }, chosen],
    ['https://id.example.com', { https_proxy: '' }, null],
    ['https://id.example.com', { http_proxy: 'http://proxy:3128' }, null],
    ['http://id.example.com', https, null],
    ['http://id.example.com', { http_proxy: 'http://p' }, { origin: 'http://p', variable: 'http_proxy' }],
    [
      'https://id.example.com',
      { https_proxy: 'http://u:p%40@proxy:3128' },
      { authorization: 'Basic dTpwQA==' },
    ],
    ['https://id.example.com', { https_proxy: 'http://u@proxy:3128' }, { authorization: 'Basic dTo=' }],
    ['https://localhost:4000', https, null],
    ['https://127.0.0.1', https, null],
    ['https://[::1]', https, null],
    ['http://127.0.0.1', { http_proxy: 'http://p' }, null],
  ])('%s with %j is %j', (origin, variables, proxy) => {
    const found = proxyFor(origin, variables);
    if (found === null || isProblem(found)) expect(found).toBe(proxy);
    else expect({ ...found, authorization: reveal(found.authorization) }).toMatchObject(Object(proxy));
  });

  test.each([
    ['id.example.com', true],
    ['ID.EXAMPLE.COM', true],
    ['example.com', true],
    ['.example.com', true],
    ['*.example.com', true],
    ['other.org, example.com', true],
    ['other.org example.com:8443', true],
    ['*', true],
    ['example.com:443', false],
    ['ample.com', false],
    ['example.co', false],
    ['a.id.example.com', false],
    ['', false],
  ])('is none if no_proxy is %j: %j', (exempt, none) => {
    const variables = { https_proxy: 'http://proxy:3128', no_proxy: exempt };
    expect(proxyFor('https://id.example.com:8443', variables) === null).toBe(none);
  });

  test.each([
    ['10.0.0.1', 'https://10.0.0.1', true],
    ['[fd00::1]', 'https://[fd00::1]', true],
    ['[fd00::1]:443', 'https://[fd00::1]', true],
    ['fd00::2', 'https://[fd00::1]', false],
  ])('no_proxy %s is %s: %j', (exempt, origin, none) => {
    const variables = { https_proxy: 'http://proxy:3128', no_proxy: exempt };
    expect(proxyFor(origin, variables) === null).toBe(none);
  });

  test.each(['socks5://hunter2:x@proxy', 'http://', 'http://hunter2@:x:', 'http://%E0%A4%A:hunter2@proxy'])(
    '%s is refused without repeating it',
    (address) => {
      const problem = proxyFor('https://id.example.com', { https_proxy: address });
      expect(problem).toMatchObject({ code: 'bad-proxy', message: expect.stringContaining('https_proxy') });
      expect(JSON.stringify(problem)).not.toContain('hunter2');
    },
  );
});

const certificate = issue('server', { hosts: ['id.example.com'] });

async function serving() {
  const requests: IncomingMessage[] = [];
  const server = createHttps({ cert: certificate.cert, key: certificate.key }, (request, response) => {
    requests.push(request);
    json(response, 200, { data: { id: 'o1' } });
  });
  return { origin: await listening(server, 'https'), requests };
}

describe('through a proxy', () => {
  const tls = { ca: certificate.cert };
  const base = 'https://id.example.com';

  test('requests use tunnels, which are kept; a POST gets its own', async () => {
    const { origin, requests } = await serving();
    const { proxy, asked } = await proxying(origin);
    const { writer } = use(base, { tls, proxy, concurrency: 1 });
    await writer.send(rename);
    await writer.send(rename);
    expect(asked.map(({ url }) => url)).toEqual(['id.example.com:443']);
    await writer.send(regenerate);
    expect(asked).toHaveLength(2);
    expect(requests.map(({ headers }) => headers.host)).toEqual(Array(3).fill('id.example.com'));
    // The proxy receives no token, and the server no proxy credentials.
    for (const { headers } of asked) expect(headers.authorization).toBeUndefined();
  });

  test('its credentials go only to the proxy', async () => {
    const { origin, requests } = await serving();
    const { proxy, asked } = await proxying(origin);
    await use(base, { tls, proxy: { ...proxy, authorization: new Sensitive('Basic dTpw') } }).writer.send(
      rename,
    );
    expect(asked[0]?.headers['proxy-authorization']).toBe('Basic dTpw');
    expect(requests[0]?.headers['proxy-authorization']).toBeUndefined();
  });

  test('the certificate is still checked', async () => {
    const { origin, requests } = await serving();
    const { proxy } = await proxying(origin);
    const failure = await failureOf(use(base, { proxy }).writer.send(rename));
    expect(failure).toMatchObject({
      kind: 'unreachable',
      attempts: 1,
      reason: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    });
    const other = await failureOf(use('https://other.example.com', { tls, proxy }).writer.send(rename));
    expect(other).toMatchObject({ kind: 'unreachable', attempts: 1, reason: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    expect(requests).toHaveLength(0);
  });

  test.each([
    [407, 'requires a user name and a password (407)', 1],
    [403, 'refuses to connect to it (403)', 4],
    [502, 'refuses to connect to it (502)', 4],
    [0, 'there is no connection to the proxy', 4],
  ])('that answers %i, nothing is sent and the proxy is named', async (status, sentence, attempts) => {
    const { proxy, asked } = await proxying('http://127.0.0.1:1', () => status);
    for (const request of [rename, regenerate]) {
      asked.length = 0;
      const failure = await failureOf(use(base, { tls, proxy }).writer.send(request));
      expect(failure).toMatchObject({ kind: 'unreachable', sent: false, attempts, proxy: proxy.origin });
      expect(failure.message).toContain(sentence);
      expect(failure.message).toContain(proxy.origin);
      expect(asked).toHaveLength(attempts);
    }
  });

  test('that is silent, a request times out', async () => {
    const time = deadlines();
    const { proxy } = await proxying('http://127.0.0.1:1', () => {
      time.pass();
      return -1;
    });
    const failure = await failureOf(use(base, { tls, proxy, timeout: time.seconds }).writer.send(regenerate));
    expect(failure).toMatchObject({ kind: 'unreachable', sent: false, attempts: 4 });
  });

  test('that is missing, the error names the proxy', async () => {
    const { proxy, server } = await proxying('http://127.0.0.1:1');
    await new Promise((resolve) => server.close(resolve));
    const failure = await failureOf(use(base, { tls, proxy }).writer.send(rename));
    expect(failure.message).toContain(
      `there is no connection to the proxy ${proxy.origin}: the connection was refused`,
    );
  });

  test('that refused once, a POST is still sent once', async () => {
    const { origin, requests } = await serving();
    let count = 0;
    const { proxy } = await proxying(origin, () => {
      count += 1;
      return count === 1 ? 503 : 200;
    });
    expect(await use(base, { tls, proxy }).writer.send(regenerate)).toMatchObject({ attempts: 2 });
    expect(requests).toHaveLength(1);
  });
});

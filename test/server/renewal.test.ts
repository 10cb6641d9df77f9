import { describe, expect, test } from 'vitest';
import type { Retrying } from '../../src/base/progress.js';
import { createRedactor } from '../../src/secrets/redactor.js';
import { checkBaseUrl, isBaseUrl } from '../../src/server/base-url.js';
import { clientCredentials, type TokenNetwork } from '../../src/server/client-credentials.js';
import { type Credentials, RenewingCredentials, type Token } from '../../src/server/credentials.js';
import type { Scope } from '../../src/server/operations.js';
import { defaultRetryBudget, RetryBudget } from '../../src/server/retry.js';
import { failureOf, json, problemOf, regenerate, rename, serve, use } from './serving.js';

function tokens(...texts: string[]): Credentials & { readonly asked: () => number } {
  let asked = 0;
  const source = async (): Promise<Token> => {
    const text = texts[Math.min(asked, texts.length - 1)] ?? '';
    asked += 1;
    return { text, renewAt: null, scopes: null };
  };
  const { current, renew } = bound(new RenewingCredentials(source, () => {}));
  return { current, renew, asked: () => asked };
}

function bound(credentials: Credentials): Credentials {
  return {
    current: (scope) => credentials.current(scope),
    renew: (refused, scope) => credentials.renew(refused, scope),
  };
}

describe('a 401', () => {
  async function server(...good: string[]) {
    return await serve((response, { headers }) => {
      if (good.includes(headers.authorization ?? '')) json(response, 200, { data: { id: 'o1' } });
      else json(response, 401, { message: 'token expired' });
    });
  }

  test('renews the token and sends the request once more, at once', async () => {
    const { origin, received } = await server('Bearer new');
    const { writer, pauses } = use(origin, { credentials: tokens('old', 'new') });
    expect(await writer.send(rename)).toEqual({ status: 200, attempts: 2, data: { id: 'o1' } });
    expect(received.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
    expect(pauses).toEqual([]);
  });

  test('to the renewed token too is final', async () => {
    const { origin, received } = await server();
    const { writer } = use(origin, { credentials: tokens('old', 'new', 'newer') });
    expect(await failureOf(writer.send(rename))).toMatchObject({ kind: 'unauthorized', attempts: 2 });
    expect(received).toHaveLength(2);
  });

  test('is reported at once if there is no other token', async () => {
    const { origin, received } = await server();
    const { writer } = use(origin, { credentials: tokens('old') });
    expect(await failureOf(writer.send(rename))).toMatchObject({ kind: 'unauthorized', attempts: 1 });
    expect(received).toHaveLength(1);
  });

  test('reports why the token could not be renewed', async () => {
    const { origin } = await server();
    let first = true;
    const source = async (): Promise<Token> => {
      if (!first) throw new Error('the token file secrets/token does not exist');
      first = false;
      return { text: 'old', renewAt: null, scopes: null };
    };
    const { writer } = use(origin, { credentials: new RenewingCredentials(source, () => {}) });
    expect((await failureOf(writer.send(rename))).message).toContain(
      '(it could not be renewed: the token file secrets/token does not exist)',
    );
  });

  test('to a POST is never followed by another POST', async () => {
    const { origin, received } = await server('Bearer new');
    const { writer } = use(origin, { credentials: tokens('old', 'new') });
    expect(await failureOf(writer.send(regenerate))).toMatchObject({ kind: 'unauthorized', attempts: 1 });
    expect(received).toHaveLength(1);
  });
});

test('a configured header replaces Authorization', async () => {
  const { origin, received } = await serve((response) =>
    json(response, 400, { message: 'bad key k-hunter2' }),
  );
  const credentials: Credentials = {
    current: async () => ({ name: 'x-api-key', value: 'k-hunter2' }),
    renew: async () => false,
  };
  const failure = await failureOf(use(origin, { credentials }).writer.send(rename));
  expect(failure.serverMessage).toBe('bad key (sensitive)');
  expect(received[0]?.headers).toMatchObject({ 'x-api-key': 'k-hunter2' });
  expect(received[0]?.headers.authorization).toBeUndefined();
});

describe('client credentials', () => {
  const initial: Scope[] = ['users:manage:all'];

  function source(origin: string, options: Partial<TokenNetwork> = {}, scopes: string[] | null = null) {
    const address = checkBaseUrl(`${origin}/oauth/token`, { allowInsecureHttp: false });
    if (!isBaseUrl(address)) throw new Error(address.message);
    const secrets: string[] = [];
    const pauses: number[] = [];
    const client = { address, clientId: 'cli ent', clientSecret: 's3cr+t/ö', scopes };
    const obtain = clientCredentials(client, initial, {
      tls: {},
      proxy: null,
      timeout: 5,
      redact: (text) => text.replaceAll('hunter2', '***'),
      onSecret: (secret) => secrets.push(secret),
      signal: new AbortController().signal,
      delay: async (seconds) => {
        pauses.push(seconds);
      },
      random: () => 0.5,
      patience: new RetryBudget(defaultRetryBudget, () => 0),
      now: () => 1_000_000,
      ...options,
    });
    return { obtain, secrets, pauses };
  }

  test('request a token with the required scopes', async () => {
    const { origin, received } = await serve((response) =>
      json(response, 200, { access_token: 'the-token', token_type: 'Bearer', expires_in: 3600 }),
    );
    const { obtain, secrets } = source(origin);
    const token = await obtain(new Set<Scope>(['clients:manage:all']));
    expect(token).toEqual({
      text: 'the-token',
      renewAt: 1_000_000 + 3570 * 1000,
      scopes: new Set(['clients:manage:all', 'users:manage:all']),
    });
    expect(received[0]).toMatchObject({
      method: 'POST',
      url: '/oauth/token',
      body: 'grant_type=client_credentials&scope=clients%3Amanage%3Aall+users%3Amanage%3Aall',
    });
    const basic = Buffer.from('cli+ent:s3cr%2Bt%2F%C3%B6').toString('base64');
    expect(received[0]?.headers.authorization).toBe(`Basic ${basic}`);
    expect(secrets.slice(0, 3)).toEqual([basic, 'cli+ent:s3cr%2Bt%2F%C3%B6', 'cli ent:s3cr+t/ö']);
    expect(new Set(secrets.slice(3))).toEqual(new Set(['the-token']));
  });

  test('register their secret before it is sent, and every token in a response before it is used', async () => {
    const known: string[] = [];
    let sent: readonly string[] = [];
    const { origin } = await serve((response) => {
      sent = [...known];
      json(response, 200, { access_token: 'a-token', refresh_token: 'r-token', id_token: 'i-token' });
    });
    await source(origin, { onSecret: (secret) => known.push(secret) }).obtain(new Set());
    expect(sent).toContain(Buffer.from('cli+ent:s3cr%2Bt%2F%C3%B6').toString('base64'));
    expect(known).toEqual(expect.arrayContaining(['a-token', 'r-token', 'i-token']));
  });

  test('try as often as configured', async () => {
    const { origin, received } = await serve((response) => response.writeHead(503).end());
    const { obtain } = source(origin, { retries: 5 });
    expect((await problemOf(() => obtain(new Set()))).code).toBe('token-unavailable');
    expect(received).toHaveLength(6);
  });

  test('report how long they wait, a minute at most each time, and give up as other requests do', async () => {
    const { origin, received } = await serve((response) =>
      response.writeHead(429, { 'retry-after': '86400' }).end(),
    );
    const told: Retrying[] = [];
    const { obtain, pauses } = source(origin, { onRetry: (again) => told.push(again) });
    expect(await problemOf(() => obtain(new Set()))).toMatchObject({
      code: 'token-unavailable',
      message: expect.stringMatching(/answered 429; it asks to wait 86400 s$/),
      hint: 'try again later',
    });
    expect(received).toHaveLength(4);
    expect(pauses).toEqual([60, 60, 60]);
    const why = 'the token address: answered 429 (too many requests)';
    expect(told).toEqual([2, 3, 4].map((attempt) => ({ attempt, of: 4, why, wait: 60 })));
  });

  test('stay hidden if a refusal repeats them', async () => {
    const redactor = createRedactor();
    const { origin } = await serve((response, { headers }) =>
      json(response, 401, { error: 'invalid_client', error_description: `bad ${headers.authorization}` }),
    );
    const { obtain } = source(origin, {
      redact: (text) => redactor.redact(text),
      onSecret: (secret) => redactor.add(secret),
    });
    expect((await problemOf(() => obtain(new Set()))).message).toMatch(
      /answered 401: bad Basic \(sensitive\)$/,
    );
  });

  test('request only the scopes that the configuration names', async () => {
    const { origin, received } = await serve((response) => json(response, 200, { access_token: 't0ken' }));
    const token = await source(origin, {}, ['a', 'b']).obtain(new Set<Scope>(['clients:manage:all']));
    expect(received[0]?.body).toBe('grant_type=client_credentials&scope=a+b');
    expect(token).toEqual({ text: 't0ken', renewAt: null, scopes: null });
  });

  test('renew a short-lived token after half of its lifetime', async () => {
    const { origin } = await serve((response) =>
      json(response, 200, { access_token: 't0ken', expires_in: '20' }),
    );
    expect((await source(origin).obtain(new Set())).renewAt).toBe(1_000_000 + 10_000);
  });

  test('try again if that may help', async () => {
    const { origin } = await serve((response, _, count) => {
      if (count === 1) response.writeHead(503, { 'retry-after': '3' }).end();
      else if (count === 2) response.socket?.resetAndDestroy();
      else json(response, 200, { access_token: 't0ken' });
    });
    const { obtain, pauses } = source(origin);
    expect((await obtain(new Set())).text).toBe('t0ken');
    expect(pauses).toEqual([3, 1]);
  });

  test.each([
    [401, { error: 'invalid_client', error_description: 'no hunter2' }, 'token-refused', '401: no ***'],
    [400, { error: 'invalid_scope' }, 'token-refused', 'answered 400: invalid_scope'],
    [500, { message: 'boom' }, 'token-unavailable', 'answered 500: boom'],
    [302, 'x', 'token-unavailable', 'answered 302'],
    [200, '<html>', 'token-unavailable', 'answered 200 without a token'],
    [200, { data: {} }, 'token-unavailable', 'answered 200 without a token'],
    [200, { access_token: 't0ken', token_type: 'mac' }, 'token-unavailable', 'not a bearer token'],
    [200, { access_token: 'xyz' }, 'bad-token', 'has fewer than 4 characters'],
    [200, { access_token: 'two words' }, 'bad-token', 'white space'],
  ])('answered with %i %j: %s', async (status, body, code, sentence) => {
    const { origin, received } = await serve((response) => json(response, status, body));
    const problem = await problemOf(() => source(origin).obtain(new Set()));
    expect(problem.code).toBe(code);
    expect(problem.message).toContain(sentence);
    expect(received).toHaveLength(1);
  });

  test("report it if the token address can't be reached", async () => {
    const { origin, server } = await serve(() => {});
    await new Promise((resolve) => server.close(resolve));
    const { obtain, pauses } = source(origin);
    const problem = await problemOf(() => obtain(new Set()));
    expect(problem).toMatchObject({ code: 'token-unavailable' });
    expect(problem.message).toContain(
      `the token address ${origin}/oauth/token could not be reached: the connection was refused`,
    );
    expect(pauses).toHaveLength(3);
  });
});

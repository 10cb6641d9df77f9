import { describe, expect, test, vi } from 'vitest';
import { RetryBudget, sleepSeconds } from '../../src/server/retry.js';
import { afterwards } from '../cleanups.js';
import { failureOf, json, rename, serve, use } from './serving.js';

describe('a request is repeated', () => {
  test('until it succeeds, with the same body each time', async () => {
    const { origin, received } = await serve((response, _, count) => {
      if (count < 4) response.writeHead(503).end();
      else json(response, 200, { data: { id: 'o1' } });
    });
    expect(await use(origin).writer.send(rename)).toMatchObject({ status: 200, attempts: 4 });
    expect(new Set(received.map(({ body }) => body))).toEqual(
      new Set(['{"organization":{"name":"acme","label":null}}']),
    );
  });

  test('but neither repeated nor first sent if its observation has expired', async () => {
    const { origin, received } = await serve((response) => response.writeHead(429).end());
    const { writer } = use(origin);
    const late = performance.now() - 1;
    await expect(writer.send(rename, late)).rejects.toMatchObject({ name: 'Expired', failure: undefined });
    expect(received).toHaveLength(0);
    const soon = performance.now() + 3_600_000;
    const slow = await serve((response) => {
      const clock = vi.spyOn(performance, 'now').mockReturnValue(soon + 1);
      afterwards(() => clock.mockRestore());
      response.writeHead(429).end();
    });
    await expect(use(slow.origin).writer.send(rename, soon)).rejects.toMatchObject({
      name: 'Expired',
      failure: { status: 429, attempts: 1, open: false },
    });
    expect(slow.received).toHaveLength(1);
  });
});

describe('the configured number of tries', () => {
  test('0 retries: one', async () => {
    const { origin, received } = await serve((response) => response.writeHead(503).end());
    const { reader, pauses } = use(origin, { retries: 0 });
    expect(await failureOf(reader.listOrganizations(1))).toMatchObject({ status: 503, attempts: 1 });
    expect(received).toHaveLength(1);
    expect(pauses).toEqual([]);
  });

  test('pause for at most 30 s', async () => {
    const { origin } = await serve((response) => response.writeHead(503).end());
    const { reader, pauses } = use(origin, {
      retries: 8,
      random: () => 1,
      patience: new RetryBudget(1000, () => 0),
    });
    expect(await failureOf(reader.listOrganizations(1))).toMatchObject({ attempts: 9 });
    expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
  });

  test('outlast a server that is down for ten seconds', async () => {
    let now = 0;
    const { origin } = await serve((response) => {
      if (now < 10) response.socket?.resetAndDestroy();
      else json(response, 200, { data: { id: 'o1' } });
    });
    const options = {
      random: () => 0.5,
      delay: async (seconds: number) => {
        now += seconds;
      },
    };
    expect(await failureOf(use(origin, options).writer.send(rename))).toMatchObject({ kind: 'lost' });
    now = 0;
    expect(await use(origin, { ...options, retries: 6 }).writer.send(rename)).toMatchObject({ status: 200 });
  });
});

describe('the pause before the next try', () => {
  test('is random, up to a bound that doubles', async () => {
    const { origin } = await serve((response) => response.writeHead(503).end());
    const { reader, pauses } = use(origin, { random: () => 0.25 });
    await failureOf(reader.listOrganizations(1));
    expect(pauses).toEqual([0.25, 0.5, 1]);
  });

  test.each([
    ['7', 7],
    ['0', 0],
    ['3600', 60],
    ['Wed, 21 Oct 2026 07:28:05 GMT', 5],
    ['Wed, 21 Oct 2026 07:27:00 GMT', 0.5],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 0.5],
    ['Wednesday, 21-Oct-26 07:28:09 GMT', 9],
    ['soon', 0.5],
    ['-3', 0.5],
    ['1.5', 0.5],
    ['2026', 60],
  ])('with Retry-After: %s is %d s at first', async (value, seconds) => {
    const { origin } = await serve((response) => {
      response.writeHead(429, { 'retry-after': value, date: 'Wed, 21 Oct 2026 07:28:00 GMT' }).end();
    });
    const { reader, pauses } = use(origin);
    await failureOf(reader.listOrganizations(1));
    expect(pauses[0]).toBe(seconds);
  });

  test('is reported if the server asked for it', async () => {
    const { origin } = await serve((response) => response.writeHead(429, { 'retry-after': '120' }).end());
    const failure = await failureOf(use(origin).writer.send(rename));
    expect(failure.retryAfter).toBe(120);
    expect(failure.message).toMatch(/answered 429 \(too many requests\); the server asks to wait 120 s/);
  });

  test('ends if the run is interrupted, without another try', async () => {
    const stop = new AbortController();
    const { origin, received } = await serve((response) => {
      response.writeHead(503, { 'retry-after': '60' }).end();
    });
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    let answered = 0;
    // Abort when all requests wait for their next try.
    const onAttempt = (): void => {
      answered += 1;
      if (answered === 20) setImmediate(() => stop.abort());
    };
    const { reader } = use(origin, { signal: stop.signal, delay: sleepSeconds, concurrency: 20, onAttempt });
    const failures = await Promise.all(
      Array.from({ length: 20 }, (_, index) => failureOf(reader.listOrganizations(index + 1))),
    );
    process.off('warning', note);
    for (const failure of failures) expect(failure).toMatchObject({ status: 503, attempts: 1 });
    expect(received).toHaveLength(20);
    expect(warnings).toEqual([]);
  });

  test('is not started if the run is already interrupted', async () => {
    const { origin } = await serve((response) => response.writeHead(503).end());
    const { reader, pauses } = use(origin, { signal: AbortSignal.abort() });
    expect(await failureOf(reader.listOrganizations(1))).toMatchObject({ status: 503, attempts: 1 });
    expect(pauses).toEqual([]);
  });

  test("doesn't hold up other requests", async () => {
    const { origin, received } = await serve((response, { url }) => {
      if (url.endsWith('page=1')) response.writeHead(503).end();
      else json(response, 200, { data: [] });
    });
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { reader } = use(origin, { concurrency: 1, delay: () => released });
    const first = failureOf(reader.listOrganizations(1));
    await reader.listOrganizations(2);
    expect(received).toHaveLength(2);
    release();
    expect(await first).toMatchObject({ attempts: 4 });
  });
});

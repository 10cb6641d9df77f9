import { describe, expect, test } from 'vitest';
import { Pace, type PaceOptions } from '../../src/server/pace.js';
import { RetryBudget } from '../../src/server/retry.js';
import { failureOf, json, regenerate, rename, serve, use } from './serving.js';

function paced(options: Partial<PaceOptions> = {}) {
  const pauses: number[] = [];
  let time = 0;
  const pace = new Pace({
    maxInFlight: 8,
    rate: undefined,
    now: () => time,
    delay: async (seconds) => {
      pauses.push(seconds);
      time += seconds;
    },
    ...options,
  });
  return { pace, pauses };
}

/** Whether a promise is settled after the current turn of the event loop. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => {
    settled = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

describe('the pace of requests', () => {
  test('starts requests in order, up to the limit', async () => {
    const { pace } = paced({ maxInFlight: 2 });
    const first = await pace.begin();
    await pace.begin();
    const third = pace.begin();
    const fourth = pace.begin();
    expect(await isSettled(third)).toBe(false);
    pace.end(first, 'other');
    expect([await isSettled(third), await isSettled(fourth)]).toEqual([true, false]);
  });

  test('halves at a 429, once for all requests in flight, down to one', async () => {
    const { pace } = paced();
    const turns = await Promise.all(Array.from({ length: 8 }, () => pace.begin()));
    for (const turn of turns) pace.end(turn, 'crowded');
    expect(pace.width).toBe(4);
    const widths: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      pace.end(await pace.begin(), 'crowded');
      widths.push(pace.width);
    }
    expect(widths).toEqual([2, 1, 1, 1]);
  });

  test('grows by one for each round of successes, up to the limit', async () => {
    const { pace } = paced();
    for (let round = 0; round < 4; round += 1) pace.end(await pace.begin(), 'crowded');
    const widths: number[] = [];
    for (let answers = 0; answers < 40; answers += 1) {
      pace.end(await pace.begin(), 'fine');
      widths.push(pace.width);
    }
    expect(widths.slice(0, 7)).toEqual([2, 2, 3, 3, 3, 4, 4]);
    expect(widths.at(-1)).toBe(8);
    expect(Math.max(...widths)).toBe(8);
  });

  test('stays the same at other failures', async () => {
    const { pace } = paced();
    pace.end(await pace.begin(), 'other');
    expect(pace.width).toBe(8);
  });

  test('pauses for all requests for as long as the server asks', async () => {
    let release = (): void => {};
    const { pace } = paced({
      delay: () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    });
    const hold = pace.hold(5);
    const next = pace.begin();
    expect(await isSettled(next)).toBe(false);
    release();
    await hold;
    expect(await isSettled(next)).toBe(true);
  });

  test('keeps to a number of requests a second', async () => {
    const { pace, pauses } = paced({ rate: 4 });
    for (let index = 0; index < 4; index += 1) pace.end(await pace.begin(), 'fine');
    expect(pauses).toEqual([0.25, 0.25, 0.25]);
  });
});

describe('the patience of a run', () => {
  test('is used up by waiting; simultaneous waits count once', () => {
    let now = 0;
    const patience = new RetryBudget(10, () => now);
    expect([patience.take(6), patience.take(4), patience.take(6)]).toEqual([true, true, true]);
    now = 3;
    expect(patience.take(7)).toBe(true);
    expect(patience.take(7.5)).toBe(false);
    now = 10;
    expect(patience.take(0.5)).toBe(false);
    expect(patience.take(0)).toBe(true);
  });

  test('recovers with successes, up to the limit', () => {
    let now = 0;
    const patience = new RetryBudget(10, () => now);
    expect(patience.take(10)).toBe(true);
    now = 20;
    for (let answers = 0; answers < 3; answers += 1) patience.answered();
    expect([patience.take(4), patience.take(3)]).toEqual([false, true]);
    now = 40;
    for (let answers = 0; answers < 100; answers += 1) patience.answered();
    expect([patience.take(11), patience.take(10)]).toEqual([false, true]);
  });
});

describe('a connection', () => {
  test('pauses all requests for as long as a 503 asks, and none if it asks for nothing', async () => {
    const waits: number[] = [];
    const delay = async (seconds: number): Promise<void> => {
      waits.push(seconds);
      await new Promise((resolve) => setImmediate(resolve));
    };
    const order: string[] = [];
    const { origin } = await serve((response, { url }, count) => {
      order.push(url);
      if (url.endsWith('page=1') && order.filter((one) => one === url).length === 1) {
        response.writeHead(503, count === 1 ? { 'retry-after': '9' } : {}).end();
      } else json(response, 200, { data: [] });
    });
    const { reader } = use(origin, { concurrency: 1, delay });
    await Promise.all([reader.listOrganizations(1), reader.listOrganizations(2)]);
    expect(waits).toEqual([9]);
    // The second request also waited for the pause.
    expect(order).toHaveLength(3);
  });

  test('is no slower after a request with a refused body', async () => {
    const held: (() => void)[] = [];
    const { origin, received } = await serve((response, _, count) => {
      held.push(() =>
        json(response, count <= 20 ? 422 : 200, count <= 20 ? { message: 'no' } : { data: { id: 'o1' } }),
      );
      // The server responds only when the maximum number of requests is in flight.
      if (held.length === 8 || count === 60) for (const answer of held.splice(0)) answer();
    });
    const { writer } = use(origin, { concurrency: 8 });
    await Promise.allSettled(Array.from({ length: 60 }, () => writer.send(rename)));
    expect(received).toHaveLength(60);
  });

  test('stops trying if the run has waited long enough, and reports it', async () => {
    const { origin, received } = await serve((response) => response.writeHead(503).end());
    const patience = new RetryBudget(1, () => 0);
    const { writer } = use(origin, { patience, random: () => 0.9 });
    const failure = await failureOf(writer.send(rename));
    expect(failure).toMatchObject({ status: 503, attempts: 2, outOfPatience: true });
    expect(failure.message).toMatch(/not retried: this run has waited too long already/);
    expect(received).toHaveLength(2);
  });

  test('does not wait after a 429 to a POST, but other requests do', async () => {
    const { origin } = await serve((response, { method }) => {
      if (method === 'POST') response.writeHead(429, { 'retry-after': '7' }).end();
      else json(response, 200, { data: { id: 'o1' } });
    });
    let release = (): void => {};
    const waits: number[] = [];
    const { writer } = use(origin, {
      delay: (seconds) => {
        waits.push(seconds);
        return new Promise((resolve) => {
          release = resolve;
        });
      },
    });
    expect(await failureOf(writer.send(regenerate))).toMatchObject({ status: 429, attempts: 1 });
    const next = writer.send(rename);
    expect(await isSettled(next)).toBe(false);
    expect(waits).toEqual([7]);
    release();
    expect(await next).toMatchObject({ status: 200 });
  });

  test('does not keep the process alive with an unused pause', async () => {
    const { origin } = await serve((response) => response.writeHead(429, { 'retry-after': '50' }).end());
    let ended = false;
    const { writer, close } = use(origin, {
      delay: (_, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            ended = true;
            resolve();
          });
        }),
    });
    await failureOf(writer.send(regenerate));
    await close();
    expect(ended).toBe(true);
  });
});

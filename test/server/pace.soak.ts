import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { json, rename, serve, use } from './serving.js';

describe('a connection', () => {
  /** A server that handles at most `most` requests at once, and refuses further ones. */
  async function limited(most: number, refuse: (response: ServerResponse) => void) {
    let busy = 0;
    const crowds: number[] = [];
    const { origin } = await serve((response) => {
      busy += 1;
      crowds.push(busy);
      const fits = busy <= most;
      setTimeout(() => {
        busy -= 1;
        if (fits) json(response, 200, { data: { id: 'o1' } });
        else refuse(response);
      }, 3);
    });
    return { origin, crowds };
  }

  test.each<[string, (response: ServerResponse) => void]>([
    ['429', (response) => void response.writeHead(429).end()],
    ['503', (response) => void response.writeHead(503).end()],
    ['502', (response) => void response.writeHead(502).end('<h1>Bad Gateway</h1>')],
    ['504', (response) => void response.writeHead(504).end()],
    ['a lost connection', (response) => void response.socket?.resetAndDestroy()],
    [
      'half an answer',
      (response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{', () => response.socket?.resetAndDestroy());
      },
    ],
  ])('learns from %s how many requests a server can handle, and all succeed', async (_, refuse) => {
    const { origin, crowds } = await limited(4, refuse);
    // Retries don't pause here, so a request may be refused more than four times.
    const { writer } = use(origin, { concurrency: 32, retries: 30 });
    const sent = await Promise.all(Array.from({ length: 200 }, () => writer.send(rename)));
    expect(sent.every(({ status }) => status === 200)).toBe(true);
    expect(Math.max(...crowds)).toBeGreaterThan(6);
    // The limit is halved at the first refusal, and then grows by one at a time. On a slow machine it may grow for some
    // rounds, because the server sees fewer requests at once, but never back to the start.
    expect(Math.max(...crowds.slice(100))).toBeLessThan(16);
  });

  test('learns it from 500s, which are not repeated: few fail in total', async () => {
    const { origin } = await limited(4, (response) =>
      json(response, 500, { message: 'connection not available and request was dropped from queue' }),
    );
    const { writer } = use(origin, { concurrency: 32 });
    const failed: number[] = [];
    await Promise.all(
      Array.from({ length: 300 }, (_, index) => writer.send(rename).catch(() => failed.push(index))),
    );
    // With a limit of 5, about one in 15 fails; of the first 32, nearly all fail.
    expect(failed.length).toBeLessThan(100);
    expect(failed.filter((index) => index >= 100).length).toBeLessThan(40);
  });
});

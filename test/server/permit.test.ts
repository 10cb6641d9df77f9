import { describe, expect, it, vi } from 'vitest';
import { Withheld } from '../../src/server/failures.js';
import { afterwards } from '../cleanups.js';
import { json, regenerate, rename, serve, use } from './serving.js';

/** The `Withheld` that a request fails with. */
async function withheld(sending: Promise<unknown>): Promise<Withheld> {
  const failure = await sending.catch((thrown: unknown) => thrown);
  if (failure instanceof Withheld) return failure;
  throw new Error('expected a Withheld', { cause: failure });
}

const organization = { data: { id: 'o1', name: 'acme', label: null } };

describe('a permit', () => {
  it('is confirmed right before each try, after all waiting', async () => {
    const log: string[] = [];
    const { origin } = await serve((response, _, count) => {
      log.push('request');
      json(response, count === 1 ? 503 : 200, organization);
    });
    const { writer } = use(origin, {
      credentials: {
        current: async () => {
          log.push('token');
          return { name: 'authorization', value: 'Bearer t' };
        },
        renew: async () => false,
      },
      delay: async () => void log.push('pause'),
    });
    const confirm = async () => void log.push('confirmed');
    await writer.send(rename, undefined, { confirm, holds: () => true });
    expect(log).toEqual(['token', 'confirmed', 'request', 'pause', 'token', 'confirmed', 'request']);
  });

  it.each([rename, regenerate])(
    'that no longer holds when %j is about to leave is confirmed anew',
    async (request) => {
      const { origin, received } = await serve((response) =>
        json(response, 200, request === rename ? organization : { data: { id: 'c1' } }),
      );
      let confirmations = 0;
      const confirm = async () => {
        confirmations += 1;
      };
      const permit = { confirm, holds: () => confirmations === 3 };
      expect(await use(origin).writer.send(request, undefined, permit)).toMatchObject({ attempts: 1 });
      expect(confirmations).toBe(3);
      expect(received).toHaveLength(1);
    },
  );

  it("sends nothing if it is never valid or can't be confirmed", async () => {
    const { origin, received } = await serve((response) => json(response, 200, organization));
    const { writer } = use(origin);
    const never = { confirm: async () => {}, holds: () => false };
    expect((await withheld(writer.send(rename, undefined, never))).failure).toBeUndefined();
    const lost = { confirm: () => Promise.reject(new Error('lost')), holds: () => true };
    expect((await withheld(writer.send(rename, undefined, lost))).cause).toEqual(new Error('lost'));
    expect(received).toEqual([]);
  });

  it("that took long to confirm doesn't send a request whose observation has expired", async () => {
    const { origin, received } = await serve((response) => json(response, 200, organization));
    const soon = performance.now() + 3_600_000;
    const confirm = async () => {
      const clock = vi.spyOn(performance, 'now').mockReturnValue(soon + 1);
      afterwards(() => clock.mockRestore());
    };
    const sending = use(origin).writer.send(rename, soon, { confirm, holds: () => true });
    await expect(sending).rejects.toMatchObject({ name: 'Expired', failure: undefined });
    expect(received).toEqual([]);
  });

  it('that is lost between two tries reports the result of the first', async () => {
    const { origin, received } = await serve((response) => json(response, 503, {}));
    let left = 1;
    const confirm = () => (left-- > 0 ? Promise.resolve() : Promise.reject(new Error('lost')));
    const { failure } = await withheld(
      use(origin).writer.send(rename, undefined, { confirm, holds: () => true }),
    );
    expect(failure).toMatchObject({ status: 503, attempts: 1, open: true });
    expect(received).toHaveLength(1);
  });
});

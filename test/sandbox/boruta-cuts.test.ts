import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Intercept } from '../../src/sandbox/index.js';
import { Work } from '../../src/sandbox/work.js';
import { ids } from '../demo-ids.js';
import { type Answer, boruta, type SandboxApi, start } from './api.js';
import { changed, path, state, steps } from './cuts.js';

const patch = ({ ask }: SandboxApi): Promise<Answer> => ask('PATCH', path, { user: changed });

/** A sandbox with a fault in the first PATCH. */
const faulty = (fault: Intercept): Promise<SandboxApi> =>
  boruta({ intercept: ({ method, number }) => (method === 'PATCH' && number === 1 ? fault : undefined) });

/** Whether the data is as after the given step of the PATCH. */
function isDone(api: SandboxApi, step: number): boolean {
  return JSON.stringify(state(api)) === JSON.stringify(steps[step]?.expected);
}

/** Resolves when a condition is true. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

describe('PATCH of a user is cut off', () => {
  test.each(steps)('after step $step: what was emptied stays empty', async ({ step, expected }) => {
    const api = await faulty({ kind: 'cut', step });
    await expect(patch(api)).rejects.toThrow();
    expect(state(api)).toEqual(expected);
    expect(api.sandbox.requests).toMatchObject([{ status: null }]);
    expect((await patch(api)).status).toBe(200);
    expect(state(api)).toEqual(steps[7]?.expected);
  });

  test('the work ends with the step in which the client goes away', async () => {
    const leaving = new AbortController();
    const work = new Work({ signal: leaving.signal, pool: undefined, latency: 0, interruption: undefined });
    const done: string[] = [];
    await work.write(() => done.push('before'));
    await work.write(() => {
      done.push('meanwhile');
      leaving.abort();
    });
    await expect(work.write(() => done.push('after'))).rejects.toThrow();
    expect(done).toEqual(['before', 'meanwhile']);
  });

  test.each([
    ['in the latency of a step: it is not done', { latency: 2 ** 30 }, 0],
    ['in the pause before a list is filled: it stays empty', { faults: { pause: 2 ** 30 } }, 2],
  ])('a client goes away %s', async (_, slow, step) => {
    const api = await boruta({ ...slow });
    const controller = new AbortController();
    const { sandbox } = api;
    const asked = fetch(sandbox.url + path, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${sandbox.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ user: changed }),
      signal: controller.signal,
    });
    await until(() => sandbox.requests[0]?.body !== undefined && isDone(api, step));
    controller.abort();
    await expect(asked).rejects.toThrow();
    expect(state(api)).toEqual(steps[step]?.expected);
  });
});

test.each([
  ['PATCH', `/api/organizations/${ids.acme}`, { organization: { name: 'new' } }],
  ['PATCH', `/api/key-pairs/${ids.firstKey}`, { key_pair: { is_default: false } }],
  ['PATCH', `/api/backends/${ids.backend}/email-templates/tx_code`, { template: { txt_content: 'a' } }],
  ['DELETE', `/api/backends/${ids.backend}/email-templates/tx_code`, undefined],
])('other work is one step: %s %s is cut off before it or after it', async (method, target, body) => {
  for (const step of [0, 1, 7]) {
    const api = await boruta({ intercept: () => ({ kind: 'cut', step }) });
    const before = api.sandbox.snapshot();
    await expect(api.ask(method, target, body)).rejects.toThrow();
    if (step === 0) expect(api.sandbox.snapshot()).toEqual(before);
    else expect(api.sandbox.snapshot()).not.toEqual(before);
  }
});

test.each([0, 1])('the documented profile does all of its work at once: cut after step %s', async (step) => {
  const api = await start({ intercept: () => ({ kind: 'cut', step }) });
  const user = { group: 'audit', authorized_scopes: [], organizations: [] };
  await expect(api.ask('PATCH', path, { user })).rejects.toThrow();
  expect(api.user(ids.ada)).toMatchObject(step === 0 ? { group: 'staff finance' } : user);
});

test.each(steps)('a pool that runs out after step $step of a PATCH gives 500', async ({ step, expected }) => {
  const api = await faulty({ kind: 'drop', step });
  const answer = await patch(api);
  expect(answer.status).toBe(500);
  expect(answer.body).toEqual({
    code: expect.any(String),
    message: expect.stringMatching(/connection not available and request was dropped from queue after \d+ms/),
  });
  expect(state(api)).toEqual(expected);
});

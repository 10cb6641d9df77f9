import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ids, start } from './asking.js';
import { changed, path, state, steps } from './cuts.js';

const boruta = { profile: 'boruta' } as const;

/** The milliseconds of a request each of whose steps takes long enough to end the client meanwhile, on a busy machine too. */
const stepwise = 8_000;

/** Resolves when a test's condition holds. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await wait(2);
}

test('the work ends when the client goes away, and nothing answers', async () => {
  const asking = await start({ ...boruta, latency: stepwise });
  const { sandbox, user } = asking;
  const leaving = request(sandbox.url + path, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${sandbox.token}`, 'content-type': 'application/json' },
  });
  leaving.on('error', () => {});
  leaving.end(JSON.stringify({ user: changed }));
  await until(() => user(ids.ada).authorized_scopes.length === 0);
  leaving.destroy();
  await wait(stepwise / 6);
  expect(state(asking)).toEqual(steps[2]?.expected);
  expect(sandbox.requests).toMatchObject([{ status: null }]);
});

test('the work ends when the client is killed', async () => {
  const asking = await start({ ...boruta, latency: stepwise });
  const { sandbox, user } = asking;
  const options = {
    method: 'PATCH',
    headers: { authorization: `Bearer ${sandbox.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ user: changed }),
  };
  const script = `fetch(${JSON.stringify(sandbox.url + path)}, ${JSON.stringify(options)})`;
  const client = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
  await until(() => user(ids.ada).organizations.length === 0);
  client.kill('SIGKILL');
  await wait(stepwise / 6);
  // The kill may come a step later than it is sent.
  const left = state(asking);
  expect(steps.slice(4, 7).map(({ expected }) => expected)).toContainEqual(left);
  await wait(stepwise / 6);
  expect(state(asking)).toEqual(left);
  expect(sandbox.requests).toMatchObject([{ status: null }]);
});

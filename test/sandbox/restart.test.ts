import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ids, start } from './asking.js';

test('a restart ends every connection and refuses new ones for its time; the data stays', async () => {
  const { ask, sandbox, user } = await start({
    profile: 'boruta',
    latency: 300,
    intercept: ({ method }) => (method === 'GET' ? { kind: 'restart', ms: 400 } : undefined),
  });
  const path = `/api/organizations/${ids.acme}`;
  const organization = { name: 'renamed' };
  const first = ask('PATCH', `/api/users/${ids.ada}`, { user: { authorized_scopes: [] } });
  const ended = expect(first).rejects.toThrow();
  while (user(ids.ada).authorized_scopes.length > 0) await wait(2);
  await expect(ask('GET', '/api/organizations')).rejects.toThrow();
  await ended;
  await expect(ask('PATCH', path, { organization })).rejects.toThrow();
  await wait(400);
  expect((await ask('PATCH', path, { organization })).status).toBe(200);
  expect(user(ids.ada)).toMatchObject({ authorized_scopes: [], organizations: [{}, {}] });
  expect(sandbox.data.organizations.at(-1)?.name).toBe('renamed');
});

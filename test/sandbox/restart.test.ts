import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { ids } from '../demo-ids.js';
import { start } from './api.js';

test('a restart ends every connection and refuses new ones for its time; the data stays', async () => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  const { ask, sandbox, user } = await start({
    profile: 'boruta',
    intercept: ({ method, path }) => {
      if (method === 'GET') return { kind: 'restart', ms: 400 };
      return path.includes(ids.ada) ? { kind: 'stall', when: 'after' } : undefined;
    },
  });
  const path = `/api/organizations/${ids.acme}`;
  const organization = { name: 'renamed' };
  const first = ask('PATCH', `/api/users/${ids.ada}`, { user: { authorized_scopes: [] } });
  const ended = expect(first).rejects.toThrow();
  while (user(ids.ada).authorized_scopes.length > 0) await turn();
  await expect(ask('GET', '/api/organizations')).rejects.toThrow();
  await ended;
  now = 399;
  await expect(ask('PATCH', path, { organization })).rejects.toThrow();
  now = 400;
  expect((await ask('PATCH', path, { organization })).status).toBe(200);
  clock.mockRestore();
  expect(user(ids.ada)).toMatchObject({ authorized_scopes: [] });
  expect(sandbox.data.organizations.at(-1)?.name).toBe('renamed');
});

import { expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.js';
import { ids } from './asking.js';

it('refuses to write the user that its token belongs to', async () => {
  const server = await startSandbox({ profile: 'boruta', ownUser: ids.ada });
  const patch = async (id: string): Promise<number> => {
    const { status } = await fetch(`${server.url}/api/users/${id}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ user: { group: 'ops' } }),
    });
    return status;
  };
  try {
    expect(await patch(ids.ada)).toBe(403);
    expect(await patch(ids.grace)).not.toBe(403);
  } finally {
    await server.close();
  }
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { differences, exactSite, userId } from '../apply/exact-server.js';

const odd = '1234567890123456789,9007199254740993,10.0,-0,1e3,1E400,0.10,-1.50E-7';

test('numbers are written with every digit, in new and in edited manifests', async () => {
  const site = await exactSite('boruta', {
    username: '"ann@example.com"',
    group: 'null',
    metadata: `{"limits":{"value":[${odd}],"status":"valid"},"__proto__":{"value":1,"status":"x"}}`,
    authorized_scopes: '[]',
    organizations: '[]',
    roles: '[]',
  });
  const ask = ['pull', '--kind', 'User', '--user', userId];
  const pulled = await site.idops(...ask);
  expect(pulled).toMatchObject({ code: 0 });
  expect(pulled.stderr).toContain('metadata has the key "__proto__", which no manifest can have');
  const read = () => readFile(join(site.folder, 'manifests/users.yaml'), 'utf8');
  for (const number of odd.split(',')) expect(await read()).toContain(`      - ${number}\n`);
  expect(await differences(site)).toEqual([]);
  expect(await site.idops(...ask, '--check')).toMatchObject({ code: 0 });

  const before = await read();
  site.user.metadata = site.user.metadata?.replace('9007199254740993', '9007199254740992') ?? '';
  expect(await site.idops(...ask)).toMatchObject({ code: 0 });
  expect(await read()).toBe(before.replace('9007199254740993', '9007199254740992'));
  expect(await differences(site)).toEqual([]);
  expect(site.sent).toEqual([]);
});

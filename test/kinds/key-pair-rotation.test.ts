import { expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { boruta, config, failed, project, succeeded } from '../e2e/running.js';

const document = (rotation: number, more = ''): { [path: string]: string } => ({
  'manifests/keys.yaml': `kind: KeyPair\nid: ${ids.secondKey}\nrotation: ${rotation}\n${more}`,
});

it('a key pair is rotated once for a greater number, and clients with its key get the new one', async () => {
  const { idops, write, writes, sandbox } = await project(
    { 'idops.yaml': boruta, ...document(1) },
    { profile: 'boruta' },
  );
  const key = () => sandbox.data.keyPairs.find(({ id }) => id === ids.secondKey)?.public_key ?? '';
  const before = key();
  const [client] = sandbox.data.clients;
  if (client !== undefined) client.public_key = before;
  await succeeded(idops('apply --yes'));
  expect(writes()).toEqual([]);
  await write(document(5));
  const { stdout } = await idops('plan');
  expect(stdout).toContain('rotation: 1 → 5');
  expect(stdout.replace(/\s+/g, ' ')).toMatch(
    new RegExp(
      `rotates the key, which is SHA256:\\S+ now: the clients that hold it get the new one: "${client?.name}" \\(Client/${client?.id}\\) `,
    ),
  );
  const applied = JSON.parse((await idops('apply --yes --format json')).stdout);
  expect(applied.results).toMatchObject([{ action: 'regenerate', status: 'applied' }]);
  expect(applied.results[0]).not.toHaveProperty('did');
  expect(writes()).toEqual([`POST /api/key-pairs/${ids.secondKey}/rotate`]);
  expect(key()).not.toBe(before);
  expect(client?.public_key).toBe(key());
  expect((await idops('plan --detailed-exitcode')).code).toBe(0);
  expect((await idops('undo --last --yes')).stderr).toContain("a regenerated key can't be restored");
  await write(document(4));
  await failed(idops('apply --yes'), 'rotation 4 is smaller than the recorded 5');
  const pair = sandbox.data.keyPairs.find(({ id }) => id === ids.secondKey);
  if (pair !== undefined) pair.public_key = 'another';
  await write(document(6));
  await failed(idops('apply --yes'), "the key pair's key was SHA256:");
  expect(writes()).toHaveLength(1);
});

it('a rotation with an unknown outcome is left to a person', async () => {
  const { idops, write, writes } = await project(
    { 'idops.yaml': boruta, ...document(1) },
    {
      profile: 'boruta',
      intercept: ({ method }) => (method === 'POST' ? { kind: 'answer', status: 500, body: {} } : undefined),
    },
  );
  await succeeded(idops('apply --yes'));
  await write(document(2));
  const { run } = JSON.parse((await idops('apply --yes --format json')).stdout);
  await failed(idops('apply --yes'), 'sent a regeneration whose outcome is not known');
  await failed(idops(`state rm KeyPair/${ids.secondKey} --yes`), 'look at its key');
  await succeeded(idops(`runs settle ${run} KeyPair/${ids.secondKey} --done --yes`));
  await succeeded(idops('apply --yes'));
  expect((await idops('plan --detailed-exitcode')).code).toBe(0);
  expect((await idops(`state show KeyPair/${ids.secondKey}`)).stdout).toContain('rotation 2');
  expect(writes()).toHaveLength(1);
});

it('a rotation with a lost response is read back', async () => {
  const { idops, write, writes, sandbox } = await project(
    { 'idops.yaml': boruta, ...document(1) },
    {
      profile: 'boruta',
      intercept: ({ method }) => (method === 'POST' ? { kind: 'reset', when: 'after' } : undefined),
    },
  );
  await succeeded(idops('apply --yes'));
  await write(document(2));
  const before = sandbox.data.keyPairs.find(({ id }) => id === ids.secondKey)?.public_key;
  const { stdout } = await succeeded(idops('apply --yes'));
  expect(stdout.replace(/\s+/g, ' ')).toContain('read back: the key is another one now');
  expect(sandbox.data.keyPairs.find(({ id }) => id === ids.secondKey)?.public_key).not.toBe(before);
  expect((await idops('plan --detailed-exitcode')).code).toBe(0);
  expect(writes()).toHaveLength(1);
});

it('a stored plan is stale if somebody else has rotated the key', async () => {
  const { idops, write, writes, sandbox } = await project(
    { 'idops.yaml': boruta, ...document(1) },
    { profile: 'boruta' },
  );
  await succeeded(idops('apply --yes'));
  await write(document(2));
  await succeeded(idops('plan --out plan.json'));
  const pair = sandbox.data.keyPairs.find(({ id }) => id === ids.secondKey);
  const { public_key: before = null } = pair ?? {};
  if (pair !== undefined) pair.public_key = 'by hand';
  expect((await idops('apply plan.json')).stderr).toContain('stale');
  if (pair !== undefined) pair.public_key = before;
  await succeeded(idops('apply plan.json'));
  expect(writes()).toHaveLength(1);
});

it('a rotation waits for a change of the default in the same plan', async () => {
  const { idops, write } = await project({ 'idops.yaml': boruta, ...document(1) }, { profile: 'boruta' });
  await succeeded(idops('apply --yes'));
  await write(document(2, 'is_default: true\n'));
  await failed(idops('apply --yes'), 'rotation is raised while is_default differs too');
});

it('the documented API rotates nothing', async () => {
  const { refused } = await project({ 'idops.yaml': config, ...document(1) });
  await refused('validate', ['no operation that rotates a key pair', 'keys.yaml:3:1']);
});

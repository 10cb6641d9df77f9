import { expect, it } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/index.js';
import { ids } from '../demo-ids.js';
import { blocked, boruta, failed, project, type TestProject } from './running.js';

const { grace } = ids;
const userOf = (id: string, fields: string): string => `kind: User\nid: ${id}\n${fields}\n`;
const reading = '{name: "billing:read"}';

async function guarded(safety: string, manifest: string, options: SandboxOptions = {}): Promise<TestProject> {
  const files = { 'idops.yaml': `${boruta}safety: ${safety}\n`, 'manifests/users.yaml': manifest };
  return await project(files, { profile: 'boruta', ...options });
}

it('a privileged change is marked in every format, and stops apply and undo', async () => {
  const manifest = userOf(grace, `authorized_scopes: [${reading}]`);
  const { idops, write, writes, json } = await guarded('{privileged: ["billing:*"]}', manifest);
  const address = `User/${grace}`;
  expect((await idops('plan')).stdout).toContain('    privileged: gives the scope "billing:read"\n');
  expect((await idops('plan --format markdown')).stdout).toContain('### Privileged (1)');
  expect((await idops('plan --format html')).stdout).toContain('<strong>Privileged:</strong>');
  expect((await idops('plan --format github')).stdout).toMatch(
    /^::warning [^:]*title=idops privileged update/,
  );
  const plan = await json('plan');
  expect(plan.summary.privileged).toBe(1);
  expect(plan.changes[0]).toMatchObject({ address, privileged: true });

  await failed(idops('apply --yes'), 'too-privileged');
  await failed(idops('apply --yes --allow-privileged 1 --allow-changes 0'), 'too-many-changes');
  expect(writes()).toEqual([]);
  expect((await idops('apply --yes --allow-privileged 1')).code).toBe(0);

  await write({ 'manifests/users.yaml': userOf(grace, 'authorized_scopes: []') });
  expect((await idops('apply --yes')).code).toBe(0);
  await failed(idops('undo --last --yes'), 'too-privileged');
  expect((await idops('undo --last --yes --allow-privileged 1')).code).toBe(0);
});

it('a server with privileged users is adopted without privileged changes', async () => {
  const manifest = userOf(ids.ada, `authorized_scopes: [${reading}, {name: "billing:write"}]`);
  const { json } = await guarded('{privileged: ["billing:*"]}', manifest);
  const plan = await json('plan --assert');
  expect(plan.summary).toMatchObject({ update: 0, unchanged: 1 });
  expect(plan.summary).not.toHaveProperty('privileged');
});

it('a protected object is not changed, by username and by undo too', async () => {
  const manifest = [userOf(ids.ada, 'group: other'), userOf(grace, 'group: other')].join('---\n');
  const { idops, write, writes } = await guarded('{}', manifest);
  expect((await idops('apply --yes')).code).toBe(0);
  const sent = writes().length;
  await write({ 'idops.yaml': `${boruta}safety: {protect: [User/ada@acme.example]}\n` });
  await failed(idops('undo --last --yes'), 'safety.protect has User/ada@acme.example');
  expect(writes()).toHaveLength(sent + 1);
});

it('too few holders of a scope block every change that removes it', async () => {
  const manifest = userOf(ids.ada, 'authorized_scopes: []');
  const { idops, write } = await guarded('{keep: [{scope: "billing:read", at_least: 1}]}', manifest);
  await blocked(idops('plan'), 'this plan would leave 0 with the scope "billing:read"');
  const other = userOf(grace, `authorized_scopes: [${reading}]`);
  await write({ 'manifests/users.yaml': `${manifest}---\n${other}` });
  expect((await idops('plan')).code).toBe(0);
});

it('a scope of safety.keep is removed from a user only after another user got it', async () => {
  // The first PATCH grants the scope, and fails.
  const manifest = `${userOf(grace, `authorized_scopes: [${reading}]`)}---\n${userOf(ids.ada, 'authorized_scopes: []')}`;
  const { idops, writes } = await guarded('{keep: [{scope: "billing:read", at_least: 1}]}', manifest, {
    intercept: ({ method, path }) =>
      method === 'PATCH' && path.endsWith(grace) ? { kind: 'answer', status: 422 } : undefined,
  });
  await blocked(idops('apply --yes'), 'was not granted what this change removes');
  expect(writes()).toHaveLength(1);
});

it('a missing scope in safety.keep is reported', async () => {
  const manifest = userOf(ids.ada, `authorized_scopes: [${reading}]`);
  const { idops } = await guarded('{keep: [{scope: "billing:raed", at_least: 1}]}', manifest);
  const { stdout } = await idops('plan');
  expect(stdout.replace(/\s+/g, ' ')).toContain(
    'safety.keep names the scope "billing:raed", which the server doesn\'t have, so it keeps nothing; did you mean "billing:read"?',
  );
});

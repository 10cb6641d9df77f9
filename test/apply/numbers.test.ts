import { expect, test } from 'vitest';
import { parseJson, stringifyJson } from '../../src/base/json.js';
import { applyAll, differences, exactSite, undoRun } from './exact-server.js';

/** A user as a server with the profile shows it, with the given members. */
function user(profile: 'documented' | 'boruta', members: { [member: string]: string } = {}) {
  return {
    username: '"ann@example.com"',
    group: '"staff"',
    metadata: '{}',
    federated_metadata: '{}',
    authorized_scopes: '[]',
    organizations: '[]',
    ...(profile === 'boruta' ? { roles: '[]' } : { blocked: 'false' }),
    ...members,
  };
}

const odd = '1234567890123456789,9007199254740993,10.0,-0,1e3,1E400,0.10,-1.50E-7';
const kept = `{"limits":{"value":[${odd}],"status":"valid"}}`;

test('undeclared numbers are sent with every digit, by undo too', async () => {
  const site = await exactSite('boruta', user('boruta', { metadata: kept }));
  await site.declare('group: admins\n');
  const { run, statuses } = await applyAll(site);
  expect(statuses).toEqual(['applied']);
  expect(site.sent).toHaveLength(1);
  expect(site.sent[0]).toContain(`"metadata":${kept}`);
  expect(site.user.metadata).toBe(kept);
  expect(await differences(site)).toEqual([]);
  expect(await site.records()).toContain(`"metadata":${kept}`);
  expect(await undoRun(site, run)).toEqual({ left: [], statuses: ['applied'] });
  expect(site.sent[1]).toContain(`"metadata":${kept}`);
  expect(site.user).toMatchObject({ group: '"staff"', metadata: kept });
});

test('declared numbers are sent with every digit and converge; undo restores the former ones', async () => {
  const site = await exactSite('boruta', user('boruta', { metadata: '{"a":{"value":11,"status":"valid"}}' }));
  const rest = kept.slice(1);
  await site.declare(
    `metadata: {a: {value: 10.0, status: valid}, limits: {value: [${odd}], status: valid}}\n`,
  );
  expect(await differences(site)).toHaveLength(2);
  const { run, statuses } = await applyAll(site);
  expect(statuses).toEqual(['applied']);
  expect(site.user.metadata).toBe(`{"a":{"value":10.0,"status":"valid"},${rest}`);
  expect(await differences(site)).toEqual([]);
  expect((await applyAll(site)).statuses).toEqual([]);
  // A change of the last digit is a difference, although both numbers are the same double.
  site.user.metadata = site.user.metadata?.replace('9007199254740993', '9007199254740992') ?? '';
  expect(await differences(site)).toHaveLength(1);
  site.user.metadata = site.user.metadata?.replace('9007199254740992', '9007199254740993') ?? '';
  expect((await undoRun(site, run)).left).toEqual([]);
  expect(site.user.metadata).toBe('{"a":{"value":11,"status":"valid"}}');
});

test('under documented, the record keeps every digit, and merged maps are sent with them', async () => {
  const site = await exactSite('documented', user('documented'));
  const options = `{"cost":12.0,"salt":${odd.split(',')[0]}}`;
  await site.declare(
    `whole: [metadata, federated_metadata]\nmetadata: {a: [${odd}]}\nfederated_metadata: {b: 9007199254740993}\n` +
      `backend: {smtp_port: 587.0, password_hashing_opts: ${options}, metadata_fields: [{max: 1e3}]}\n`,
  );
  expect((await applyAll(site)).statuses).toEqual(['applied']);
  expect(site.sent).toEqual([
    `{"user":{"metadata":{"a":[${odd}]},"federated_metadata":{"b":9007199254740993},` +
      `"backend":{"metadata_fields":[{"max":1e3}],"password_hashing_opts":${options},"smtp_port":587}}}`,
  ]);
  expect(await differences(site)).toEqual([]);
  await site.declare('metadata: {c: 1.0}\nfederated_metadata: {c: 2.0}\n');
  const { run, statuses } = await applyAll(site);
  expect(statuses).toEqual(['applied']);
  expect(site.sent[1]).toBe(
    `{"user":{"metadata":{"a":[${odd}],"c":1.0},"federated_metadata":{"b":9007199254740993,"c":2.0}}}`,
  );
  expect((await undoRun(site, run)).statuses).toEqual(['applied']);
  expect(site.sent[2]).toBe(
    `{"user":{"metadata":{"a":[${odd}]},"federated_metadata":{"b":9007199254740993}}}`,
  );
});

test('a server that rounds is detected', async () => {
  const site = await exactSite('documented', user('documented'));
  await site.declare('whole: [metadata]\nmetadata: {a: 9007199254740993}\n');
  const answering = Object.getOwnPropertyDescriptor(site.user, 'metadata');
  expect(answering?.value).toBe('{}');
  Object.defineProperty(site.user, 'metadata', {
    enumerable: true,
    get: () => '{"a":9007199254740992}',
    set: () => {},
  });
  expect((await applyAll(site)).statuses).toEqual([
    'the server answered 200 and kept another value: metadata.a: asked 9007199254740993, the server has 9007199254740992',
  ]);
});

test('10 and 10.0 give different plans, and a stored plan is stale if a digit changed', async () => {
  const site = await exactSite('boruta', user('boruta', { metadata: kept }));
  const digestOf = async (number: string) => {
    await site.declare(`metadata: {a: {value: ${number}, status: valid}}\n`);
    return (await site.session((session) => session.plan())).digest;
  };
  const digest = await digestOf('10.0');
  expect(await digestOf('10')).not.toBe(digest);
  expect(await digestOf('10.0')).toBe(digest);

  expect((await site.idops('plan', '--out', 'plan.json')).code).toBe(0);
  site.user.metadata = kept.replace('9007199254740993', '9007199254740992');
  const stale = await site.idops('apply', 'plan.json');
  expect(stale.code).toBe(1);
  expect(stale.stderr).toContain('stale plan');
  expect(site.sent).toEqual([]);
  site.user.metadata = kept;
  expect((await site.idops('apply', 'plan.json')).code).toBe(0);
  expect(site.user.metadata).toBe(`{${kept.slice(1, -1)},"a":{"value":10.0,"status":"valid"}}`);
});

test('every format shows every digit', async () => {
  const site = await exactSite('boruta', user('boruta', { metadata: '{"a":{"value":11,"status":"valid"}}' }));
  await site.declare('metadata: {a: {value: 10.0, status: valid}}\n');
  const args = ['json', 'json=p.json', 'markdown=p.md', 'html=p.html', 'github=p.txt'];
  const { stdout, stderr } = await site.idops('plan', ...args.flatMap((name) => ['--format', name]));
  expect(stderr).not.toContain('error');
  expect(stdout).toMatch(/"after": \{\s*"value": 10\.0,/);
  const plan = parseJson(stdout) as { changes: readonly { fields: unknown }[] };
  expect(stringifyJson(plan.changes[0]?.fields)).toBe(
    '[{"path":"metadata.a","before":{"value":11,"status":"valid"},"after":{"value":10.0,"status":"valid"},"sensitive":false}]',
  );
  expect((await site.idops('plan')).stdout).toContain(
    'metadata.a: {"value": 11, "status": "valid"}\n      → {"value": 10.0, "status": "valid"}',
  );
  expect((await site.idops('apply', '--yes')).code).toBe(0);
  const [run = ''] = await site.runs();
  const shown = await site.idops('runs', 'show', run, '--format', 'json');
  expect(shown.stdout).toMatch(/"after": \{\s*"value": 10\.0,/);
});

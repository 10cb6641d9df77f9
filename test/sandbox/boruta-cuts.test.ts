import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Intercept, SandboxOptions } from '../../src/sandbox/index.js';
import { type Asking, ids, start, type Told } from './asking.js';

const boruta = { profile: 'boruta' } as const;
const path = `/api/users/${ids.ada}`;

/** What every list of Ada is changed to. */
const changed = {
  metadata: { department: { value: 'audit', status: 'valid' } },
  group: 'audit',
  authorized_scopes: [{ id: ids.reportsRead }],
  organizations: [{ id: ids.initech }],
  roles: [{ id: ids.accountant }],
};

const patch = ({ ask }: Asking): Promise<Told> => ask('PATCH', path, { user: changed });

/** Where Ada's fields are: as they were, empty, or as they were sent. */
function state({ user }: Asking): Record<string, string> {
  const ada = user(ids.ada);
  const list = (elements: readonly { id: string }[], sent: string): string => {
    if (elements.length === 0) return 'empty';
    return elements.length === 1 && elements[0]?.id === sent ? 'sent' : 'old';
  };
  return {
    group: ada.group === 'audit' ? 'sent' : 'old',
    metadata: Object.keys(ada.metadata).length === 1 ? 'sent' : 'old',
    scopes: list(ada.authorized_scopes, ids.reportsRead),
    organizations: list(ada.organizations, ids.initech),
    // Ada has one role before and another one after.
    roles: list(ada.roles, ids.accountant),
  };
}

const steps = [
  { group: 'old', metadata: 'old', scopes: 'old', organizations: 'old', roles: 'old' },
  { group: 'sent', metadata: 'sent', scopes: 'old', organizations: 'old', roles: 'old' },
  { group: 'sent', metadata: 'sent', scopes: 'empty', organizations: 'old', roles: 'old' },
  { group: 'sent', metadata: 'sent', scopes: 'sent', organizations: 'old', roles: 'old' },
  { group: 'sent', metadata: 'sent', scopes: 'sent', organizations: 'empty', roles: 'old' },
  { group: 'sent', metadata: 'sent', scopes: 'sent', organizations: 'sent', roles: 'old' },
  { group: 'sent', metadata: 'sent', scopes: 'sent', organizations: 'sent', roles: 'empty' },
  { group: 'sent', metadata: 'sent', scopes: 'sent', organizations: 'sent', roles: 'sent' },
].map((expected, step) => ({ step, expected }));

const once = (fault: Intercept): SandboxOptions => ({
  ...boruta,
  intercept: ({ method, number }) => (method === 'PATCH' && number === 1 ? fault : undefined),
});

/** The milliseconds of a request each of whose steps takes long enough to end the client meanwhile, on a busy machine too. */
const stepwise = 8_000;

/** Resolves when a test's condition holds. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await wait(2);
}

describe('PATCH of a user is cut off', () => {
  test.each(steps)('after step $step: what was emptied stays empty', async ({ step, expected }) => {
    const asking = await start(once({ kind: 'cut', step }));
    await expect(patch(asking)).rejects.toThrow();
    expect(state(asking)).toEqual(expected);
    expect(asking.sandbox.requests).toMatchObject([{ status: null }]);
    expect((await patch(asking)).status).toBe(200);
    expect(state(asking)).toEqual(steps[7]?.expected);
  });

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

  test('a step is not done when the client goes away in its latency', async () => {
    const asking = await start({ ...boruta, latency: 2 ** 30 });
    const controller = new AbortController();
    const { sandbox } = asking;
    const before = sandbox.snapshot();
    const asked = fetch(sandbox.url + path, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${sandbox.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ user: changed }),
      signal: controller.signal,
    });
    await until(() => sandbox.requests[0]?.body !== undefined);
    controller.abort();
    await expect(asked).rejects.toThrow();
    expect(sandbox.snapshot()).toEqual(before);
  });
});

test.each([
  ['PATCH', `/api/organizations/${ids.acme}`, { organization: { name: 'new' } }],
  ['PATCH', `/api/key-pairs/${ids.firstKey}`, { key_pair: { is_default: false } }],
  ['PATCH', `/api/backends/${ids.backend}/email-templates/tx_code`, { template: { txt_content: 'a' } }],
  ['DELETE', `/api/backends/${ids.backend}/email-templates/tx_code`, undefined],
])('other work is one step: %s %s is cut off before it or after it', async (method, target, body) => {
  for (const step of [0, 1, 7]) {
    const asking = await start({ ...boruta, intercept: () => ({ kind: 'cut', step }) });
    const before = asking.sandbox.snapshot();
    await expect(asking.ask(method, target, body)).rejects.toThrow();
    if (step === 0) expect(asking.sandbox.snapshot()).toEqual(before);
    else expect(asking.sandbox.snapshot()).not.toEqual(before);
  }
});

test.each([0, 1])('the documented profile does all of its work at once: cut after step %s', async (step) => {
  const asking = await start({ intercept: () => ({ kind: 'cut', step }) });
  const user = { group: 'audit', authorized_scopes: [], organizations: [] };
  await expect(asking.ask('PATCH', path, { user })).rejects.toThrow();
  expect(asking.user(ids.ada)).toMatchObject(step === 0 ? { group: 'staff finance' } : user);
});

test.each(steps)('a pool that runs out after step $step of a PATCH gives 500', async ({ step, expected }) => {
  const asking = await start(once({ kind: 'drop', step }));
  const told = await patch(asking);
  expect(told.status).toBe(500);
  expect(told.body).toEqual({
    code: expect.any(String),
    message: expect.stringMatching(/connection not available and request was dropped from queue after \d+ms/),
  });
  expect(state(asking)).toEqual(expected);
});

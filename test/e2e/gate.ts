import { expect } from 'vitest';
import type { SandboxRequest } from '../../src/sandbox/index.js';
import { ids } from '../sandbox/asking.js';
import { type Files, journals, succeeded, type TestProject } from './running.js';

/** A server that holds its answers back until it is told, and tells when the first requests came. */
export function gate(expected = 1) {
  let come = (): void => {};
  let open = (): void => {};
  let count = 0;
  const came = new Promise<void>((resolve) => {
    come = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    /** Resolves when so many requests are held. */
    came,
    open: () => open(),
    intercept: async () => {
      count += 1;
      if (count >= expected) come();
      await opened;
      return undefined;
    },
  };
}

/** Does something whenever a user is to be written. */
export function onUserWrite(act: () => Promise<unknown>) {
  return async ({ method, path }: SandboxRequest): Promise<undefined> => {
    if (method !== 'GET' && path.includes('/users/')) await act();
    return undefined;
  };
}

/** What happens while a user is written, which a test says once there is a server. */
export function whileUserIsWritten() {
  let act: () => Promise<unknown> = async () => undefined;
  return {
    intercept: onUserWrite(() => act()),
    during(next: typeof act): void {
      act = next;
    },
  };
}

const client = (generation: number): Files => ({
  'manifests/client.yaml': `kind: Client\nid: ${ids.portal}\ndid_generation: ${generation}\n`,
});

/** How a state goes away while a user is written, and how it comes back. */
interface Loss {
  during(act: () => Promise<unknown>): void;
  away(): Promise<unknown>;
  back(): Promise<unknown>;
  readonly why: string | RegExp;
}

/** A state that goes away in the middle of a run loses nothing, and nothing is done twice once it is back. */
export async function losesNothing(at: TestProject, { during, away, back, why }: Loss): Promise<void> {
  const { idops, write, read, writes, sandbox } = at;
  await write(client(1));
  await succeeded(idops('apply --yes'));
  await write({ ...client(2), 'manifests/ada.yaml': `kind: User\nid: ${ids.ada}\ngroup: others\n` });
  during(away);
  const before = writes().length;
  const { code, stderr } = await idops('apply --yes');
  during(async () => {});
  expect([code, stderr]).toEqual([1, expect.stringContaining('error[run-ended-early]')]);
  expect(stderr).toMatch(why);
  expect(stderr).toMatch(/kept in \.idops\/kept: run idops again from here/);
  expect(writes().slice(before)).toEqual([`PATCH /api/users/${ids.ada}`]);
  const kept = async () => journals(await at.files()).filter((path) => path.startsWith('.idops/kept/'));
  expect(await read((await kept())[0] ?? '')).toContain('"type":"answered"');
  await back();
  const planned = await idops('plan');
  expect(planned.stderr).toMatch(
    /run \S+ had not ended: \d+ of its answers (?:was|were) taken into the plan/,
  );
  expect(planned.stdout).not.toContain('User/');
  expect(planned.stdout).toContain('Client/');
  await succeeded(idops('apply --yes'));
  expect(sandbox.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  expect(await kept()).toEqual([]);
  await succeeded(idops('plan --detailed-exitcode'));
}

/** One that lets what is read through, and holds so many writes back. */
export function writesHeld(expected = 1) {
  const { intercept, ...rest } = gate(expected);
  return { ...rest, intercept: ({ method }: SandboxRequest) => (method === 'GET' ? undefined : intercept()) };
}

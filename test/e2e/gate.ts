import { expect } from 'vitest';
import type { SandboxRequest } from '../../src/sandbox/index.js';
import { ids } from '../demo-ids.js';
import { type Files, journals, succeeded, type TestProject } from './running.js';

/** A server that holds its responses back until `open`, and reports when the first requests arrive. */
export function gate(expected = 1) {
  let arrive = (): void => {};
  let open = (): void => {};
  let count = 0;
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    /** Resolves when the expected number of requests is held. */
    arrived,
    open: () => open(),
    intercept: async () => {
      count += 1;
      if (count >= expected) arrive();
      await opened;
      return undefined;
    },
  };
}

/** Runs `act` whenever a user is about to be written. */
export function onUserWrite(act: () => Promise<unknown>) {
  return async ({ method, path }: SandboxRequest): Promise<undefined> => {
    if (method !== 'GET' && path.includes('/users/')) await act();
    return undefined;
  };
}

/** Runs what a test sets later, once its server exists, while a user is written. */
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

/** How a state disappears while a user is written, and how it returns. */
interface Loss {
  during(act: () => Promise<unknown>): void;
  away(): Promise<unknown>;
  back(): Promise<unknown>;
  readonly why: string | RegExp;
}

/** Expects that a state that disappears during a run loses nothing, and that nothing is done twice afterwards. */
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

/** A gate that holds only writes. */
export function holdWrites(expected = 1) {
  const { intercept, ...rest } = gate(expected);
  return { ...rest, intercept: ({ method }: SandboxRequest) => (method === 'GET' ? undefined : intercept()) };
}

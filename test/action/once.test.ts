import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ActionRun, acme, pullRequest, type Workspace, workspace } from './running.js';

const approvedOnly = { command: 'apply', 'expect-digest': 'from-pull-request' };

async function plans(site: Workspace, number: number, label?: string): Promise<void> {
  if (label !== undefined) await site.write(acme(label));
  await site.run({}, pullRequest(number));
}

/** Merges it, as a commit that is called after it. */
function merges(site: Workspace, number: number): string {
  const sha = `abc00${number}`;
  site.github.merge(number, sha);
  return sha;
}

function applies(site: Workspace, sha: string, { attempt = 1, inputs = {} } = {}): Promise<ActionRun> {
  return site.run({ ...approvedOnly, ...inputs }, { sha, env: { GITHUB_RUN_ATTEMPT: String(attempt) } });
}

function labelOf({ sandbox }: Workspace, name = 'acme'): string | null | undefined {
  return sandbox.data.organizations.find((one) => one.name === name)?.label;
}

function setLabel({ sandbox }: Workspace, label: string, name: string | null | undefined = 'acme'): void {
  const [found] = sandbox.data.organizations.filter((one) => one.name === name);
  if (found !== undefined) found.label = label;
}

/** A pull request that was merged and applied, after which somebody changed the server back. */
async function appliedAndUndoneByHand(): Promise<{ site: Workspace; sha: string }> {
  const site = await workspace(acme('Approved'));
  const before = labelOf(site) ?? '';
  await plans(site, 7);
  const sha = merges(site, 7);
  await applies(site, sha);
  setLabel(site, before);
  return { site, sha };
}

/** Three organizations, of which the server refuses to change the last one as long as `broken.is`. */
async function three(): Promise<{ site: Workspace; broken: { is: boolean } }> {
  const broken = { is: true };
  const site = await workspace(
    {},
    {
      intercept: (asked) =>
        broken.is && JSON.stringify(asked.body ?? '').includes('third')
          ? { kind: 'answer', status: 422, body: { code: 'x', message: 'x' } }
          : undefined,
    },
  );
  const names = site.sandbox.data.organizations.slice(0, 3).map(({ name }) => name);
  const text = names.map(
    (name, at) => `kind: Organization\nname: ${name}\nlabel: ${['first', 'second', 'third'][at]}\n`,
  );
  await site.write({ 'manifests/organizations.yaml': text.join('---\n') });
  return { site, broken };
}

describe('an approval', () => {
  it('is used once: what was applied and taken back is not applied by running the old job again', async () => {
    const site = await workspace(acme('Given'));
    const before = labelOf(site) ?? '';
    await plans(site, 7);
    const first = merges(site, 7);
    expect((await applies(site, first)).code).toBe(0);
    await plans(site, 8, before);
    expect((await applies(site, merges(site, 8))).code).toBe(0);
    await site.write(acme('Given'));
    const { code, log } = await applies(site, first, { attempt: 2 });
    expect(code).toBe(1);
    expect(log).toMatch(/error\[approval-used\]: .*actions\/runs\/\d+/);
    expect(labelOf(site)).toBe(before);
  });

  it.each(['had nothing to apply', 'could not plan'])('ends with a later run that %s', async (what) => {
    const site = await workspace(acme('Reverted'));
    const before = labelOf(site) ?? '';
    await plans(site, 7);
    const first = merges(site, 7);
    const down = { 'base-url': 'http://127.0.0.1:9', args: '--retries 0' };
    expect((await applies(site, first, { inputs: down })).code).toBe(1);
    await plans(site, 8, before);
    const isDown = what === 'could not plan';
    const second = await applies(site, merges(site, 8), { inputs: isDown ? down : {} });
    expect(second.code).toBe(isDown ? 1 : 0);
    await site.write(acme('Reverted'));
    const again = await applies(site, first, { attempt: 2 });
    expect(again.code).toBe(1);
    expect(again.log).toContain('a later run of this workflow came after this one: https://github.example/');
    expect(site.writes()).toEqual([]);
  });

  it('still counts for another attempt if nothing came of the first and no later run has planned', async () => {
    const site = await workspace(acme('Approved'));
    await plans(site, 7);
    const sha = merges(site, 7);
    const down = { ...approvedOnly, 'base-url': 'http://127.0.0.1:9', args: '--retries 0' };
    expect((await site.run(down, { sha })).code).toBe(1);
    // A run that was cancelled while it waited did nothing.
    site.github.runOf(90, { event: 'push', head_sha: 'abc008', run_attempt: 1 });
    expect((await applies(site, sha, { attempt: 2 })).code).toBe(0);
    expect(labelOf(site)).toBe('Approved');
  });

  it('is not used by another run for the same commit', async () => {
    const { site, sha } = await appliedAndUndoneByHand();
    const by = { event: 'workflow_dispatch', sha, env: { GITHUB_RUN_ID: '95' } };
    const { code, log } = await site.run({ ...approvedOnly }, by);
    expect(code).toBe(1);
    expect(log).toContain('the approval of pull request #7 was used by https://github.example/');
    expect(site.writes()).toHaveLength(1);
  });

  it('ends with everything applied: the same change, made by hand to be needed again, takes a new one', async () => {
    const { site, sha } = await appliedAndUndoneByHand();
    const { code, log } = await applies(site, sha, { attempt: 2 });
    expect(code).toBe(1);
    expect(log).toContain('everything that was approved was applied already');
    const digest = /Digest: (sha256:\w+)/.exec(log)?.[1];
    expect(log).toContain(`start the workflow by hand with expect-digest ${digest}`);
    expect(site.writes()).toHaveLength(1);
  });

  it.each(['as the pull request showed it', 'from the artifact of the first job'])(
    'lets another attempt finish what the first one left, %s',
    async (way) => {
      const { site, broken } = await three();
      await plans(site, 7);
      const sha = merges(site, 7);
      const inputs: { [name: string]: string } = {};
      if (way.includes('artifact')) {
        const planned = await site.run({ command: 'plan' }, { sha });
        inputs['plan-file'] = join(site.folder, '..', 'kept', 'plan.json');
        await mkdir(join(site.folder, '..', 'kept'), { recursive: true });
        await cp(planned.outputs['plan-file'] ?? '', inputs['plan-file']);
      }
      const first = await applies(site, sha, { inputs });
      expect(first).toMatchObject({ code: 1, summary: expect.stringContaining('2 applied') });
      broken.is = false;
      const second = await applies(site, sha, { attempt: 2, inputs });
      expect(second.code, second.log).toBe(0);
      expect(second.summary).toContain('1 applied');
      expect((await applies(site, sha, { attempt: 3, inputs: {} })).log).toContain('0 to update');
    },
  );

  it.each<[string, (site: Workspace) => Promise<unknown>, string]>([
    [
      'what is left is otherwise by now',
      async (site) => setLabel(site, 'by hand', site.sandbox.data.organizations[2]?.name),
      'was changed on the server',
    ],
    [
      'what was applied was changed back',
      async (site) => setLabel(site, 'by hand', site.sandbox.data.organizations[0]?.name),
      'was applied, and was changed since',
    ],
    [
      'something else was applied',
      async (site) => {
        await site.write(acme('By hand'));
        await site.run({ command: 'apply', args: '--target Organization/acme' }, { event: 'schedule' });
        Object.assign(site.github.runs.at(-1) ?? {}, { workflow_id: 3 });
      },
      'was applied since',
    ],
  ])('lets nothing be finished if %s', async (_, happen, told) => {
    const { site, broken } = await three();
    await plans(site, 7);
    const sha = merges(site, 7);
    await applies(site, sha);
    broken.is = false;
    const manifests = await site.read(join(site.folder, 'manifests/organizations.yaml'));
    await happen(site);
    await site.write({ 'manifests/organizations.yaml': manifests });
    const writes = site.writes().length;
    const { code, log } = await applies(site, sha, { attempt: 2 });
    expect(code).toBe(1);
    expect(log).toContain(told);
    expect(log).toMatch(/start the workflow by hand with expect-digest sha256:/);
    expect(site.writes()).toHaveLength(writes);
  });

  it.each([
    ['an earlier id that a person started with its digest', true],
    ['no approval at all, such as one on the command line', false],
  ])('ends when it was applied by a run with %s', async (_, byHand) => {
    const site = await workspace(acme('Approved'));
    const before = labelOf(site) ?? '';
    await plans(site, 7);
    const sha = merges(site, 7);
    const digest = /digest=(sha256:[0-9a-f]{64})/.exec(site.github.comments[0]?.body ?? '')?.[1] ?? '';
    const inputs = byHand ? { 'expect-digest': digest } : {};
    const early = { sha: 'abc000', event: 'workflow_dispatch', env: { GITHUB_RUN_ID: '1' } };
    expect((await site.run({ command: 'apply', ...inputs }, early)).code).toBe(0);
    setLabel(site, before);
    const { code, log } = await applies(site, sha);
    expect(code).toBe(1);
    expect(log).toMatch(
      byHand ? /another plan was applied since: https:\S+runs\/1/ : /run \S+ was applied since/,
    );
    expect(labelOf(site)).toBe(before);
  });

  it('that another pull request made stale names that one', async () => {
    const site = await workspace(acme('First'));
    await plans(site, 7);
    await plans(site, 8, 'Second');
    await site.write(acme('First'));
    await applies(site, merges(site, 7));
    await site.write(acme('Second'));
    const { code, log } = await applies(site, merges(site, 8));
    expect(code).toBe(1);
    expect(log).toMatch(/approval-used.*another plan was applied since: pull request #7, by https:/);
  });

  it('needs a state that outlives the job', async () => {
    const site = await workspace(acme('Approved'));
    await plans(site, 7);
    const sha = merges(site, 7);
    const { code, log } = await site.run(approvedOnly, { sha, env: { RUNNER_ENVIRONMENT: 'github-hosted' } });
    expect(code).toBe(1);
    expect(log).toContain('state: {git: {}}');
    expect(site.writes()).toEqual([]);
  });

  it('takes the permission to read runs', async () => {
    const site = await workspace(acme('Approved'));
    await plans(site, 7);
    const message = 'Resource not accessible by integration';
    site.github.faults.push({ method: 'GET', path: /actions\/runs/, status: 403, message });
    const { code, log } = await applies(site, merges(site, 7));
    expect(code).toBe(1);
    expect(log).toContain('actions: read');
    expect(site.writes()).toEqual([]);
  });
});

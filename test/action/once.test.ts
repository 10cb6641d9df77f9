import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type ActionRun,
  acme,
  failed,
  planned,
  pullRequest,
  type Workspace,
  went,
  workspace,
} from './running.js';

const down = { 'base-url': 'http://127.0.0.1:9', args: '--retries 0' };
const approvedOnly = { command: 'apply', 'expect-digest': 'from-pull-request' };

async function plans(site: Workspace, number: number, label?: string): Promise<void> {
  if (label !== undefined) await site.write(acme(label));
  await site.run({}, pullRequest(number));
}

/** Merges the pull request, as a commit with its number. */
function merges(site: Workspace, number: number): string {
  const sha = `abc00${number}`;
  site.github.merge(number, sha);
  return sha;
}

function applies(site: Workspace, sha: string, { attempt = 1, inputs = {} } = {}): Promise<ActionRun> {
  return site.run({ ...approvedOnly, ...inputs }, { sha, env: { GITHUB_RUN_ATTEMPT: String(attempt) } });
}

function labelOf({ sandbox }: Workspace): string {
  return sandbox.data.organizations.find(({ name }) => name === 'acme')?.label ?? '';
}

/** A pull request that was planned and merged. */
async function merged(): Promise<{ site: Workspace; sha: string }> {
  const site = await planned('Approved');
  return { site, sha: merges(site, 7) };
}

/** A pull request that was merged and applied, and whose change was reverted on the server. */
async function appliedAndUndoneByHand(): Promise<{ site: Workspace; sha: string }> {
  const { site, sha } = await merged();
  const before = labelOf(site);
  await applies(site, sha);
  site.setLabel(before);
  return { site, sha };
}

/** Three organizations; the server refuses to change the last one while `broken.is`. */
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
  it("is used once: repeating the old job doesn't apply again what was reverted", async () => {
    const { site, sha } = await merged();
    const before = labelOf(site);
    await went(applies(site, sha));
    await plans(site, 8, before);
    await went(applies(site, merges(site, 8)));
    await site.write(acme('Approved'));
    await failed(applies(site, sha, { attempt: 2 }), /error\[approval-used\]: .*actions\/runs\/\d+/);
    expect(labelOf(site)).toBe(before);
  });

  it.each(['had nothing to apply', 'could not plan'])('expires with a later run that %s', async (what) => {
    const { site, sha: first } = await merged();
    const before = labelOf(site);
    await failed(applies(site, first, { inputs: down }));
    await plans(site, 8, before);
    const isDown = what === 'could not plan';
    const second = await applies(site, merges(site, 8), { inputs: isDown ? down : {} });
    expect(second.code).toBe(isDown ? 1 : 0);
    await site.write(acme('Approved'));
    const message = 'this workflow has a later run than this one: https://github.example/';
    await failed(applies(site, first, { attempt: 2 }), message);
    expect(site.writes()).toEqual([]);
  });

  it('allows another attempt if the first did nothing and no later run has planned', async () => {
    const { site, sha } = await merged();
    await failed(applies(site, sha, { inputs: down }));
    // A run that was cancelled while it waited did nothing.
    site.github.runOf(90, { event: 'push', head_sha: 'abc008', run_attempt: 1 });
    await went(applies(site, sha, { attempt: 2 }));
    expect(labelOf(site)).toBe('Approved');
  });

  it("can't be used by another run of the same commit", async () => {
    const { site, sha } = await appliedAndUndoneByHand();
    const by = { event: 'workflow_dispatch', sha, env: { GITHUB_RUN_ID: '95' } };
    const message = 'the approval of pull request #7 was used by https://github.example/';
    await failed(site.run(approvedOnly, by), message);
    expect(site.writes()).toHaveLength(1);
  });

  it('ends when everything is applied: making the same change again needs a new one', async () => {
    const { site, sha } = await appliedAndUndoneByHand();
    const message = 'all approved changes were already applied';
    const { log } = await failed(applies(site, sha, { attempt: 2 }), message);
    const digest = /Digest: (sha256:\w+)/.exec(log)?.[1];
    expect(log).toContain(`start the workflow by hand with expect-digest ${digest}`);
    expect(site.writes()).toHaveLength(1);
  });

  it.each(['as the pull request showed it', 'from the artifact of the first job'])(
    'allows another attempt to finish the first, %s',
    async (way) => {
      const { site, broken } = await three();
      await plans(site, 7);
      const sha = merges(site, 7);
      const inputs: { [name: string]: string } = {};
      if (way.includes('artifact')) {
        const again = await site.run({ command: 'plan' }, { sha });
        inputs['plan-file'] = join(site.folder, '..', 'kept', 'plan.json');
        await mkdir(join(site.folder, '..', 'kept'), { recursive: true });
        await cp(again.outputs['plan-file'] ?? '', inputs['plan-file']);
      }
      const first = await applies(site, sha, { inputs });
      expect(first).toMatchObject({ code: 1, summary: expect.stringContaining('2 applied') });
      broken.is = false;
      const second = await went(applies(site, sha, { attempt: 2, inputs }));
      expect(second.summary).toContain('1 applied');
      expect((await applies(site, sha, { attempt: 3, inputs: {} })).log).toContain('0 to update');
    },
  );

  it.each<[string, (site: Workspace) => Promise<unknown>, string]>([
    [
      'what is left changed on the server',
      async (site) => site.setLabel('by hand', site.sandbox.data.organizations[2]?.name),
      'was changed on the server',
    ],
    [
      'what was applied was changed back',
      async (site) => site.setLabel('by hand', site.sandbox.data.organizations[0]?.name),
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
  ])("doesn't allow finishing if %s", async (_, happen, message) => {
    const { site, broken } = await three();
    await plans(site, 7);
    const sha = merges(site, 7);
    await applies(site, sha);
    broken.is = false;
    const manifests = await site.read(join(site.folder, 'manifests/organizations.yaml'));
    await happen(site);
    await site.write({ 'manifests/organizations.yaml': manifests });
    const writes = site.writes().length;
    const byHand = /start the workflow by hand with expect-digest sha256:/;
    await failed(applies(site, sha, { attempt: 2 }), message, byHand);
    expect(site.writes()).toHaveLength(writes);
  });

  it.each([
    ['an earlier id, started by hand with the digest', true],
    ['no approval, such as one on the command line', false],
  ])('expires if the plan was applied by a run with %s', async (_, byHand) => {
    const { site, sha } = await merged();
    const before = labelOf(site);
    const digest = /digest=(sha256:[0-9a-f]{64})/.exec(site.github.comments[0]?.body ?? '')?.[1] ?? '';
    const inputs = byHand ? { 'expect-digest': digest } : {};
    const early = { sha: 'abc000', event: 'workflow_dispatch', env: { GITHUB_RUN_ID: '1' } };
    await went(site.run({ command: 'apply', ...inputs }, early));
    site.setLabel(before);
    const message = byHand ? /another plan was applied since: https:\S+runs\/1/ : /run \S+ was applied since/;
    await failed(applies(site, sha), message);
    expect(labelOf(site)).toBe(before);
  });

  it('that expired because of another pull request names it', async () => {
    const site = await planned('First');
    await plans(site, 8, 'Second');
    await site.write(acme('First'));
    await applies(site, merges(site, 7));
    await site.write(acme('Second'));
    const message = /approval-used.*another plan was applied since: pull request #7, by https:/;
    await failed(applies(site, merges(site, 8)), message);
  });

  it('requires a state that outlives the job', async () => {
    const { site, sha } = await merged();
    const env = { RUNNER_ENVIRONMENT: 'github-hosted' };
    await failed(site.run(approvedOnly, { sha, env }), 'state: {git: {}}');
    expect(site.writes()).toEqual([]);
  });

  it('requires the permission to read runs', async () => {
    const { site, sha } = await merged();
    site.github.forbid('GET', /actions\/runs/);
    await failed(applies(site, sha), 'actions: read');
    expect(site.writes()).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import {
  type ActionRun,
  acme,
  failed,
  nobody,
  organizations,
  pullRequest,
  type Workspace,
  went,
  workspace,
} from './running.js';

const sha = 'abc123';
const none = `sha256:${'0'.repeat(64)}`;
const approved = { 'expect-digest': 'from-pull-request' };

async function merged(
  files: { readonly [path: string]: string },
  inputs: { readonly [name: string]: string } = {},
  options: Parameters<typeof workspace>[1] = {},
): Promise<Workspace> {
  const site = await workspace(files, options);
  await site.run(inputs, pullRequest());
  site.github.merge(7, sha);
  return site;
}

function apply(site: Workspace, inputs: { readonly [name: string]: string } = {}): Promise<ActionRun> {
  return site.run({ command: 'apply', ...inputs }, { sha, env: { GITHUB_RUN_ATTEMPT: '2' } });
}

function results({ github }: Workspace): string[] {
  return github.comments.filter(({ body }) => body.startsWith('## idops apply')).map(({ body }) => body);
}

function result(site: Workspace): string {
  expect(results(site)).toHaveLength(1);
  return results(site)[0] ?? '';
}

describe('the comment after apply', () => {
  it("shows the result, how to undo it and the run, and keeps the plan's comment", async () => {
    const site = await merged(acme('Renamed'), { environment: 'production' });
    const [{ body: planned } = { body: '' }] = site.github.comments;
    const { summary } = await went(apply(site, { environment: 'production', ...approved }));
    const body = result(site);
    const host = site.sandbox.url.replace('http://', '');
    const [, run = ''] = /Run `([\w-]+)`/.exec(summary) ?? [];
    expect(run).not.toBe('');
    expect(body).toContain(`## idops apply for \`production\` at \`${host}\`: 1 applied\n`);
    expect(body).toContain(`\`idops undo ${run} --env production\``);
    expect(body.indexOf('idops undo')).toBeLessThan(body.indexOf('- applied `Org'));
    expect(body).toContain('- applied `Organization/acme` (update)');
    expect(body).toContain('/actions/runs/78/attempts/2)');
    expect(site.github.comments[0]?.body).toBe(planned);
  });

  it('is written once for each run that changed something', async () => {
    const site = await merged(acme('Renamed'));
    await apply(site, approved);
    const [first] = results(site);
    await apply(site, approved);
    expect(results(site)).toEqual([first]);
    await site.write(acme('Another'));
    await apply(site);
    expect(results(site)).toEqual([first, expect.stringContaining(': 1 applied\n')]);
  });

  it('reports failures', async () => {
    const site = await merged(
      acme('Renamed'),
      {},
      {
        intercept: ({ method }) =>
          method === 'PATCH' ? { kind: 'answer', status: 400, body: {} } : undefined,
      },
    );
    await failed(apply(site));
    expect(result(site)).toMatch(/## idops apply at `[^`]+`: 1 failed\n/);
    expect(result(site)).not.toContain('idops undo');
  });

  it.each<[string, (site: Workspace) => Promise<unknown>, { readonly [name: string]: string }, string]>([
    ['a plan other than the approved one', (site) => site.write(acme('Another')), approved, 'stale plan'],
    ['an unapproved plan', async () => {}, { 'expect-digest': none }, 'stale plan'],
    ['a plan with a blocked change', (site) => site.write(nobody), {}, 'blocked'],
    ['a broken configuration', (site) => site.write({ 'idops.yaml': 'version: [' }), {}, 'error['],
  ])('reports that nothing was sent for %s', async (_, move, inputs, reason) => {
    const site = await merged(acme('Renamed'));
    await move(site);
    await failed(apply(site, inputs));
    expect(result(site)).toMatch(/## idops apply[^\n]*: not applied\n/);
    expect(result(site)).toContain('Nothing was sent:');
    expect(result(site)).toContain(reason);
    expect(site.writes()).toEqual([]);
  });

  it('is not written with comment: false, or for a commit without a merged pull request', async () => {
    const site = await merged(acme('Renamed'));
    await went(apply(site, { comment: 'false' }));
    await site.write(acme('Another'));
    await went(site.run({ command: 'apply' }, { sha: 'another' }));
    expect(results(site)).toEqual([]);
  });

  it('that GitHub refuses is a warning, and the run succeeds', async () => {
    const site = await merged(acme('Renamed'));
    site.github.forbid('POST', /comments/);
    const { log } = await went(apply(site));
    expect(log).toContain('::warning title=idops::The result may be missing');
    expect(log).toContain('pull-requests: write');
    expect(log).not.toContain('..');
  });

  it('contains no secret', async () => {
    const metadata = 'metadata: {note: {value: "${IDOPS_NOTE}", status: valid}}\n';
    const users = { 'manifests/users.yaml': `kind: User\nid: ${ids.ada}\nwhole: [metadata]\n${metadata}` };
    const site = await merged(users, { comment: 'false' });
    const env = { IDOPS_NOTE: 'note-that-is-private' };
    await went(site.run({ command: 'apply' }, { sha, env }));
    expect(result(site)).toContain(': 1 applied');
    const sent = site.github.received.join('\n');
    for (const secret of [env.IDOPS_NOTE, site.sandbox.token]) expect(sent).not.toContain(secret);
  });

  it("stays within GitHub's limit", async () => {
    const { manifest, seed } = organizations(2000, 'x'.repeat(150));
    const site = await merged({ 'manifests/a.yaml': manifest }, {}, { seed });
    await failed(apply(site, approved), 'pull request #7 approves no plan for this environment');
    site.github.comments.splice(0);
    await went(apply(site));
    expect(result(site).length).toBeLessThanOrEqual(65_536);
    expect(result(site)).toContain(': 2000 applied');
    expect(result(site)).toMatch(/and \d+ more results, see the log/);
  });
});

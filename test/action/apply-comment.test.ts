import { describe, expect, it } from 'vitest';
import type { Intercept, SandboxRequest } from '../../src/sandbox/options.js';
import { ids } from '../sandbox/asking.js';
import { type ActionRun, acme, organizations, pullRequest, type Workspace, workspace } from './running.js';

const sha = 'abc123';

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
  it('tells the result, how it is undone and where the run is, beside the plan as it was', async () => {
    const site = await merged(acme('Renamed'), { environment: 'production' });
    const [{ body: planned } = { body: '' }] = site.github.comments;
    const { code, summary } = await apply(site, {
      environment: 'production',
      'expect-digest': 'from-pull-request',
    });
    expect(code).toBe(0);
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

  it('is one for each run that did something', async () => {
    const site = await merged(acme('Renamed'));
    const approved = { 'expect-digest': 'from-pull-request' };
    await apply(site, approved);
    const [first] = results(site);
    await apply(site, approved);
    expect(results(site)).toEqual([first]);
    await site.write(acme('Another'));
    await apply(site);
    expect(results(site)).toEqual([first, expect.stringContaining(': 1 applied\n')]);
  });

  it('tells what failed', async () => {
    const intercept = ({ method }: SandboxRequest): Intercept | undefined =>
      method === 'PATCH' ? { kind: 'answer', status: 400, body: {} } : undefined;
    const site = await merged(acme('Renamed'), {}, { intercept });
    expect((await apply(site)).code).toBe(1);
    expect(result(site)).toMatch(/## idops apply at `[^`]+`: 1 failed\n/);
    expect(result(site)).not.toContain('idops undo');
  });

  it.each<[string, (site: Workspace) => Promise<unknown>, { readonly [name: string]: string }, string]>([
    [
      'another plan than the approved one',
      (site) => site.write(acme('Another')),
      { 'expect-digest': 'from-pull-request' },
      'stale plan',
    ],
    [
      'a plan that nobody approved',
      async () => {},
      { 'expect-digest': `sha256:${'0'.repeat(64)}` },
      'stale plan',
    ],
    [
      'a plan with something blocked',
      (site) => site.write({ 'manifests/b.yaml': 'kind: Organization\nname: nobody\nlabel: x\n' }),
      {},
      'blocked',
    ],
    ['a broken configuration', (site) => site.write({ 'idops.yaml': 'version: [' }), {}, 'error['],
  ])('says that nothing was sent of %s', async (_, move, inputs, told) => {
    const site = await merged(acme('Renamed'));
    await move(site);
    expect((await apply(site, inputs)).code).toBe(1);
    expect(result(site)).toMatch(/## idops apply[^\n]*: not applied\n/);
    expect(result(site)).toContain('Nothing was sent:');
    expect(result(site)).toContain(told);
    expect(site.writes()).toEqual([]);
  });

  it('is none where none is wanted, nor for a commit that no pull request brought as it is', async () => {
    const site = await merged(acme('Renamed'));
    expect((await apply(site, { comment: 'false' })).code).toBe(0);
    await site.write(acme('Another'));
    expect((await site.run({ command: 'apply' }, { sha: 'another' })).code).toBe(0);
    expect(results(site)).toEqual([]);
  });

  it('that may not be written is a warning, and the run stands', async () => {
    const site = await merged(acme('Renamed'));
    const message = 'Resource not accessible by integration.';
    site.github.faults.push({ method: 'POST', path: /comments/, status: 403, message });
    const { code, log } = await apply(site);
    expect(code).toBe(0);
    expect(log).toContain('::warning title=idops::The result may be missing');
    expect(log).toContain('pull-requests: write');
    expect(log).not.toContain('..');
  });

  it('has no secret in it', async () => {
    const site = await merged(
      {
        'manifests/users.yaml': `kind: User\nid: ${ids.ada}\nwhole: [metadata]\nmetadata: {note: {value: "\${IDOPS_NOTE}", status: valid}}\n`,
      },
      { comment: 'false' },
    );
    const env = { IDOPS_NOTE: 'note-that-is-private' };
    const { code, log } = await site.run({ command: 'apply' }, { sha, env });
    expect(code, log).toBe(0);
    expect(result(site)).toContain(': 1 applied');
    const sent = site.github.received.join('\n');
    for (const secret of [env.IDOPS_NOTE, site.sandbox.token]) expect(sent).not.toContain(secret);
  });

  it('is never longer than GitHub takes', async () => {
    const { manifest, seed } = organizations(2000, 'x'.repeat(150));
    const site = await merged({ 'manifests/a.yaml': manifest }, {}, { seed });
    const refused = await apply(site, { 'expect-digest': 'from-pull-request' });
    expect(refused.log).toContain('pull request #7 approves no plan for this environment');
    site.github.comments.splice(0);
    expect((await apply(site)).code).toBe(0);
    expect(result(site).length).toBeLessThanOrEqual(65_536);
    expect(result(site)).toContain(': 2000 applied');
    expect(result(site)).toMatch(/and \d+ more results, see the log/);
  });
});

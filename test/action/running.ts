import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { expect } from 'vitest';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { afterwards, temporaryFolder, writeFiles } from '../cleanups.js';
import type { Surroundings } from '../e2e/in-process.js';
import { type GithubDouble, githubDouble } from './github-double.js';
import { type Printed, runActionInProcess, summaryFile } from './in-process.js';

/** The bundle that the runner starts. */
const bundle = resolve('dist/action.js');
/** The original PATH, because a run in this process may change it. */
const searchPath = process.env.PATH;
export const githubToken = 'ghs_0123456789abcdefTOKEN';

export interface ActionRun {
  readonly code: number | null;
  /** The log without mask commands, and the values that they mask. */
  readonly log: string;
  readonly masked: readonly string[];
  readonly outputs: { readonly [name: string]: string };
  readonly summary: string;
}

export interface ActionOptions {
  readonly event?: string;
  readonly payload?: object;
  readonly sha?: string;
  readonly env?: { readonly [name: string]: string };
  /** Whether to start a new process, as the runner does; default: only if that makes a difference. */
  readonly apart?: boolean;
  /** Resolves when the job is cancelled; the run then has its own process. */
  readonly cancelled?: Promise<unknown>;
}

type Inputs = { readonly [name: string]: string };

export type Workspace = Awaited<ReturnType<typeof workspace>>;

const config = `version: 1
server:
  base_url: \${IDOPS_BASE_URL}
  auth:
    token: \${IDOPS_TOKEN}
environments:
  production:
    vars: {where: production}
`;

/** Manifests that declare nothing. */
export const nothing = { 'manifests/organizations.yaml': '' };

/** Manifests with an organization that doesn't exist on the server. */
export const nobody = { 'manifests/organizations.yaml': 'kind: Organization\nname: nobody\nlabel: x\n' };

export const acme = (label: string): { [path: string]: string } => ({
  'manifests/organizations.yaml': `kind: Organization\nname: acme\nlabel: ${label}\n`,
});

/** The given number of organizations as the only data of a server, and a manifest that sets each label with this text. */
export function organizations(count: number, text = '') {
  const all = Array.from({ length: count }, (_, index) => ({
    id: `10000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    name: `organization-${index}`,
    label: `label ${index}`,
  }));
  const none = { users: [], backends: [], keyPairs: [], clients: [], scopes: [], roles: [], templates: [] };
  const manifests = all.map(
    ({ name }) => `kind: Organization\nname: ${name}\nlabel: "ünïcode ${text}${name}"\n`,
  );
  return { all, manifest: manifests.join('---\n'), seed: { ...none, organizations: all } };
}

/** The repository of the workflows, as events describe it. */
export const repository = { id: 1, full_name: 'acme/identity', default_branch: 'main' };

/** A repository on a runner, with a server to manage and a GitHub double. */
export async function workspace(
  files: { readonly [path: string]: string },
  { pageSize, ...options }: SandboxOptions & { readonly pageSize?: number } = {},
) {
  const folder = await temporaryFolder('action');
  const sandbox = await startSandbox(options);
  afterwards(() => sandbox.close());
  const github = await githubDouble(pageSize === undefined ? {} : { pageSize });
  const checkout = join(folder, 'repository');
  const runner = join(folder, 'runner');
  const write = (written: { readonly [path: string]: string }) => writeFiles(checkout, written);
  await write({ 'idops.yaml': config, ...files });
  let runs = 0;
  const workflowRuns = new Map<string, number>();
  /** All runs for one event and one pull request or commit are attempts of one workflow run. */
  const runIdOf = (...parts: readonly (string | number)[]): number => {
    const key = parts.join(' ');
    workflowRuns.set(key, workflowRuns.get(key) ?? 77 + workflowRuns.size);
    return workflowRuns.get(key) ?? 0;
  };

  /** Runs the action with inputs, as the runner does. Default token: the sandbox's. */
  const run = async (inputs: Inputs, of: ActionOptions = {}): Promise<ActionRun> => {
    const { event = 'push', payload = { repository }, sha = 'c0ffee', env = {}, apart, cancelled } = of;
    runs += 1;
    const { pull_request: pull } = payload as { pull_request?: { number: number; head: { sha: string } } };
    const place = join(runner, String(runs));
    await mkdir(place, { recursive: true });
    const file = async (name: string, text = ''): Promise<string> => {
      await writeFile(join(place, name), text);
      return join(place, name);
    };
    const given = { token: sandbox.token, 'github-token': githubToken, ...inputs };
    const named = Object.entries(given).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]);
    const output = await file('output');
    await writeFile(summaryFile, '');
    afterwards(() => rm(summaryFile, { force: true }));
    const surroundings: Surroundings = {
      cwd: checkout,
      env: {
        PATH: searchPath,
        HOME: folder,
        ...Object.fromEntries(named),
        IDOPS_BASE_URL: sandbox.url,
        GITHUB_OUTPUT: output,
        GITHUB_STEP_SUMMARY: summaryFile,
        GITHUB_EVENT_PATH: await file('event.json', JSON.stringify(payload)),
        GITHUB_EVENT_NAME: event,
        GITHUB_API_URL: github.url,
        GITHUB_SERVER_URL: 'https://github.example',
        GITHUB_REPOSITORY: 'acme/identity',
        GITHUB_REF: event.startsWith('pull_request') ? 'refs/pull/7/merge' : 'refs/heads/main',
        GITHUB_RUN_ID: String(runIdOf(event, pull?.number ?? sha)),
        GITHUB_SHA: sha,
        GITHUB_WORKSPACE: checkout,
        GITHUB_ACTIONS: 'true',
        RUNNER_TEMP: place,
        ...env,
      },
    };
    const { GITHUB_RUN_ID = '', GITHUB_RUN_ATTEMPT = '1' } = surroundings.env;
    const workflowRun = github.runOf(Number(GITHUB_RUN_ID), {
      event,
      head_sha: pull?.head.sha ?? sha,
      run_attempt: Number(GITHUB_RUN_ATTEMPT),
    });
    const here = apart === true || cancelled !== undefined ? undefined : runActionInProcess(surroundings);
    const { code, text } = await (here ?? started(surroundings, cancelled));
    const lines = text.split('\n');
    const summary = await readFile(summaryFile, 'utf8');
    await file('summary', summary);
    // The runner removes these lines from the log.
    const mask = '::add-mask::';
    const outputs = readOutputs(await readFile(output, 'utf8'));
    workflowRun.jobs.push({ conclusion: code === 0 ? 'success' : 'failure' });
    // The workflow's next step.
    if ((outputs['comment-file'] ?? '') !== '') await uploadPlan(github, workflowRun.id, outputs);
    return {
      code,
      log: lines.filter((line) => !line.startsWith(mask)).join('\n'),
      masked: lines.filter((line) => line.startsWith(mask)).map((line) => line.slice(mask.length)),
      outputs,
      summary,
    };
  };

  return {
    folder: checkout,
    sandbox,
    github,
    write,
    read: (path: string) => readFile(path, 'utf8'),
    run,
    /** All files that runs left, except the project's own. */
    async leftovers() {
      const found: string[] = [];
      for (const root of [runner, join(checkout, '.idops')]) {
        const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
        for (const entry of entries) {
          if (entry.isFile()) found.push(await readFile(join(entry.parentPath, entry.name), 'utf8'));
        }
      }
      return found.join('\n');
    },
    /** The requests other than GETs, as `METHOD path`. */
    writes() {
      const writes = sandbox.requests.filter(({ method }) => method !== 'GET');
      return writes.map(({ method, path }) => `${method} ${path}`);
    },
    /** Changes an organization on the server. */
    setLabel(label: string, name: string | null = 'acme') {
      for (const one of sandbox.data.organizations) if (one.name === name) one.label = label;
    },
  };
}

/** The result of a run that must succeed. */
export async function went(running: Promise<ActionRun>): Promise<ActionRun> {
  const ran = await running;
  expect(ran.code, ran.log).toBe(0);
  return ran;
}

/** The result of a run that must fail, with all of this in its log. */
export async function failed(
  running: Promise<ActionRun>,
  ...said: readonly (string | RegExp)[]
): Promise<ActionRun> {
  const ran = await running;
  expect(ran.code, ran.log).toBe(1);
  for (const part of said) {
    if (typeof part === 'string') expect(ran.log).toContain(part);
    else expect(ran.log).toMatch(part);
  }
  return ran;
}

/** A workspace with a plan for pull request 7, which sets this label. */
export async function planned(label: string, inputs: Inputs = {}): Promise<Workspace> {
  const site = await workspace(acme(label));
  await site.run(inputs, pullRequest());
  return site;
}

/** Uploads the files of a plan as one artifact. */
async function uploadPlan(github: GithubDouble, run: number, outputs: ActionRun['outputs']): Promise<void> {
  const paths = ['plan-file', 'html-report', 'comment-file'].flatMap((name) => outputs[name] || []);
  const files = paths.map(async (path) => [basename(path), await readFile(path, 'utf8')] as const);
  github.upload(run, Object.fromEntries(await Promise.all(files)));
}

async function started({ cwd, env }: Surroundings, cancelled?: Promise<unknown>): Promise<Printed> {
  const child = spawn(process.execPath, [bundle], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  void cancelled?.then(() => child.kill('SIGINT'));
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  }
  const code = await new Promise<number | null>((done, failed) => {
    child.on('error', failed);
    child.on('close', done);
  });
  return { code, text: Buffer.concat(chunks).toString('utf8') };
}

/** Parses the outputs file as the runner does: a name, a delimiter, lines, the delimiter. */
function readOutputs(text: string): { [name: string]: string } {
  const outputs: { [name: string]: string } = {};
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const [, name, mark] = /^([^=<]+)<<(.+)$/.exec(lines[at] ?? '') ?? [];
    if (name === undefined || mark === undefined) continue;
    const end = lines.indexOf(mark, at + 1);
    outputs[name] = lines.slice(at + 1, end).join('\n');
    at = end;
  }
  return outputs;
}

/** A step of a job in an example. */
export interface Step {
  readonly uses?: string;
  readonly with?: { readonly [input: string]: string };
}

/** The inputs of the step that uses an action, with expressions replaced; `more` by expression. */
export function inputsOf(
  steps: readonly Step[] = [],
  action: string,
  { sandbox }: Workspace,
  more: { readonly [expression: string]: string },
): { [input: string]: string } {
  const { url: address, token } = sandbox;
  const secrets = { 'secrets.IDOPS_PLAN_TOKEN': token, 'secrets.IDOPS_TOKEN': token };
  const values = new Map(Object.entries({ 'vars.IDOPS_BASE_URL': address, ...secrets, ...more }));
  const filled = (value: unknown) =>
    String(value).replaceAll(
      /\$\{\{ (.+?) \}\}/g,
      (whole, expression: string) => values.get(expression) ?? whole,
    );
  const given = steps.find(({ uses }) => uses?.startsWith(action))?.with ?? {};
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, filled(value)]));
}

/** The event of a pull request from a branch of the same repository, or from a fork. */
export function pullRequest(
  number = 7,
  {
    from = 'acme/identity',
    sender = 'jo',
    sha = 'beadfeed0123',
    ref,
  }: { readonly from?: string; readonly sender?: string; readonly sha?: string; readonly ref?: string } = {},
): ActionOptions {
  return {
    event: 'pull_request',
    payload: {
      pull_request: {
        number,
        head: { sha, repo: { full_name: from } },
        base: { ref, repo: { full_name: 'acme/identity' } },
      },
      sender: { login: sender },
    },
  };
}

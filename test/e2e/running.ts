import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import {
  type Sandbox,
  type SandboxOptions,
  type SandboxSeed,
  startSandbox,
} from '../../src/sandbox/index.js';
import { afterwards, temporaryFolder, writeFiles } from '../cleanups.js';
import { runInProcess, type Surroundings } from './in-process.js';

/** What a user runs. */
export const cli = resolve('dist/cli/main.js');
/** The search path, which a command that runs in this process may have been told otherwise. */
const searchPath = process.env.PATH;

/** What a command came to. */
export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that is still running. */
export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ran>;
  /** Resolves when standard output or standard error has such a text in it. */
  said(text: string): Promise<void>;
}

export interface RunOptions {
  /** Besides the address and the token of the sandbox; undefined takes one away. */
  readonly env?: { readonly [name: string]: string | undefined };
  readonly cwd?: string;
}

/** A project in a folder of its own, and the server that it is for; both are gone after the test. */
export interface TestProject {
  readonly folder: string;
  readonly sandbox: Sandbox;
  /** Runs a command to its end, in this process where that makes no difference. Nobody sits at a terminal. */
  idops(args: string, options?: RunOptions): Promise<Ran>;
  /** The same, with arguments that have spaces in them. */
  idopsWith(args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** What a command prints with `--format json`. */
  json(args: string, options?: RunOptions): Promise<Json>;
  /** Runs a command that fails, and whose standard error has these texts in it. */
  refused(args: string, said: string | readonly string[], options?: RunOptions): Promise<Ran>;
  /** Starts a process of its own: for what is killed, waited for, raced, or that looks at which process it is. */
  begin(args: readonly string[], options?: RunOptions): Running;
  /** Where a command of this project runs and what it is given. */
  surroundings(options?: RunOptions): Surroundings;
  write(files: Files): Promise<void>;
  read(path: string): Promise<string>;
  /** Every file with its content, but for what a run writes by itself where `but` says so. */
  files(): Promise<Files>;
  /** The requests that are no GETs, as `METHOD path`. */
  writes(): string[];
  reads(): string[];
}

/** What a test expects of JSON shows in what it does with it. */
type Json = ReturnType<typeof JSON.parse>;

export interface Files {
  readonly [path: string]: string;
}

export const config = `version: 1
server:
  base_url: \${IDOPS_BASE_URL}
  auth:
    token: \${IDOPS_TOKEN}
`;

/** The same with a profile that is trusted, so that nothing is asked to make sure of it. */
export const sure = config.replace('server:\n', 'server:\n  profile: documented\n  trust_profile: true\n');

/** The same for a Boruta, whose emails need no link. */
export const boruta = `${config.replace('server:\n', 'server:\n  profile: boruta\n')}checks: {missing-link: off}\n`;

/** Writes a project with these files; \`idops.yaml\` is an ordinary one where it isn't given. */
export async function project(files: Files, options: SandboxOptions = {}): Promise<TestProject> {
  const folder = await temporaryFolder('e2e');
  const sandbox = await startSandbox(options);
  afterwards(() => sandbox.close());
  const write = (written: Files): Promise<void> => writeFiles(folder, written);
  await write({ 'idops.yaml': config, ...files });

  const surroundings = ({ env = {}, cwd = folder }: RunOptions = {}): Surroundings => {
    const given = { IDOPS_BASE_URL: sandbox.url, IDOPS_TOKEN: sandbox.token, ...env };
    return { cwd, env: { PATH: searchPath, HOME: folder, ...given } };
  };
  const begin = (args: readonly string[], run?: RunOptions): Running => {
    const { cwd, env } = surroundings(run);
    const child = spawn(process.execPath, [cli, ...args], {
      cwd,
      // The cache would be in the project, which is the home of its commands.
      env: { NODE_DISABLE_COMPILE_CACHE: '1', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.end();
    afterwards(async () => {
      child.kill('SIGKILL');
    });
    return watch(child);
  };
  const idopsWith = (args: readonly string[], run?: RunOptions) =>
    runInProcess(args, surroundings(run)) ?? begin(args, run).ended;
  const asked = (isRead: boolean) => () =>
    sandbox.requests
      .filter(({ method }) => (method === 'GET') === isRead)
      .map(({ method, path }) => `${method} ${path}`);
  return {
    folder,
    sandbox,
    idops: (args, run) => idopsWith(args.split(' ').filter(Boolean), run),
    idopsWith,
    async json(args, run) {
      const { stdout, stderr } = await idopsWith(`${args} --format json`.split(' ').filter(Boolean), run);
      expect(stdout, stderr).not.toBe('');
      return JSON.parse(stdout);
    },
    async refused(args, said, run) {
      const ran = await idopsWith(args.split(' ').filter(Boolean), run);
      expect(ran.code, ran.stderr).toBe(1);
      for (const text of [said].flat()) expect(ran.stderr).toContain(text);
      return ran;
    },
    begin,
    surroundings,
    write,
    read: (path) => readFile(join(folder, path), 'utf8'),
    files: () => filesIn(folder),
    writes: asked(false),
    reads: asked(true),
  };
}

/** The same for a Boruta. */
export function borutaProject(files: Files = {}, options: SandboxOptions = {}): Promise<TestProject> {
  return project({ 'idops.yaml': boruta, ...files }, { profile: 'boruta', ...options });
}

/** Follows a process to its end. */
export function watch(child: ChildProcessWithoutNullStreams): Running {
  const chunks: { stdout: Buffer[]; stderr: Buffer[] } = { stdout: [], stderr: [] };
  const waiting = new Set<() => void>();
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].on('data', (chunk: Buffer) => {
      chunks[stream].push(chunk);
      for (const look of waiting) look();
    });
  }
  const text = (stream: 'stdout' | 'stderr'): string => Buffer.concat(chunks[stream]).toString('utf8');
  const ended = new Promise<Ran>((done, failed) => {
    child.on('error', failed);
    child.on('close', (code, signal) => {
      done({ code, signal, stdout: text('stdout'), stderr: text('stderr') });
    });
  });
  return {
    child,
    ended,
    said: (wanted) =>
      new Promise((done, failed) => {
        const look = (): void => {
          if (!text('stdout').includes(wanted) && !text('stderr').includes(wanted)) return;
          waiting.delete(look);
          done();
        };
        waiting.add(look);
        ended.then(({ stderr }) => failed(new Error(`ended without saying "${wanted}": ${stderr}`)), failed);
        look();
      }),
  };
}

/** What a command came to that has to succeed. */
export async function succeeded(running: Promise<Ran>): Promise<Ran> {
  const ran = await running;
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
  return ran;
}

/** What a command came to that has to fail, and to say all of this. */
export async function failed(running: Promise<Ran>, ...said: readonly (string | RegExp)[]): Promise<Ran> {
  const ran = await running;
  expect(ran.code, ran.stdout + ran.stderr).toBe(1);
  for (const part of said) {
    if (typeof part === 'string') expect(ran.stderr).toContain(part);
    else expect(ran.stderr).toMatch(part);
  }
  return ran;
}

/** The same for a plan with something blocked, which says all of this in what it prints, however its lines are broken. */
export async function blocked(running: Promise<Ran>, ...said: readonly (string | RegExp)[]): Promise<Ran> {
  const ran = await failed(running);
  for (const part of said) {
    const words = ran.stdout.replace(/\s+/g, ' ');
    if (typeof part === 'string') expect(words).toContain(part);
    else expect(words).toMatch(part);
  }
  return ran;
}

/** The same, with nothing on standard output. */
export async function refused(running: Promise<Ran>, ...said: readonly (string | RegExp)[]): Promise<Ran> {
  const ran = await failed(running, ...said);
  expect(ran.stdout).toBe('');
  return ran;
}

/** Every file below a folder, by its path. */
export async function filesIn(folder: string): Promise<Files> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = files
    .sort()
    .map(async (path) => [path.slice(folder.length + 1), await readFile(path, 'utf8')] as const);
  return Object.fromEntries(await Promise.all(read));
}

/** The names of the journals that runs left behind. */
export function journals(files: Files): string[] {
  return Object.keys(files).filter((path) => path.endsWith('.jsonl'));
}

/** What a sandbox holds at first. */
export async function startedSeed(): Promise<SandboxSeed> {
  const sandbox = await startSandbox();
  const seed = sandbox.snapshot();
  await sandbox.close();
  return seed;
}

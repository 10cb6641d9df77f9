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

/** The built command. */
export const cli = resolve('dist/cli/main.js');
/** The original PATH, because a command in this process may change it. */
const searchPath = process.env.PATH;

/** The result of a command. */
export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running command. */
export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ran>;
  /** Resolves when standard output or standard error contains a text. */
  waitFor(text: string): Promise<void>;
}

export interface RunOptions {
  /** In addition to the URL and the token of the sandbox; undefined removes a variable. */
  readonly env?: { readonly [name: string]: string | undefined };
  readonly cwd?: string;
}

/** A project in a new folder, and its server; both are removed after the test. */
export interface TestProject {
  readonly folder: string;
  readonly sandbox: Sandbox;
  /** Runs a command to its end, in this process if that makes no difference. There is no terminal. */
  idops(args: string, options?: RunOptions): Promise<Ran>;
  /** The same, with arguments that may contain spaces. */
  idopsWith(args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** The JSON that a command prints with `--format json`. */
  json(args: string, options?: RunOptions): Promise<Json>;
  /** Runs a command that fails with these texts on standard error. */
  refused(args: string, texts: string | readonly string[], options?: RunOptions): Promise<Ran>;
  /** Starts a new process: for commands that are killed, awaited or raced, or that depend on process ids. */
  begin(args: readonly string[], options?: RunOptions): Running;
  /** The folder and the variables of a command of this project. */
  surroundings(options?: RunOptions): Surroundings;
  write(files: Files): Promise<void>;
  read(path: string): Promise<string>;
  /** Every file with its content. */
  files(): Promise<Files>;
  /** The requests other than GETs, as `METHOD path`. */
  writes(): string[];
  reads(): string[];
}

/** Each test asserts what it expects of the JSON. */
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

/** The same with a trusted profile, so that no request checks it. */
export const trustedConfig = config.replace(
  'server:\n',
  'server:\n  profile: documented\n  trust_profile: true\n',
);

/** The same for a Boruta, whose emails need no link. */
export const boruta = `${config.replace('server:\n', 'server:\n  profile: boruta\n')}checks: {missing-link: off}\n`;

/** Writes a project with these files, and the default `idops.yaml` if it isn't given. */
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
      // Otherwise the compile cache is in the project, which is the commands' home folder.
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
    async refused(args, texts, run) {
      const ran = await idopsWith(args.split(' ').filter(Boolean), run);
      expect(ran.code, ran.stderr).toBe(1);
      for (const text of [texts].flat()) expect(ran.stderr).toContain(text);
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

/** Collects the output of a process until it ends. */
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
    waitFor: (wanted) =>
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

/** The result of a command that must succeed. */
export async function succeeded(running: Promise<Ran>): Promise<Ran> {
  const ran = await running;
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
  return ran;
}

/** The result of a command that must fail, with all of this on standard error. */
export async function failed(running: Promise<Ran>, ...texts: readonly (string | RegExp)[]): Promise<Ran> {
  const ran = await running;
  expect(ran.code, ran.stdout + ran.stderr).toBe(1);
  for (const part of texts) {
    if (typeof part === 'string') expect(ran.stderr).toContain(part);
    else expect(ran.stderr).toMatch(part);
  }
  return ran;
}

/** The same for a blocked plan, with all of this on standard output, across line breaks. */
export async function blocked(running: Promise<Ran>, ...texts: readonly (string | RegExp)[]): Promise<Ran> {
  const ran = await failed(running);
  for (const part of texts) {
    const words = ran.stdout.replace(/\s+/g, ' ');
    if (typeof part === 'string') expect(words).toContain(part);
    else expect(words).toMatch(part);
  }
  return ran;
}

/** The same, with nothing on standard output. */
export async function refused(running: Promise<Ran>, ...texts: readonly (string | RegExp)[]): Promise<Ran> {
  const ran = await failed(running, ...texts);
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

/** The paths of the journals. */
export function journals(files: Files): string[] {
  return Object.keys(files).filter((path) => path.endsWith('.jsonl'));
}

/** The initial data of a sandbox. */
export async function startedSeed(): Promise<SandboxSeed> {
  const sandbox = await startSandbox();
  const seed = sandbox.snapshot();
  await sandbox.close();
  return seed;
}

import { type ExecFileException, execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { pathExists } from './paths.js';
import { readTextFile } from './read-file.js';

/** Milliseconds. */
const TIMEOUT = 10_000;

/** Bytes of output. */
const MAX_OUTPUT = 64 * 1024 * 1024;

/**
 * The paths in git's index at or below these paths, relative to the work tree, with `/`; empty if git is not installed or
 * there is no repository. Throws a GitError.
 */
export async function trackedPaths(root: string, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0 || (await findGit()) === undefined) return [];
  try {
    const listed = await git(root, ['ls-files', '-z', '--', ...paths]);
    return [...new Set(listed.toString('utf8').split('\0'))].filter((path) => path !== '');
  } catch (failure) {
    if (!(await hasRepository(join(root, '.git')))) return [];
    throw failure;
  }
}

/** The path of git. Ignores relative entries of PATH, which may lead into the project. */
async function findGit(): Promise<string | undefined> {
  const name = process.platform === 'win32' ? 'git.exe' : 'git';
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter((path) => isAbsolute(path))) {
    const path = join(folder, name);
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return undefined;
}

/** Whether a `.git` is a repository or refers to an existing one. In a container, the repository of a linked work tree may be missing. */
async function hasRepository(path: string): Promise<boolean> {
  const text = await readTextFile(path).catch(() => undefined);
  const folder = text === undefined ? path : /^gitdir: (.+)/.exec(text)?.[1];
  if (folder === undefined) return false;
  const real = resolve(dirname(path), folder);
  return pathExists(join(real, 'HEAD')) || pathExists(join(real, 'index'));
}

export interface GitOptions {
  /** The text for standard input. */
  readonly input?: string;
  /** Maximum bytes of output. */
  readonly maxOutput?: number;
  /** Whether git may connect to remotes; it never prompts. */
  readonly allowRemotes?: boolean;
  /** Additional variables. */
  readonly env?: { readonly [name: string]: string };
  /** Timeout in milliseconds. */
  readonly timeout?: number;
}

/** Process variables that select a repository. */
const repositoryVariables =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX|CEILING_DIRECTORIES)$/;

/**
 * Runs git and returns its output. Nothing in the repository can make git run a program, wait for input or, unless
 * `allowRemotes`, connect to a remote. Throws a GitError.
 */
export async function git(
  root: string,
  command: readonly string[],
  {
    input = '',
    maxOutput = MAX_OUTPUT,
    allowRemotes = false,
    env: additional = {},
    timeout = TIMEOUT,
  }: GitOptions = {},
): Promise<Buffer> {
  const found = await findGit();
  if (found === undefined) throw new GitNotFound();
  const protocols = allowRemotes ? ['protocol.ext.allow=never'] : ['protocol.allow=never'];
  const settings = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', ...protocols];
  const args = [
    ...['--no-pager', '--no-optional-locks', '--literal-pathspecs'],
    ...settings.flatMap((setting) => ['-c', setting]),
    ...[`--git-dir=${join(root, '.git')}`, `--work-tree=${root}`],
    ...command,
  ];
  const own = Object.entries(process.env).filter(([name]) => {
    const upper = name.toUpperCase();
    return allowRemotes ? !repositoryVariables.test(upper) : !upper.startsWith('GIT_');
  });
  const batchSsh =
    allowRemotes && process.env.GIT_SSH_COMMAND === undefined
      ? { GIT_SSH_COMMAND: 'ssh -oBatchMode=yes' }
      : {};
  const noPrompts = { GIT_NO_LAZY_FETCH: '1', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
  const env = { ...batchSsh, ...Object.fromEntries(own), ...noPrompts, ...additional };
  const limits = { timeout, killSignal: 'SIGKILL', maxBuffer: maxOutput } as const;
  // Detached, so that Ctrl-C in the terminal doesn't interrupt a push.
  const detached = allowRemotes && process.platform !== 'win32';
  const options = { cwd: root, env, windowsHide: true, encoding: 'buffer', detached, ...limits } as const;
  return await new Promise((done, failed) => {
    const child = execFile(found, args, options, (failure, stdout, stderr) => {
      if (failure === null) return done(stdout);
      const [out, err] = [stdout.toString('utf8'), stderr.toString('utf8')];
      failed(new GitError(failureReason(failure, err, timeout), out, err, { cause: failure }));
    });
    // If git ends before it reads everything, its exit code says why.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

/** git ended with an error, or could not be run. */
export class GitError extends Error {
  readonly stdout: string;
  readonly stderr: string;

  constructor(why: string, stdout: string, stderr: string, options?: ErrorOptions) {
    super(why, options);
    this.stdout = stdout;
    this.stderr = stderr;
  }
}

/** Whether git printed more than `maxOutput` bytes. */
export function exceededMaxOutput(failure: unknown): boolean {
  const cause = failure instanceof GitError ? (failure.cause as ExecFileException) : undefined;
  return String(cause?.code) === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';
}

/** git is not on PATH. */
export class GitNotFound extends Error {
  constructor() {
    super('git is not installed');
  }
}

/** How many lines of a remote's message an error shows. */
const MAX_REMOTE_LINES = 3;

function failureReason(
  { killed, code, message }: ExecFileException,
  stderr: string,
  timeout: number,
): string {
  const fatal = stderr.split('\n').find((line) => line.startsWith('fatal: ') || line.startsWith('error: '));
  const remote = stderr
    .split('\n')
    .flatMap((line) => (line.startsWith('remote: ') ? [line.slice('remote: '.length).trim()] : []))
    .filter((line) => line !== '');
  if (fatal !== undefined)
    return [fatal.slice('fatal: '.length), ...remote.slice(0, MAX_REMOTE_LINES)].join('; ');
  if (typeof code === 'number') return `it ended with exit code ${code}`;
  if (killed === true && code == null) return `it did not end in ${timeout / 1000} s`;
  // The message of a failed start contains the whole command.
  return typeof code === 'string' ? code : (message.split('\n')[0] ?? '');
}

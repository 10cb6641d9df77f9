import { type ExecFileException, execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { readRegular } from './regular.js';
import { isThere } from './work-tree.js';

/** Milliseconds that git gets; looking into its index takes a few. */
const PATIENCE = 10_000;

/** Bytes of names: those of very many files. */
const MOST = 64 * 1024 * 1024;

/**
 * What git's index has of these paths, relative to the root of the work tree with `/`; of a folder all that is below it.
 * Nothing where there is no git, or no repository after all. Throws an Error that says in a few words why git fails.
 */
export async function inGitIndex(root: string, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0 || (await findGit()) === undefined) return [];
  try {
    const listed = await git(root, ['ls-files', '-z', '--', ...paths]);
    return [...new Set(listed.toString('utf8').split('\0'))].filter((path) => path !== '');
  } catch (failure) {
    if (!(await hasRepository(join(root, '.git')))) return [];
    throw failure;
  }
}

/** The git of the search path; what lies there by a relative name isn't taken, since that may be the project's. */
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

/** Whether a `.git` is a repository, or names one that is there: that of a linked work tree may not be, in a container. */
async function hasRepository(path: string): Promise<boolean> {
  const text = await readRegular(path).catch(() => undefined);
  const folder = text === undefined ? path : /^gitdir: (.+)/.exec(text)?.[1];
  if (folder === undefined) return false;
  const real = resolve(dirname(path), folder);
  return isThere(join(real, 'HEAD')) || isThere(join(real, 'index'));
}

/** How git is run. */
export interface GitOptions {
  /** What it reads from its standard input. */
  readonly input?: string;
  /** Bytes of its answer. */
  readonly most?: number;
  /** Whether it may reach remotes; it runs nothing of theirs, and asks nobody. */
  readonly reaches?: boolean;
  /** Further variables. */
  readonly env?: { readonly [name: string]: string };
  /** Milliseconds that it gets. */
  readonly patience?: number;
}

/** Variables that say which repository is meant, and where its parts are. */
const ofRepository =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX|CEILING_DIRECTORIES)$/;

/**
 * What git answers to a command; throws a GitFailed that says in a few words why it fails. The repository is named to it, and nothing of
 * it may make git run, fetch or wait for anything, but for what a remote takes.
 */
export async function git(
  root: string,
  command: readonly string[],
  { input = '', most = MOST, reaches = false, env: more = {}, patience = PATIENCE }: GitOptions = {},
): Promise<Buffer> {
  const found = await findGit();
  if (found === undefined) throw new NoGit();
  const protocols = reaches ? ['protocol.ext.allow=never'] : ['protocol.allow=never'];
  const settings = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', ...protocols];
  const args = [
    ...['--no-pager', '--no-optional-locks', '--literal-pathspecs'],
    ...settings.flatMap((setting) => ['-c', setting]),
    ...[`--git-dir=${join(root, '.git')}`, `--work-tree=${root}`],
    ...command,
  ];
  const own = Object.entries(process.env).filter(([name]) => {
    const upper = name.toUpperCase();
    return reaches ? !ofRepository.test(upper) : !upper.startsWith('GIT_');
  });
  const asksNobody =
    reaches && process.env.GIT_SSH_COMMAND === undefined ? { GIT_SSH_COMMAND: 'ssh -oBatchMode=yes' } : {};
  const quiet = { GIT_NO_LAZY_FETCH: '1', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
  const env = { ...asksNobody, ...Object.fromEntries(own), ...quiet, ...more };
  const limits = { timeout: patience, killSignal: 'SIGKILL', maxBuffer: most } as const;
  // Ctrl-C in a terminal reaches all that run in it: what is on its way to a remote is brought to its end.
  const detached = reaches && process.platform !== 'win32';
  const options = { cwd: root, env, windowsHide: true, encoding: 'buffer', detached, ...limits } as const;
  return await new Promise((done, failed) => {
    const child = execFile(found, args, options, (failure, stdout, stderr) => {
      if (failure === null) return done(stdout);
      const [said, told] = [stdout.toString('utf8'), stderr.toString('utf8')];
      failed(new GitFailed(whyFailed(failure, told, patience), said, told, { cause: failure }));
    });
    // One that ended before it had read all of it says why by its exit code.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

/** Git ended with a failure. */
export class GitFailed extends Error {
  /** What it had said on its standard output by then. */
  readonly said: string;
  /** The same of its standard error. */
  readonly told: string;

  constructor(why: string, said: string, told: string, options?: ErrorOptions) {
    super(why, options);
    this.said = said;
    this.told = told;
  }
}

/** Whether git said more than `most`. */
export function isTooMuch(failure: unknown): boolean {
  const cause = failure instanceof GitFailed ? (failure.cause as ExecFileException) : undefined;
  return String(cause?.code) === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';
}

/** There is no git to be run. */
export class NoGit extends Error {
  constructor() {
    super('there is no git');
  }
}

/** How many lines of a remote's own words are told. */
const LINES = 3;

function whyFailed({ killed, code, message }: ExecFileException, stderr: string, patience: number): string {
  const said = stderr.split('\n').find((line) => line.startsWith('fatal: ') || line.startsWith('error: '));
  const remote = stderr
    .split('\n')
    .flatMap((line) => (line.startsWith('remote: ') ? [line.slice('remote: '.length).trim()] : []))
    .filter((line) => line !== '');
  if (said !== undefined) return [said.slice('fatal: '.length), ...remote.slice(0, LINES)].join('; ');
  if (typeof code === 'number') return `it ended with exit code ${code}`;
  if (killed === true && code == null) return `it did not end in ${patience / 1000} s`;
  // The message of a failed start has the whole command in it.
  return typeof code === 'string' ? code : (message.split('\n')[0] ?? '');
}

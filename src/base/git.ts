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
export async function inGitIndex(root: string, paths: readonly string[]): Promise<string[] | 'no git'> {
  const git = await findGit();
  if (git === undefined) return 'no git';
  if (paths.length === 0) return [];
  try {
    return (await list(git, root, paths)).split('\0').filter((path) => path !== '');
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
  return (await isThere(join(real, 'HEAD'))) || (await isThere(join(real, 'index')));
}

/**
 * Asks git for its index of these paths; throws an Error that says in a few words why git fails. The repository is named
 * to it, and nothing of it may make git run, fetch or wait for anything.
 */
async function list(git: string, root: string, paths: readonly string[]): Promise<string> {
  const settings = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'protocol.allow=never'];
  const args = [
    ...['--no-pager', '--no-optional-locks', '--literal-pathspecs'],
    ...settings.flatMap((setting) => ['-c', setting]),
    ...[`--git-dir=${join(root, '.git')}`, `--work-tree=${root}`],
    ...['ls-files', '-z', '--', ...paths],
  ];
  const own = Object.entries(process.env).filter(([name]) => !name.toUpperCase().startsWith('GIT_'));
  const env = { ...Object.fromEntries(own), GIT_NO_LAZY_FETCH: '1', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
  const limits = { timeout: PATIENCE, killSignal: 'SIGKILL', maxBuffer: MOST } as const;
  const options = { cwd: root, env, windowsHide: true, ...limits } as const;
  return await new Promise((done, failed) => {
    execFile(git, args, options, (failure, stdout, stderr) => {
      if (failure === null) done(stdout);
      else failed(new Error(whyFailed(failure, stderr), { cause: failure }));
    });
  });
}

function whyFailed({ killed, code, message }: ExecFileException, stderr: string): string {
  const said = stderr.split('\n').find((line) => line.startsWith('fatal: ') || line.startsWith('error: '));
  if (said !== undefined) return said.slice('fatal: '.length);
  if (typeof code === 'number') return `it ended with exit code ${code}`;
  if (killed === true && code == null) return `it did not end in ${PATIENCE / 1000} s`;
  // The message of a failed start has the whole command in it.
  return typeof code === 'string' ? code : (message.split('\n')[0] ?? '');
}

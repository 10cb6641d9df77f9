import { type ExecFileException, execFile } from 'node:child_process';
import { access, constants, realpath } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { leadsTo } from '../../base/links.js';
import { error, ProblemsError } from '../../base/problems.js';
import { readRegular } from '../../base/regular.js';
import { isThere, workTreeOf } from '../../base/work-tree.js';
import { lockPath } from './lock.js';

/** Milliseconds that git gets; looking into its index takes a few. */
const PATIENCE = 10_000;

/** Bytes of names: those of very many journals. */
const MOST = 64 * 1024 * 1024;

/**
 * A state that a commit brings along is believed like any other, so nobody's branch may bring one unless that is meant.
 * What isn't there is asked about only where it is to be written. Throws a ProblemsError (`state-tracked`).
 */
export async function refuseTracked(path: string, journals: string, written: boolean): Promise<void> {
  const files = [path, lockPath(path)];
  if (!written && !(await Promise.all([...files, journals].map(isThere))).includes(true)) return;
  refuseAll(await trackedOf(files, journals), 'what idops believes was recorded');
}

/** The same for the lock alone: whether its process still runs can't be told by what a commit says of it. */
export async function refuseTrackedLock(path: string): Promise<void> {
  refuseAll(await trackedOf([lockPath(path)]), 'who seems to hold it');
}

function refuseAll([first, ...others]: readonly string[], decided: string): void {
  if (first === undefined) return;
  const more = others.length === 0 ? '' : ` and ${others.length} more of the state`;
  throw new ProblemsError([
    error(
      'state-tracked',
      `git tracks ${first}${more}, so a commit decides ${decided}`,
      [],
      'take it out of git with "git rm --cached" and name it in .gitignore; or set state.allow_tracked: true, if that is meant',
    ),
  ]);
}

/**
 * Which of these files beside one another, and of the journals in a folder, git tracks, from the root of the work tree.
 * Nothing where there is no repository or no git. Throws a ProblemsError (`state-tracked`) where git fails.
 */
async function trackedOf(files: readonly string[], journals?: string): Promise<string[]> {
  const named = journals === undefined ? files : [...files, journals];
  const real = await Promise.all(named.map(realName));
  const root = await workTreeOf(dirname(real[0] ?? ''));
  if (root === undefined) return [];
  const git = await findGit();
  if (git === undefined) return [];
  const targets = [...new Set([...real, ...(await Promise.all(named.map((path) => leadsTo(path))))])];
  const inside = targets.map((path) => relative(root, path)).filter(isBelow);
  const listed = inside.length === 0 ? '' : await listOf(git, root, inside);
  const folder = journals === undefined ? [] : [journals, await realName(journals)];
  const folders = new Set(folder.map((path) => relative(root, path)));
  return listed.split('\0').filter((path) => {
    if (path === '') return false;
    // A folder of runs may have files in it that are none of idops'.
    const isInFolder = folders.has(dirname(path).split('/').join(sep));
    return !isInFolder || path.endsWith('.jsonl');
  });
}

/** A path as git knows it: what lies on the way to it followed, itself not. */
async function realName(path: string): Promise<string> {
  const folder = dirname(path);
  const real = await realpath(folder).catch(() => undefined);
  if (real !== undefined) return join(real, basename(path));
  return folder === path ? path : join(await realName(folder), basename(path));
}

function isBelow(way: string): boolean {
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
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

/** What git's index has of these paths. Throws a ProblemsError (`state-tracked`) where git can't tell. */
async function listOf(git: string, root: string, paths: readonly string[]): Promise<string> {
  try {
    return await list(git, root, paths);
  } catch (failure) {
    if (!(await hasRepository(join(root, '.git')))) return '';
    throw new ProblemsError(
      [
        error(
          'state-tracked',
          `git can't tell whether it tracks the state: ${(failure as Error).message}`,
          [],
          'mend the repository, so that "git status" works; or set state.allow_tracked: true, if a state that git tracks is meant',
        ),
      ],
      { cause: failure },
    );
  }
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

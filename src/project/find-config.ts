import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, resolve as resolvePath } from 'node:path';
import { findWorkTree, pathExists } from '../base/paths.js';
import { error, type Problem, problemError } from '../base/problems.js';
import { shownPath } from '../yaml/source-file.js';

const CONFIG_FILE = 'idops.yaml';

/** How to find a project and its environment. */
export interface ProjectOptions {
  /** The current folder. */
  readonly cwd: string;
  /** The process's environment variables. */
  readonly variables: { readonly [name: string]: string | undefined };
  /** `--config`; otherwise `IDOPS_CONFIG`, otherwise `idops.yaml` in the folder or a parent within its git work tree. */
  readonly config?: string | undefined;
  /** False to look for `idops.yaml` only in the folder. */
  readonly above?: boolean;
  /** `--env`; otherwise `IDOPS_ENV`, otherwise none. */
  readonly env?: string | undefined;
  /** `--token-file`, relative to `cwd`; no manifest may read it. */
  readonly tokenFile?: string | undefined;
}

/** The path of the configuration. Throws a ProblemsError if a parent folder has one that belongs to another user. */
export async function configPath(
  options: Pick<ProjectOptions, 'cwd' | 'variables' | 'config' | 'above'>,
): Promise<string> {
  const { cwd, above = true } = options;
  const given = explicitConfig(options);
  if (given !== undefined) return resolvePath(cwd, given);
  return (above ? await findAbove(CONFIG_FILE, cwd) : undefined) ?? resolvePath(cwd, CONFIG_FILE);
}

function explicitConfig({
  config,
  variables,
}: Pick<ProjectOptions, 'variables' | 'config'>): string | undefined {
  return config ?? environmentSetting(variables, 'IDOPS_CONFIG');
}

/** The problem of a configuration that can't be read: `problem`, or one that says that the file doesn't exist. */
export function unreadableConfig(path: string, options: ProjectOptions, problem: Problem): Problem {
  const { cwd } = options;
  if (pathExists(path)) return problem;
  if (explicitConfig(options) !== undefined) {
    const hint = 'check --config and IDOPS_CONFIG';
    return error('no-config', `there is no file ${shownPath(path, cwd)}`, [], hint);
  }
  return error(
    'no-config',
    `there is no ${CONFIG_FILE} in this folder`,
    [],
    'run idops in the folder of your idops.yaml, or below it in its git work tree, use --config, or create one with "idops init"',
  );
}

/** A process variable that sets an option; an empty one counts as unset. */
export function environmentSetting(variables: ProjectOptions['variables'], name: string): string | undefined {
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
  return value === '' ? undefined : value;
}

/**
 * The nearest file of this name, from a folder upwards to the root of its git work tree. Outside of a work tree, only the folder is
 * searched. Throws a ProblemsError if a file in a parent belongs to another user.
 */
async function findAbove(name: string, cwd: string): Promise<string | undefined> {
  if (pathExists(join(cwd, name))) return join(cwd, name);
  const start = await realpath(cwd).catch(() => undefined);
  const top = start && findWorkTree(start);
  if (start === undefined || top === undefined) return undefined;
  for (let folder = start; folder !== top; ) {
    folder = dirname(folder);
    const path = join(folder, name);
    if (!pathExists(path)) continue;
    for (const owned of [path, join(top, '.git')]) await refuseForeignOwner(owned, path, cwd);
    return path;
  }
  return undefined;
}

/** In a shared folder such as /tmp, another user could place a configuration that runs a program. */
async function refuseForeignOwner(path: string, config: string, cwd: string): Promise<void> {
  const ownUid = process.getuid?.();
  const { uid } = await lstat(path);
  if (ownUid === undefined || uid === ownUid || uid === 0) return;
  const [shown, owned] = [shownPath(config, cwd), shownPath(path, cwd)];
  throw problemError(
    'no-config',
    `there is no idops.yaml in this folder, and ${shown} is not used automatically, since ${owned} belongs to another user`,
    `use --config ${shown} if you trust it`,
  );
}

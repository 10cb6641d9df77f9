import { realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { readRegular } from '../base/regular.js';
import { workTreeOf } from '../base/work-tree.js';
import type { Forge } from '../report/forge.js';
import { eventPayload, headCommit } from './github-event.js';

type Environment = { readonly [name: string]: string | undefined };

/** What the variables of a CI system say of the repository that it works on. */
interface Checkout {
  /** `owner/name`. */
  readonly repository: string | undefined;
  /** Where it was checked out to. */
  readonly workspace: string | undefined;
  /** Where people see the files of the commit. */
  readonly files: string;
}

/** An address in which nothing means anything to Markdown or HTML. */
const plainAddress = /^https?:\/\/[\w.-]+(?::\d+)?(?:\/[\w.~-]+)+$/;
const commit = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/**
 * Where the forge shows the files of a folder, for the commit that CI runs for: on GitHub, its relatives and GitLab. Undefined anywhere
 * else, and where the folder is of another repository.
 */
export async function forgeOf(env: Environment, folder: string): Promise<Forge | undefined> {
  const checkout = env.GITHUB_ACTIONS === 'true' ? onGithub(env) : onGitlab(env);
  if (checkout === undefined || !plainAddress.test(checkout.files)) return undefined;
  const here = await realpath(folder).catch(() => folder);
  const root = await rootOf(here, checkout);
  const inRoot = root === undefined ? '..' : relative(root, here);
  return inRoot.split(sep)[0] === '..' || isAbsolute(inRoot)
    ? undefined
    : { files: checkout.files, folder: inRoot.split(sep).join('/') };
}

function onGithub(env: Environment): Checkout | undefined {
  const { GITHUB_SERVER_URL: server = '', GITHUB_REPOSITORY: repository = '' } = env;
  const sha = headCommit(env, eventPayload(env));
  if (server === '' || repository === '' || !commit.test(sha)) return undefined;
  // Gitea and Forgejo run the same workflows, and show files elsewhere.
  const view = env.GITEA_ACTIONS === 'true' || env.FORGEJO_ACTIONS === 'true' ? 'src/commit' : 'blob';
  return {
    repository,
    workspace: env.GITHUB_WORKSPACE,
    files: `${server.replace(/\/$/, '')}/${repository}/${view}/${sha}`,
  };
}

function onGitlab(env: Environment): Checkout | undefined {
  const { GITLAB_CI, CI_PROJECT_URL: project = '', CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: head = '' } = env;
  // A merge request's own commit is said apart where the pipeline runs for what it would be merged.
  const sha = head === '' ? (env.CI_COMMIT_SHA ?? '') : head;
  if (GITLAB_CI !== 'true' || project === '' || !commit.test(sha)) return undefined;
  return {
    repository: env.CI_PROJECT_PATH,
    workspace: env.CI_PROJECT_DIR,
    files: `${project}/-/blob/${sha}`,
  };
}

/** The root of the repository that a folder is in, where that is the one that CI works on. */
async function rootOf(folder: string, { workspace, repository }: Checkout): Promise<string | undefined> {
  const checkedOut =
    workspace === undefined || workspace === ''
      ? undefined
      : await realpath(workspace).catch(() => undefined);
  const top = await workTreeOf(folder);
  if (top === undefined || top === checkedOut) return checkedOut;
  return repository !== undefined && (await comesFrom(top, repository)) ? top : undefined;
}

/** Whether a work tree says that it was fetched from a repository: a workflow may have checked out several. */
async function comesFrom(top: string, repository: string): Promise<boolean> {
  const config = await readRegular(join(top, '.git', 'config')).catch(() => '');
  return [...config.matchAll(/^\s*url\s*=\s*(\S+)/gm)].some(([, url = '']) => {
    const path = url.replace(/\/$|\.git\/?$/, '').toLowerCase();
    return path.endsWith(`/${repository.toLowerCase()}`) || path.endsWith(`:${repository.toLowerCase()}`);
  });
}

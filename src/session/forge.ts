import { readFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import { findWorkTree } from '../base/paths.js';
import type { Forge } from '../report/render-options.js';

export type Environment = { readonly [name: string]: string | undefined };

interface Checkout {
  readonly workspace: string | undefined;
  /** The URL that shows the files of the commit. */
  readonly files: string;
}

/** A URL without characters that are special in Markdown or HTML. */
const plainAddress = /^https?:\/\/[\w.-]+(?::\d+)?(?:\/[\w.~-]+)+$/;

export function isCommit(text: string): boolean {
  return /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(text);
}

/**
 * Where the forge shows the files of a folder, at the commit of the CI run (on GitHub, `sha`). Undefined outside of GitHub, Gitea,
 * Forgejo and GitLab, or if the folder belongs to another repository.
 */
export async function forgeOf(
  env: Environment,
  folder: string,
  sha = headCommit(env, eventPayload(env)),
): Promise<Forge | undefined> {
  const checkout = env.GITHUB_ACTIONS === 'true' ? onGithub(env, sha) : onGitlab(env);
  if (checkout === undefined || !plainAddress.test(checkout.files)) return undefined;
  const realFolder = await realpath(folder).catch(() => folder);
  const root = await rootOf(realFolder, checkout);
  const inRoot = root === undefined ? '..' : relative(root, realFolder);
  return inRoot.split(sep)[0] === '..' || isAbsolute(inRoot)
    ? undefined
    : { files: checkout.files, folder: inRoot.split(sep).join('/') };
}

function onGithub(env: Environment, sha: string): Checkout | undefined {
  const { GITHUB_SERVER_URL: server = '', GITHUB_REPOSITORY: repository = '' } = env;
  if (server === '' || repository === '' || !isCommit(sha)) return undefined;
  // Gitea and Forgejo run the same workflows but show files at other URLs.
  const view = env.GITEA_ACTIONS === 'true' || env.FORGEJO_ACTIONS === 'true' ? 'src/commit' : 'blob';
  return {
    workspace: env.GITHUB_WORKSPACE,
    files: `${server.replace(/\/$/, '')}/${repository}/${view}/${sha}`,
  };
}

function onGitlab(env: Environment): Checkout | undefined {
  const { GITLAB_CI, CI_PROJECT_URL: project = '' } = env;
  const sha = gitlabCommit(env);
  if (GITLAB_CI !== 'true' || project === '' || !isCommit(sha)) return undefined;
  return { workspace: env.CI_PROJECT_DIR, files: `${project}/-/blob/${sha}` };
}

/** The commit of a pipeline; for a merged result the merge request's own commit. */
export function gitlabCommit(env: Environment): string {
  return env.CI_MERGE_REQUEST_SOURCE_BRANCH_SHA || (env.CI_COMMIT_SHA ?? '');
}

/** The folder of the checkout, if `folder` belongs to that repository and not to a nested one. */
async function rootOf(folder: string, { workspace = '' }: Checkout): Promise<string | undefined> {
  const checkedOut = workspace === '' ? undefined : await realpath(workspace).catch(() => undefined);
  const top = findWorkTree(folder);
  return top === undefined || top === checkedOut ? checkedOut : undefined;
}

/** The event of a GitHub workflow run; undefined if there is none. */
export function eventPayload(env: Environment): unknown {
  try {
    return JSON.parse(readFileSync(env.GITHUB_EVENT_PATH ?? '', 'utf8')) as unknown;
  } catch {
    return undefined;
  }
}

/** The commit of a workflow run; for a pull request the head of its branch, not the merge. Empty if unknown. */
export function headCommit(env: Environment, payload: unknown): string {
  const sha = memberOf(payload, 'pull_request', 'head', 'sha');
  return typeof sha === 'string' ? sha : (env.GITHUB_SHA ?? '');
}

/** A nested member of an unknown value; undefined if there is none. */
export function memberOf(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (part, name) =>
      typeof part === 'object' && part !== null ? (part as { [name: string]: unknown })[name] : undefined,
    value,
  );
}

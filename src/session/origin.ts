import { oneLine } from '../base/escape.js';
import { git } from '../base/git.js';
import { findWorkTree } from '../base/paths.js';
import type { Redactor } from '../secrets/redactor.js';
import type { Origin } from '../state/journal.js';
import { type Environment, eventPayload, gitlabCommit, headCommit, isCommit, memberOf } from './forge.js';

/**
 * Who runs idops, for the journal: from the variables `env` of GitHub or GitLab CI; elsewhere the newest commit of the project's git work
 * tree and its author. Each text is one line of limited length without secrets. Never throws.
 */
export async function originOf(
  env: Environment,
  root: string,
  message: string | undefined,
  { redact }: Pick<Redactor, 'redact'>,
): Promise<Origin> {
  const { pull_request, ...found } = onGithub(env) ?? onGitlab(env) ?? (await ofHead(root));
  const texts = Object.entries({ ...found, message }).flatMap(([name, text = '']) => {
    const line = oneLine(redact(text));
    return line === '' ? [] : [[name, line]];
  });
  const number = Number(pull_request);
  return { ...Object.fromEntries(texts), ...(number > 0 ? { pull_request: number } : {}) };
}

type Texts = { readonly [name in keyof Origin]?: string };

function onGithub(env: Environment): Texts | undefined {
  if (env.GITHUB_ACTIONS !== 'true') return undefined;
  const { GITHUB_SERVER_URL: server = '', GITHUB_REPOSITORY: repository = '', GITHUB_RUN_ID: id = '' } = env;
  const payload = eventPayload(env);
  const number = memberOf(payload, 'pull_request', 'number');
  const commit = headCommit(env, payload);
  return {
    // The person who re-ran it, who may not be the one who started it.
    actor: env.GITHUB_TRIGGERING_ACTOR || (env.GITHUB_ACTOR ?? ''),
    commit: isCommit(commit) ? commit : '',
    pull_request: String(number ?? /^refs\/pull\/(\d+)\//.exec(env.GITHUB_REF ?? '')?.[1] ?? ''),
    run_url: [server, repository, id].includes('') ? '' : `${server}/${repository}/actions/runs/${id}`,
  };
}

function onGitlab(env: Environment): Texts | undefined {
  if (env.GITLAB_CI !== 'true') return undefined;
  const commit = gitlabCommit(env);
  return {
    actor: env.GITLAB_USER_LOGIN ?? '',
    commit: isCommit(commit) ? commit : '',
    pull_request: env.CI_MERGE_REQUEST_IID ?? '',
    run_url: [env.CI_PIPELINE_URL, env.CI_JOB_URL].find((url) => /^https?:/.test(url ?? '')) ?? '',
  };
}

async function ofHead(root: string): Promise<Texts> {
  const top = findWorkTree(root);
  if (top === undefined) return {};
  try {
    const format = ['--no-show-signature', '--no-patch', '--format=%H%n%an <%ae>'];
    const [commit = '', author = ''] = (await git(top, ['log', '-1', ...format]))
      .toString('utf8')
      .split('\n');
    return { commit, author };
  } catch {
    // No git, or no commit yet.
    return {};
  }
}

import { eventPayload, headCommit, member } from '../session/github-event.js';

/** What the workflow runs for, as far as idops has to know. */
export interface WorkflowEvent {
  readonly name: string;
  readonly owner: string;
  readonly repository: string;
  /** The commit of the run; of a pull request, the last one of its branch. */
  readonly sha: string;
  readonly pullRequest: {
    readonly number: number;
    /** Why its runs get no secrets; null where they get them. */
    readonly withoutSecrets: string | null;
  } | null;
  /** Why the files of the run may be by somebody who must not choose where the token goes; null where they aren't. */
  readonly foreign: string | null;
  /** The id of the run; null where there is none. */
  readonly runId: string | null;
  /** The address of the run, for people. */
  readonly runUrl: string;
}

type Environment = { readonly [name: string]: string | undefined };

/** Reads the event of a workflow from what the runner gives. What isn't there is left empty. */
export function readEvent(env: Environment): WorkflowEvent {
  const payload = eventPayload(env);
  const [owner = '', repository = ''] = (env.GITHUB_REPOSITORY ?? '').split('/');
  const name = env.GITHUB_EVENT_NAME ?? '';
  const pull = member(payload, 'pull_request');
  const number = member(pull, 'number');
  return {
    name,
    owner,
    repository,
    sha: headCommit(env, payload),
    pullRequest:
      typeof number === 'number' ? { number, withoutSecrets: secretsMissing(name, payload, pull) } : null,
    foreign: whyForeign(name, payload),
    runId: env.GITHUB_RUN_ID || null,
    runUrl: `${env.GITHUB_SERVER_URL ?? 'https://github.com'}/${owner}/${repository}/actions/runs/${env.GITHUB_RUN_ID ?? ''}`,
  };
}

function secretsMissing(name: string, payload: unknown, pull: unknown): string | null {
  if (name !== 'pull_request') return null;
  const from = member(member(member(pull, 'head'), 'repo'), 'full_name');
  const into = member(member(member(pull, 'base'), 'repo'), 'full_name');
  // The repository of a fork may be gone by now.
  if (from !== into || from === undefined) return 'it comes from a fork, and runs for forks get no secrets';
  const sender = member(member(payload, 'sender'), 'login');
  return sender === 'dependabot[bot]' ? 'it comes from Dependabot, whose runs get no secrets' : null;
}

/** Events that are for branches of the own repository by their kind: nobody else can cause them. */
const own: ReadonlySet<string> = new Set(['push', 'schedule', 'workflow_dispatch']);

const another = 'this run is for a branch of another repository';

/** Whatever the event is called: a branch of another repository brings a configuration of its own. */
function whyForeign(event: string, payload: unknown): string | null {
  const name = event.toLowerCase();
  if (name === 'pull_request_target') return 'pull_request_target gives secrets to runs for any pull request';
  const pull = member(payload, 'pull_request');
  const run = member(payload, 'workflow_run');
  if (pull !== undefined) {
    if (!isSame(at(pull, 'head', 'repo', 'full_name'), at(pull, 'base', 'repo', 'full_name'))) return another;
  } else if (name.startsWith('pull_request')) return unknown(event);
  if (run !== undefined) {
    if (!isSame(at(run, 'head_repository', 'full_name'), at(payload, 'repository', 'full_name')))
      return another;
    if (bringsForeign(run)) return another;
  } else if (name === 'workflow_run') return unknown(event);
  if (name === 'check_run' || name === 'check_suite') {
    const check = member(payload, name);
    const suite = name === 'check_run' ? member(check, 'check_suite') : check;
    if (bringsForeign(check) || bringsForeign(suite)) return another;
    // Checks of a fork's branch name none, and no pull requests.
    if (typeof member(suite, 'head_branch') !== 'string') return unknown(event);
  }
  if (name === 'issue_comment') {
    const issue = member(payload, 'issue');
    // The event says nothing of the pull request's branch.
    if (member(issue, 'pull_request') !== undefined)
      return 'issue_comment gives secrets to runs for comments on any pull request';
    if (issue === undefined) return unknown(event);
  }
  return own.has(name) || (typeof payload === 'object' && payload !== null) ? null : unknown(event);
}

function unknown(event: string): string {
  return `the event ${event === '' ? 'of this run' : event} doesn't say that this run isn't for a branch of another repository`;
}

/** Whether one of the pull requests that a check or a run names is of another repository, or doesn't say. */
function bringsForeign(check: unknown): boolean {
  const pulls = member(check, 'pull_requests');
  return (
    Array.isArray(pulls) &&
    pulls.some((pull) => !isSame(at(pull, 'head', 'repo', 'id'), at(pull, 'base', 'repo', 'id')))
  );
}

/** Whether two repositories are known, and one; that of a fork may be gone by now. */
function isSame(from: unknown, into: unknown): boolean {
  return (typeof from === 'string' || typeof from === 'number') && from === into;
}

function at(value: unknown, ...path: string[]): unknown {
  return path.reduce(member, value);
}

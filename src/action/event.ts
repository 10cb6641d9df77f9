import { eventPayload, headCommit, member } from '../session/github-event.js';

/** A pull request, as far as it takes to see what it brought, and where. */
export interface PullRequest {
  readonly number: number;
  /** The branch that it is for; null where that isn't known. */
  readonly base: string | null;
  /** When it was merged, as an ISO 8601 time; null where it wasn't. */
  readonly mergedAt: string | null;
  /** The commit that brought it: of a rebase the last one. */
  readonly mergeCommit: string | null;
}

/** What the workflow runs for, as far as idops has to know. */
export interface WorkflowEvent {
  readonly name: string;
  readonly owner: string;
  readonly repository: string;
  /** The commit of the run; of a pull request, the last one of its branch. */
  readonly sha: string;
  /** The commit that the workflow's files are checked out at, where it says nothing else. */
  readonly commit: string;
  /** The branch of the run; null where it is for something else, as a tag or a pull request. */
  readonly branch: string | null;
  /** Whether that is the repository's default branch, as far as that is known. */
  readonly onDefaultBranch: boolean;
  readonly pullRequest: {
    readonly number: number;
    /** Why its runs get no secrets; null where they get them. */
    readonly withoutSecrets: string | null;
    /** What the event says of its merge; null where it isn't merged. */
    readonly merge: Omit<PullRequest, 'number'> | null;
  } | null;
  /** The last pull request of a merge group, and the branch that the group is for; null for other events. */
  readonly mergeGroup: { readonly number: number; readonly base: string } | null;
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
  const branch = branchOf(env.GITHUB_REF);
  return {
    name,
    owner,
    repository,
    sha: headCommit(env, payload),
    commit: env.GITHUB_SHA ?? '',
    branch,
    onDefaultBranch:
      name === 'schedule' ||
      (onBranches.has(name) && branch !== null && branch === at(payload, 'repository', 'default_branch')),
    pullRequest:
      typeof number === 'number'
        ? { number, withoutSecrets: secretsMissing(name, payload, pull), merge: mergeOf(pull) }
        : null,
    mergeGroup: name === 'merge_group' ? mergeGroupOf(member(payload, 'merge_group')) : null,
    foreign: whyForeign(name, payload),
    runId: env.GITHUB_RUN_ID || null,
    runUrl: `${env.GITHUB_SERVER_URL ?? 'https://github.com'}/${owner}/${repository}/actions/runs/${env.GITHUB_RUN_ID ?? ''}`,
  };
}

/** Events that drift is looked for on, where they are for the default branch. */
const onBranches: ReadonlySet<string> = new Set(['push', 'workflow_dispatch']);

function branchOf(ref: unknown): string | null {
  const [, branch] = /^refs\/heads\/(.+)$/.exec(typeof ref === 'string' ? ref : '') ?? [];
  return branch ?? null;
}

function mergeOf(pull: unknown): Omit<PullRequest, 'number'> | null {
  if (member(pull, 'merged') !== true) return null;
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return {
    base: text(at(pull, 'base', 'ref')),
    mergedAt: text(member(pull, 'merged_at')),
    mergeCommit: text(member(pull, 'merge_commit_sha')),
  };
}

/** What GitHub calls the branch of a merge group after. */
function mergeGroupOf(group: unknown): WorkflowEvent['mergeGroup'] {
  const base = branchOf(member(group, 'base_ref'));
  const head = branchOf(member(group, 'head_ref'));
  if (base === null || head === null) return null;
  const start = `gh-readonly-queue/${base}/pr-`;
  const [, number] = head.startsWith(start) ? (/^(\d+)-[0-9a-f]+$/.exec(head.slice(start.length)) ?? []) : [];
  return number === undefined ? null : { number: Number(number), base };
}

/** Events whose runs get no secrets for a fork and for Dependabot. */
const withoutSecrets: ReadonlySet<string> = new Set([
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
]);

function secretsMissing(name: string, payload: unknown, pull: unknown): string | null {
  if (!withoutSecrets.has(name)) return null;
  if (isOfFork(pull)) return 'it comes from a fork, and runs for forks get no secrets';
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
    if (isOfFork(pull)) return another;
  } else if (name.startsWith('pull_request')) return unknown(event);
  if (run !== undefined) {
    if (!isOneRepository(member(run, 'head_repository'), member(payload, 'repository'))) return another;
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
  // It names the branches that the commit is on: none where it is a fork's.
  if (name === 'status') {
    const branches = member(payload, 'branches');
    if (!Array.isArray(branches) || branches.length === 0) return unknown(event);
  }
  // Whoever sends it says what it holds: mostly a pull request as another event had it.
  if (name === 'repository_dispatch') {
    const sent = at(payload, 'client_payload', 'pull_request');
    if (typeof sent === 'object' && sent !== null && isOfFork(sent)) return another;
  }
  if (name.startsWith('deployment') && !isOwnRef(at(payload, 'deployment', 'ref'))) return unknown(event);
  return own.has(name) || (typeof payload === 'object' && payload !== null) ? null : unknown(event);
}

/** Whether a deployment is of a branch or a tag: commits and pull requests may be a fork's. */
function isOwnRef(ref: unknown): boolean {
  return typeof ref === 'string' && !/^refs\/pull\/|^[0-9a-f]{40}(?:[0-9a-f]{24})?$/i.test(ref);
}

function unknown(event: string): string {
  return `the event ${event === '' ? 'of this run' : event} doesn't say that this run isn't for a branch of another repository`;
}

/** Whether one of the pull requests that a check or a run names is of another repository, or doesn't say. */
function bringsForeign(check: unknown): boolean {
  const pulls = member(check, 'pull_requests');
  return Array.isArray(pulls) && pulls.some(isOfFork);
}

/** Whether a pull request, as GitHub describes it, is of another repository, or doesn't say. */
export function isOfFork(pull: unknown): boolean {
  return !isOneRepository(at(pull, 'head', 'repo'), at(pull, 'base', 'repo'));
}

/**
 * Whether two repositories are known, and one; that of a fork may be gone by now. A name can pass to another repository, an
 * id can't. That a repository is a fork says nothing where it is this one.
 */
function isOneRepository(from: unknown, into: unknown): boolean {
  const [one, other] = [member(from, 'id'), member(into, 'id')];
  if (typeof one === 'number' && typeof other === 'number') return one === other;
  const name = member(from, 'full_name');
  return typeof name === 'string' && name === member(into, 'full_name') && member(from, 'fork') !== true;
}

function at(value: unknown, ...path: string[]): unknown {
  return path.reduce(member, value);
}

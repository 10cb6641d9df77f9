import { eventPayload, headCommit, memberOf } from '../session/forge.js';

/** The event that a workflow runs for. */
export interface WorkflowEvent {
  readonly name: string;
  readonly owner: string;
  readonly repository: string;
  /** The commit of the run; for a pull request, the last commit of its branch. */
  readonly sha: string;
  /** The merge commit of the pull request that `pr-number` names. */
  readonly merge?: string | null;
  /** The commit before this run's: of the branch before a push, or of a pull request's base; null if the event names none. */
  readonly before: string | null;
  /** The commit that `actions/checkout` checks out by default. */
  readonly commit: string;
  /** The branch of the run; null for a tag or a pull request. */
  readonly branch: string | null;
  /** Whether that is the default branch; false if unknown. */
  readonly onDefaultBranch: boolean;
  readonly pullRequest: {
    readonly number: number;
    /** The base branch; null if the event doesn't name it. */
    readonly base: string | null;
    /** Why its runs get no secrets; null if they get them. */
    readonly withoutSecrets: string | null;
  } | null;
  /** Why the checked-out files may come from an untrusted author, who must not choose where the token is sent; null if they don't. */
  readonly foreign: string | null;
  /** The id of the run; null outside a workflow. */
  readonly runId: string | null;
  /** The address of the run, for people. */
  readonly runUrl: string;
}

type Environment = { readonly [name: string]: string | undefined };

/** Reads the event from the runner's variables. Missing values are empty. */
export function readEvent(env: Environment): WorkflowEvent {
  const payload = eventPayload(env);
  const [owner = '', repository = ''] = (env.GITHUB_REPOSITORY ?? '').split('/');
  const name = env.GITHUB_EVENT_NAME ?? '';
  const pull = memberOf(payload, 'pull_request');
  const number = memberOf(pull, 'number');
  const branch = branchOf(env.GITHUB_REF);
  return {
    name,
    owner,
    repository,
    sha: headCommit(env, payload),
    before: commitOf(memberOf(pull, 'base', 'sha') ?? memberOf(payload, 'before')),
    commit: env.GITHUB_SHA ?? '',
    branch,
    onDefaultBranch:
      name === 'schedule' ||
      (onBranches.has(name) &&
        branch !== null &&
        branch === memberOf(payload, 'repository', 'default_branch')),
    pullRequest:
      typeof number === 'number'
        ? {
            number,
            base: textOf(memberOf(pull, 'base', 'ref')),
            withoutSecrets: secretsMissing(name, payload, pull),
          }
        : null,
    foreign: whyForeign(name, pull),
    runId: env.GITHUB_RUN_ID || null,
    runUrl: `${env.GITHUB_SERVER_URL ?? 'https://github.com'}/${owner}/${repository}/actions/runs/${env.GITHUB_RUN_ID ?? ''}`,
  };
}

/** Events that report drift if they are for the default branch. */
const onBranches: ReadonlySet<string> = new Set(['push', 'workflow_dispatch']);

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** A commit; null for the zeros of a branch that is new. */
function commitOf(value: unknown): string | null {
  const text = textOf(value);
  return text === null || /^0*$/.test(text) ? null : text;
}

function branchOf(ref: unknown): string | null {
  const [, branch] = /^refs\/heads\/(.+)$/.exec(typeof ref === 'string' ? ref : '') ?? [];
  return branch ?? null;
}

/** Events whose runs get no secrets if they come from a fork or Dependabot. */
const withoutSecrets: ReadonlySet<string> = new Set([
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
]);

function secretsMissing(name: string, payload: unknown, pull: unknown): string | null {
  if (!withoutSecrets.has(name)) return null;
  if (isOfFork(pull)) return 'it comes from a fork, and runs for forks get no secrets';
  const sender = memberOf(payload, 'sender', 'login');
  return sender === 'dependabot[bot]' ? 'it comes from Dependabot, whose runs get no secrets' : null;
}

/** Events that only members of the repository can cause. */
const own: ReadonlySet<string> = new Set(['push', 'schedule', 'workflow_dispatch', 'release']);

/** A fork's branch has its own configuration, and most events don't name the branch's owner. */
function whyForeign(event: string, pull: unknown): string | null {
  if (own.has(event) || (withoutSecrets.has(event) && !isOfFork(pull))) return null;
  return pull === undefined
    ? `the event ${event === '' ? 'of this run' : event} doesn't say that this run isn't for a branch of another repository`
    : 'this run may be for a branch of another repository';
}

/** Whether a pull request comes from a fork, or doesn't say. */
function isOfFork(pull: unknown): boolean {
  return !isOneRepository(memberOf(pull, 'head', 'repo'), memberOf(pull, 'base', 'repo'));
}

/**
 * Whether two repositories are known and equal; a fork may have been deleted. Ids decide, since a name can pass to another repository.
 * This repository may itself be a fork.
 */
function isOneRepository(from: unknown, into: unknown): boolean {
  const [one, other] = [memberOf(from, 'id'), memberOf(into, 'id')];
  if (typeof one === 'number' && typeof other === 'number') return one === other;
  const name = memberOf(from, 'full_name');
  return typeof name === 'string' && name === memberOf(into, 'full_name') && memberOf(from, 'fork') !== true;
}

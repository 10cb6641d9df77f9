import { eventPayload, headCommit, member } from '../session/forge.js';

/** What the workflow runs for, as far as idops has to know. */
export interface WorkflowEvent {
  readonly name: string;
  readonly owner: string;
  readonly repository: string;
  /** The commit of the run; of a pull request, the last one of its branch. */
  readonly sha: string;
  /** The merge that brought a pull request that is named by hand. */
  readonly merge?: string | null;
  /** The commit that the workflow's files are checked out at, where it says nothing else. */
  readonly commit: string;
  /** The branch of the run; null where it is for something else, as a tag or a pull request. */
  readonly branch: string | null;
  /** Whether that is the repository's default branch, as far as that is known. */
  readonly onDefaultBranch: boolean;
  readonly pullRequest: {
    readonly number: number;
    /** The branch that it is merged into; null if the event doesn't say. */
    readonly base: string | null;
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
        ? {
            number,
            base: textOf(at(pull, 'base', 'ref')),
            withoutSecrets: secretsMissing(name, payload, pull),
          }
        : null,
    foreign: whyForeign(name, pull),
    runId: env.GITHUB_RUN_ID || null,
    runUrl: `${env.GITHUB_SERVER_URL ?? 'https://github.com'}/${owner}/${repository}/actions/runs/${env.GITHUB_RUN_ID ?? ''}`,
  };
}

/** Events that drift is looked for on, where they are for the default branch. */
const onBranches: ReadonlySet<string> = new Set(['push', 'workflow_dispatch']);

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function branchOf(ref: unknown): string | null {
  const [, branch] = /^refs\/heads\/(.+)$/.exec(typeof ref === 'string' ? ref : '') ?? [];
  return branch ?? null;
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
const own: ReadonlySet<string> = new Set(['push', 'schedule', 'workflow_dispatch', 'release']);

/** A branch of another repository brings a configuration of its own; most events don't tell whose branch it is. */
function whyForeign(event: string, pull: unknown): string | null {
  if (own.has(event) || (withoutSecrets.has(event) && !isOfFork(pull))) return null;
  return pull === undefined
    ? `the event ${event === '' ? 'of this run' : event} doesn't say that this run isn't for a branch of another repository`
    : 'this run may be for a branch of another repository';
}

/** Whether a pull request, as GitHub describes it, is of another repository, or doesn't say. */
function isOfFork(pull: unknown): boolean {
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

import { eventPayload, headCommit, memberOf } from '../session/forge.js';

/** The event that started a workflow run. */
export interface WorkflowEvent {
  readonly name: string;
  readonly owner: string;
  readonly repository: string;
  /** The commit of the run; for a pull request, the last commit of its branch. */
  readonly headSha: string;
  /** The merge commit of the pull request that `pr-number` names. */
  readonly mergeSha?: string | null;
  /** The commit of the branch before a push, or of the pull request's base; null if the event names none. */
  readonly baseSha: string | null;
  /** The commit that `actions/checkout` checks out by default. */
  readonly checkoutSha: string;
  /** The branch of the run; null for a tag or a pull request. */
  readonly branch: string | null;
  /** Whether the run is for the default branch; false if unknown. */
  readonly onDefaultBranch: boolean;
  readonly pullRequest: {
    readonly number: number;
    /** The base branch; null if the event doesn't name it. */
    readonly base: string | null;
    /** Why its runs get no secrets; null if they get secrets. */
    readonly noSecretsReason: string | null;
  } | null;
  /** Why an untrusted author may have written the checked-out files, which say where the token is sent; null if none has. */
  readonly untrustedReason: string | null;
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
    headSha: headCommit(env, payload),
    baseSha: commitOf(memberOf(pull, 'base', 'sha') ?? memberOf(payload, 'before')),
    checkoutSha: env.GITHUB_SHA ?? '',
    branch,
    onDefaultBranch:
      name === 'schedule' ||
      (driftEvents.has(name) &&
        branch !== null &&
        branch === memberOf(payload, 'repository', 'default_branch')),
    pullRequest:
      typeof number === 'number'
        ? {
            number,
            base: textOf(memberOf(pull, 'base', 'ref')),
            noSecretsReason: whyNoSecrets(name, payload, pull),
          }
        : null,
    untrustedReason: whyUntrusted(name, pull),
    runId: env.GITHUB_RUN_ID || null,
    runUrl: `${env.GITHUB_SERVER_URL ?? 'https://github.com'}/${owner}/${repository}/actions/runs/${env.GITHUB_RUN_ID ?? ''}`,
  };
}

/** Events whose runs on the default branch report drift. */
const driftEvents: ReadonlySet<string> = new Set(['push', 'workflow_dispatch']);

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** A commit hash; null if it is all zeros, as before a branch's first push. */
function commitOf(value: unknown): string | null {
  const text = textOf(value);
  return text === null || /^0*$/.test(text) ? null : text;
}

function branchOf(ref: unknown): string | null {
  const [, branch] = /^refs\/heads\/(.+)$/.exec(typeof ref === 'string' ? ref : '') ?? [];
  return branch ?? null;
}

/** Events whose runs get no secrets if a fork or Dependabot causes them. */
const eventsWithoutSecrets: ReadonlySet<string> = new Set([
  'pull_request',
  'pull_request_review',
  'pull_request_review_comment',
]);

function whyNoSecrets(name: string, payload: unknown, pull: unknown): string | null {
  if (!eventsWithoutSecrets.has(name)) return null;
  if (isFromFork(pull)) return 'it comes from a fork, and runs for forks get no secrets';
  const sender = memberOf(payload, 'sender', 'login');
  return sender === 'dependabot[bot]' ? 'it comes from Dependabot, whose runs get no secrets' : null;
}

/** Events that only members of the repository can cause. */
const memberEvents: ReadonlySet<string> = new Set(['push', 'schedule', 'workflow_dispatch', 'release']);

/** Why the run may be for the branch of a fork, which has a configuration of its own; most events don't name the branch's repository. */
function whyUntrusted(event: string, pull: unknown): string | null {
  if (memberEvents.has(event) || (eventsWithoutSecrets.has(event) && !isFromFork(pull))) return null;
  return pull === undefined
    ? `the event ${event === '' ? 'of this run' : event} doesn't say which repository the branch belongs to`
    : 'this run may be for a branch of another repository';
}

/** Whether a pull request comes from a fork; true if unknown. */
function isFromFork(pull: unknown): boolean {
  return !isSameRepository(memberOf(pull, 'head', 'repo'), memberOf(pull, 'base', 'repo'));
}

/** Whether two repositories are known and equal, by id if possible, since another repository can take over a name. */
function isSameRepository(from: unknown, into: unknown): boolean {
  const [one, other] = [memberOf(from, 'id'), memberOf(into, 'id')];
  if (typeof one === 'number' && typeof other === 'number') return one === other;
  const name = memberOf(from, 'full_name');
  return typeof name === 'string' && name === memberOf(into, 'full_name') && memberOf(from, 'fork') !== true;
}

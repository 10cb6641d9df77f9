import { ProblemsError } from '../base/problems.js';
import { type ApproverRule, type Safety, safetyChanges, stricter } from '../base/safety.js';
import { countDestructions } from '../plan/approve.js';
import { countPrivileged, type Plan } from '../plan/plan.js';
import type { Project } from '../project/index.js';
import { code, prose } from '../report/markdown-escape.js';
import type { WorkflowEvent } from './event.js';
import { type GithubApi, GithubFailure, withGithub } from './github.js';
import { fromPullRequest, type Inputs } from './inputs.js';
import type { Log } from './log.js';
import { mergedPullRequest, notApproved } from './merged-pull.js';
import { configInRepository } from './workspace.js';

/** What requests to GitHub and their log need. */
interface StepContext {
  readonly event: WorkflowEvent;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** The `safety` settings of a run. */
export interface EffectiveSafety {
  readonly safety: Safety;
  /** What the pull request changes in `safety`, or why that is unknown, in Markdown; empty if nothing. */
  readonly note: string;
}

/**
 * The stricter of the settings before and after the pull request or push, so that no pull request both raises a limit and uses it. Throws a
 * ProblemsError (`not-approved`) if an apply that nobody started by hand can't read the settings before.
 */
export async function effectiveSafety(
  { event, signal, log }: StepContext,
  inputs: Inputs,
  project: Project,
): Promise<EffectiveSafety> {
  const safety = project.safety();
  const unchanged = { safety, note: '' };
  const path = configInRepository(inputs);
  const { githubToken } = inputs;
  if (githubToken === undefined || path.startsWith('..')) return unchanged;
  const unknown = (message: string): EffectiveSafety => {
    log.annotate('warning', `${message}. Whether safety is changed is unknown.`);
    return { safety, note: `**Whether this changes \`safety\` is unknown:** ${prose(message)}.` };
  };
  try {
    const text = await withGithub(githubToken, event, { signal }, async (api) => {
      const before = event.baseSha ?? (await baseCommit(api, event, inputs));
      return before === undefined ? undefined : await api.file(path, before);
    });
    if (text === undefined) return unchanged;
    if (text === null) return unknown(`there is no ${path} before this change; it may be new or moved`);
    const before = project.withText(text).safety();
    const changes = safetyChanges(before, safety);
    if (changes.length === 0) return unchanged;
    const note = `**This changes \`safety\`:** ${changes.map(code).join(', ')}. The stricter of both versions holds until the next change.`;
    log.annotate(
      'warning',
      `This changes safety: ${changes.join(', ')}. The stricter of both versions holds.`,
    );
    return { safety: stricter(before, safety), note };
  } catch (failure) {
    // The environment is new, the former version is invalid, or an apply by hand belongs to no pull request.
    if (failure instanceof ProblemsError) return unchanged;
    if (!(failure instanceof GithubFailure)) throw failure;
    const message = `${path} before this change can't be read: ${failure.message.replace(/\.$/, '')}`;
    if (inputs.command === 'apply' && !isByHand(event, inputs))
      throw notApproved(
        message,
        'the job needs the permissions actions: read, contents: read and pull-requests: read; fix that, then run it again',
      );
    return unknown(message);
  }
}

/** Whether a person started the workflow, and no pull request approves the plan. */
function isByHand({ name }: WorkflowEvent, { expectDigest }: Inputs): boolean {
  return name === 'workflow_dispatch' && expectDigest !== fromPullRequest;
}

/** The base commit of the pull request, for an event that doesn't name it. */
async function baseCommit(api: GithubApi, event: WorkflowEvent, inputs: Inputs): Promise<string | undefined> {
  const { command, expectDigest, prNumber, args } = inputs;
  if (command === 'apply' && expectDigest === fromPullRequest)
    return (await mergedPullRequest(api, event, prNumber)).base.sha;
  if (prNumber !== undefined) return (await api.pullRequest(prNumber)).base.sha;
  // The end of dated access was approved with it.
  if (command !== 'apply' || args.ended === true || !isByHand(event, inputs)) return undefined;
  return (await mergedPullRequest(api, event, undefined)).base.sha;
}

const nouns: { readonly [kind in ApproverRule['for']]: string } = {
  privileged: 'privileged changes',
  destructive: 'destructive changes',
  protected: 'changes of protected objects',
};

/** The approvers that a plan needs according to `safety`. */
export function requiredApprovers(plan: Plan, { approvers }: Safety): readonly ApproverRule[] {
  const has: { readonly [kind in ApproverRule['for']]: boolean } = {
    privileged: countPrivileged(plan) > 0,
    destructive: countDestructions(plan) > 0,
    protected: plan.changes.some(({ protectedBy }) => protectedBy !== undefined),
  };
  return approvers.filter((entry) => has[entry.for]);
}

/** Which reviews a plan needs, in Markdown: names are code, so they mention nobody. Empty if it needs none. */
export function requiredReviewsSentence(approvers: readonly ApproverRule[]): string {
  if (approvers.length === 0) return '';
  const reviews = approvers.map((entry) => `${namesOf(entry, code)} for ${nouns[entry.for]}`);
  return `Before it is applied, it needs an approving review of this plan by ${reviews.join('; and by ')}.`;
}

function namesOf({ users = [], teams = [] }: ApproverRule, format: (name: string) => string): string {
  return [
    ...users.map((user) => format(user)),
    ...teams.map((team) => `a member of the team ${format(team)}`),
  ].join(' or ');
}

/**
 * Throws a ProblemsError (`not-approved`) unless each entry of `approvers` has approved the plan: by a review of the merged pull request,
 * or by starting the workflow by hand.
 */
export async function checkApprovers(
  { event, signal }: Omit<StepContext, 'log'>,
  inputs: Inputs,
  approvers: readonly ApproverRule[],
  { shownAt = 0 }: { readonly shownAt?: number },
): Promise<void> {
  if (approvers.length === 0) return;
  const { githubToken, prNumber } = inputs;
  if (githubToken === undefined)
    throw notApproved(
      'safety.approvers needs the input github-token',
      'set it to a token with pull-requests: read',
    );
  const startedByHand = isByHand(event, inputs);
  try {
    await withGithub(githubToken, event, { signal }, async (api) => {
      const approved = startedByHand
        ? [process.env.GITHUB_TRIGGERING_ACTOR ?? ''].filter((actor) => actor !== '')
        : await approvingReviewers(api, event, prNumber, shownAt);
      for (const entry of approvers) {
        if (await includesApprover(api, entry, approved)) continue;
        const by = namesOf(entry, (name) => name);
        const needed = startedByHand ? 'to be started' : 'an approving review of this plan';
        throw notApproved(
          `${nouns[entry.for]} need ${needed} by ${by} (safety.approvers)`,
          'merge such a change after that review, or let an approver start the workflow by hand with expect-digest',
        );
      }
    });
  } catch (failure) {
    if (!(failure instanceof GithubFailure)) throw failure;
    throw notApproved(
      `reviews by safety.approvers can't be read: ${failure.message.replace(/\.$/, '')}`,
      'github-token needs pull-requests: read, and for teams a token that may read the members of the organization',
    );
  }
}

/** The accounts whose last review of the merged pull request approves its last commit, after the plan was shown at `shownAt`. */
async function approvingReviewers(
  api: GithubApi,
  event: WorkflowEvent,
  prNumber: number | undefined,
  shownAt: number,
): Promise<string[]> {
  const { number, head, merged_at } = await mergedPullRequest(api, event, prNumber);
  const lastReviews = new Map(
    (await api.reviews(number))
      .filter(({ submittedAt }) => Date.parse(submittedAt) <= Date.parse(merged_at ?? ''))
      .toSorted((one, other) => one.submittedAt.localeCompare(other.submittedAt))
      .map((review) => [review.author?.login ?? '', review] as const),
  );
  return [...lastReviews].flatMap(
    ([login, { state, commit, submittedAt, author, authorCanPushToRepository }]) =>
      state === 'APPROVED' &&
      author?.__typename === 'User' &&
      authorCanPushToRepository &&
      commit?.oid === head.sha &&
      Date.parse(submittedAt) > shownAt
        ? [login]
        : [],
  );
}

/** Whether one of the accounts in `approved` is an approver, or a member of an approving team. */
async function includesApprover(
  api: GithubApi,
  { users = [], teams = [] }: ApproverRule,
  approved: readonly string[],
): Promise<boolean> {
  const logins = new Set(users.map((user) => user.toLowerCase()));
  if (approved.some((login) => logins.has(login.toLowerCase()))) return true;
  for (const team of teams) for (const login of approved) if (await api.isMember(team, login)) return true;
  return false;
}

import { ProblemsError } from '../base/problems.js';
import { type ApproverRule, type Safety, safetyChanges, stricter } from '../base/safety.js';
import { countDestructions } from '../plan/approve.js';
import { countPrivileged, type Plan } from '../plan/plan.js';
import type { Project } from '../project/index.js';
import { code } from '../report/markdown-escape.js';
import type { WorkflowEvent } from './event.js';
import { type GithubApi, GithubFailure, withGithub } from './github.js';
import { fromPullRequest, type Inputs } from './inputs.js';
import type { Log } from './log.js';
import { mergedPullRequest, refusal } from './merged-pull.js';
import { configInRepository } from './places.js';

/** The step that runs. */
interface Doing {
  readonly event: WorkflowEvent;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** The settings of `safety` that hold for a run. */
export interface Guarding {
  readonly safety: Safety;
  /** Says what the pull request changes in them, in Markdown; empty if nothing. */
  readonly note: string;
}

/**
 * The stricter of the settings before the pull request, or the push, and after it, so that no pull request raises a limit and uses it.
 * Throws a ProblemsError (`not-approved`) if an apply can't read the settings before.
 */
export async function guardingOf(
  { event, signal, log }: Doing,
  inputs: Inputs,
  project: Project,
): Promise<Guarding> {
  const safety = project.safety();
  const path = configInRepository(inputs);
  const { githubToken } = inputs;
  if (githubToken === undefined || path.startsWith('..')) return { safety, note: '' };
  try {
    const text = await withGithub(githubToken, event, { signal }, async (api) => {
      const before = event.before ?? (await baseOf(api, event, inputs));
      return before === undefined ? null : await api.file(path, before);
    });
    if (text === null) return { safety, note: '' };
    const before = project.withText(text).safety();
    const changes = safetyChanges(before, safety);
    if (changes.length === 0) return { safety, note: '' };
    const note = `**This changes \`safety\`:** ${changes.map(code).join(', ')}. The stricter of both versions holds until the next change.`;
    log.annotate(
      'warning',
      `This changes safety: ${changes.join(', ')}. The stricter of both versions holds.`,
    );
    return { safety: stricter(before, safety), note };
  } catch (failure) {
    // An environment that is new, or a version that was never valid, has no settings.
    if (failure instanceof ProblemsError) return { safety, note: '' };
    if (!(failure instanceof GithubFailure)) throw failure;
    const message = `${path} before this change can't be read: ${failure.message.replace(/\.$/, '')}`;
    if (inputs.command === 'apply')
      throw refusal(
        message,
        'the job needs the permissions actions: read, contents: read and pull-requests: read; run it again when that is put right',
      );
    log.annotate('warning', `${message}. Whether safety is changed is unknown.`);
    return { safety, note: '' };
  }
}

/** The commit that the pull request of an event without one was merged into. */
async function baseOf(
  api: GithubApi,
  event: WorkflowEvent,
  { command, expectDigest, prNumber }: Inputs,
): Promise<string | undefined> {
  if (command === 'apply' && expectDigest === fromPullRequest)
    return (await mergedPullRequest(api, event, prNumber)).base.sha;
  return prNumber === undefined ? undefined : (await api.pullRequest(prNumber)).base.sha;
}

const nouns: { readonly [kind in ApproverRule['for']]: string } = {
  privileged: 'privileged changes',
  destructive: 'destructive changes',
  protected: 'changes of protected objects',
};

/** The approvers that a plan needs. */
export function approversFor(plan: Plan, { approvers }: Safety): readonly ApproverRule[] {
  const has: { readonly [kind in ApproverRule['for']]: boolean } = {
    privileged: countPrivileged(plan) > 0,
    destructive: countDestructions(plan) > 0,
    protected: plan.changes.some(({ protectedBy }) => protectedBy !== undefined),
  };
  return approvers.filter((entry) => has[entry.for]);
}

/** Who is awaited, in Markdown: names in code mention nobody. Empty if nobody is. */
export function awaitedSentence(needed: readonly ApproverRule[]): string {
  if (needed.length === 0) return '';
  const reviews = needed.map((entry) => `${namesOf(entry, code)} for ${nouns[entry.for]}`);
  return `Awaited before it is applied: an approving review of this plan by ${reviews.join('; and by ')}.`;
}

function namesOf({ users = [], teams = [] }: ApproverRule, shown: (name: string) => string): string {
  return [
    ...users.map((user) => shown(user)),
    ...teams.map((team) => `a member of the team ${shown(team)}`),
  ].join(' or ');
}

/**
 * Throws a ProblemsError (`not-approved`) unless each of the needed approvers has approved the plan: by a review of the merged pull
 * request, or by starting the workflow by hand.
 */
export async function checkApprovers(
  { event, signal }: Omit<Doing, 'log'>,
  inputs: Inputs,
  needed: readonly ApproverRule[],
  { since }: { readonly since?: number },
): Promise<void> {
  if (needed.length === 0) return;
  const { githubToken, expectDigest, prNumber } = inputs;
  if (githubToken === undefined)
    throw refusal('safety.approvers needs the input github-token', 'give it, with pull-requests: read');
  const isByHand = event.name === 'workflow_dispatch' && expectDigest !== fromPullRequest;
  try {
    await withGithub(githubToken, event, { signal }, async (api) => {
      const approved = isByHand
        ? [process.env.GITHUB_TRIGGERING_ACTOR ?? ''].filter((actor) => actor !== '')
        : await reviewersOf(api, event, prNumber, since ?? 0);
      for (const entry of needed) {
        if (await isAmong(api, entry, approved)) continue;
        const by = namesOf(entry, (name) => name);
        const how = isByHand ? 'to be started' : 'an approving review of this plan';
        throw refusal(
          `${nouns[entry.for]} need ${how} by ${by} (safety.approvers)`,
          'merge such a change after that review, or let one of them start the workflow by hand with expect-digest',
        );
      }
    });
  } catch (failure) {
    if (!(failure instanceof GithubFailure)) throw failure;
    throw refusal(
      `whether safety.approvers approved can't be read: ${failure.message.replace(/\.$/, '')}`,
      'github-token needs pull-requests: read, and for teams a token that may read the members of the organization',
    );
  }
}

/** Who approved the last commit of the merged pull request last, after its plan was shown. */
async function reviewersOf(
  api: GithubApi,
  event: WorkflowEvent,
  prNumber: number | undefined,
  since: number,
): Promise<string[]> {
  const { number, head, merged_at } = await mergedPullRequest(api, event, prNumber);
  const last = new Map(
    (await api.reviews(number))
      .filter(({ submittedAt }) => Date.parse(submittedAt) <= Date.parse(merged_at ?? ''))
      .toSorted((one, other) => one.submittedAt.localeCompare(other.submittedAt))
      .map((review) => [review.author?.login ?? '', review] as const),
  );
  return [...last].flatMap(([login, { state, commit, submittedAt, author, authorCanPushToRepository }]) =>
    state === 'APPROVED' &&
    author?.__typename === 'User' &&
    authorCanPushToRepository &&
    commit?.oid === head.sha &&
    Date.parse(submittedAt) > since
      ? [login]
      : [],
  );
}

async function isAmong(
  api: GithubApi,
  { users = [], teams = [] }: ApproverRule,
  approved: readonly string[],
): Promise<boolean> {
  const known = new Set(users.map((user) => user.toLowerCase()));
  if (approved.some((login) => known.has(login.toLowerCase()))) return true;
  for (const team of teams) for (const login of approved) if (await api.isMember(team, login)) return true;
  return false;
}

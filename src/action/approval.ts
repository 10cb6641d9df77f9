import { type Approval, usedBy, whyUsedUp } from '../apply/approvals.js';
import { type Problem, ProblemsError, problemError, refuse } from '../base/problems.js';
import { shardText } from '../base/shard.js';
import { changesServer, type Plan } from '../plan/plan.js';
import type { StoredPlan } from '../plan/stored.js';
import type { WritingSession } from '../session/session.js';
import { type ApprovedPlan, approvedPlan } from './approved.js';
import { GithubFailure, withGithub } from './github.js';
import { fromPullRequest, type Inputs } from './inputs.js';
import type { Job } from './job.js';
import { markPlan } from './marker.js';
import { mergedPullRequest, refusal, wayOut } from './merged-pull.js';
import { commentKey } from './places.js';

/** A plan that may be applied, and its approval; without one if the plan needs none. */
export interface Checked {
  readonly plan: Plan;
  readonly approval?: Approval;
  /** When the approved plan was shown, in milliseconds. */
  readonly since?: number;
}

/** A plan made now, and its differences from the stored plan, if there is one. */
type Made = Awaited<ReturnType<WritingSession['planStored']>>;

/** What approves a plan, and what came after it. */
interface Found {
  /** The source of the approval, for messages. */
  readonly source: string;
  /** Undefined if the source approves nothing. */
  readonly digest?: string | undefined;
  readonly pullRequest: { readonly number: number; readonly head: string } | null;
  readonly approved: ApprovedPlan | null;
  /** The start of the workflow run, if this isn't its first attempt. */
  readonly since: Date | null;
  /** The address of a later run of the same workflow. */
  readonly later: string | null;
}

/**
 * Checks that a plan is approved, and that the approval still counts. An approval counts for one workflow run, until something else is
 * applied or planned. A plan that changes nothing needs none. Throws a ProblemsError (`not-approved`, `approval-used`, `stale-plan`)
 * before anything is sent.
 */
export async function checkApproval(
  job: Job,
  inputs: Inputs,
  session: WritingSession,
  made: Made,
  stored: StoredPlan | undefined,
): Promise<Checked> {
  const { plan, problems } = made;
  const isAsked = inputs.expectDigest !== undefined || stored !== undefined;
  try {
    if (isAsked && changesServer(plan)) return await checked(job, inputs, session, made, stored);
    refuse(problems);
    return { plan };
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    throw new ProblemsError(failure.problems.map((problem) => withWayOut(problem, plan)));
  }
}

/** Adds what a person can do after the merge to a problem that ends an apply. */
function withWayOut({ hint, ...problem }: Problem, { digest }: Plan): Problem {
  // The pull request is merged: planning it again is too late.
  const own = hint === undefined || problem.code === 'stale-plan' ? '' : `${hint}; `;
  return { ...problem, hint: `nothing was sent; ${own}${wayOut(digest)}` };
}

async function checked(
  job: Job,
  inputs: Inputs,
  session: WritingSession,
  { plan, problems }: Made,
  stored: StoredPlan | undefined,
): Promise<Checked> {
  refuseLostState(inputs, session);
  const { runId, runUrl } = job.event;
  if (runId === null)
    throw refusal('GITHUB_RUN_ID is not set, so nobody can tell which run uses an approval');
  const { source, digest, pullRequest, approved, since, later } = await findApproval(
    job,
    inputs,
    runId,
    plan,
    stored,
  );
  if (digest === undefined) {
    const part = plan.shard === undefined ? '' : `shard ${shardText(plan.shard)} of `;
    throw refusal(
      `${source} approves no plan for ${part}this environment, and there is something to change now`,
      'a comment approves the plan that it shows, if it shows all of it and all that is declared',
    );
  }
  job.log.say(`${source} approved ${digest}`);
  const approval: Approval = {
    pull_request: pullRequest?.number ?? null,
    head: pullRequest?.head ?? null,
    plan_run: approved === null ? null : String(approved.run.id),
    environment: plan.environment,
    digest,
    workflow_run: runId,
    url: runUrl,
  };
  const shownAt = approved === null ? {} : { since: approved.since };
  const history = session.approvalHistory();
  const made = approved?.stored == null ? null : new Date(approved.stored.created_at);
  const used = whyUsedUp(history, approval, since, made);
  if (used !== undefined) throw new ProblemsError([used]);
  if (later !== null) {
    const message = `a later run of this workflow came after this one: ${later}`;
    throw problemError('approval-used', message);
  }
  refuse(problems);
  const left = usedBy(history, approval)?.left;
  if (left !== undefined) {
    // `planStored` compared a stored plan already.
    if (stored !== undefined) return { plan, approval, ...shownAt };
    if (approved?.stored == null) throw stale(`${source} approved ${digest}, of which a part was applied`);
    const rest = await session.planStored(approved.stored, left);
    refuse(rest.problems);
    return { plan: rest.plan, approval, ...shownAt };
  }
  const now = await markPlan(plan, job.redactor);
  const observed = approved?.marker.plan?.observed ?? now.observed;
  if (digest === now.digest && observed === now.observed) return { plan, approval, ...shownAt };
  const why = digest === now.digest ? 'the server was changed since' : `it is ${now.digest} now`;
  throw stale(
    [
      `${source} approved ${digest}, and ${why}`,
      ...(approved === null ? [] : [`${approved.run.html_url} shows what was approved`]),
    ].join('; '),
  );
}

function stale(message: string): ProblemsError {
  return problemError('stale-plan', `stale plan: ${message}`);
}

/** Refuses a state file on a runner that is thrown away: it can't remember that an approval was used. */
function refuseLostState({ expectDigest }: Inputs, { project }: WritingSession): void {
  const isLost = project.state().in === 'file' && process.env.RUNNER_ENVIRONMENT === 'github-hosted';
  if (expectDigest !== fromPullRequest || !isLost) return;
  throw refusal(
    'an approval counts once, which the state remembers, and the state is a file that this runner throws away',
    'keep the state in git or PostgreSQL: state: {git: {}}',
  );
}

/** Asks GitHub what approves a plan and what came after. Without a token for GitHub, only the state knows what came after. */
async function findApproval(
  { event, signal }: Job,
  inputs: Inputs,
  runId: string,
  { environment }: Plan,
  stored: StoredPlan | undefined,
): Promise<Found> {
  const { githubToken, expectDigest, prNumber, planWorkflow, approve: mode } = inputs;
  const isFromPull = expectDigest === fromPullRequest;
  const byHand: Found = {
    source: expectDigest === undefined ? 'the stored plan' : 'expect-digest',
    digest: expectDigest ?? stored?.digest,
    pullRequest: null,
    approved: null,
    since: null,
    later: null,
  };
  if (githubToken === undefined) {
    if (!isFromPull) return byHand;
    throw refusal('expect-digest: from-pull-request needs the input github-token', 'give it, or a digest');
  }
  try {
    return await withGithub(githubToken, event, { signal }, async (api) => {
      const run = await api.run(runId);
      const later = (await api.laterRun(run))?.html_url ?? null;
      const since = (run.run_attempt ?? 1) > 1 ? new Date(run.created_at) : null;
      if (!isFromPull) return { ...byHand, since, later };
      const pull = await mergedPullRequest(api, event, prNumber);
      const key = commentKey(inputs, environment);
      const approved = await approvedPlan(api, event, pull, { key, planWorkflow, mode });
      return {
        source: `pull request #${pull.number}`,
        digest: approved?.marker.plan?.digest,
        pullRequest: { number: pull.number, head: pull.head.sha },
        approved,
        since,
        later,
      };
    });
  } catch (failure) {
    if (!(failure instanceof GithubFailure)) throw failure;
    throw refusal(
      `what was approved can't be read: ${failure.message.replace(/\.$/, '')}`,
      failure.lacksPermission
        ? 'the job needs the permissions actions: read, contents: read and pull-requests: read'
        : 'run it again when that is fixed',
    );
  }
}

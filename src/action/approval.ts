import { type Approval, approvalProblem, usedApproval } from '../apply/approvals.js';
import { type Problem, ProblemsError, problemError, refuse } from '../base/problems.js';
import { shardText } from '../base/shard.js';
import { changesServer, type Plan } from '../plan/plan.js';
import type { StoredPlan } from '../plan/stored.js';
import type { WritingSession } from '../session/session.js';
import { type ApprovedPlan, approvedPlan } from './approved.js';
import { GithubFailure, withGithub } from './github.js';
import { fromPullRequest, type Inputs } from './inputs.js';
import type { Job } from './job.js';
import { identifyPlan } from './marker.js';
import { manualStartHint, mergedPullRequest, notApproved } from './merged-pull.js';
import { commentKey } from './workspace.js';

/** A plan that may be applied, and its approval if it needs one. */
export interface CheckedPlan {
  readonly plan: Plan;
  readonly approval?: Approval;
  /** When the approved plan was shown, in milliseconds. */
  readonly shownAt?: number;
}

/** A new plan, and its differences from the stored plan, if there is one. */
type FreshPlan = Awaited<ReturnType<WritingSession['planStored']>>;

/** What approves a plan, and what happened after the approval. */
interface FoundApproval {
  /** The source of the approval, for messages. */
  readonly source: string;
  /** Undefined if the source approves nothing. */
  readonly digest?: string | undefined;
  readonly pullRequest: { readonly number: number; readonly head: string } | null;
  readonly approved: ApprovedPlan | null;
  /** The start of the workflow run, if this isn't its first attempt. */
  readonly firstAttemptAt: Date | null;
  /** The address of a later run of the same workflow. */
  readonly laterRun: string | null;
}

/**
 * Checks that a plan is approved and that the approval is still valid: for one workflow run, until something else is applied or planned.
 * A plan that changes nothing needs no approval. Throws a ProblemsError (`not-approved`, `approval-used`, `stale-plan`) before anything is
 * sent.
 */
export async function checkApproval(
  job: Job,
  inputs: Inputs,
  session: WritingSession,
  freshPlan: FreshPlan,
  stored: StoredPlan | undefined,
): Promise<CheckedPlan> {
  const { plan, problems } = freshPlan;
  const needsApproval = inputs.expectDigest !== undefined || stored !== undefined;
  try {
    if (needsApproval && changesServer(plan))
      return await requireApproval(job, inputs, session, freshPlan, stored);
    refuse(problems);
    return { plan };
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    throw new ProblemsError(failure.problems.map((problem) => withRemedy(problem, plan)));
  }
}

/** A problem with what a person can do about it after the merge. */
function withRemedy({ hint, ...problem }: Problem, { digest }: Plan): Problem {
  // The hint of a stale plan is to plan again, which a merged pull request can't.
  const ownHint = hint === undefined || problem.code === 'stale-plan' ? '' : `${hint}; `;
  return { ...problem, hint: `nothing was sent; ${ownHint}${manualStartHint(digest)}` };
}

async function requireApproval(
  job: Job,
  inputs: Inputs,
  session: WritingSession,
  { plan, problems }: FreshPlan,
  stored: StoredPlan | undefined,
): Promise<CheckedPlan> {
  refuseTemporaryState(inputs, session);
  const { runId, runUrl } = job.event;
  if (runId === null)
    throw notApproved('GITHUB_RUN_ID is not set, so the run that uses the approval is unknown');
  const { source, digest, pullRequest, approved, firstAttemptAt, laterRun } = await findApproval(
    job,
    inputs,
    runId,
    plan,
    stored,
  );
  if (digest === undefined) {
    const part = plan.shard === undefined ? '' : `shard ${shardText(plan.shard)} of `;
    throw notApproved(
      `${source} approves no plan for ${part}this environment, and there are changes now`,
      'a comment approves a plan only if it shows the whole plan, and the plan covers all declared objects',
    );
  }
  job.log.write(`${source} approved ${digest}`);
  const approval: Approval = {
    pull_request: pullRequest?.number ?? null,
    head: pullRequest?.head ?? null,
    plan_run: approved === null ? null : String(approved.run.id),
    environment: plan.environment,
    digest,
    workflow_run: runId,
    url: runUrl,
  };
  const shownAt = approved === null ? {} : { shownAt: approved.shownAt };
  const history = session.approvalHistory();
  const plannedAt = approved?.stored == null ? null : new Date(approved.stored.created_at);
  const usedUp = approvalProblem(history, approval, firstAttemptAt, plannedAt);
  if (usedUp !== undefined) throw new ProblemsError([usedUp]);
  if (laterRun !== null)
    throw problemError('approval-used', `this workflow has a later run than this one: ${laterRun}`);
  refuse(problems);
  const left = usedApproval(history, approval)?.left;
  if (left !== undefined) {
    // `planStored` compared a stored plan already.
    if (stored !== undefined) return { plan, approval, ...shownAt };
    if (approved?.stored == null)
      throw stalePlan(`${source} approved ${digest}, and a part of that plan is applied already`);
    const rest = await session.planStored(approved.stored, left);
    refuse(rest.problems);
    return { plan: rest.plan, approval, ...shownAt };
  }
  const current = await identifyPlan(plan, job.redactor);
  const observed = approved?.marker.plan?.observed ?? current.observed;
  if (digest === current.digest && observed === current.observed) return { plan, approval, ...shownAt };
  const why =
    digest === current.digest ? 'the server has changed since' : `the digest is ${current.digest} now`;
  throw stalePlan(
    [
      `${source} approved ${digest}, and ${why}`,
      ...(approved === null ? [] : [`${approved.run.html_url} shows what was approved`]),
    ].join('; '),
  );
}

function stalePlan(message: string): ProblemsError {
  return problemError('stale-plan', `stale plan: ${message}`);
}

/** Refuses a state file on a hosted runner: it is lost after the job, so it can't record that an approval was used. */
function refuseTemporaryState({ expectDigest }: Inputs, { project }: WritingSession): void {
  const isTemporary = project.state().in === 'file' && process.env.RUNNER_ENVIRONMENT === 'github-hosted';
  if (expectDigest !== fromPullRequest || !isTemporary) return;
  throw notApproved(
    'the state records that an approval was used, and the state is a file that this runner deletes after the job',
    'keep the state in git or PostgreSQL: state: {git: {}}',
  );
}

/** Asks GitHub what approves a plan and which run came later. Without a token for GitHub, no later run is found. */
async function findApproval(
  { event, signal }: Job,
  inputs: Inputs,
  runId: string,
  { environment }: Plan,
  stored: StoredPlan | undefined,
): Promise<FoundApproval> {
  const { githubToken, expectDigest, prNumber, planWorkflow, approve: mode } = inputs;
  const isFromPull = expectDigest === fromPullRequest;
  const manual: FoundApproval = {
    source: expectDigest === undefined ? 'the stored plan' : 'expect-digest',
    digest: expectDigest ?? stored?.digest,
    pullRequest: null,
    approved: null,
    firstAttemptAt: null,
    laterRun: null,
  };
  if (githubToken === undefined) {
    if (!isFromPull) return manual;
    throw notApproved(
      'expect-digest: from-pull-request needs the input github-token',
      'set github-token, or set expect-digest to a digest',
    );
  }
  try {
    return await withGithub(githubToken, event, { signal }, async (api) => {
      const run = await api.run(runId);
      const laterRun = (await api.laterRun(run))?.html_url ?? null;
      const firstAttemptAt = (run.run_attempt ?? 1) > 1 ? new Date(run.created_at) : null;
      if (!isFromPull) return { ...manual, firstAttemptAt, laterRun };
      const pull = await mergedPullRequest(api, event, prNumber);
      const key = commentKey(inputs, environment);
      const approved = await approvedPlan(api, event, pull, { key, planWorkflow, mode });
      return {
        source: `pull request #${pull.number}`,
        digest: approved?.marker.plan?.digest,
        pullRequest: { number: pull.number, head: pull.head.sha },
        approved,
        firstAttemptAt,
        laterRun,
      };
    });
  } catch (failure) {
    if (!(failure instanceof GithubFailure)) throw failure;
    throw notApproved(
      `the approval can't be read: ${failure.message.replace(/\.$/, '')}`,
      failure.lacksPermission
        ? 'the job needs the permissions actions: read, contents: read and pull-requests: read'
        : 'fix that, then run the job again',
    );
  }
}

import { type Approval, appliedSince, usedBy, whyUsedUp } from '../apply/approvals.js';
import { error, type Problem, ProblemsError, refuse } from '../base/problems.js';
import { shardText } from '../base/shard.js';
import { changesServer, type Plan } from '../plan/plan.js';
import type { StoredPlan } from '../plan/stored.js';
import type { WritingSession } from '../session/session.js';
import { type ApprovedPlan, approvedPlan } from './approved.js';
import { GithubFailure, withGithub } from './github.js';
import { fromPullRequest, type Inputs } from './inputs.js';
import type { Job } from './job.js';
import { markPlan } from './marker.js';
import { mergedPullRequest, refusal, wayOut } from './merged.js';
import { commentKey } from './places.js';

/** A plan that may be applied, and what approved it; `approval` is left out if nothing has to. */
export interface Checked {
  readonly plan: Plan;
  readonly approval?: Approval;
}

/** A plan as it was made now, and how it differs from the stored one. */
type Made = Awaited<ReturnType<WritingSession['planStored']>>;

/** What GitHub says of an approval. */
interface Found {
  readonly pullRequest: { readonly number: number; readonly head: string } | null;
  readonly approved: ApprovedPlan | null;
  /** When the workflow run began, if this isn't its first attempt. */
  readonly since: Date | null;
  /** A run of the same workflow that came after it. */
  readonly later: string | null;
}

/**
 * Makes sure that a plan is approved, and that the approval still counts: for this workflow run alone, and only until something else is
 * applied or planned. A plan that changes nothing needs no approval. Throws a ProblemsError (`not-approved`, `approval-used`,
 * `stale-plan`); nothing was sent then.
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

/** A problem that ends an apply, with what can be done after a merge. */
function withWayOut({ hint, ...problem }: Problem, { digest }: Plan): Problem {
  // A plan that is made again on the pull request comes too late.
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
  const { event } = job;
  const { environment, shard } = plan;
  const isFromPull = inputs.expectDigest === fromPullRequest;
  if (
    isFromPull &&
    session.project.state().in === 'file' &&
    process.env.RUNNER_ENVIRONMENT === 'github-hosted'
  ) {
    throw refusal(
      'an approval counts once, which the state remembers, and the state is a file that this runner throws away',
      'keep the state in git or PostgreSQL: state: {git: {}}',
    );
  }
  const { pullRequest, approved, since, later } = await foundOut(job, inputs, environment);
  const source = pullRequest === null ? 'expect-digest' : `pull request #${pullRequest.number}`;
  const digest = isFromPull ? approved?.marker.plan?.digest : (inputs.expectDigest ?? stored?.digest);
  if (digest === undefined) {
    const part = shard === undefined ? '' : `shard ${shardText(shard)} of `;
    throw refusal(
      `${source} approves no plan for ${part}this environment, and there is something to change now`,
      'a comment approves the plan that it shows, if it shows all of it and all that is declared',
    );
  }
  job.log.say(`${inputs.expectDigest === undefined ? 'the stored plan' : source} approved ${digest}`);
  if (later !== null)
    throw new ProblemsError([
      error('approval-used', `a later run of this workflow came after this one: ${later}`),
    ]);
  const approval: Approval | undefined =
    event.runId === null
      ? undefined
      : {
          pullRequest: pullRequest?.number ?? null,
          head: pullRequest?.head ?? null,
          planRun: approved === null ? null : String(approved.run.id),
          environment,
          digest,
          workflowRun: event.runId,
          url: event.runUrl,
        };
  const uses = session.uses();
  const used = approval === undefined ? undefined : whyUsedUp(uses, approval, since);
  if (used !== undefined) throw new ProblemsError([used]);
  refuse(problems);
  const left = approval === undefined ? undefined : usedBy(uses, approval)?.left;
  const result = (checkedPlan: Plan): Checked => ({
    plan: checkedPlan,
    ...(approval === undefined ? {} : { approval }),
  });
  if (left !== undefined) {
    const whole = stored ?? approved?.stored ?? null;
    if (whole?.digest !== digest) throw stale(`${source} approved ${digest}, of which a part was applied`);
    // A stored plan was compared as it was planned again.
    if (stored !== undefined) return result(plan);
    const rest = await session.planStored(whole, left);
    if (rest.problems.length > 0) throw new ProblemsError(rest.problems);
    return result(rest.plan);
  }
  const now = await markPlan(plan, job.redactor);
  const observed = approved?.marker.plan?.observed ?? null;
  if (digest === now.digest && (observed === null || observed === now.observed)) return result(plan);
  const between = appliedSince(uses, approved?.stored?.created_at ?? plan.createdAt);
  const shown = approved === null ? '' : `; ${approved.run.html_url} shows what was approved`;
  const why = digest === now.digest ? 'the server was changed since' : `it is ${now.digest} now`;
  throw stale(
    `${source} approved ${digest}, and ${why}${between === undefined ? '' : `: ${between} was applied in between`}${shown}`,
  );
}

function stale(message: string): ProblemsError {
  return new ProblemsError([error('stale-plan', `stale plan: ${message}`)]);
}

/** Asks GitHub for all that an approval rests on. Without a token for GitHub only a digest by hand can approve. */
async function foundOut(job: Job, inputs: Inputs, environment: string | null): Promise<Found> {
  const { event, signal } = job;
  const nothing: Found = { pullRequest: null, approved: null, since: null, later: null };
  const isFromPull = inputs.expectDigest === fromPullRequest;
  if (inputs.githubToken === undefined && isFromPull)
    throw refusal('expect-digest: from-pull-request needs the input github-token', 'give it, or a digest');
  if (inputs.githubToken === undefined || event.runId === null) return nothing;
  const runId = event.runId;
  try {
    return await withGithub(inputs.githubToken, event, { signal }, async (api) => {
      const run = await api.run(runId);
      const [after] = await api.runsAfter(run);
      const began = {
        since: (run.run_attempt ?? 1) > 1 ? new Date(run.created_at) : null,
        later: after?.html_url ?? null,
      };
      if (!isFromPull) return { ...nothing, ...began };
      const pull = await mergedPullRequest(api, event, inputs.prNumber);
      const approved = await approvedPlan(api, event, pull, {
        key: commentKey(inputs, environment),
        planWorkflow: inputs.planWorkflow,
        mode: inputs.approve,
      });
      return { ...began, pullRequest: { number: pull.number, head: pull.head.sha }, approved };
    });
  } catch (failure) {
    if (!(failure instanceof GithubFailure)) throw failure;
    throw refusal(
      `what was approved can't be read: ${failure.message.replace(/\.$/, '')}`,
      failure.lacksPermission
        ? 'the job needs the permissions actions: read, contents: read and pull-requests: read'
        : 'run it again when that is put right or over',
    );
  }
}

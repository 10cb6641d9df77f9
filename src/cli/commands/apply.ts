import { approvalProblem, usedApproval } from '../../apply/approvals.js';
import { type Problem, ProblemsError, refuse } from '../../base/problems.js';
import { changesServer, type Plan } from '../../plan/plan.js';
import type { StoredPlan } from '../../plan/stored.js';
import { resultReport } from '../../report/formats.js';
import { requestCounts } from '../../report/review.js';
import { type PipelineApproval, pipelineApproval } from '../../session/gitlab-approval.js';
import { type AllowOptions, planFileConflicts, planOptionsOf } from '../../session/options.js';
import { refuseDuplicates } from '../../session/outputs.js';
import { readPlanFile } from '../../session/plan-file.js';
import type { WritingSession } from '../../session/session.js';
import { shardOptions } from '../../session/shard.js';
import type { Context, GlobalOptions } from '../context.js';
import type { ExitCode } from '../exit.js';
import { filesOf, parseFormats } from '../formats.js';
import { applyPlan } from './apply-plan.js';
import { serverAndEnvironment } from './consent.js';
import type { PlanningOptions } from './plan.js';

interface Options extends PlanningOptions, AllowOptions {
  readonly yes?: boolean;
  readonly message?: string;
}

/** `idops apply`: plans, shows, asks and applies; applies a plan file as it is, without a question. */
export async function apply(
  context: Context,
  options: Options & GlobalOptions,
  planFile: string | undefined,
): Promise<ExitCode> {
  const formats = parseFormats(options.format, resultReport);
  if (planFile !== undefined) {
    await refuseDuplicates([planFile, ...filesOf(formats)]);
    refuse(planFileConflicts(options));
  }
  const stored = planFile === undefined ? undefined : await readPlanFile(planFile);
  // A stored plan names its shard.
  const shard = stored === undefined ? options.shard : stored.apply.shard;
  return await applyPlan(context, {
    command: 'apply',
    formats,
    about: { ...shardOptions(shard, process.env), now: options.now, message: options.message },
    yes: stored !== undefined || options.yes === true,
    allow: options,
    noTerminalHint: ', or apply a plan that was stored with idops plan --out',
    async preparePlan(session, project) {
      const inFile = project.state().in === 'file';
      const approved = stored === undefined ? undefined : pipelineApproval(process.env, stored, inFile);
      const plan =
        stored === undefined
          ? await session.plan(planOptionsOf(options))
          : await planAgain(session, stored, approved);
      const question = `Apply ${requestCounts(plan)} to ${serverAndEnvironment(plan)}?`;
      return { plan, approval: approved?.approval, question };
    },
    ...(stored === undefined ? {} : { adjustProblem: withStoredPlanHint }),
  });
}

/** Replaces the hint of blocked changes, since --target can't narrow a stored plan. */
function withStoredPlanHint(problem: Problem): Problem {
  if (problem.code !== 'blocked' || problem.hint === undefined) return problem;
  return {
    ...problem,
    hint: 'fix it and make a new plan, or make one without it: idops plan --target … --out FILE',
  };
}

async function planAgain(
  session: WritingSession,
  stored: StoredPlan,
  approved: PipelineApproval | undefined,
): Promise<Plan> {
  const history = session.approvalHistory();
  const left = approved === undefined ? undefined : usedApproval(history, approved.approval)?.left;
  const { plan, problems } = await session.planStored(stored, left);
  if (approved !== undefined && changesServer(plan)) {
    const used = approvalProblem(history, approved.approval, approved.pipelineStartedAt, approved.plannedAt);
    if (used !== undefined) {
      const hint =
        'nothing was sent: run a new pipeline for the last commit; if its plan is right, start its job with its digest as IDOPS_DIGEST';
      throw new ProblemsError([{ ...used, hint }]);
    }
  }
  refuse(problems);
  return plan;
}

import { type Problem, ProblemsError } from '../base/problems.js';
import { changesServer } from '../plan/plan.js';
import { redactPlan, redactProblems } from '../report/redacted.js';
import { summaryLine } from '../report/text.js';
import { openSession } from '../session/open.js';
import { planOptionsOf } from '../session/options.js';
import { checkApproval } from './approval.js';
import { approvalFor } from './asked-approval.js';
import { fromPullRequest, type Inputs } from './inputs.js';
import type { Job } from './job.js';
import { titleLine } from './log.js';
import { type Ending, writeSummary } from './outputs.js';
import { aboutText } from './subject.js';
import { planSummary, problemsBlock } from './text.js';

/** Plans, and says whether that is what was approved. It writes nothing but the log, the summary and the outputs of its step. */
export async function planAndCheck(job: Job, inputs: Inputs): Promise<Ending> {
  const opened = await openSession(await job.project(inputs), job.sessionOptions(inputs));
  const plan = await job.within(opened, (session) => session.plan(planOptionsOf(inputs.args)));
  const shown = redactPlan(plan, job.redactor);
  await job.tellPlan(plan, shown);
  const shared = await job.shared(inputs, shown);
  const { expectDigest = fromPullRequest } = inputs;
  const changed = changesServer(plan);
  const found = await refusals(async () => {
    // A plan that changes nothing needs no approval.
    const approval = changed ? await approvalFor(job, inputs, expectDigest, plan, { open: true }) : null;
    await checkApproval(plan, approval, job.redactor);
  });
  const problems = redactProblems(found, job.redactor);
  await job.log.problems(problems);
  const blocked = plan.changes.some(({ action }) => action === 'blocked');
  const [first] = problems;
  const outcome =
    first !== undefined ? 'not approved' : blocked ? 'blocked' : changed ? 'approved' : 'nothing to approve';
  const head = `## ${aboutText('idops check', shared.subject)}: ${outcome}\n\n`;
  const why = first === undefined ? '' : `${await problemsBlock(problems)}\n`;
  await writeSummary(`${head}${why}${await planSummary(shared)}`);
  return {
    code: job.signal.aborted ? 130 : first !== undefined || blocked ? 1 : 0,
    summary:
      first === undefined ? `${outcome}: ${summaryLine(plan)}` : titleLine(`${first.code}: ${first.message}`),
    changed,
    plan,
  };
}

async function refusals(work: () => Promise<void>): Promise<readonly Problem[]> {
  try {
    await work();
    return [];
  } catch (failure) {
    if (failure instanceof ProblemsError) return failure.problems;
    throw failure;
  }
}

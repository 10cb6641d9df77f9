import { resolve } from 'node:path';
import { usedApproval } from '../apply/approvals.js';
import { isComplete, type Result } from '../apply/result.js';
import type { Problem } from '../base/problems.js';
import { approve } from '../plan/approve.js';
import { changesServer } from '../plan/plan.js';
import type { StoredPlan } from '../plan/stored.js';
import { renderText, resultReport } from '../report/formats.js';
import { redactPlan } from '../report/redact-plan.js';
import { resultSummaryLine } from '../report/result-text.js';
import { redactReport } from '../secrets/redact-report.js';
import { openForWriting } from '../session/open.js';
import { limitsOf, planOptionsOf } from '../session/options.js';
import { readPlanFile } from '../session/plan-file.js';
import type { WritingSession } from '../session/session.js';
import { checkApproval } from './approval.js';
import type { Inputs } from './inputs.js';
import type { Job } from './job.js';
import { titleLine } from './log.js';
import { type StepOutcome, writeSummary } from './outputs.js';
import { reportResult } from './result-comment.js';
import { checkApprovers, requiredApprovers } from './safety.js';
import { shardFileName } from './shard.js';
import { planSummary } from './text.js';
import { workingFolder } from './workspace.js';

/** Applies a stored plan, or else a new plan; with `expect-digest`, only an approved one. */
export async function planAndApply(job: Job, unshardedInputs: Inputs): Promise<StepOutcome> {
  const { planFile } = unshardedInputs;
  const file = planFile === undefined ? undefined : resolve(workingFolder(unshardedInputs), planFile);
  const stored = file === undefined ? undefined : await readPlanFile(file, planFile);
  job.setShard(stored?.apply.shard);
  const inputs = job.withShard(unshardedInputs);
  const project = await job.project(inputs);
  const safety = await job.loadSafety(inputs, project);
  const opened = await openForWriting(project, 'apply', job.sessionOptions(inputs));
  return await job.runSession(opened, async (session) => {
    const freshPlan =
      stored === undefined
        ? { plan: await session.plan(planOptionsOf(inputs.args)), problems: [] }
        : await session.planStored(stored, leftByEarlierAttempt(job, session, stored));
    const redactedPlan = redactPlan(freshPlan.plan, job.redactor);
    await job.logPlan(freshPlan.plan, redactedPlan);
    await writeSummary(planSummary(await job.postedPlan(inputs, redactedPlan)));
    const checked = await checkApproval(job, inputs, session, freshPlan, stored);
    const { plan, approval } = checked;
    const approved = approve(plan, limitsOf(safety, inputs));
    // Whoever approved dated access approved its end too.
    if (!inputs.args.ended) await checkApprovers(job, inputs, requiredApprovers(plan, safety), checked);
    job.setPhase('sending');
    const applied = await session.apply(approved, approval);
    const result = redactReport(applied.result, job.redactor);
    const problems = redactReport(applied.problems, job.redactor);
    await job.log.problems(problems);
    if (result.run !== null) {
      const shown = { result, plan: redactedPlan };
      await job.log.report(resultReport, shown);
      await writeSummary(await renderText(resultReport, 'markdown', shown, job.log.renderOptions));
    }
    const isIncomplete = !isComplete(result) || problems.length > 0;
    await reportResult(job, inputs, {
      plan: redactedPlan,
      result,
      problems,
      failed: isIncomplete || result.interrupted,
      journalIsFile: project.state().in === 'file',
    });
    job.setPhase('reported');
    return {
      code: result.interrupted ? 130 : isIncomplete ? 1 : 0,
      summary: summaryOf(result, problems),
      changed: changesServer(plan),
      plan,
      ...(file === undefined ? {} : { planFile: file }),
      htmlReport: await job.writeHtml(`${shardFileName('apply', inputs.shard)}.html`, resultReport, {
        result: applied.result,
        plan,
        samples: await job.tryReadSamples(plan, project),
      }),
    };
  });
}

/** The keys of the objects that an earlier attempt of this workflow run left; undefined if there was none. */
function leftByEarlierAttempt(
  { event }: Job,
  session: WritingSession,
  { environment, digest }: StoredPlan,
): readonly string[] | undefined {
  const workflow_run = event.runId ?? '';
  return usedApproval(session.approvalHistory(), { workflow_run, environment, digest })?.left;
}

function summaryOf(result: Result, problems: readonly Problem[]): string {
  if (result.run !== null) return resultSummaryLine(result);
  const [first] = problems;
  return first === undefined ? 'There was nothing to apply.' : titleLine(`${first.code}: ${first.message}`);
}

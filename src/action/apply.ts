import { resolve } from 'node:path';
import { usedBy } from '../apply/approvals.js';
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
import { type Ending, writeSummary } from './outputs.js';
import { folderOf } from './places.js';
import { reportResult } from './result-comment.js';
import { approversFor, checkApprovers } from './safety.js';
import { fileOf } from './shard.js';
import { planSummary } from './text.js';

/** Applies a stored plan, or a plan made now; with `expect-digest`, only an approved one. */
export async function planAndApply(job: Job, given: Inputs): Promise<Ending> {
  const { planFile } = given;
  const file = planFile === undefined ? undefined : resolve(folderOf(given), planFile);
  const stored = file === undefined ? undefined : await readPlanFile(file, planFile);
  job.setShard(stored?.apply.shard);
  const inputs = job.withShard(given);
  const project = await job.project(inputs);
  const safety = await job.guard(inputs, project);
  const opened = await openForWriting(project, 'apply', job.sessionOptions(inputs));
  return await job.within(opened, async (session) => {
    const made =
      stored === undefined
        ? { plan: await session.plan(planOptionsOf(inputs.args)), problems: [] }
        : await session.planStored(stored, leftByEarlierAttempt(job, session, stored));
    const shown = redactPlan(made.plan, job.redactor);
    await job.logPlan(made.plan, shown);
    await writeSummary(planSummary(await job.shared(inputs, shown)));
    const checked = await checkApproval(job, inputs, session, made, stored);
    const { plan, approval } = checked;
    const approved = approve(plan, limitsOf(safety, inputs));
    // The end of access was approved with the access.
    if (!inputs.args.ended) await checkApprovers(job, inputs, approversFor(plan, safety), checked);
    job.setPhase('sending');
    const { result: became, problems: found } = await session.apply(approved, approval);
    const result = redactReport(became, job.redactor);
    const after = redactReport(found, job.redactor);
    if (after.length > 0) await job.log.problems(after);
    if (result.run !== null) {
      const done = { result, plan: shown };
      await job.log.report(resultReport, done);
      await writeSummary(await renderText(resultReport, 'markdown', done, job.log.renderOptions));
    }
    const bad = !isComplete(result) || after.length > 0;
    await reportResult(job, inputs, {
      plan: shown,
      result,
      problems: after,
      failed: bad || result.interrupted,
      inFiles: project.state().in === 'file',
    });
    job.setPhase('reported');
    return {
      code: result.interrupted ? 130 : bad ? 1 : 0,
      summary: applied(result, after),
      changed: changesServer(plan),
      plan,
      ...(file === undefined ? {} : { planFile: file }),
      htmlReport: await job.writeHtml(`${fileOf('apply', inputs.shard)}.html`, resultReport, {
        result: became,
        plan,
        samples: await job.samplesOrNone(plan, project),
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
  return usedBy(session.approvalHistory(), { workflow_run, environment, digest })?.left;
}

function applied(result: Result, problems: readonly Problem[]): string {
  if (result.run !== null) return resultSummaryLine(result);
  const [first] = problems;
  return first === undefined ? 'There was nothing to apply.' : titleLine(`${first.code}: ${first.message}`);
}

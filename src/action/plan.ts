import { join, resolve } from 'node:path';
import type { ApproverRule } from '../base/safety.js';
import { writeOutput } from '../base/write-file.js';
import { changesServer, leavesRestores, summarize } from '../plan/plan.js';
import { planReport } from '../report/formats.js';
import { code } from '../report/markdown-escape.js';
import { redactPlan } from '../report/redact-plan.js';
import { summaryLine } from '../report/text.js';
import { openSession } from '../session/open.js';
import { planOptionsOf } from '../session/options.js';
import { refuseInputs } from '../session/outputs.js';
import { type ApproveMode, commentFile } from './approved.js';
import type { Inputs } from './inputs.js';
import type { Job } from './job.js';
import { commentKind, identifyPlan, markerLine } from './marker.js';
import { type StepOutcome, writeSummary } from './outputs.js';
import { requiredApprovers, requiredReviewsSentence } from './safety.js';
import { shardFileName } from './shard.js';
import { type PostedPlan, planSummary, planText } from './text.js';
import { commentKey, configPath, workingFolder } from './workspace.js';

/** Makes a plan, and shows it in the log, the summary, the comment and the issue. */
export async function planAndReport(job: Job, inputs: Inputs): Promise<StepOutcome> {
  const name = shardFileName('plan', inputs.shard);
  const project = await job.project(inputs);
  const safety = await job.loadSafety(inputs, project);
  const opened = await openSession(project, job.sessionOptions(inputs));
  const planFile =
    inputs.planFile === undefined
      ? join(await job.temporaryFolder(), `${name}.json`)
      : resolve(workingFolder(inputs), inputs.planFile);
  const plan = await job.runSession(opened, async (session) => {
    if (inputs.planFile !== undefined)
      await refuseInputs([planFile], configPath(inputs), { project, files: session.files });
    const made = await session.plan(planOptionsOf(inputs.args));
    await writeOutput(planFile, await session.storePlan(made), 0o600);
    return made;
  });
  const redactedPlan = redactPlan(plan, job.redactor);
  const samples = await job.readSamples(plan, project);
  const htmlReport = await job.writeHtml(`${name}.html`, planReport, { plan, samples });
  await job.logPlan(plan, redactedPlan);
  const posted = await job.postedPlan(inputs, redactedPlan);
  await writeSummary(planSummary(posted));
  const changed = changesServer(plan);
  const blocked = plan.changes.some(({ action }) => action === 'blocked');
  // An object outside the selection may need a restore.
  const hasFindings = changed || blocked || leavesRestores(plan);
  const key = commentKey(inputs, plan.environment);
  const kind = commentKind(job.event);
  const marker = { key, run: job.event.runId, plan: await identifyPlan(plan, job.redactor) };
  const reserved = markerLine({ kind, ...marker }).length + 1;
  const mode = await job.posts.approveMode(inputs);
  const next = (isWhole: boolean) =>
    kind === 'shown' ? approvesNothing : nextSentence(posted, mode, isWhole, requiredApprovers(plan, safety));
  const { text, isWhole } = planText(posted, job.event, { reserved, next });
  const createIfMissing = hasFindings || inputs.comment === 'true';
  const body = `${markerLine({ kind, ...marker, plan: isWhole ? marker.plan : null })}\n${text}`;
  const commentPath = join(await job.temporaryFolder(), commentFile);
  await writeOutput(commentPath, body, 0o600);
  await job.posts.comment(inputs, key, body, { createIfMissing });
  const isSelection = inputs.args.target.length + inputs.args.kind.length > 0;
  if (inputs.driftIssue && !job.event.onDefaultBranch) job.log.annotate('notice', noIssue);
  else if (inputs.driftIssue && isSelection && !hasFindings) job.log.annotate('notice', notClosed);
  else if (inputs.driftIssue) await job.posts.drift(inputs, posted, { ...marker, hasFindings });
  if (changed && inputs.failOnChanges)
    job.log.annotate('error', 'There are changes, and fail-on-changes is set.');
  return {
    code: job.signal.aborted ? 130 : blocked ? 1 : changed ? 2 : 0,
    summary: summaryLine(plan),
    changed,
    plan,
    planFile,
    htmlReport,
    commentFile: commentPath,
  };
}

const noIssue =
  'No issue is opened, changed or closed: only runs for schedule, push and workflow_dispatch on the default branch report drift.';

const notClosed =
  'An open issue about drift stays open: --target or --kind left objects out, and they may differ.';

/** Says in Markdown what happens after the merge. `mode` is null if it is unknown whether reviews count. */
function nextSentence(
  { plan, subject }: PostedPlan,
  mode: ApproveMode | null,
  isWhole: boolean,
  approvers: readonly ApproverRule[],
): string {
  const target = subject.environment === null ? 'the server' : code(subject.environment);
  if (summarize(plan).blocked > 0)
    return `Merging applies nothing to ${target}: \`apply\` refuses this plan while a change is blocked.`;
  if (!isWhole)
    return `This comment approves nothing, since it does not show the whole plan: after the merge, an \`apply\` that takes its approval from the pull request sends nothing to ${target} until somebody starts it with a digest.`;
  if (!changesServer(plan)) return `Merging sends nothing to ${target}: there is nothing to change.`;
  const review =
    mode === 'merged'
      ? ''
      : `, after an approving review of this plan${mode === 'reviewed' ? '' : ' if the branch requires reviews'}`;
  return `Merging applies this to ${target}${review}, after a review of the environment if it requires one. ${requiredReviewsSentence(approvers)}`.trimEnd();
}

/** The sentence for a plan that can't be approved. */
const approvesNothing =
  'This comment approves nothing: merging applies the plan that a run for the event `pull_request` showed.';

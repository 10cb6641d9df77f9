import { join, resolve } from 'node:path';
import type { ApproverRule } from '../base/safety.js';
import { writeOutput } from '../base/write-file.js';
import { changesServer, leavesRestores, type Plan, summarize } from '../plan/plan.js';
import { planReport } from '../report/formats.js';
import { code } from '../report/markdown-escape.js';
import { redactPlan } from '../report/redact-plan.js';
import { summaryLine } from '../report/text.js';
import { openSession } from '../session/open.js';
import { planOptionsOf } from '../session/options.js';
import { refuseInputs } from '../session/outputs.js';
import type { Session } from '../session/session.js';
import { type ApproveMode, commentFile } from './approved.js';
import type { Inputs } from './inputs.js';
import type { Job } from './job.js';
import { commentKind, markerLine, markPlan } from './marker.js';
import { type Ending, writeSummary } from './outputs.js';
import { commentKey, configOf, folderOf } from './places.js';
import { approversFor, awaitedSentence } from './safety.js';
import { fileOf } from './shard.js';
import { planSummary, planText, type SharedPlan } from './text.js';

/** Makes a plan, and shows it in the log, the summary, the comment and the issue. */
export async function planAndReport(job: Job, inputs: Inputs): Promise<Ending> {
  const name = fileOf('plan', inputs.shard);
  const project = await job.project(inputs);
  const safety = await job.guard(inputs, project);
  const opened = await openSession(project, job.sessionOptions(inputs));
  const { plan, planFile } = await job.within(opened, async (session) => {
    if (inputs.planFile !== undefined) {
      const asked = resolve(folderOf(inputs), inputs.planFile);
      await refuseInputs([asked], configOf(inputs), { project, files: session.files });
    }
    const made = await session.plan(planOptionsOf(inputs.args));
    const file = await writePlan(job, inputs, session, made, name);
    return { plan: made, planFile: file };
  });
  const shown = redactPlan(plan, job.redactor);
  const samples = await job.samples(plan, project);
  const htmlReport = await job.writeHtml(`${name}.html`, planReport, { plan, samples });
  await job.logPlan(plan, shown);
  const shared = await job.shared(inputs, shown);
  await writeSummary(planSummary(shared));
  const changed = changesServer(plan);
  const blocked = plan.changes.some(({ action }) => action === 'blocked');
  // An object outside the selection may have a pending restore.
  const tells = changed || blocked || leavesRestores(plan);
  const key = commentKey(inputs, plan.environment);
  const kind = commentKind(job.event);
  const marker = { key, run: job.event.runId, plan: await markPlan(plan, job.redactor) };
  const taken = markerLine({ kind, ...marker }).length + 1;
  const mode = await job.posts.approveMode(inputs);
  const next = (isWhole: boolean) =>
    kind === 'shown' ? approvesNothing : nextSentence(shared, mode, isWhole, approversFor(plan, safety));
  const { text, isWhole } = planText(shared, job.event, { taken, next });
  const first = markerLine({ kind, ...marker, plan: isWhole ? marker.plan : null });
  const opens = tells || inputs.comment === 'true';
  const body = `${first}\n${text}`;
  const commented = join(await job.temporaryFolder(), commentFile);
  await writeOutput(commented, body, 0o600);
  await job.posts.comment(inputs, key, body, { opens });
  if (inputs.driftIssue && job.event.onDefaultBranch)
    await job.posts.drift(inputs, shared, { ...marker, found: tells });
  else if (inputs.driftIssue) job.log.annotate('notice', noIssue);
  if (changed && inputs.failOnChanges)
    job.log.annotate('error', 'There are changes, and fail-on-changes is set.');
  return {
    code: job.signal.aborted ? 130 : blocked ? 1 : changed ? 2 : 0,
    summary: summaryLine(plan),
    changed,
    plan,
    planFile,
    htmlReport,
    commentFile: commented,
  };
}

const noIssue =
  'No issue is opened, changed or closed: drift is what schedule, push and workflow_dispatch find on the default branch, and this run is for something else.';

async function writePlan(
  job: Job,
  inputs: Inputs,
  session: Session,
  plan: Plan,
  name: string,
): Promise<string> {
  const planFile =
    inputs.planFile === undefined
      ? join(await job.temporaryFolder(), `${name}.json`)
      : resolve(folderOf(inputs), inputs.planFile);
  await writeOutput(planFile, await session.storePlan(plan), 0o600);
  return planFile;
}

/** What happens next with a plan of a pull request, in one sentence of Markdown. `mode` is null if nobody knows whether reviews count. */
function nextSentence(
  { plan, subject }: SharedPlan,
  mode: ApproveMode | null,
  isWhole: boolean,
  needed: readonly ApproverRule[],
): string {
  const where = subject.environment === null ? 'the server' : code(subject.environment);
  if (summarize(plan).blocked > 0)
    return `Merging applies nothing to ${where}: \`apply\` refuses this plan as long as a change is blocked.`;
  if (!isWhole)
    return `This comment approves nothing, since it does not show the whole plan: after the merge, an \`apply\` that takes its approval from the pull request sends nothing to ${where} until somebody starts it with a digest.`;
  if (!changesServer(plan)) return `Merging sends nothing to ${where}: there is nothing to change.`;
  const review =
    mode === 'merged'
      ? ''
      : `, after an approving review of this plan${mode === 'reviewed' ? '' : ' if the branch requires reviews'}`;
  return `Merging applies this to ${where}${review}, after a review of the environment if it requires one. ${awaitedSentence(needed)}`.trimEnd();
}

/** The same for a plan that no merge applies. */
const approvesNothing =
  'This comment approves nothing: merging applies the plan that a run for the event `pull_request` showed.';

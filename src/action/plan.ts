import { join, resolve } from 'node:path';
import { writeOutput } from '../base/write-file.js';
import { changesServer, leavesRestores, type Plan } from '../plan/plan.js';
import { planReport } from '../report/formats.js';
import { redactPlan } from '../report/redact-plan.js';
import { summaryLine } from '../report/text.js';
import { openSession } from '../session/open.js';
import { planOptionsOf } from '../session/options.js';
import { refuseInputs } from '../session/outputs.js';
import type { Session } from '../session/session.js';
import { commentFile } from './approved.js';
import type { Inputs } from './inputs.js';
import type { Job } from './job.js';
import { commentKind, markerLine, markPlan } from './marker.js';
import { approvesNothing, nextSentence } from './next.js';
import { type Ending, writeSummary } from './outputs.js';
import { commentKey, configOf, folderOf } from './places.js';
import { fileOf } from './shard.js';
import { planSummary, planText } from './text.js';

/** Makes a plan, and tells it wherever a person may look. */
export async function planAndTell(job: Job, inputs: Inputs): Promise<Ending> {
  const name = fileOf('plan', inputs.shard);
  const opened = await openSession(await job.project(inputs), job.sessionOptions(inputs));
  const { plan, project, planFile } = await job.within(opened, async (session) => {
    if (inputs.planFile !== undefined) {
      const asked = resolve(folderOf(inputs), inputs.planFile);
      await refuseInputs([asked], configOf(inputs), session);
    }
    const made = await session.plan(planOptionsOf(inputs.args));
    const file = await writePlan(job, inputs, session, made, name);
    return { plan: made, planFile: file, project: session.project };
  });
  const shown = redactPlan(plan, job.redactor);
  const samples = await job.samples(plan, project);
  const htmlReport = await job.writeHtml(`${name}.html`, planReport, { plan, samples });
  await job.tellPlan(plan, shown);
  const shared = await job.shared(inputs, shown);
  await writeSummary(planSummary(shared));
  const changed = changesServer(plan);
  const blocked = plan.changes.some(({ action }) => action === 'blocked');
  // What a selection leaves out may be owed something.
  const tells = changed || blocked || leavesRestores(plan);
  const key = commentKey(inputs, plan.environment);
  const kind = commentKind(job.event);
  const marker = { key, run: job.event.runId, plan: await markPlan(plan, job.redactor) };
  const taken = markerLine({ kind, ...marker }).length + 1;
  const mode = await job.posts.approveMode(inputs);
  const next = (isWhole: boolean) =>
    kind === 'shown' ? approvesNothing : nextSentence(shared, mode, isWhole);
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

import { join, resolve } from 'node:path';
import { writeResult } from '../base/through.js';
import { changesServer, leavesDebts, type Plan } from '../plan/plan.js';
import { planReport } from '../report/formats.js';
import { redactPlan } from '../report/redacted.js';
import { summaryLine } from '../report/text.js';
import { openSession } from '../session/open.js';
import { planOptionsOf } from '../session/options.js';
import { refuseInputs } from '../session/outputs.js';
import type { Session } from '../session/session.js';
import { showedChanges } from './comment.js';
import type { Inputs } from './inputs.js';
import type { Job } from './job.js';
import { type Marker, markerLine, markPlan } from './marker.js';
import { type Ending, writeSummary } from './outputs.js';
import { commentKey, configOf, folderOf } from './places.js';
import { sectionRoom, sectionText } from './sections.js';
import { fileOf } from './shard.js';
import { planSummary, planText, type SharedPlan } from './text.js';

/** A plan that was made, stored, and told in the log. */
export interface Planned {
  readonly plan: Plan;
  readonly shared: SharedPlan;
  readonly planFile: string;
  readonly htmlReport: string;
  readonly marker: Omit<Marker, 'kind'>;
  readonly changed: boolean;
  readonly blocked: boolean;
  /** Whether there is something that a person has to know: what a selection leaves out may be owed something. */
  readonly tells: boolean;
}

/** Makes a plan; `called` is what its files are called where no place was given. */
export async function makePlan(job: Job, inputs: Inputs, called = 'plan'): Promise<Planned> {
  const name = fileOf(called, inputs.shard);
  const opened = await openSession(await job.project(inputs), job.sessionOptions(inputs));
  const made = await job.within(opened, async (session) => {
    if (inputs.planFile !== undefined) {
      const asked = resolve(folderOf(inputs), inputs.planFile);
      await refuseInputs([asked], configOf(inputs), session);
    }
    const plan = await session.plan(planOptionsOf(inputs.args));
    return { plan, planFile: await writePlan(job, inputs, session, plan, name), project: session.project };
  });
  const { plan, project, planFile } = made;
  const shown = redactPlan(plan, job.redactor);
  const samples = await job.samples(plan, project);
  const htmlReport = await job.writeHtml(`${name}.html`, planReport, { plan, samples });
  await job.tellPlan(plan, shown);
  const shared = await job.shared(inputs, shown);
  const changed = changesServer(plan);
  const blocked = plan.changes.some(({ action }) => action === 'blocked');
  const key = commentKey(inputs, plan.environment);
  const marker = { key, run: job.event.runId, ...(await markPlan(plan, job.redactor)) };
  const tells = changed || blocked || leavesDebts(plan);
  return { plan, shared, planFile, htmlReport, marker, changed, blocked, tells };
}

/** Plans, and tells the plan wherever a person may look. */
export async function planAndTell(job: Job, inputs: Inputs): Promise<Ending> {
  const { plan, shared, planFile, htmlReport, marker, changed, blocked, tells } = await makePlan(job, inputs);
  await writeSummary(await planSummary(shared));
  const { key } = marker;
  const first = markerLine({ kind: 'plan', ...marker });
  const taken = first.length + 1 + sectionRoom;
  const covers = [{ key, name: plan.environment }];
  await job.posts.comment(inputs, { key, covers }, async (before) => {
    const outdates = !tells && showedChanges(before, key);
    const text = await planText(shared, job.event, { outdates, taken });
    return { body: `${first}\n${sectionText(key, text)}`, opens: tells || inputs.comment === 'true' };
  });
  await tellDrift(job, inputs, { shared, marker, tells });
  if (changed && inputs.failOnChanges)
    job.log.annotate('error', 'There are changes, and fail-on-changes is set.');
  return {
    code: job.signal.aborted ? 130 : blocked ? 1 : changed ? 2 : 0,
    summary: summaryLine(plan),
    changed,
    plan,
    planFile,
    htmlReport,
  };
}

const noIssue =
  'No issue is opened, changed or closed: drift is what schedule, push and workflow_dispatch find on the default branch, and this run is for something else.';

/** Keeps the issue about a server that is not as declared, where one is wanted. */
export async function tellDrift(
  job: Job,
  inputs: Inputs,
  { shared, marker, tells }: Pick<Planned, 'shared' | 'marker' | 'tells'>,
): Promise<void> {
  if (inputs.driftIssue && job.event.onDefaultBranch)
    await job.posts.drift(inputs, shared, { ...marker, found: tells });
  else if (inputs.driftIssue) job.log.annotate('notice', noIssue);
}

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
  await writeResult(planFile, await session.storePlan(plan), 0o600);
  return planFile;
}

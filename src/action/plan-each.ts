import { join, resolve } from 'node:path';
import { escapeLines } from '../base/escape.js';
import type { Problem } from '../base/problems.js';
import type { Plan } from '../plan/plan.js';
import { code } from '../report/marked.js';
import { redactProblems } from '../report/redacted.js';
import { headline } from '../report/review.js';
import { summaryLine } from '../report/text.js';
import { plural } from '../report/words.js';
import { problemsOf, stacksOf } from '../session/failures.js';
import { showedChanges } from './comment.js';
import { eachEnvironment } from './each-environment.js';
import { environmentMark } from './environments.js';
import type { Inputs } from './inputs.js';
import type { Job } from './job.js';
import { titleLine } from './log.js';
import { markerLine, noPlan } from './marker.js';
import { type Ending, writeSummary } from './outputs.js';
import { commentKey, folderOf, sharedKey } from './places.js';
import { makePlan, type Planned, tellDrift } from './plan.js';
import { commentLimit, sectionRoom, sectionText } from './sections.js';
import { fileOf } from './shard.js';
import { aboutText, subjectOf } from './subject.js';
import { origin, plainText, planSummary, planText, problemsBlock } from './text.js';

/** How many characters the lines for idops may take of a comment, all together. */
const markersRoom = 26_000;
/** What a text around problems takes, at most. */
const aroundProblems = 1_500;

/** What became of one environment. */
interface Outcome {
  readonly name: string;
  readonly inputs: Inputs;
  readonly key: string;
  /** Null where it failed. */
  readonly planned: Planned | null;
  readonly problems: readonly Problem[];
}

/** Plans one environment after the other: one that fails leaves the others their plans. */
export async function planEach(job: Job, inputs: Inputs): Promise<Ending> {
  const each: Outcome[] = [];
  const hasLines = inputs.environments.some(({ token }) => token !== undefined);
  for (const own of eachEnvironment(inputs)) each.push(await planOne(job, own, hasLines));
  const list = each.map((one) => `- ${code(one.name)}: ${wordsOf(one)}`).join('\n');
  const about = aboutText(
    'idops plan',
    subjectOf({ ...inputs, environments: [] }, inputs.args, job.redactor.redact),
  );
  const head = `## ${about}: ${plural(each.length, 'environment')}\n\n${list}\n`;
  const summaries = await Promise.all(
    each.map(({ planned, ...one }) =>
      planned === null
        ? failedText(job, one, Number.MAX_SAFE_INTEGER)
        : planSummary(planned.shared, each.length),
    ),
  );
  await writeSummary([head, ...summaries].join('\n'));
  const key = sharedKey(inputs, inputs.environments);
  await job.posts.comment(inputs, { key, covers: each }, async (before) => ({
    body: await sharedComment(job, key, head, each, before),
    opens: inputs.comment === 'true' || each.some(({ planned }) => planned?.tells === true),
  }));
  for (const { inputs: own, planned } of each) if (planned !== null) await tellDrift(job, own, planned);
  return await endingOf(job, inputs, each);
}

/** `hasLines` says whether the input token has lines for environments, which IDOPS_TOKEN doesn't stand for then. */
async function planOne(job: Job, inputs: Inputs, hasLines: boolean): Promise<Outcome> {
  const name = inputs.environment ?? '';
  const key = commentKey(inputs, name);
  job.log.learn(inputs);
  job.log.say(`\nEnvironment ${name}\n`);
  try {
    return { name, inputs, key, planned: await makePlan(job, inputs, `plan-${name}`), problems: [] };
  } catch (failure) {
    const found = problemsOf(failure).map((problem) =>
      hasLines && inputs.token === undefined ? withoutToken(problem, name) : problem,
    );
    const problems = redactProblems(found, job.redactor);
    await job.log.problems(problems);
    if (inputs.args.debug === true) job.log.say(escapeLines(job.redactor.redact(stacksOf(failure))));
    return { name, inputs, key, planned: null, problems };
  }
}

/** That a variable is missing which may be set says nothing to whoever left out a line of the input. */
function withoutToken(problem: Problem, name: string): Problem {
  if (problem.code !== 'unresolved-variable' || !/^variable IDOPS_TOKEN\b/.test(problem.message))
    return problem;
  return {
    ...problem,
    message: `the input token has no line for ${name}, and IDOPS_TOKEN is not used where it has lines`,
    hint: `add a line ${name}: TOKEN to it`,
  };
}

function wordsOf({ planned }: Outcome): string {
  return planned === null ? '**failed**, there is no plan' : headline(planned.plan);
}

/** A comment with a part for each environment, and lines for idops that let each be approved by itself. */
async function sharedComment(
  job: Job,
  key: string,
  head: string,
  each: readonly Outcome[],
  before: readonly string[],
): Promise<string> {
  const room = Math.floor(markersRoom / each.length);
  const run = job.event.runId;
  const lines = [
    markerLine({ kind: 'plan', key, run, ...noPlan }),
    ...each.map((one) =>
      markerLine({ kind: 'plan', run, ...(one.planned?.marker ?? { key: one.key, ...noPlan }) }, room),
    ),
  ];
  const start = `${lines.join('\n')}\n${head}\n`;
  const texts = await shared(
    each.map((one) => (most) => {
      if (one.planned === null) return failedText(job, one, most);
      const { shared, tells } = one.planned;
      const outdates = !tells && showedChanges(before, one.key);
      return planText(shared, job.event, { outdates, taken: commentLimit - most });
    }),
    commentLimit - start.length - each.length * (sectionRoom + 1),
  );
  return `${start}${each.map((one, index) => sectionText(one.key, texts[index] ?? '')).join('\n')}`;
}

/** Texts that have so much room together: what a short one leaves is for the longer ones. */
async function shared(
  texts: readonly ((most: number) => Promise<string>)[],
  room: number,
): Promise<string[]> {
  const whole = await Promise.all(texts.map((text) => text(room)));
  const shown = [...whole];
  const order = whole
    .map((_, index) => index)
    .sort((a, b) => (whole[a] ?? '').length - (whole[b] ?? '').length);
  let left = room;
  for (const [done, index] of order.entries()) {
    const share = Math.floor(left / (order.length - done));
    if ((whole[index] ?? '').length > share) shown[index] = (await texts[index]?.(share)) ?? '';
    left -= (shown[index] ?? '').length;
  }
  return shown;
}

async function failedText(
  job: Job,
  { inputs, problems }: Pick<Outcome, 'inputs' | 'problems'>,
  most: number,
): Promise<string> {
  const about = aboutText('idops plan', subjectOf(inputs, inputs.args, job.redactor.redact));
  const room = Math.min(30_000, Math.max(0, most - aroundProblems - origin(job.event).length));
  const block = await problemsBlock(problems, room);
  return plainText(`${about}: failed`, `There is no plan for this commit:\n\n${block}`, job.event);
}

async function endingOf(job: Job, inputs: Inputs, each: readonly Outcome[]): Promise<Ending> {
  const made = each.flatMap(({ name, planned }) => (planned === null ? [] : [[name, planned] as const]));
  const changed = made.some(([, planned]) => planned.changed);
  const bad = made.length < each.length || made.some(([, planned]) => planned.blocked);
  if (changed && inputs.failOnChanges)
    job.log.annotate('error', 'There are changes, and fail-on-changes is set.');
  const told = each.map(({ name, planned, problems: [first] }) => {
    const failed = first === undefined ? 'failed' : `${first.code}: ${first.message}`;
    return `${name}: ${planned === null ? failed : summaryLine(planned.plan)}`;
  });
  const temporary = await job.temporaryFolder();
  const { planFile } = inputs;
  const name = fileOf(`plan-${environmentMark}`, inputs.shard);
  return {
    code: job.signal.aborted ? 130 : bad ? 1 : changed ? 2 : 0,
    summary: titleLine(told.join('; ')),
    changed,
    plans: new Map<string, Plan>(made.map(([name, { plan }]) => [name, plan])),
    // Each is where the name of its environment takes the place of the mark.
    planFile: planFile === undefined ? join(temporary, `${name}.json`) : resolve(folderOf(inputs), planFile),
    htmlReport: join(temporary, `${name}.html`),
  };
}

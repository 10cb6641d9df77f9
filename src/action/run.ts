import { getInput, setSecret } from '@actions/core';
import { escapeLines } from '../base/escape.js';
import { type ProblemsError, problemError } from '../base/problems.js';
import { changesServer } from '../plan/plan.js';
import { redactPlan } from '../report/redact-plan.js';
import { redactReport } from '../secrets/redact-report.js';
import { scrubArguments, scrubProblems } from '../secrets/scrub-arguments.js';
import { problemsOf, stacksOf } from '../session/failures.js';
import { planAndApply } from './apply.js';
import { type Inputs, readInputs } from './inputs.js';
import { Job } from './job.js';
import { titleLine } from './log.js';
import { reportNoPlan, reportNothingToPlan } from './no-plan.js';
import { type Ending, writeOutputs, writeSummary } from './outputs.js';
import { planAndReport } from './plan.js';
import { reportNotApplied } from './result-comment.js';
import { problemsBlock } from './text.js';
import { validate } from './validate.js';

/** Runs the action, and returns the exit code of the step. */
export async function run(signal: AbortSignal): Promise<number> {
  const secrets = [getInput('token'), getInput('github-token')].filter((secret) => secret !== '');
  for (const secret of new Set(secrets)) setSecret(secret);
  const typed: string[] = [];
  const job = new Job(signal, secrets);
  let inputs: Inputs | undefined;
  let outcome: Ending;
  try {
    inputs = readInputs((name) => {
      const text = getInput(name);
      typed.push(text);
      return text;
    });
    // A token command inherits the rest of the environment.
    for (const name of ['INPUT_TOKEN', 'INPUT_GITHUB-TOKEN']) delete process.env[name];
    outcome = await runCommand(job, inputs);
  } catch (failure) {
    outcome = await reportFailure(job, inputs, failure, typed);
  }
  const failed =
    outcome.code === 1 || outcome.code === 130 || (outcome.code === 2 && inputs?.failOnChanges === true);
  writeOutputs(outcome, failed);
  if (!failed) return 0;
  return outcome.code === 130 ? 130 : 1;
}

async function runCommand(job: Job, inputs: Inputs): Promise<Ending> {
  job.log.learn(inputs);
  await job.checkCommit(inputs);
  if (inputs.command === 'validate') return await validate(job, inputs);
  if (inputs.command === 'plan' && (await job.posts.changesNone(inputs)))
    return await reportNothingToPlan(job, inputs);
  const hasToken = inputs.token !== undefined || (process.env.IDOPS_TOKEN ?? '') !== '';
  const reason = hasToken ? null : (job.event.pullRequest?.withoutSecrets ?? null);
  if (reason !== null) return await validate(job, inputs, reason);
  const isPinned = inputs.baseUrl !== undefined && inputs.token !== undefined;
  const foreign = isPinned ? null : whyForeign(job, inputs);
  if (foreign !== null && inputs.command === 'plan') {
    return await validate(job, inputs, `${foreign}, and base-url and token are not both inputs`);
  }
  if (foreign !== null) throw refuseForeign(foreign);
  return inputs.command === 'plan' ? await planAndReport(job, inputs) : await planAndApply(job, inputs);
}

/**
 * Why the configuration may come from an untrusted author, who must not choose where the token is sent or which program prints it; null if
 * it doesn't. Files of the pull request that `pr-number` names are checked out by hand.
 */
function whyForeign({ event }: Job, { prNumber }: Inputs): string | null {
  if (event.foreign !== null || event.pullRequest !== null || prNumber === undefined) return event.foreign;
  return `pull request #${prNumber} may be of another repository`;
}

function refuseForeign(foreign: string): ProblemsError {
  return problemError(
    'foreign-files',
    `${foreign}, whose idops.yaml would say where the token goes`,
    'give both base-url and token as inputs, or use the command validate',
  );
}

/** Reports a failure in the log, the summary and the comment. `typed` are the values of the inputs: a token may be in the wrong one. */
async function reportFailure(
  job: Job,
  inputs: Inputs | undefined,
  failure: unknown,
  typed: readonly string[],
): Promise<Ending> {
  const scrub = scrubArguments(typed);
  const problems = redactReport(scrubProblems(problemsOf(failure), typed, job.redactor), job.redactor);
  await job.log.problems(problems);
  if (inputs?.args.debug === true) job.log.say(escapeLines(job.redactor.redact(stacksOf(failure))));
  const [first] = problems;
  const code = job.signal.aborted ? 130 : 1;
  await writeSummary(`## idops: failed\n\n${await problemsBlock(problems)}`);
  const hide = (text: string): string => scrub(job.redactor.redact(text));
  if (inputs?.command === 'plan') {
    const text = `There is no plan for this commit:\n\n${await problemsBlock(problems)}`;
    await reportNoPlan(job, inputs, { title: 'failed', text, hide });
  }
  if (inputs?.command === 'apply' && job.phase !== 'reported') {
    const plan = job.made === undefined ? null : redactPlan(job.made, job.redactor);
    await reportNotApplied(job, job.withShard(inputs), {
      plan,
      problems,
      sent: job.phase === 'sending',
      hide,
    });
  }
  return {
    code,
    summary: titleLine(first === undefined ? 'failed' : `${first.code}: ${first.message}`),
    changed: job.made !== undefined && changesServer(job.made),
    ...(job.made === undefined ? {} : { plan: job.made }),
  };
}

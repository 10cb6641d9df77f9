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
import { type StepOutcome, writeOutputs, writeSummary } from './outputs.js';
import { planAndReport } from './plan.js';
import { reportNotApplied } from './result-comment.js';
import { problemsBlock } from './text.js';
import { validate } from './validate.js';

/** Runs the action, and returns the exit code of the step. */
export async function run(signal: AbortSignal): Promise<number> {
  const secrets = [getInput('token'), getInput('github-token')].filter((secret) => secret !== '');
  for (const secret of new Set(secrets)) setSecret(secret);
  const inputTexts: string[] = [];
  const job = new Job(signal, secrets);
  let inputs: Inputs | undefined;
  let outcome: StepOutcome;
  try {
    inputs = readInputs((name) => {
      const text = getInput(name);
      inputTexts.push(text);
      return text;
    });
    // A token command inherits the environment, which must not contain the tokens.
    for (const name of ['INPUT_TOKEN', 'INPUT_GITHUB-TOKEN']) delete process.env[name];
    outcome = await runCommand(job, inputs);
  } catch (failure) {
    outcome = await reportFailure(job, inputs, failure, inputTexts);
  }
  const failed =
    outcome.code === 1 || outcome.code === 130 || (outcome.code === 2 && inputs?.failOnChanges === true);
  writeOutputs(outcome, failed);
  if (!failed) return 0;
  return outcome.code === 130 ? 130 : 1;
}

async function runCommand(job: Job, inputs: Inputs): Promise<StepOutcome> {
  job.log.setInputs(inputs);
  await job.checkCommit(inputs);
  if (inputs.command === 'validate') return await validate(job, inputs);
  if (inputs.command === 'plan' && (await job.posts.changesNoPath(inputs)))
    return await reportNothingToPlan(job, inputs);
  const hasToken = inputs.token !== undefined || (process.env.IDOPS_TOKEN ?? '') !== '';
  const reason = hasToken ? null : (job.event.pullRequest?.noSecretsReason ?? null);
  if (reason !== null) return await validate(job, inputs, reason);
  const isPinned = inputs.baseUrl !== undefined && inputs.token !== undefined;
  const untrustedReason = isPinned ? null : whyUntrusted(job, inputs);
  if (untrustedReason !== null && inputs.command === 'plan') {
    return await validate(job, inputs, `${untrustedReason}, and base-url and token are not both inputs`);
  }
  if (untrustedReason !== null) throw refuseUntrusted(untrustedReason);
  return inputs.command === 'plan' ? await planAndReport(job, inputs) : await planAndApply(job, inputs);
}

/**
 * Why an untrusted author may have written the configuration, which says where the token is sent and which program prints it; null if none
 * has. With `pr-number`, a workflow checks out the files of any pull request.
 */
function whyUntrusted({ event }: Job, { prNumber }: Inputs): string | null {
  if (event.untrustedReason !== null || event.pullRequest !== null || prNumber === undefined)
    return event.untrustedReason;
  return `pull request #${prNumber} may be of another repository`;
}

function refuseUntrusted(untrustedReason: string): ProblemsError {
  return problemError(
    'foreign-files',
    `${untrustedReason}, and its idops.yaml says where the token is sent`,
    'set both inputs, base-url and token, or use the command validate',
  );
}

/** Reports a failure in the log, the summary and the comment, without `inputTexts`: a token may be in the wrong input. */
async function reportFailure(
  job: Job,
  inputs: Inputs | undefined,
  failure: unknown,
  inputTexts: readonly string[],
): Promise<StepOutcome> {
  const scrub = scrubArguments(inputTexts);
  const problems = redactReport(scrubProblems(problemsOf(failure), inputTexts, job.redactor), job.redactor);
  await job.log.problems(problems);
  if (inputs?.args.debug === true) job.log.write(escapeLines(job.redactor.redact(stacksOf(failure))));
  const [first] = problems;
  const code = job.signal.aborted ? 130 : 1;
  await writeSummary(`## idops: failed\n\n${await problemsBlock(problems)}`);
  const hide = (text: string): string => scrub(job.redactor.redact(text));
  if (inputs?.command === 'plan') {
    const text = `There is no plan for this commit:\n\n${await problemsBlock(problems)}`;
    await reportNoPlan(job, inputs, { title: 'failed', text, hide });
  }
  if (inputs?.command === 'apply' && job.phase !== 'reported') {
    const plan = job.plan === undefined ? null : redactPlan(job.plan, job.redactor);
    await reportNotApplied(job, job.withShard(inputs), {
      plan,
      problems,
      mayHaveSent: job.phase === 'sending',
      hide,
    });
  }
  return {
    code,
    summary: titleLine(first === undefined ? 'failed' : `${first.code}: ${first.message}`),
    changed: job.plan !== undefined && changesServer(job.plan),
    ...(job.plan === undefined ? {} : { plan: job.plan }),
  };
}

import { getInput, setSecret } from '@actions/core';
import { escapeLines } from '../base/escape.js';
import { error, ProblemsError } from '../base/problems.js';
import { withoutPasted, withoutPastedIn } from '../base/unsaid.js';
import { changesServer } from '../plan/plan.js';
import { redactPlan, redactProblems } from '../report/redacted.js';
import { problemsOf, stacksOf } from '../session/failures.js';
import { planAndApply } from './apply.js';
import { planAndCheck } from './check.js';
import { eachEnvironment } from './each-environment.js';
import { tokensIn } from './environments.js';
import { openGithub } from './github.js';
import { GithubFailure } from './github-client.js';
import { type Inputs, readInputs } from './inputs.js';
import { Job } from './job.js';
import { titleLine } from './log.js';
import { commentInputs, resultInputs, tellNoPlan } from './no-plan.js';
import { type Ending, writeOutputs, writeSummary } from './outputs.js';
import { planAndTell } from './plan.js';
import { planEach } from './plan-each.js';
import { refusal } from './refusal.js';
import { problemsBlock } from './text.js';
import { tellNotApplied } from './told-result.js';
import { validate } from './validate.js';

/** Runs the action for the event that its process was started for, and gives the exit code of the step. */
export async function run(signal: AbortSignal): Promise<number> {
  const secrets = [...tokensIn(getInput('token')), getInput('github-token')].filter(
    (secret) => secret !== '',
  );
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
    // A program that the configuration names, to get a token from, inherits the rest of the environment.
    for (const name of ['INPUT_TOKEN', 'INPUT_GITHUB-TOKEN']) delete process.env[name];
    // What is given for each environment is for that one alone.
    if (inputs.environments.some(({ token }) => token !== undefined)) delete process.env.IDOPS_TOKEN;
    outcome = await runCommand(job, inputs);
  } catch (failure) {
    outcome = await tellFailure(job, inputs, failure, typed);
  }
  const failed =
    outcome.code === 1 || outcome.code === 130 || (outcome.code === 2 && inputs?.failOnChanges === true);
  writeOutputs(outcome, failed);
  if (!failed) return 0;
  return outcome.code === 130 ? 130 : 1;
}

async function runCommand(job: Job, inputs: Inputs): Promise<Ending> {
  job.log.learn(inputs);
  if (inputs.command === 'validate') return await validate(job, inputs);
  const each = eachEnvironment(inputs);
  const hasToken = each.some(({ token }) => token !== undefined) || (process.env.IDOPS_TOKEN ?? '') !== '';
  const reason = hasToken ? null : (job.event.pullRequest?.withoutSecrets ?? null);
  if (reason !== null && inputs.command === 'check') {
    throw refusal(`nothing says whether this is approved: ${reason}`, 'check it in the merge group');
  }
  if (reason !== null) return await validate(job, inputs, reason);
  const isPinned = each.every(({ baseUrl, token }) => baseUrl !== undefined && token !== undefined);
  const foreign = isPinned ? null : await whyForeign(job, inputs);
  if (foreign !== null && inputs.command === 'plan') {
    return await validate(job, inputs, `${foreign}, and base-url and token are not both inputs`);
  }
  if (foreign !== null) throw refuseForeign(foreign);
  if (inputs.command === 'check') return await planAndCheck(job, inputs);
  if (inputs.environments.length > 0) return await planEach(job, inputs);
  return inputs.command === 'plan' ? await planAndTell(job, inputs) : await planAndApply(job, inputs);
}

/**
 * Why the configuration may be by somebody who must not say who gets the token, or run a program for one; null where it isn't.
 * A pull request that is named by hand is checked out by hand, too; of a merge group's the event says nothing but its number.
 */
async function whyForeign({ event, signal }: Job, { prNumber, githubToken }: Inputs): Promise<string | null> {
  const { foreign, pullRequest, mergeGroup } = event;
  const number = mergeGroup?.number ?? prNumber;
  if (foreign !== null || pullRequest !== null || number === undefined) return foreign;
  try {
    if (githubToken === undefined) return `nothing says whose pull request #${number} is`;
    const api = await openGithub(githubToken, event, { signal });
    return (await api.bringsForeign(number)) ? `pull request #${number} is of another repository` : null;
  } catch (failure) {
    if (!(failure instanceof GithubFailure)) throw failure;
    return `GitHub doesn't say whose pull request #${number} is`;
  }
}

function refuseForeign(foreign: string): ProblemsError {
  return new ProblemsError([
    error(
      'foreign-files',
      `${foreign}, whose idops.yaml would say where the token goes`,
      [],
      'give both base-url and token as inputs, or use the command validate',
    ),
  ]);
}

/** Tells what went wrong, wherever a person may look. `typed` is what the inputs hold: a token may stand in the wrong one. */
async function tellFailure(
  job: Job,
  inputs: Inputs | undefined,
  failure: unknown,
  typed: readonly string[],
): Promise<Ending> {
  const unsaid = withoutPasted(typed);
  const problems = redactProblems(withoutPastedIn(problemsOf(failure), typed, job.redactor), job.redactor);
  await job.log.problems(problems);
  if (inputs?.args.debug === true) job.log.say(escapeLines(job.redactor.redact(stacksOf(failure))));
  const [first] = problems;
  const code = job.signal.aborted ? 130 : 1;
  await writeSummary(`## idops: failed\n\n${await problemsBlock(problems)}`);
  const hide = (told: string): string => unsaid(job.redactor.redact(told));
  const where = inputs === undefined ? commentInputs(getInput) : inputs.command === 'plan' ? inputs : null;
  if (where !== null) {
    const text = `There is no plan for this commit:\n\n${await problemsBlock(problems)}`;
    await tellNoPlan(job, where, { title: 'failed', text, hide });
  }
  const applied =
    inputs === undefined ? resultInputs(getInput) : inputs.command === 'apply' ? job.about(inputs) : null;
  if (applied !== null && job.phase !== 'told') {
    const plan = job.made === undefined ? null : redactPlan(job.made, job.redactor);
    await tellNotApplied(job, applied, { plan, problems, sent: job.phase === 'sending', hide });
  }
  return {
    code,
    summary: titleLine(first === undefined ? 'failed' : `${first.code}: ${first.message}`),
    changed: job.made !== undefined && changesServer(job.made),
    ...(job.made === undefined ? {} : { plan: job.made }),
  };
}

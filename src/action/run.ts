import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { getInput, setSecret } from '@actions/core';
import { type Result, summarizeResult } from '../apply/result.js';
import { escapeLines } from '../base/escape.js';
import { error, type Problem, ProblemsError } from '../base/problems.js';
import { createRedactor } from '../base/redact.js';
import { writeResult } from '../base/through.js';
import { withoutPastedIn } from '../base/unsaid.js';
import { approve } from '../plan/approve.js';
import { changesServer, leavesDebts, type Plan } from '../plan/plan.js';
import { loadProject, type Project } from '../project/index.js';
import { planReport, type Report, renderText, resultReport } from '../report/formats.js';
import { validText } from '../report/problems.js';
import { redactPlan, redactProblems, redactResult } from '../report/redacted.js';
import { resultSummaryLine } from '../report/result-text.js';
import { summaryLine } from '../report/text.js';
import { plural } from '../report/words.js';
import { problemsOf, stacksOf } from '../session/failures.js';
import { forgeOf } from '../session/forge.js';
import { openForWriting, openSession } from '../session/open.js';
import { planOptionsOf, sessionOptionsOf } from '../session/options.js';
import { refuseInputs } from '../session/outputs.js';
import { readPlanFile } from '../session/plan-file.js';
import { planSamples } from '../session/plan-samples.js';
import type { Session, SessionOptions } from '../session/session.js';
import { validateProject } from '../session/validation.js';
import { type Approval, approvalOf, checkApproval } from './approval.js';
import { outdatedComment } from './comment.js';
import { readEvent, type WorkflowEvent } from './event.js';
import { openGithub } from './github.js';
import { fromPullRequest, type Inputs, readInputs } from './inputs.js';
import { Log, titleLine } from './log.js';
import { markedChanges, markerLine } from './marker.js';
import { type Ending, writeOutputs, writeSummary } from './outputs.js';
import { commentKey, configOf, folderOf, variablesOf } from './places.js';
import { Posts } from './posts.js';
import { plainComment, planComment, planSummary, problemsBlock, type SharedPlan } from './text.js';

/** What emails are rendered with, by the template's address. */
type Samples = Awaited<ReturnType<typeof planSamples>>['samples'];

/** Runs the action for the event that its process was started for, and gives the exit code of the step. */
export async function run(signal: AbortSignal): Promise<number> {
  const secrets = ['token', 'github-token'].map((name) => getInput(name)).filter((secret) => secret !== '');
  secrets.forEach(setSecret);
  const typed: string[] = [];
  const work = new Work(signal, secrets, typed);
  let outcome: Ending;
  try {
    const inputs = readInputs((name) => {
      const text = getInput(name);
      typed.push(text);
      return text;
    });
    // A program that the configuration names, to get a token from, inherits the rest of the environment.
    for (const name of ['INPUT_TOKEN', 'INPUT_GITHUB-TOKEN']) delete process.env[name];
    outcome = await work.run(inputs);
  } catch (failure) {
    outcome = await work.failed(failure);
  }
  const failed = outcome.code === 1 || outcome.code === 130 || (outcome.code === 2 && work.failsOnChanges);
  writeOutputs(outcome, failed);
  if (!failed) return 0;
  return outcome.code === 130 ? 130 : 1;
}

/** One run: what it was told, and its way to the log, to GitHub and to the server. */
class Work {
  readonly #signal: AbortSignal;
  readonly #event: WorkflowEvent;
  readonly #redactor = createRedactor();
  /** What the inputs hold: a token may stand in the wrong one. */
  readonly #typed: readonly string[];
  readonly #log = new Log();
  readonly #posts: Posts;
  #inputs: Inputs | undefined;
  /** The plan, once there is one: what failed after it is told with it. */
  #made: Plan | undefined;
  /** Where plans and reports are written that nobody named a place for. */
  #temporary: string | undefined;

  constructor(signal: AbortSignal, secrets: readonly string[], typed: readonly string[]) {
    this.#typed = typed;
    this.#signal = signal;
    for (const secret of secrets) this.#redactor.add(secret);
    this.#event = readEvent(process.env);
    this.#posts = new Posts(this.#event, this.#redactor, this.#log, signal);
  }

  get failsOnChanges(): boolean {
    return this.#inputs?.failOnChanges === true;
  }

  async run(inputs: Inputs): Promise<Ending> {
    this.#inputs = inputs;
    this.#log.learn(inputs);
    if (inputs.command === 'validate') return await this.#validate(inputs);
    const hasToken = inputs.token !== undefined || (process.env.IDOPS_TOKEN ?? '') !== '';
    const reason = hasToken ? null : (this.#event.pullRequest?.withoutSecrets ?? null);
    if (reason !== null) return await this.#validate(inputs, reason);
    this.#refuseForeign(inputs);
    return inputs.command === 'plan' ? await this.#plan(inputs) : await this.#apply(inputs);
  }

  /** A configuration that somebody else may have written must not say who gets the token, or run a program for one. */
  #refuseForeign({ baseUrl, token }: Inputs): void {
    const { foreign } = this.#event;
    if (foreign === null || (baseUrl !== undefined && token !== undefined)) return;
    throw new ProblemsError([
      error(
        'foreign-files',
        `${foreign}, whose idops.yaml would say where the token goes`,
        [],
        'give both base-url and token as inputs, or use the command validate',
      ),
    ]);
  }

  /** Tells what went wrong, wherever a person may look. */
  async failed(failure: unknown): Promise<Ending> {
    const problems = redactProblems(
      withoutPastedIn(problemsOf(failure), this.#typed, this.#redactor),
      this.#redactor,
    );
    await this.#log.problems(problems);
    if (this.#inputs?.args.debug === true)
      this.#log.say(escapeLines(this.#redactor.redact(stacksOf(failure))));
    const [first] = problems;
    const code = this.#signal.aborted ? 130 : 1;
    await writeSummary(`## idops: failed\n\n${await problemsBlock(problems)}`);
    const inputs = this.#inputs;
    if (inputs?.command === 'plan') {
      const key = commentKey(inputs, null);
      await this.#posts.comment(inputs, key, async () => ({
        body: plainComment(
          markerLine({ kind: 'plan', key, digest: null, changes: null }),
          'failed',
          `There is no plan for this commit:\n\n${await problemsBlock(problems)}`,
          this.#event,
        ),
        opens: inputs.comment === 'true',
      }));
    }
    return {
      code,
      summary: titleLine(first === undefined ? 'failed' : `${first.code}: ${first.message}`),
      changed: this.#made !== undefined && changesServer(this.#made),
      ...(this.#made === undefined ? {} : { plan: this.#made }),
    };
  }

  async #validate(inputs: Inputs, reason: string | null = null): Promise<Ending> {
    const { problems: found, objects } = await validateProject(
      () => this.#project(inputs),
      this.#redactor.add,
    );
    const problems = redactProblems(found, this.#redactor);
    await this.#log.problems(problems);
    const errors = problems.filter(({ severity }) => severity === 'error').length;
    const failed = errors > 0;
    const summary = failed ? plural(errors, 'error') : validText(objects);
    const why =
      reason === null ? '' : `There is no plan for this pull request: ${reason}. It was validated alone.`;
    if (why !== '') this.#log.say(`::notice title=idops::${why}`);
    this.#log.say(`${summary}.`);
    await writeSummary(
      [
        `## idops validate: ${summary}\n`,
        ...(why === '' ? [] : [`${why}\n`]),
        ...(problems.length === 0 ? [] : [await problemsBlock(problems)]),
      ].join('\n'),
    );
    return {
      code: failed ? 1 : 0,
      summary: why === '' ? summary : `${summary}. ${why}`,
      changed: false,
    };
  }

  async #plan(inputs: Inputs): Promise<Ending> {
    const opened = await openSession(await this.#project(inputs), this.#sessionOptions(inputs));
    const made = await this.#within(opened, async (session) => {
      if (inputs.planFile !== undefined) {
        const asked = resolve(folderOf(inputs), inputs.planFile);
        await refuseInputs([asked], configOf(inputs), session);
      }
      const plan = await session.plan(planOptionsOf(inputs.args));
      return { plan, ...(await this.#writePlan(inputs, session, plan)), project: session.project };
    });
    const { plan, project } = made;
    const shown = redactPlan(plan, this.#redactor);
    const samples = await this.#samples(plan, project);
    const htmlReport = await this.#writeHtml('plan.html', planReport, { plan, samples });
    await this.#tellPlan(plan, shown);
    const shared = await this.#shared(inputs, shown);
    await writeSummary(await planSummary(shared));
    const changed = changesServer(plan);
    const blocked = plan.changes.some(({ action }) => action === 'blocked');
    // What a selection leaves out may be owed something: then nobody is told that all is well.
    const tells = changed || blocked || leavesDebts(plan);
    const key = commentKey(inputs, plan.environment);
    const marker = { key, digest: plan.digest, changes: markedChanges(plan, this.#redactor) };
    await this.#posts.comment(inputs, key, async () =>
      tells
        ? {
            body: await planComment(markerLine({ kind: 'plan', ...marker }), shared, this.#event),
            opens: true,
          }
        : { body: outdatedComment(key, plan.digest, this.#event), opens: inputs.comment === 'true' },
    );
    if (inputs.driftIssue) await this.#posts.drift(inputs, shared, { ...marker, found: tells });
    if (changed && inputs.failOnChanges)
      this.#log.say('::error title=idops::There are changes, and fail-on-changes is set.');
    return {
      code: this.#signal.aborted ? 130 : blocked ? 1 : changed ? 2 : 0,
      summary: summaryLine(plan),
      changed,
      plan,
      planFile: made.planFile,
      htmlReport,
    };
  }

  async #apply(inputs: Inputs): Promise<Ending> {
    const { planFile, expectDigest } = inputs;
    const file = planFile === undefined ? undefined : resolve(folderOf(inputs), planFile);
    const stored = file === undefined ? undefined : await readPlanFile(file, planFile);
    const project = await this.#project(inputs);
    const opened = await openForWriting(project, 'apply', this.#sessionOptions(inputs));
    return await this.#within(opened, async (session) => {
      const { plan, problems } =
        stored === undefined
          ? { plan: await session.plan(planOptionsOf(inputs.args)), problems: [] }
          : await session.planStored(stored);
      const shown = redactPlan(plan, this.#redactor);
      await this.#tellPlan(plan, shown);
      await writeSummary(await planSummary(await this.#shared(inputs, shown)));
      if (problems.length > 0) throw new ProblemsError(problems);
      if (expectDigest !== undefined) {
        checkApproval(plan, await this.#approval(inputs, expectDigest, plan), this.#redactor);
      }
      const maxDestructive = inputs.allowDestructive ?? project.maxDestructive();
      const { result: became, problems: after } = await session.apply(approve(plan, { maxDestructive }));
      const result = redactResult(became, this.#redactor);
      if (after.length > 0) await this.#log.problems(redactProblems(after, this.#redactor));
      if (result.run !== null) {
        const done = { result, plan: shown };
        await this.#log.report(resultReport, done);
        await writeSummary(await renderText(resultReport, 'markdown', done, this.#log.look));
      }
      const { failed, not_converged, unknown, skipped } = summarizeResult(result);
      const bad = failed + not_converged + unknown + skipped + after.length > 0;
      return {
        code: result.interrupted ? 130 : bad ? 1 : 0,
        summary: this.#applied(result, after),
        changed: changesServer(plan),
        plan,
        ...(file === undefined ? {} : { planFile: file }),
        htmlReport: await this.#writeHtml('apply.html', resultReport, {
          result: became,
          plan,
          samples: await this.#samplesOrNone(plan, session.project),
        }),
      };
    });
  }

  #applied(result: Result, problems: readonly Problem[]): string {
    if (result.run !== null) return resultSummaryLine(result);
    const [first] = redactProblems(problems, this.#redactor);
    return first === undefined ? 'There was nothing to apply.' : titleLine(`${first.code}: ${first.message}`);
  }

  async #approval(inputs: Inputs, expected: string, plan: Plan): Promise<Approval | null> {
    if (expected !== fromPullRequest) return { digest: expected, changes: null, source: 'expect-digest' };
    if (inputs.githubToken === undefined) {
      throw new ProblemsError([
        error('not-approved', 'expect-digest: from-pull-request needs the input github-token'),
      ]);
    }
    const api = await openGithub(inputs.githubToken, this.#event, { signal: this.#signal });
    const approval = await approvalOf(api, this.#event, commentKey(inputs, plan.environment));
    if (approval !== null) this.#log.say(`${approval.source} approved ${approval.digest}`);
    return approval;
  }

  #sessionOptions({ args, baseUrl }: Inputs): SessionOptions {
    return {
      ...sessionOptionsOf({ ...args, ...(baseUrl === undefined ? {} : { baseUrl }) }),
      signal: this.#signal,
      redactor: this.#redactor,
    };
  }

  async #within<S extends Session, T>(session: S, work: (session: S) => Promise<T>): Promise<T> {
    try {
      if (session.warnings.length > 0)
        await this.#log.problems(redactProblems(session.warnings, this.#redactor));
      for (const note of session.notes) this.#log.say(escapeLines(this.#redactor.redactSentence(note)));
      return await work(session);
    } finally {
      await session.close();
    }
  }

  async #project({ config, environment, token, ...inputs }: Inputs): Promise<Project> {
    return await loadProject({
      cwd: folderOf(inputs),
      above: false,
      variables: variablesOf(token),
      tokenFile: inputs.args.tokenFile,
      ...(config === undefined ? {} : { config }),
      ...(environment === undefined ? {} : { env: environment }),
    });
  }

  async #writePlan(inputs: Inputs, session: Session, plan: Plan): Promise<{ readonly planFile: string }> {
    const planFile =
      inputs.planFile === undefined
        ? join(await this.#temporaryFolder(), 'plan.json')
        : resolve(folderOf(inputs), inputs.planFile);
    await writeResult(planFile, await session.storePlan(plan), 0o600);
    return { planFile };
  }

  /** What the emails of a page are rendered with. */
  async #samples(plan: Plan, project: Project): Promise<Samples> {
    const { samples, warnings } = await planSamples(plan, project);
    if (warnings.length > 0) await this.#log.problems(redactProblems(warnings, this.#redactor));
    return samples;
  }

  /** The same where something was done already, which has to be shown: what can't be had is said, and made up. */
  async #samplesOrNone(plan: Plan, project: Project): Promise<Samples> {
    try {
      return await this.#samples(plan, project);
    } catch (failure) {
      if (!(failure instanceof ProblemsError)) throw failure;
      const told = failure.problems.map((problem): Problem => ({ ...problem, severity: 'warning' }));
      await this.#log.problems(redactProblems(told, this.#redactor));
      return new Map();
    }
  }

  async #writeHtml<T>(name: string, report: Report<T>, found: T): Promise<string> {
    const shown = report.redact(found, this.#redactor);
    const file = join(await this.#temporaryFolder(), name);
    await writeResult(file, await renderText(report, 'html', shown, this.#log.look), 0o600);
    return file;
  }

  async #shared(inputs: Inputs, plan: Plan): Promise<SharedPlan> {
    const forge = await forgeOf(process.env, folderOf(inputs));
    return { plan, only: inputs.args.only, forge };
  }

  async #temporaryFolder(): Promise<string> {
    this.#temporary ??= await mkdtemp(join(process.env.RUNNER_TEMP || tmpdir(), 'idops-'));
    return this.#temporary;
  }

  async #tellPlan(plan: Plan, shown: Plan): Promise<void> {
    this.#made = plan;
    await this.#log.report(planReport, { plan: shown, samples: new Map() });
  }
}

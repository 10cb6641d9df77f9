import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';
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
import {
  type Look,
  planReport,
  problemsReport,
  type Report,
  renderText,
  resultReport,
} from '../report/formats.js';
import { validText } from '../report/problems.js';
import { redactPlan, redactProblems, redactResult } from '../report/redacted.js';
import { resultSummaryLine, summaryLine } from '../report/text.js';
import { plural } from '../report/words.js';
import { problemsOf, stacksOf } from '../session/failures.js';
import { openForWriting, openSession } from '../session/open.js';
import { planOptionsOf, sessionOptionsOf } from '../session/options.js';
import { refuseInputs } from '../session/outputs.js';
import { readPlanFile } from '../session/plan-file.js';
import { planSamples } from '../session/plan-samples.js';
import type { Session, SessionOptions } from '../session/session.js';
import { validateProject } from '../session/validation.js';
import { type Approval, approvalOf, checkApproval } from './approval.js';
import { type DriftOutcome, outdatedComment, syncComment, syncDriftIssue, type Told } from './comment.js';
import { readEvent, type WorkflowEvent } from './event.js';
import { type GithubApi, GithubFailure, openGithub } from './github.js';
import { fromPullRequest, type Inputs, readInputs } from './inputs.js';
import { markedChanges, markerKey, markerLine } from './marker.js';
import { type Ending, writeOutputs, writeSummary } from './outputs.js';
import { plainComment, planComment, planSummary, problemsBlock } from './text.js';

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
  }

  get failsOnChanges(): boolean {
    return this.#inputs?.failOnChanges === true;
  }

  async run(inputs: Inputs): Promise<Ending> {
    this.#inputs = inputs;
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
    await this.#tellProblems(problems);
    if (this.#inputs?.args.debug === true) this.#say(escapeLines(this.#redactor.redact(stacksOf(failure))));
    const [first] = problems;
    const code = this.#signal.aborted ? 130 : 1;
    await writeSummary(`## idops: failed\n\n${await problemsBlock(problems)}`);
    const inputs = this.#inputs;
    if (inputs?.command === 'plan') {
      const key = this.#key(inputs, null);
      await this.#comment(inputs, key, async () => ({
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
      summary: this.#oneLine(first === undefined ? 'failed' : `${first.code}: ${first.message}`),
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
    await this.#tellProblems(problems);
    const errors = problems.filter(({ severity }) => severity === 'error').length;
    const failed = errors > 0;
    const summary = failed ? plural(errors, 'error') : validText(objects);
    const why =
      reason === null ? '' : `There is no plan for this pull request: ${reason}. It was validated alone.`;
    if (why !== '') this.#say(`::notice title=idops::${why}`);
    this.#say(`${summary}.`);
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
        const asked = resolve(this.#folder(inputs), inputs.planFile);
        await refuseInputs([asked], this.#config(inputs), session);
      }
      const plan = await session.plan(planOptionsOf(inputs.args));
      return { plan, ...(await this.#writePlan(inputs, session, plan)), project: session.project };
    });
    const { plan, project } = made;
    const shown = redactPlan(plan, this.#redactor);
    const htmlReport = await this.#writeHtml(plan, project);
    await this.#tellPlan(plan, shown);
    await writeSummary(await planSummary(shown));
    const changed = changesServer(plan);
    const blocked = plan.changes.some(({ action }) => action === 'blocked');
    // What a selection leaves out may be owed something: then nobody is told that all is well.
    const tells = changed || blocked || leavesDebts(plan);
    const key = this.#key(inputs, plan.environment);
    const marker = { key, digest: plan.digest, changes: markedChanges(plan, this.#redactor) };
    await this.#comment(inputs, key, async () =>
      tells
        ? {
            body: await planComment(markerLine({ kind: 'plan', ...marker }), shown, this.#event),
            opens: true,
          }
        : { body: outdatedComment(key, plan.digest, this.#event), opens: inputs.comment === 'true' },
    );
    if (inputs.driftIssue) await this.#drift(inputs, shown, { ...marker, found: tells });
    if (changed && inputs.failOnChanges)
      this.#say('::error title=idops::There are changes, and fail-on-changes is set.');
    return {
      code: blocked ? 1 : changed ? 2 : 0,
      summary: summaryLine(plan),
      changed,
      plan,
      planFile: made.planFile,
      htmlReport,
    };
  }

  async #apply(inputs: Inputs): Promise<Ending> {
    const { planFile, expectDigest } = inputs;
    const file = planFile === undefined ? undefined : resolve(this.#folder(inputs), planFile);
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
      await writeSummary(await planSummary(shown));
      if (problems.length > 0) throw new ProblemsError(problems);
      if (expectDigest !== undefined) {
        checkApproval(plan, await this.#approval(inputs, expectDigest, plan), this.#redactor);
      }
      const maxDestructive = inputs.allowDestructive ?? project.maxDestructive();
      const { result: became, problems: after } = await session.apply(approve(plan, { maxDestructive }));
      const result = redactResult(became, this.#redactor);
      if (after.length > 0) await this.#tellProblems(redactProblems(after, this.#redactor));
      if (result.run !== null) {
        const done = { result, plan: shown };
        await this.#log(resultReport, done);
        await writeSummary(await renderText(resultReport, 'markdown', done, this.#look));
      }
      const { failed, not_converged, unknown, skipped } = summarizeResult(result);
      const bad = failed + not_converged + unknown + skipped + after.length > 0;
      return {
        code: result.interrupted ? 130 : bad ? 1 : 0,
        summary: this.#applied(result, after),
        changed: changesServer(plan),
        plan,
        ...(file === undefined ? {} : { planFile: file }),
        htmlReport: await this.#writeHtml(plan, session.project),
      };
    });
  }

  #applied(result: Result, problems: readonly Problem[]): string {
    if (result.run !== null) return resultSummaryLine(result);
    const [first] = redactProblems(problems, this.#redactor);
    return first === undefined
      ? 'There was nothing to apply.'
      : this.#oneLine(`${first.code}: ${first.message}`);
  }

  async #approval(inputs: Inputs, expected: string, plan: Plan): Promise<Approval | null> {
    if (expected !== fromPullRequest) return { digest: expected, changes: null, source: 'expect-digest' };
    if (inputs.githubToken === undefined) {
      throw new ProblemsError([
        error('not-approved', 'expect-digest: from-pull-request needs the input github-token'),
      ]);
    }
    const api = await openGithub(inputs.githubToken, this.#event);
    const approval = await approvalOf(api, this.#event, this.#key(inputs, plan.environment));
    if (approval !== null) this.#say(`${approval.source} approved ${approval.digest}`);
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
        await this.#tellProblems(redactProblems(session.warnings, this.#redactor));
      for (const note of session.notes) this.#say(escapeLines(this.#redactor.redactSentence(note)));
      return await work(session);
    } finally {
      await session.close();
    }
  }

  async #project({ config, environment, token, ...inputs }: Inputs): Promise<Project> {
    return await loadProject({
      cwd: this.#folder(inputs),
      variables: variables(token),
      tokenFile: inputs.args.tokenFile,
      ...(config === undefined ? {} : { config }),
      ...(environment === undefined ? {} : { env: environment }),
    });
  }

  async #writePlan(inputs: Inputs, session: Session, plan: Plan): Promise<{ readonly planFile: string }> {
    const planFile =
      inputs.planFile === undefined
        ? join(await this.#temporaryFolder(), 'plan.json')
        : resolve(this.#folder(inputs), inputs.planFile);
    await writeResult(planFile, await session.storePlan(plan), 0o600);
    return { planFile };
  }

  async #writeHtml(plan: Plan, project: Project): Promise<string> {
    const { samples, warnings } = await planSamples(plan, project);
    if (warnings.length > 0) await this.#tellProblems(redactProblems(warnings, this.#redactor));
    const shown = planReport.redact({ plan, samples }, this.#redactor);
    const file = join(await this.#temporaryFolder(), 'plan.html');
    await writeResult(file, await renderText(planReport, 'html', shown, this.#look), 0o600);
    return file;
  }

  async #temporaryFolder(): Promise<string> {
    this.#temporary ??= await mkdtemp(join(process.env.RUNNER_TEMP || tmpdir(), 'idops-'));
    return this.#temporary;
  }

  async #tellPlan(plan: Plan, shown: Plan): Promise<void> {
    this.#made = plan;
    await this.#log(planReport, { plan: shown, samples: new Map() });
  }

  /** Writes something that is without secrets to the log: as text, and as annotations. */
  async #log<T>(report: Report<T>, shown: T): Promise<void> {
    for (const format of ['text', 'github']) this.#say(await renderText(report, format, shown, this.#look));
  }

  get #look(): Look {
    const inputs = this.#inputs;
    return {
      color: false,
      debug: inputs?.args.debug === true,
      folder: inputs === undefined ? '' : this.#inRepository(inputs),
    };
  }

  /** Tells problems that are without secrets already. */
  async #tellProblems(problems: readonly Problem[]): Promise<void> {
    if (problems.length > 0) await this.#log(problemsReport, problems);
  }

  /** Writes the comment of the pull request, where there is one and it is wanted. That it can't be stops nothing. */
  async #comment(inputs: Inputs, key: string, told: () => Promise<Told>): Promise<void> {
    const { pullRequest } = this.#event;
    if (pullRequest === null || inputs.comment === 'false' || inputs.githubToken === undefined) return;
    await this.#asking('The comment', 'pull-requests: write', inputs.githubToken, async (api) =>
      syncComment(api, pullRequest.number, key, await told()),
    );
  }

  async #drift(
    inputs: Inputs,
    plan: Plan,
    {
      found,
      ...marker
    }: { key: string; digest: string; changes: ReturnType<typeof markedChanges>; found: boolean },
  ): Promise<void> {
    if (inputs.githubToken === undefined) {
      this.#say('::warning title=idops::The issue can not be written: there is no github-token.');
      return;
    }
    const first = markerLine({ kind: 'drift', ...marker });
    const name = this.#oneLine(plan.environment ?? plan.server).slice(0, 100);
    const outcome: DriftOutcome | undefined = await this.#asking(
      'The issue',
      'issues: write',
      inputs.githubToken,
      async (api) =>
        syncDriftIssue(
          api,
          marker.key,
          found
            ? {
                title: `Identity server is not as declared: ${name}`,
                body: await planComment(
                  first,
                  plan,
                  this.#event,
                  'The server is not as the manifests say. Apply puts it right; so does a change of the manifests.\n\n',
                ),
              }
            : null,
          plainComment(first, 'no drift', 'The server is as the manifests say.', this.#event),
        ),
    );
    if (outcome !== undefined && outcome !== null) this.#say(`Issue #${outcome.issue} was ${outcome.done}.`);
  }

  /** Asks GitHub for something that may fail without the step failing: a warning then says what to do. */
  async #asking<T>(
    what: string,
    permission: string,
    token: string,
    ask: (api: GithubApi) => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await ask(await openGithub(token, this.#event));
    } catch (failure) {
      if (!(failure instanceof GithubFailure)) throw failure;
      const denied = failure.status === 403 || failure.status === 404;
      const help = denied ? ` The job needs the permission ${permission}.` : '';
      this.#say(
        `::warning title=idops::${commandText(`${what} can't be written: ${this.#redactor.redactSentence(failure.message)}.${help}`)}`,
      );
      return undefined;
    }
  }

  /** The project and environment that comments are found again by. */
  #key(inputs: Inputs, environment: string | null): string {
    const config = this.#config(inputs);
    const name = environment ?? inputs.environment ?? (process.env.IDOPS_ENV || null);
    return markerKey(relative(workspace(), config).split(sep).join('/'), name);
  }

  #config(inputs: Inputs): string {
    return resolve(this.#folder(inputs), inputs.config ?? (process.env.IDOPS_CONFIG || 'idops.yaml'));
  }

  #folder({ workingDirectory }: Pick<Inputs, 'workingDirectory'>): string {
    return resolve(workspace(), workingDirectory);
  }

  #inRepository(inputs: Inputs): string {
    const folder = relative(workspace(), this.#folder(inputs)).split(sep).join('/');
    return folder.startsWith('..') ? '' : folder;
  }

  /** Text without secrets for an output or a title: one line that nothing can hide in. */
  #oneLine(text: string): string {
    return escapeLines(text).split('\n').join(' ').slice(0, 1_000);
  }

  /** Writes to the log. The text must be harmless and without secrets already. */
  #say(text: string): void {
    if (text !== '') process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  }
}

function workspace(): string {
  return process.env.GITHUB_WORKSPACE || process.cwd();
}

/** The process's variables, without what the runner put there for the action alone. */
function variables(token: string | undefined): { readonly [name: string]: string | undefined } {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('INPUT_'));
  return { ...Object.fromEntries(own), ...(token === undefined ? {} : { IDOPS_TOKEN: token }) };
}

function commandText(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { escapeLines } from '../base/escape.js';
import { type Problem, ProblemsError } from '../base/problems.js';
import type { Safety } from '../base/safety.js';
import type { Shard } from '../base/shard.js';
import { writeOutput } from '../base/write-file.js';
import type { Plan } from '../plan/plan.js';
import { loadProject, type Project } from '../project/index.js';
import { planReport, type Report, renderText } from '../report/formats.js';
import { redactReport } from '../secrets/redact-report.js';
import { createRedactor } from '../secrets/redactor.js';
import { forgeOf } from '../session/forge.js';
import { sessionOptionsOf } from '../session/options.js';
import { planSamples } from '../session/plan-samples.js';
import type { Session, SessionOptions } from '../session/session.js';
import { shardOptions } from '../session/shard.js';
import { checkCheckout, eventOfPull } from './checkout.js';
import { readEvent, type WorkflowEvent } from './event.js';
import type { Inputs } from './inputs.js';
import { Log } from './log.js';
import { folderOf, variablesOf } from './places.js';
import { Posts } from './posts.js';
import { type Guarding, guardingOf } from './safety.js';
import { subjectOf } from './subject.js';
import type { SharedPlan } from './text.js';

/** Sample data for emails, by the template's address. */
type Samples = Awaited<ReturnType<typeof planSamples>>['samples'];

/** One step of a workflow: its event, and its access to the log, GitHub and the server. */
export class Job {
  readonly signal: AbortSignal;
  event: WorkflowEvent;
  readonly redactor = createRedactor();
  readonly log = new Log();
  posts: Posts;
  /** The plan, once there is one: later failures are reported with it. */
  #made: Plan | undefined;
  #phase: 'before' | 'sending' | 'reported' = 'before';
  #shard: Shard | undefined;
  #temporary: string | undefined;
  #guarding: Guarding | undefined;

  constructor(signal: AbortSignal, secrets: readonly string[]) {
    this.signal = signal;
    for (const secret of secrets) this.redactor.add(secret);
    this.event = readEvent(process.env);
    this.posts = new Posts(this.event, this.redactor, this.log, signal);
  }

  /** Determines the commit of the run, and checks that the files are those of it. */
  async checkCommit(inputs: Inputs): Promise<void> {
    this.event = await eventOfPull(this.event, inputs, this.signal);
    this.posts = new Posts(this.event, this.redactor, this.log, this.signal);
    await checkCheckout(this.event, inputs);
  }

  get made(): Plan | undefined {
    return this.#made;
  }

  /** How far an apply has come: whether requests may have been sent, and whether the result was reported. */
  get phase(): 'before' | 'sending' | 'reported' {
    return this.#phase;
  }

  /** Call it before anything is sent, and once the result is reported. */
  setPhase(phase: 'sending' | 'reported'): void {
    this.#phase = phase;
  }

  /** Sets the shard of a stored plan: later failures are reported for it. */
  setShard(shard: Shard | undefined): void {
    this.#shard = shard;
  }

  /** Inputs with the shard of the stored plan. */
  withShard<T extends { readonly shard?: Shard }>(inputs: T): T {
    return this.#shard === undefined ? inputs : { ...inputs, shard: this.#shard };
  }

  /** The options of a session for these inputs. */
  sessionOptions({ args, baseUrl, shard }: Inputs): SessionOptions {
    return {
      ...shardOptions(shard, process.env),
      ...sessionOptionsOf({ ...args, ...(baseUrl === undefined ? {} : { baseUrl }) }),
      message: args.message,
      pinned: baseUrl !== undefined,
      signal: this.signal,
      redactor: this.redactor,
      ...(this.#guarding === undefined ? {} : { safety: this.#guarding.safety, approvable: true }),
    };
  }

  /** Works in a session, closes it, and reports its warnings and notes. */
  async within<S extends Session, T>(session: S, work: (session: S) => Promise<T>): Promise<T> {
    try {
      if (session.warnings.length > 0) await this.log.problems(redactReport(session.warnings, this.redactor));
      for (const note of session.notes) this.log.say(escapeLines(this.redactor.redactSentence(note)));
      return await work(session);
    } finally {
      const left = await session.close();
      if (left.length > 0) await this.log.problems(left);
    }
  }

  /** Loads the configuration that the inputs name. */
  async project({ config, environment, token, ...inputs }: Inputs): Promise<Project> {
    return await loadProject({
      cwd: folderOf(inputs),
      above: false,
      variables: variablesOf(token),
      tokenFile: inputs.args.tokenFile,
      config,
      env: environment,
    });
  }

  /** The settings of `safety` that hold for this run. Call it before a session is opened. */
  async guard(inputs: Inputs, project: Project): Promise<Safety> {
    this.#guarding = await guardingOf(this, inputs, project);
    return this.#guarding.safety;
  }

  /** Sample data for the emails of a page. */
  async samples(plan: Plan, project: Project): Promise<Samples> {
    const { samples, warnings } = await planSamples(plan, project);
    if (warnings.length > 0) await this.log.problems(redactReport(warnings, this.redactor));
    return samples;
  }

  /** The same for a result, which must be shown: if samples can't be read, that is a warning. */
  async samplesOrNone(plan: Plan, project: Project): Promise<Samples> {
    try {
      return await this.samples(plan, project);
    } catch (failure) {
      if (!(failure instanceof ProblemsError)) throw failure;
      const warnings = failure.problems.map((problem): Problem => ({ ...problem, severity: 'warning' }));
      await this.log.problems(redactReport(warnings, this.redactor));
      return new Map();
    }
  }

  /** Writes a page into the temporary folder, and returns its path. */
  async writeHtml<T>(name: string, report: Report<T>, found: T): Promise<string> {
    const shown = report.redact(found, this.redactor);
    const file = join(await this.temporaryFolder(), name);
    await writeOutput(file, await renderText(report, 'html', shown, this.log.renderOptions), 0o600);
    return file;
  }

  /** A plan for comments and summaries. */
  async shared(
    inputs: Pick<Inputs, 'config' | 'environment' | 'workingDirectory' | 'shard' | 'args'>,
    plan: Plan,
  ): Promise<SharedPlan> {
    const forge = await forgeOf(process.env, folderOf(inputs), this.event.sha);
    const subject = subjectOf(inputs, inputs.args, this.redactor.redact, plan);
    return { plan, only: inputs.args.only, forge, subject, note: this.#guarding?.note ?? '' };
  }

  /** The folder for plans and reports without a path of their own. */
  async temporaryFolder(): Promise<string> {
    this.#temporary ??= await mkdtemp(join(process.env.RUNNER_TEMP || tmpdir(), 'idops-'));
    return this.#temporary;
  }

  /** Writes a plan to the log. From then on it is in the outputs, whatever fails. */
  async logPlan(plan: Plan, shown: Plan): Promise<void> {
    this.#made = plan;
    await this.log.report(planReport, { plan: shown, samples: new Map() });
  }
}

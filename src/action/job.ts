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
import { checkCheckout, pullRequestEvent } from './checkout.js';
import { readEvent, type WorkflowEvent } from './event.js';
import type { Inputs } from './inputs.js';
import { Log } from './log.js';
import { Posts } from './posts.js';
import { type EffectiveSafety, effectiveSafety } from './safety.js';
import { subjectOf } from './subject.js';
import type { PostedPlan } from './text.js';
import { processVariables, workingFolder } from './workspace.js';

/** Sample data for emails, by the template's address. */
type Samples = Awaited<ReturnType<typeof planSamples>>['samples'];

/** One step of a workflow: its event, and its access to the log, GitHub and the server. */
export class Job {
  readonly signal: AbortSignal;
  event: WorkflowEvent;
  readonly redactor = createRedactor();
  readonly log = new Log();
  posts: Posts;
  /** The plan, once it is made: later failures are reported with it. */
  #plan: Plan | undefined;
  #phase: 'before' | 'sending' | 'reported' = 'before';
  #shard: Shard | undefined;
  #temporary: string | undefined;
  #safety: EffectiveSafety | undefined;

  constructor(signal: AbortSignal, secrets: readonly string[]) {
    this.signal = signal;
    for (const secret of secrets) this.redactor.add(secret);
    this.event = readEvent(process.env);
    this.posts = new Posts(this.event, this.redactor, this.log, signal);
  }

  /** Determines the commit of the run, and checks that its files are checked out. */
  async checkCommit(inputs: Inputs): Promise<void> {
    this.event = await pullRequestEvent(this.event, inputs, this.signal);
    this.posts = new Posts(this.event, this.redactor, this.log, this.signal);
    await checkCheckout(this.event, inputs);
  }

  get plan(): Plan | undefined {
    return this.#plan;
  }

  /** The phase of an apply: whether requests may have been sent, and whether the result was reported. */
  get phase(): 'before' | 'sending' | 'reported' {
    return this.#phase;
  }

  /** Call it before anything is sent, and once the result is reported. */
  setPhase(phase: 'sending' | 'reported'): void {
    this.#phase = phase;
  }

  /** Sets the shard of a stored plan; later failures are reported for it. */
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
      ...(this.#safety === undefined ? {} : { safety: this.#safety.safety, approvable: true }),
    };
  }

  /** Calls `work` with a session, closes the session, and logs its warnings and notes. */
  async runSession<S extends Session, T>(session: S, work: (session: S) => Promise<T>): Promise<T> {
    try {
      await this.log.problems(redactReport(session.warnings, this.redactor));
      for (const note of session.notes) this.log.write(escapeLines(this.redactor.redactSentence(note)));
      return await work(session);
    } finally {
      await this.log.problems(await session.close());
    }
  }

  /** Loads the configuration that the inputs name. */
  async project({ config, environment, token, ...inputs }: Inputs): Promise<Project> {
    return await loadProject({
      cwd: workingFolder(inputs),
      above: false,
      variables: processVariables(token),
      tokenFile: inputs.args.tokenFile,
      config,
      env: environment,
    });
  }

  /** The `safety` settings of this run. Call it before opening a session. */
  async loadSafety(inputs: Inputs, project: Project): Promise<Safety> {
    this.#safety = await effectiveSafety(this, inputs, project);
    return this.#safety.safety;
  }

  /** Reads sample data for the emails of a plan. */
  async readSamples(plan: Plan, project: Project): Promise<Samples> {
    const { samples, warnings } = await planSamples(plan, project);
    await this.log.problems(redactReport(warnings, this.redactor));
    return samples;
  }

  /** As `readSamples`, but only warns if the samples can't be read: after an apply, the result must be reported. */
  async tryReadSamples(plan: Plan, project: Project): Promise<Samples> {
    try {
      return await this.readSamples(plan, project);
    } catch (failure) {
      if (!(failure instanceof ProblemsError)) throw failure;
      const warnings = failure.problems.map((problem): Problem => ({ ...problem, severity: 'warning' }));
      await this.log.problems(redactReport(warnings, this.redactor));
      return new Map();
    }
  }

  /** Writes a report as a page into the temporary folder, and returns its path. */
  async writeHtml<T>(name: string, report: Report<T>, content: T): Promise<string> {
    const shown = report.redact(content, this.redactor);
    const file = join(await this.temporaryFolder(), name);
    await writeOutput(file, await renderText(report, 'html', shown, this.log.renderOptions), 0o600);
    return file;
  }

  /** A redacted plan for comments and summaries. */
  async postedPlan(
    inputs: Pick<Inputs, 'config' | 'environment' | 'workingDirectory' | 'shard' | 'args'>,
    plan: Plan,
  ): Promise<PostedPlan> {
    const forge = await forgeOf(process.env, workingFolder(inputs), this.event.headSha);
    const subject = subjectOf(inputs, inputs.args, this.redactor.redact, plan);
    return { plan, only: inputs.args.only, forge, subject, note: this.#safety?.note ?? '' };
  }

  /** The folder for plans and reports without a path of their own. */
  async temporaryFolder(): Promise<string> {
    this.#temporary ??= await mkdtemp(join(process.env.RUNNER_TEMP || tmpdir(), 'idops-'));
    return this.#temporary;
  }

  /** Writes a plan to the log. Even if the step fails later, the outputs describe this plan. */
  async logPlan(plan: Plan, shown: Plan): Promise<void> {
    this.#plan = plan;
    await this.log.report(planReport, { plan: shown, samples: new Map() });
  }
}

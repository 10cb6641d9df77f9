import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { escapeLines } from '../base/escape.js';
import { type Problem, ProblemsError } from '../base/problems.js';
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
import { readEvent, type WorkflowEvent } from './event.js';
import { checkCheckout, eventOfPull } from './head.js';
import type { Inputs } from './inputs.js';
import { Log } from './log.js';
import { folderOf, variablesOf } from './places.js';
import { Posts } from './posts.js';
import { subjectOf } from './subject.js';
import type { SharedPlan } from './text.js';

/** What emails are rendered with, by the template's address. */
type Samples = Awaited<ReturnType<typeof planSamples>>['samples'];

/** One step of a workflow: what it was told, and its way to the log, to GitHub and to the server. */
export class Job {
  readonly signal: AbortSignal;
  event: WorkflowEvent;
  readonly redactor = createRedactor();
  readonly log = new Log();
  posts: Posts;
  /** The plan, once there is one: what failed after it is told with it. */
  #made: Plan | undefined;
  #phase: 'before' | 'sending' | 'told' = 'before';
  #shard: Shard | undefined;
  #temporary: string | undefined;

  constructor(signal: AbortSignal, secrets: readonly string[]) {
    this.signal = signal;
    for (const secret of secrets) this.redactor.add(secret);
    this.event = readEvent(process.env);
    this.posts = new Posts(this.event, this.redactor, this.log, signal);
  }

  /** Finds out which commit the run is about, and makes sure that the files are of it. */
  async meets(inputs: Inputs): Promise<void> {
    this.event = await eventOfPull(this.event, inputs, this.signal);
    this.posts = new Posts(this.event, this.redactor, this.log, this.signal);
    await checkCheckout(this.event, inputs);
  }

  get made(): Plan | undefined {
    return this.#made;
  }

  /** How far applying has come: whether something may have been sent, and whether it was told what became of it. */
  get phase(): 'before' | 'sending' | 'told' {
    return this.#phase;
  }

  /** To be called before anything is sent, and once it is told what became of it. */
  enters(phase: 'sending' | 'told'): void {
    this.#phase = phase;
  }

  /** To be told which part of the objects a stored plan is about: whatever fails after it is told of that part. */
  concerns(shard: Shard | undefined): void {
    this.#shard = shard;
  }

  /** Inputs with the part of the objects that a stored plan is about. */
  about<T extends { readonly shard?: Shard }>(inputs: T): T {
    return this.#shard === undefined ? inputs : { ...inputs, shard: this.#shard };
  }

  /** How a session is opened for these inputs. */
  sessionOptions({ args, baseUrl, shard }: Inputs): SessionOptions {
    return {
      ...shardOptions(shard, process.env),
      ...sessionOptionsOf({ ...args, ...(baseUrl === undefined ? {} : { baseUrl }) }),
      pinned: baseUrl !== undefined,
      signal: this.signal,
      redactor: this.redactor,
    };
  }

  /** Does some work in a session that is closed after it, and tells what opening it found. */
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

  /** Reads the configuration that the inputs name. */
  async project({ config, environment, token, ...inputs }: Inputs): Promise<Project> {
    return await loadProject({
      cwd: folderOf(inputs),
      above: false,
      variables: variablesOf(token),
      tokenFile: inputs.args.tokenFile,
      ...(config === undefined ? {} : { config }),
      ...(environment === undefined ? {} : { env: environment }),
    });
  }

  /** What the emails of a page are rendered with. */
  async samples(plan: Plan, project: Project): Promise<Samples> {
    const { samples, warnings } = await planSamples(plan, project);
    if (warnings.length > 0) await this.log.problems(redactReport(warnings, this.redactor));
    return samples;
  }

  /** The same where something was done already, which has to be shown: what can't be had is said, and made up. */
  async samplesOrNone(plan: Plan, project: Project): Promise<Samples> {
    try {
      return await this.samples(plan, project);
    } catch (failure) {
      if (!(failure instanceof ProblemsError)) throw failure;
      const told = failure.problems.map((problem): Problem => ({ ...problem, severity: 'warning' }));
      await this.log.problems(redactReport(told, this.redactor));
      return new Map();
    }
  }

  /** Writes a page into the temporary folder, and gives its file. */
  async writeHtml<T>(name: string, report: Report<T>, found: T): Promise<string> {
    const shown = report.redact(found, this.redactor);
    const file = join(await this.temporaryFolder(), name);
    await writeOutput(file, await renderText(report, 'html', shown, this.log.look), 0o600);
    return file;
  }

  /** A plan as comments and summaries show it. */
  async shared(
    inputs: Pick<Inputs, 'config' | 'environment' | 'workingDirectory' | 'shard' | 'args'>,
    plan: Plan,
  ): Promise<SharedPlan> {
    const forge = await forgeOf(process.env, folderOf(inputs), this.event.sha);
    const subject = subjectOf(inputs, inputs.args, this.redactor.redact, plan);
    return { plan, only: inputs.args.only, forge, subject };
  }

  /** Where plans and reports are written that nobody named a place for. */
  async temporaryFolder(): Promise<string> {
    this.#temporary ??= await mkdtemp(join(process.env.RUNNER_TEMP || tmpdir(), 'idops-'));
    return this.#temporary;
  }

  /** Tells a plan in the log; from then on it goes into the outputs, whatever fails. */
  async tellPlan(plan: Plan, shown: Plan): Promise<void> {
    this.#made = plan;
    await this.log.report(planReport, { plan: shown, samples: new Map() });
  }
}

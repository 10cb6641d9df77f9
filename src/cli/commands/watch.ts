import { countedWords, isComplete } from '../../apply/result.js';
import { jsonLine } from '../../base/escape.js';
import { ProblemsError } from '../../base/problems.js';
import type { Progress } from '../../base/progress.js';
import { cycleReport, render, renderText } from '../../report/formats.js';
import { checkBaseUrl, isBaseUrl } from '../../server/base-url.js';
import { DEFAULT_TIMEOUT } from '../../session/connection.js';
import { stacksOf } from '../../session/failures.js';
import { type AllowOptions, allowOptions, planOptionsOf } from '../../session/options.js';
import type { SessionOptions } from '../../session/session.js';
import { shardOptions } from '../../session/shard.js';
import { type Cycle, runCycle, succeeded } from '../../session/watch/cycle.js';
import { CycleChanges } from '../../session/watch/cycle-changes.js';
import { Health } from '../../session/watch/health.js';
import { realClock, repeat } from '../../session/watch/repeat.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { filesOf, parseFormats, plainRenderOptionsOf, renderOptionsOf } from '../formats.js';
import type { MetricsServer } from '../metrics.js';
import { wrongOption } from '../misuse.js';
import type { ListenAddress } from '../option-values.js';
import type { PlanningOptions } from './plan.js';

interface Options extends PlanningOptions, AllowOptions {
  readonly interval: number;
  readonly apply?: boolean;
  readonly listen?: ListenAddress;
}

/** `idops watch`: plans repeatedly, and applies with `--apply`, until it is interrupted. */
export async function watch(context: Context, options: Options & GlobalOptions): Promise<ExitCode> {
  const { interval, listen, timeout = DEFAULT_TIMEOUT } = options;
  const { output, signal, clock = realClock } = context;
  const isJson = formatOf(options) === 'json';
  const apply = applyOptionsOf(options);
  refuseAddress(options.baseUrl);
  const health = new Health({ interval, timeout, now: () => clock.now() / 1000 });
  const serving =
    listen === undefined ? undefined : await (await import('../metrics.js')).serve(listen, health, interval);
  if (serving !== undefined) output.message(`Health and metrics are served at ${serving.address}`);
  const changes = new CycleChanges();
  // A watch never ends, so it can't be part of a shared run.
  const { sharedRun: _, ...shard } = shardOptions(options.shard, process.env);
  let isOutputOpen = true;

  const runOne = async (number: number, ending: AbortSignal): Promise<boolean> => {
    const [time, began] = [new Date().toISOString(), clock.now()];
    health.start();
    // If requests are in flight, the context reports them.
    ending.addEventListener('abort', () => {
      if (context.unfinishedRequests() === null) output.message('Stopping: nothing new will start.');
    });
    // Each cycle reads its secrets again, so earlier ones can be dropped.
    context.resetRedactor();
    const cycle = await runCycle({
      project: context.project,
      session: { ...cycleSessionOptions(context, health, serving, ending), ...shard },
      plan: planOptionsOf(options),
      apply,
      onPlan: (made) => serving?.metrics.recordPlan(made),
      now: clock.now,
    });
    health.finish(succeeded(cycle.outcome) ? null : failureReason(cycle));
    serving?.metrics.recordCycle(cycle);
    const seconds = (clock.now() - began) / 1000;
    await showCycle({ ...cycle, number, time, seconds }, changes, isJson, context);
    // If standard output is closed, stop with an error.
    await output.flush().catch(() => {
      isOutputOpen = false;
    });
    return isOutputOpen;
  };

  try {
    const turns = await repeat(runOne, interval * 1000, signal, clock);
    output.message(`Stopped after ${turns === 1 ? '1 turn' : `${turns} turns`}.`);
  } finally {
    await serving?.close();
  }
  return isOutputOpen ? exit.interrupted : exit.failed;
}

function formatOf({ format }: Options): string {
  if (format.length > 1) throw wrongOption('watch takes one --format', 'choose one of them');
  const formats = parseFormats(format, cycleReport);
  if (filesOf(formats).length > 0)
    throw wrongOption('--format of watch takes no file', 'redirect standard output to a file');
  return formats[0]?.name ?? 'text';
}

function applyOptionsOf({ apply = false, ...options }: Options): AllowOptions | undefined {
  if (apply) return options;
  const [given] = allowOptions().filter((option) => option.attributeName() in options);
  if (given !== undefined) throw wrongOption(`${given.long} needs --apply`, 'add --apply');
  return undefined;
}

function refuseAddress(baseUrl: string | undefined): void {
  const checked = baseUrl === undefined ? undefined : checkBaseUrl(baseUrl, { allowInsecureHttp: true });
  if (checked !== undefined && !isBaseUrl(checked)) throw new ProblemsError([checked]);
}

/** The session options of a cycle: progress updates health and metrics, and phases are not logged. */
function cycleSessionOptions(
  context: Context,
  health: Health,
  serving: MetricsServer | undefined,
  signal: AbortSignal,
): SessionOptions & { readonly signal: AbortSignal } {
  const { progress, network = {}, ...given } = context.sessionOptions();
  const counting: Progress = {
    phase: () => health.progress(),
    begin: (address) => progress?.begin?.(address),
    step: (done) => {
      health.progress();
      progress?.step(done);
    },
    retry: () => {
      health.progress();
      serving?.metrics.countRetry();
    },
    end: (how) => progress?.end(how),
  };
  const onAttempt: (typeof network)['onAttempt'] = (made) => {
    health.progress();
    serving?.metrics.countAttempt(made);
    network.onAttempt?.(made);
  };
  return { ...given, signal, progress: counting, network: { ...network, onAttempt } };
}

/** Why a cycle failed, for health checks: only codes and counts, since they need no authentication. */
function failureReason({ outcome, problems, result }: Cycle): string {
  const codes: string[] = problems.filter(({ severity }) => severity === 'error').map(({ code }) => code);
  const why = [...new Set(codes)];
  if (result !== null && !isComplete(result)) {
    const { length } = result.results;
    why.push(`${length === 1 ? '1 change' : `${length} changes`}: ${countedWords(result).join(', ')}`);
  }
  return why.length === 0 ? outcome : `${outcome} (${why.join(', ')})`;
}

interface NumberedCycle extends Cycle {
  readonly number: number;
  readonly time: string;
  readonly seconds: number;
}

/** Shows a cycle: its line, and what is new since the previous cycle. */
async function showCycle(
  cycle: NumberedCycle,
  changes: CycleChanges,
  isJson: boolean,
  context: Context,
): Promise<void> {
  const { output, redactor } = context;
  const { failure, durations: _, ...rest } = cycle;
  const problems = cycle.problems.length === 0 ? [] : await context.scrubProblems(cycle.problems);
  const changed = changes.changesIn({ ...cycle, problems });
  const shown = cycleReport.redact({ ...rest, problems, changed }, redactor);
  const rendering = await render(cycleReport, isJson ? 'json' : 'text', shown, renderOptionsOf(context));
  if ('json' in rendering) {
    output.result(jsonLine(rendering.json));
    if (changed.plan || changed.result) {
      const write = succeeded(cycle.outcome) ? output.report : output.failure;
      write(await renderText(cycleReport, 'text', shown, plainRenderOptionsOf(context)));
    }
  } else {
    output.result(rendering.text);
    for (const note of cycle.notes) output.message(note);
  }
  if (changed.problems) output.problems(problems);
  if (failure !== undefined) output.debug(context.scrub(stacksOf(failure)));
}

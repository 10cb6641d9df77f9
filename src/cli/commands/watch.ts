import { countedWords, type Result } from '../../apply/result.js';
import { jsonLine } from '../../base/escape.js';
import { error, ProblemsError } from '../../base/problems.js';
import type { Progress } from '../../base/progress.js';
import { render, turnReport } from '../../report/formats.js';
import { checkBaseUrl, isBaseUrl } from '../../server/base-url.js';
import { DEFAULT_TIMEOUT } from '../../session/connection.js';
import { stacksOf } from '../../session/failures.js';
import { planOptionsOf } from '../../session/options.js';
import type { SessionOptions } from '../../session/session.js';
import { shardOptions } from '../../session/shard.js';
import { type Cycle, runCycle, succeeded } from '../../session/watch/cycle.js';
import { CycleChanges } from '../../session/watch/cycle-changes.js';
import { Health } from '../../session/watch/health.js';
import { realClock, repeat } from '../../session/watch/repeat.js';
import type { Context, GlobalOptions } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import { filesOf, lookOf, parseFormats } from '../formats.js';
import type { Serving } from '../metrics.js';
import type { ListenAddress } from '../option-values.js';
import type { PlanningOptions } from './plan.js';

interface Options extends PlanningOptions {
  /** In seconds. */
  readonly interval: number;
  readonly apply?: boolean;
  readonly allowDestructive?: number;
  readonly listen?: ListenAddress;
}

/** `idops watch`: plans again and again, and applies where it may, until it is interrupted. */
export async function watch(context: Context, options: Options & GlobalOptions): Promise<ExitCode> {
  const { interval, listen, timeout = DEFAULT_TIMEOUT } = options;
  const { output, signal, clock = realClock } = context;
  const isJson = formatOf(options) === 'json';
  const apply = applyingOf(options);
  refuseAddress(options.baseUrl);
  const health = new Health({ interval, timeout, now: () => clock.now() / 1000 });
  // What makes metrics is loaded where somebody asks for them.
  const serving =
    listen === undefined ? undefined : await (await import('../metrics.js')).serve(listen, health, interval);
  if (serving !== undefined) output.message(`Health and metrics are served at ${serving.address}`);
  const newspaper = new CycleChanges();
  // Turns go on for ever, and no run that others share does.
  const { sharedRun: _, ...shard } = shardOptions(options.shard, process.env);
  let isRead = true;

  const take = async (number: number, ending: AbortSignal): Promise<boolean> => {
    const [time, began] = [new Date().toISOString(), clock.now()];
    health.start();
    // What is in flight is told by who knows of it.
    ending.addEventListener('abort', () => {
      if (context.lastWords() === null) output.message('Stopping: nothing new is started.');
    });
    // A turn knows the secrets that a command of its own would.
    context.forget();
    const turn = await runCycle({
      project: context.project,
      session: { ...watched(context, health, serving, ending), ...shard },
      plan: planOptionsOf(options),
      ...(apply === undefined ? {} : { apply }),
      onPlan: (made) => serving?.planned(made),
      now: clock.now,
    });
    health.finish(succeeded(turn.outcome) ? null : wrongIn(turn));
    serving?.ended(turn);
    const seconds = (clock.now() - began) / 1000;
    await tell({ ...turn, number, time, seconds }, newspaper, isJson, context);
    // Where nobody takes what is told, whoever starts it again has to know.
    await output.flush().catch(() => {
      isRead = false;
    });
    return isRead;
  };

  try {
    const turns = await repeat(take, interval * 1000, signal, clock);
    output.message(`Stopped after ${turns === 1 ? '1 turn' : `${turns} turns`}.`);
  } finally {
    await serving?.close();
  }
  return isRead ? exit.interrupted : exit.failed;
}

function formatOf({ format }: Options): string {
  if (format.length > 1) throw wrongOption('--format of watch is given once', 'choose one of them');
  const formats = parseFormats(format, turnReport);
  if (filesOf(formats).length > 0)
    throw wrongOption(
      '--format of watch names no file',
      'it goes to standard output, which can be written to a file',
    );
  return formats[0]?.name ?? 'text';
}

/** What applying is done with; undefined where nothing is applied. */
function applyingOf({ apply = false, allowDestructive }: Options) {
  if (apply) return allowDestructive === undefined ? {} : { allowDestructive };
  if (allowDestructive !== undefined) throw wrongOption('--allow-destructive without --apply', 'add --apply');
  return undefined;
}

/** What no configuration makes an address need not wait for a turn. */
function refuseAddress(baseUrl: string | undefined): void {
  const checked = baseUrl === undefined ? undefined : checkBaseUrl(baseUrl, { allowInsecureHttp: true });
  if (checked !== undefined && !isBaseUrl(checked)) throw new ProblemsError([checked]);
}

function wrongOption(what: string, hint: string): ProblemsError {
  return new ProblemsError([error('wrong-option', what, [], hint)]);
}

/** How a session of a turn speaks to the server: what goes on is counted, and a log has no line for each phase. */
function watched(
  context: Context,
  health: Health,
  serving: Serving | undefined,
  signal: AbortSignal,
): SessionOptions & { readonly signal: AbortSignal } {
  const { progress, network = {}, ...given } = context.sessionOptions();
  const counting: Progress = {
    phase: () => health.progress(),
    // Without a phase it knows what is in flight, and says nothing of it.
    begin: (address) => progress?.begin?.(address),
    step: (done) => {
      health.progress();
      progress?.step(done);
    },
    retry: () => {
      health.progress();
      serving?.retried();
    },
    end: (how) => progress?.end(how),
  };
  const onTry: (typeof network)['onTry'] = (made) => {
    health.progress();
    serving?.tried(made);
    network.onTry?.(made);
  };
  return { ...given, signal, progress: counting, network: { ...network, onTry } };
}

/** What is wrong, for anybody who asks: codes and counts say nothing of the server and of the manifests. */
function wrongIn({ outcome, problems, result }: Cycle): string {
  const codes = problems.filter(({ severity }) => severity === 'error').map(({ code }) => code);
  const isDone = (result?.results ?? []).every(({ status }) => status === 'applied');
  const why = [...new Set(codes), ...(result === null || isDone ? [] : [changesWords(result)])];
  return why.length === 0 ? outcome : `${outcome} (${why.join(', ')})`;
}

function changesWords(result: Result): string {
  const { length } = result.results;
  return `${length === 1 ? '1 change' : `${length} changes`}: ${countedWords(result).join(', ')}`;
}

interface NumberedTurn extends Cycle {
  readonly number: number;
  readonly time: string;
  readonly seconds: number;
}

/** Shows a turn: its line, and what is new in it. */
async function tell(
  turn: NumberedTurn,
  newspaper: CycleChanges,
  isJson: boolean,
  context: Context,
): Promise<void> {
  const { output, redactor } = context;
  const { failure, took: _, ...rest } = turn;
  const problems = turn.problems.length === 0 ? [] : await context.tellable(turn.problems);
  const news = newspaper.changesIn({ ...turn, problems });
  const shown = turnReport.redact({ ...rest, problems, news }, redactor);
  const rendering = await render(turnReport, isJson ? 'json' : 'text', shown, lookOf(context));
  if ('json' in rendering) output.result(jsonLine(rendering.json));
  else {
    output.result(rendering.text);
    for (const note of turn.notes) output.message(note);
    if (news.problems) output.problems(problems);
  }
  if (failure !== undefined) output.debug(context.scrub(stacksOf(failure)));
}

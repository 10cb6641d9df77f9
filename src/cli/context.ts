import { quoteIfNeeded } from '../base/escape.js';
import type { Problem } from '../base/problems.js';
import { firstFew } from '../base/words.js';
import type { Project } from '../project/index.js';
import type { ResettableRedactor } from '../secrets/redactor.js';
import { type Redactor, redactAddress } from '../secrets/redactor.js';
import { scrubArguments, scrubProblems } from '../secrets/scrub-arguments.js';
import type { AttemptInfo } from '../server/call.js';
import { type ConnectionOptions, sessionOptionsOf } from '../session/options.js';
import type { Inputs } from '../session/outputs.js';
import type { Session, SessionOptions, WritingCommand, WritingSession } from '../session/session.js';
import type { Clock } from '../session/watch/repeat.js';
import { createOutput, type OutputStream } from './output.js';
import { createProgress, drawsBar } from './progress.js';
import { createPrompt, type PromptOptions } from './prompt.js';

export interface GlobalOptions extends ConnectionOptions {
  readonly config?: string;
  readonly env?: string;
  readonly baseUrl?: string;
  readonly quiet?: boolean;
  readonly debug?: boolean;
  /** False with `--no-color`. */
  readonly color: boolean;
}

export interface Streams {
  readonly stdin: PromptOptions['stdin'];
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** The clock of `watch`; real time by default. */
  readonly clock?: Clock | undefined;
}

export type SessionSettings = Pick<
  SessionOptions,
  'manifests' | 'shard' | 'ofJob' | 'sharedRun' | 'message' | 'now'
>;

export type Context = ReturnType<typeof createContext>;

export function createContext(
  options: GlobalOptions,
  signal: AbortSignal,
  redactor: ResettableRedactor,
  { stdin, stdout, stderr, clock }: Streams,
  argv: readonly string[],
) {
  const { env } = process;
  const output = createOutput({
    stdout,
    stderr,
    quiet: options.quiet === true,
    debug: options.debug === true,
    color: options.color,
    env,
    redactor,
  });
  const progress = createProgress({ output, terminal: drawsBar(stderr, env), now: () => performance.now() });
  signal.addEventListener('abort', () => progress.interrupted());
  const place = () => ({ cwd: process.cwd(), config: options.config });
  // Loaded on use: --help needs none of it.
  const load = async (variables: NodeJS.ProcessEnv, environment: string | undefined) =>
    (await import('../project/index.js')).loadProject({
      ...place(),
      variables,
      tokenFile: options.tokenFile,
      env: environment,
    });
  let isConfigShown = false;
  const project = async (): Promise<Project> => {
    const loaded = await load(env, options.env);
    const found = options.config === undefined && (env.IDOPS_CONFIG ?? '') === '';
    if (found && !isConfigShown && loaded.file !== 'idops.yaml') {
      isConfigShown = true;
      output.message(`The configuration is ${loaded.file}`);
    }
    return loaded;
  };
  const sessionOptions = (): SessionOptions => {
    const given = sessionOptionsOf(options);
    return {
      ...given,
      progress,
      signal,
      redactor,
      network: { ...given.network, onAttempt: (made) => output.debug(attemptLine(made)) },
    };
  };
  const showNotices = (problems: readonly Problem[], notes: readonly string[]): void => {
    output.problems(problems);
    for (const note of notes) output.message(note);
  };
  /** Adds the configured tokens that can be read to the redactor. Runs no command and sends nothing. */
  const addConfiguredTokens = async (): Promise<void> => {
    // If only the environment is wrong, the rest of the configuration may still have a token.
    const loaded = await load(env, options.env).catch(() =>
      load({ ...env, IDOPS_ENV: undefined }, undefined).catch(() => undefined),
    );
    const server = await loaded?.server().catch(() => undefined);
    for (const secret of server?.secrets ?? []) redactor.add(String(secret.reveal()));
  };
  const checked = new Set<string>();
  return {
    options,
    output,
    redactor: redactor as Redactor,
    prompt: createPrompt({ stdin, stderr, color: output.color.stderr, redactor }),
    /** Aborts on SIGINT or SIGTERM: nothing new may start. */
    signal,
    clock,
    /** A message about requests in flight, for a process that ends now; null if there are none. */
    unfinishedRequests: () =>
      unfinishedText(progress.inFlight().map((address) => redactAddress(address, redactor))),
    project,
    sessionOptions,
    addConfiguredTokens,
    /** Resets the redactor to its initial secrets. */
    resetRedactor: () => redactor.reset(),
    /** Problems without credentials that the user typed in the wrong place. */
    async scrubProblems(found: readonly Problem[]): Promise<Problem[]> {
      await addConfiguredTokens();
      return scrubProblems(found, argv, redactor);
    },
    /** A text without credentials that the user typed in the wrong place. */
    scrub: (text: string): string => scrubArguments(argv, redactor)(text),
    /** Throws a ProblemsError if idops itself reads or writes an output file; checks each file once. */
    async refuseOutputs(files: readonly string[], known?: Inputs): Promise<void> {
      const open = files.filter((file) => !checked.has(file));
      if (open.length === 0) return;
      const { refuseInputs, refuseDuplicates } = await import('../session/outputs.js');
      await refuseDuplicates(files);
      const { configPath } = await import('../project/index.js');
      const config = await configPath({ ...place(), variables: env });
      await refuseInputs(open, config, known ?? project);
      for (const file of open) checked.add(file);
    },
    /** Calls `work` with a session that can't write. */
    async session<T>(
      project: Project,
      about: SessionSettings,
      work: (session: Session) => Promise<T>,
    ): Promise<T> {
      const { openSession, withSession } = await import('../session/open.js');
      const session = await openSession(project, { ...sessionOptions(), ...about });
      return await withSession(session, showNotices, work);
    },
    /** Calls `work` with a session that holds the lock of the state. */
    async writingSession<T>(
      project: Project,
      command: WritingCommand,
      about: SessionSettings,
      work: (session: WritingSession) => Promise<T>,
    ): Promise<T> {
      const { openForWriting, withSession } = await import('../session/open.js');
      const session = await openForWriting(project, command, { ...sessionOptions(), ...about });
      return await withSession(session, showNotices, work);
    },
  };
}

function unfinishedText(addresses: readonly string[]): string | null {
  if (addresses.length === 0) return null;
  return `\nEnded immediately. Outcome unknown: ${firstFew(addresses.map(quoteIfNeeded), 5)}; the next plan or apply settles it.`;
}

/** One attempt of a request, for --debug, without headers and bodies. */
function attemptLine({ method, path, status, reason, milliseconds, attempt, raw }: AttemptInfo): string {
  const outcome = [status ?? 'no answer', ...(reason === null ? [] : [`(${reason})`])].join(' ');
  return `${method} ${path} ${outcome}, ${Math.round(milliseconds)} ms${attempt > 1 ? `, try ${attempt}` : ''}${raw === undefined ? '' : `; the server said: ${raw}`}`;
}

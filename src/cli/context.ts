import { bare } from '../base/escape.js';
import type { Problem } from '../base/problems.js';
import type { Project } from '../project/index.js';
import type { ResettableRedactor } from '../secrets/redactor.js';
import { type Redactor, redactAddress } from '../secrets/redactor.js';
import { scrubArguments, scrubProblems } from '../secrets/scrub-arguments.js';
import type { Try } from '../server/call.js';
import { type ConnectionOptions, sessionOptionsOf } from '../session/options.js';
import type { Session, SessionOptions, WritingCommand, WritingSession } from '../session/session.js';
import type { Clock } from '../session/watch/repeat.js';
import { createOutput, type Output, type OutputStream } from './output.js';
import { createProgress, drawsBar } from './progress.js';
import { createPrompt, type Prompt, type PromptOptions } from './prompt.js';

export interface GlobalOptions extends ConnectionOptions {
  readonly config?: string;
  readonly env?: string;
  readonly baseUrl?: string;
  readonly quiet?: boolean;
  readonly debug?: boolean;
  /** False with `--no-color`. */
  readonly color: boolean;
}

/** The streams of the process, or those of a test. */
export interface Streams {
  readonly stdin: PromptOptions['stdin'];
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** The clock of `watch`; real time by default. */
  readonly clock?: Clock | undefined;
}

export type About = Pick<SessionOptions, 'manifests' | 'shard' | 'ofJob' | 'sharedRun' | 'message'>;

/** What a command works with. */
export interface Context {
  readonly options: GlobalOptions;
  readonly output: Output;
  readonly redactor: Redactor;
  readonly prompt: Prompt;
  /** Aborted by SIGINT or SIGTERM: nothing new may be started. */
  readonly signal: AbortSignal;
  readonly clock?: Clock | undefined;
  /** Requests whose outcome is unknown if the process ends now; null if there are none. */
  lastWords(): string | null;
  project(): Promise<Project>;
  sessionOptions(): SessionOptions;
  /** Adds the configured tokens to the redactor, as far as they can be read; runs no command, sends nothing. */
  learnTokens(): Promise<void>;
  /** Resets the redactor to what it knew at the start. */
  forget(): void;
  /** Problems without credentials that were typed in the wrong place. */
  tellable(found: readonly Problem[]): Promise<Problem[]>;
  /** A text without credentials that were typed in the wrong place. */
  scrub(text: string): string;
  /** Throws a ProblemsError if an output file is one that idops reads or keeps; checks each once. */
  refuseOutputs(files: readonly string[], session?: Session): Promise<void>;
  /** Works in a session that can't write. */
  session<T>(work: (session: Session) => Promise<T>, about?: About): Promise<T>;
  /** Works in a session that holds the state's lock. */
  writing<T>(
    command: WritingCommand,
    work: (session: WritingSession) => Promise<T>,
    about?: About,
  ): Promise<T>;
}

export function createContext(
  options: GlobalOptions,
  signal: AbortSignal,
  redactor: ResettableRedactor,
  { stdin, stdout, stderr, clock }: Streams,
  argv: readonly string[],
): Context {
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
  const progress = createProgress({
    output,
    terminal: drawsBar(stderr, env),
    now: () => performance.now(),
  });
  signal.addEventListener('abort', () => progress.interrupted());
  const place = () => ({
    cwd: process.cwd(),
    ...(options.config === undefined ? {} : { config: options.config }),
  });
  // Loaded on use: --help needs none of it.
  const load = async (variables: NodeJS.ProcessEnv, environment: string | undefined) =>
    (await import('../project/index.js')).loadProject({
      ...place(),
      variables,
      tokenFile: options.tokenFile,
      ...(environment === undefined ? {} : { env: environment }),
    });
  let told = false;
  const project = async (): Promise<Project> => {
    const loaded = await load(env, options.env);
    const found = options.config === undefined && (env.IDOPS_CONFIG ?? '') === '';
    if (found && !told && loaded.file !== 'idops.yaml') {
      told = true;
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
      network: { ...given.network, onTry: (made) => output.debug(tryLine(made)) },
    };
  };
  const within = async <S extends Session, T>(session: S, work: (session: S) => Promise<T>): Promise<T> => {
    try {
      if (session.warnings.length > 0) output.problems(session.warnings);
      for (const note of session.notes) output.message(note);
      return await work(session);
    } finally {
      const left = await session.close();
      if (left.length > 0) output.problems(left);
    }
  };
  const learnTokens = async (): Promise<void> => {
    // If only the environment is wrong, the rest may still name a token.
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
    redactor,
    prompt: createPrompt({ stdin, stderr, color: output.color.stderr, redactor }),
    signal,
    clock,
    lastWords: () => openText(progress.inFlight().map((address) => redactAddress(address, redactor))),
    project,
    sessionOptions,
    learnTokens,
    forget: () => redactor.reset(),
    async tellable(found) {
      await learnTokens();
      return scrubProblems(found, argv, redactor);
    },
    scrub: (text) =>
      scrubArguments(argv, (word) => (redactor.holds(word) ? redactor.redact(word) : word))(text),
    async refuseOutputs(files, session) {
      const open = files.filter((file) => !checked.has(file));
      if (open.length === 0) return;
      const { refuseInputs, refuseDuplicates: refuseTwice } = await import('../session/outputs.js');
      await refuseTwice(files);
      const { configPath } = await import('../project/index.js');
      const config = await configPath({ ...place(), variables: env });
      await refuseInputs(open, config, session ?? project);
      for (const file of open) checked.add(file);
    },
    async session(work, about) {
      const { openSession } = await import('../session/open.js');
      return await within(await openSession(await project(), { ...sessionOptions(), ...about }), work);
    },
    async writing(command, work, about) {
      const { openForWriting } = await import('../session/open.js');
      return await within(
        await openForWriting(await project(), command, { ...sessionOptions(), ...about }),
        work,
      );
    },
  };
}

const MAX_NAMED = 5;

function openText(addresses: readonly string[]): string | null {
  if (addresses.length === 0) return null;
  const named = addresses.slice(0, MAX_NAMED).map(bare);
  const more = addresses.length > MAX_NAMED ? ` and ${addresses.length - MAX_NAMED} more` : '';
  return `\nEnded at once. Outcome unknown: ${named.join(', ')}${more}; the next plan or apply finds it out.`;
}

/** One attempt of a request, for --debug, without headers and bodies. */
function tryLine({ method, path, status, reason, milliseconds, attempt, raw }: Try): string {
  const outcome = [status ?? 'no answer', ...(reason === null ? [] : [`(${reason})`])].join(' ');
  return `${method} ${path} ${outcome}, ${Math.round(milliseconds)} ms${attempt > 1 ? `, try ${attempt}` : ''}${raw === undefined ? '' : `; the server said: ${raw}`}`;
}

import { type ChildProcess, type ExecFileException, execFile } from 'node:child_process';
import { basename } from 'node:path';
import { oneLine } from '../base/escape.js';
import { problemError } from '../base/problems.js';
import type { OnSecret } from '../secrets/redactor.js';

/** A program that prints a token. */
export interface TokenCommand {
  /** The program and its arguments, run without a shell. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Process variables in addition to those that programs need to run. */
  readonly variables: { readonly [name: string]: string };
}

export interface TokenCommandOptions {
  readonly redact: (text: string) => string;
  readonly onSecret: OnSecret;
  /** In seconds. */
  readonly timeout?: number;
  /** Seconds for output after the program ends, and for its end after SIGTERM. */
  readonly grace?: number;
  readonly signal?: AbortSignal;
}

const defaultTimeout = 60;
const defaultGrace = 1;
const maxBytes = 2 ** 20;

/**
 * Runs a program and returns its standard output. Throws a `ProblemsError` (`token-command-failed`) with its standard error. Messages
 * never show its arguments, which may be secret.
 */
export async function runTokenCommand(
  { argv, cwd, variables }: TokenCommand,
  options: TokenCommandOptions,
): Promise<string> {
  const { redact, onSecret } = options;
  const [program = '', ...args] = argv;
  // The program may echo them.
  for (const value of Object.values(variables)) onSecret(value, 'declared');
  const env = { ...neededVariables(process.env), ...variables };
  const { stdout, stderr, failureReason } = await run(program, args, { cwd, env }, options);
  // After a failure too, since standard error may repeat the token.
  onSecret(stdout.trim());
  if (failureReason === null) return stdout;
  const output = oneLine(redact(stderr));
  throw problemError(
    'token-command-failed',
    `the token command ${basename(program)} ${failureReason}${output === '' ? '' : `: ${output}`}`,
    'server.auth.token_command must print the token and exit with 0',
  );
}

interface CommandOutcome {
  readonly stdout: string;
  readonly stderr: string;
  /** Why it failed; null if it didn't. */
  readonly failureReason: string | null;
}

/** The variables with which programs run, find their settings and choose a language. */
const neededNames = /^(?:PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR)$/;
const neededNamesOnWindows =
  /^(?:PATH|PATHEXT|COMSPEC|SYSTEMROOT|SYSTEMDRIVE|WINDIR|TEMP|TMP|USERNAME|USERPROFILE|HOMEDRIVE|HOMEPATH|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES(?:\(X86\))?)$/i;

/** The variables that every token command gets: no credentials of idops or of a workflow. */
export function neededVariables(
  variables: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(variables).filter(
      ([name]) => neededNames.test(name) || (platform === 'win32' && neededNamesOnWindows.test(name)),
    ),
  );
}

function run(
  program: string,
  args: readonly string[],
  place: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  { timeout = defaultTimeout, grace = defaultGrace, signal }: TokenCommandOptions,
): Promise<CommandOutcome> {
  return new Promise((resolve) => {
    const limits = { timeout: timeout * 1000, killSignal: 'SIGKILL', maxBuffer: maxBytes } as const;
    const timers: NodeJS.Timeout[] = [];
    const afterGrace = (act: () => void): void => void timers.push(setTimeout(act, grace * 1000));
    const end = (ran: CommandOutcome): void => {
      for (const timer of timers) clearTimeout(timer);
      signal?.removeEventListener('abort', interrupt);
      resolve(ran);
    };
    const started = () =>
      execFile(program, args, { ...place, ...limits }, (failure, stdout, stderr) => {
        const failureReason = signal?.aborted ? 'was interrupted' : failure && whyFailed(failure, timeout);
        end({ stdout, stderr, failureReason });
      });
    let child: ChildProcess | undefined;
    const interrupt = (): void => {
      child?.kill('SIGTERM');
      afterGrace(() => child?.kill('SIGKILL'));
    };
    signal?.addEventListener('abort', interrupt);
    try {
      child = started();
      child.stdin?.end();
      // A child of the program may keep the pipes open.
      child.on('exit', () =>
        afterGrace(() => {
          child?.stdout?.destroy();
          child?.stderr?.destroy();
        }),
      );
      if (signal?.aborted) interrupt();
    } catch (failure) {
      // Some failures are thrown, others reported to the callback.
      end({ stdout: '', stderr: '', failureReason: whyNotStarted((failure as NodeJS.ErrnoException).code) });
    }
  });
}

function whyFailed({ code, signal, killed }: ExecFileException, timeout: number): string {
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return 'printed more than a token';
  if (killed === true) return `did not end within ${timeout} s`;
  if (typeof code === 'number') return `exited with ${code}`;
  return typeof signal === 'string' ? `was killed by ${signal}` : whyNotStarted(code);
}

function whyNotStarted(code: string | null | undefined): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'was not found';
  if (code === 'EACCES') return 'may not be run by this user';
  return `can't be started (${code ?? 'unknown error'})`;
}

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
  /** Process variables beside those that programs need to run. */
  readonly passed: { readonly [name: string]: string };
}

export interface TokenCommandOptions {
  readonly redact: (text: string) => string;
  readonly onSecret: OnSecret;
  /** In seconds. */
  readonly timeout?: number;
  /** Seconds for output after the program's end, and for its end after a SIGTERM. */
  readonly grace?: number;
  readonly signal?: AbortSignal;
}

const defaultTimeout = 60;
const defaultGrace = 1;
const maxBytes = 2 ** 20;

/**
 * Runs a program and returns its output. Messages never show its arguments, which may be secret. Throws a `ProblemsError`
 * (`token-command-failed`) with its standard error.
 */
export async function runTokenCommand(
  { argv, cwd, passed }: TokenCommand,
  options: TokenCommandOptions,
): Promise<string> {
  const { redact, onSecret } = options;
  const [program = '', ...args] = argv;
  // It may echo them.
  for (const value of Object.values(passed)) onSecret(value, 'declared');
  const env = { ...neededVariables(process.env), ...passed };
  const { stdout, stderr, why } = await run(program, args, { cwd, env }, options);
  // If it failed too, since its standard error may repeat it.
  onSecret(stdout.trim());
  if (why === null) return stdout;
  const said = oneLine(redact(stderr));
  throw problemError(
    'token-command-failed',
    `the token command ${basename(program)} ${why}${said === '' ? '' : `: ${said}`}`,
    'server.auth.token_command must print the token and exit with 0',
  );
}

interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  /** Why it failed; null if it didn't. */
  readonly why: string | null;
}

/** What programs need to run, find their settings and choose a language. */
const needed = /^(?:PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR)$/;
const neededOnWindows =
  /^(?:PATH|PATHEXT|COMSPEC|SYSTEMROOT|SYSTEMDRIVE|WINDIR|TEMP|TMP|USERNAME|USERPROFILE|HOMEDRIVE|HOMEPATH|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES(?:\(X86\))?)$/i;

/** The variables that every token command gets, without credentials of idops and of a workflow. */
export function neededVariables(
  variables: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(variables).filter(
      ([name]) => needed.test(name) || (platform === 'win32' && neededOnWindows.test(name)),
    ),
  );
}

function run(
  program: string,
  args: readonly string[],
  where: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  { timeout = defaultTimeout, grace = defaultGrace, signal }: TokenCommandOptions,
): Promise<Ran> {
  return new Promise((resolve) => {
    const limits = { timeout: timeout * 1000, killSignal: 'SIGKILL', maxBuffer: maxBytes } as const;
    const timers: NodeJS.Timeout[] = [];
    const soon = (act: () => void): void => void timers.push(setTimeout(act, grace * 1000));
    const end = (ran: Ran): void => {
      for (const timer of timers) clearTimeout(timer);
      signal?.removeEventListener('abort', interrupt);
      resolve(ran);
    };
    const started = () =>
      execFile(program, args, { ...where, ...limits }, (failure, stdout, stderr) => {
        const why = signal?.aborted ? 'was interrupted' : failure && whyFailed(failure, timeout);
        end({ stdout, stderr, why });
      });
    let child: ChildProcess | undefined;
    const interrupt = (): void => {
      child?.kill('SIGTERM');
      soon(() => child?.kill('SIGKILL'));
    };
    signal?.addEventListener('abort', interrupt);
    try {
      child = started();
      child.stdin?.end();
      // A child of the program may keep the pipes open.
      child.on('exit', () =>
        soon(() => {
          child?.stdout?.destroy();
          child?.stderr?.destroy();
        }),
      );
      if (signal?.aborted) interrupt();
    } catch (failure) {
      // Some failures are thrown, others reported to the callback.
      end({ stdout: '', stderr: '', why: whyNotStarted((failure as NodeJS.ErrnoException).code) });
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

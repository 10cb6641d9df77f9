import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { error, ProblemsError } from '../base/problems.js';
import type { OnSecret } from '../base/redact.js';
import { oneLine } from './messages.js';

/** A program that prints a token. */
export interface TokenCommand {
  /** The program and its arguments; no shell takes part. */
  readonly argv: readonly string[];
  /** The folder that it is started in. */
  readonly cwd: string;
  /** Process variables that it gets besides those that programs need to run. */
  readonly passed: { readonly [name: string]: string };
}

export interface TokenCommandOptions {
  readonly redact: (text: string) => string;
  readonly onSecret: OnSecret;
  /** Seconds that the program may take. */
  readonly timeout?: number;
  /** Seconds after the program's end in which its output arrives, and after a SIGTERM in which it ends. */
  readonly grace?: number;
  /** Aborted if no token is needed any more. */
  readonly signal?: AbortSignal;
}

const defaultTimeout = 60;
const defaultGrace = 1;
const maxBytes = 64 * 1024;

/**
 * Runs a program and gives what it printed. Its arguments are never shown, since they may hold secrets.
 * Throws a `ProblemsError` (`token-command-failed`) with what it said on standard error.
 */
export async function runTokenCommand(
  { argv, cwd, passed }: TokenCommand,
  options: TokenCommandOptions,
): Promise<string> {
  const { redact, onSecret } = options;
  const [program = '', ...args] = argv;
  // It may say what it was handed.
  for (const value of Object.values(passed)) onSecret(value, 'declared');
  const env = { ...neededVariables(process.env), ...passed };
  const { stdout, stderr, why } = await run(program, args, { cwd, env }, options);
  // Also of a program that failed: it may say what it printed once more.
  onSecret(stdout.trim());
  if (why === null) return stdout;
  const said = oneLine(redact(stderr));
  throw new ProblemsError([
    error(
      'token-command-failed',
      `the token command ${basename(program)} ${why}${said === '' ? '' : `: ${said}`}`,
      [],
      'it is server.auth.token_command: it must print the token, and end with 0',
    ),
  ]);
}

interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  /** Why there is no token; null where all went well. */
  readonly why: string | null;
}

/** What programs need to run, to find their settings and to say things in a language. */
const needed = /^(?:PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR)$/;
const neededOnWindows =
  /^(?:PATH|PATHEXT|COMSPEC|SYSTEMROOT|SYSTEMDRIVE|WINDIR|TEMP|TMP|USERNAME|USERPROFILE|HOMEDRIVE|HOMEPATH|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES(?:\(X86\))?)$/i;

/** The variables that a token command gets unasked: the credentials of idops and of others in a workflow are not among them. */
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
    const chunks: { stdout: Buffer[]; stderr: Buffer[] } = { stdout: [], stderr: [] };
    const bytes = { stdout: 0, stderr: 0 };
    let why: string | null = null;
    const child = started(program, args, where);
    if (typeof child === 'string') {
      resolve({ stdout: '', stderr: '', why: child });
      return;
    }
    // A child of the program may hold the pipes open after it.
    const hangUp = (): void => {
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const giveUp = (reason: string): void => {
      why ??= reason;
      child.kill('SIGKILL');
      hangUp();
    };
    const interrupt = (): void => {
      why ??= 'was interrupted';
      child.kill('SIGTERM');
      timers.push(setTimeout(() => giveUp('was interrupted'), grace * 1000));
    };
    const timers = [setTimeout(() => giveUp(`did not end within ${timeout} s`), timeout * 1000)];
    signal?.addEventListener('abort', interrupt);
    if (signal?.aborted) interrupt();
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].on('data', (chunk: Buffer) => {
        bytes[stream] += chunk.length;
        if (bytes[stream] <= maxBytes) chunks[stream].push(chunk);
        else if (stream === 'stdout') giveUp('printed more than a token');
      });
    }
    const text = (stream: 'stdout' | 'stderr'): string => Buffer.concat(chunks[stream]).toString('utf8');
    const end = (reason: string | null): void => {
      for (const timer of timers) clearTimeout(timer);
      signal?.removeEventListener('abort', interrupt);
      resolve({ stdout: text('stdout'), stderr: text('stderr'), why: why ?? reason });
    };
    child.on('error', (failure: Error & { code?: string }) => end(whyNotStarted(failure.code)));
    child.on('exit', () => timers.push(setTimeout(hangUp, grace * 1000)));
    child.on('close', (code, by) => {
      end(code === 0 ? null : code === null ? `was ended by ${by}` : `ended with ${code}`);
    });
  });
}

/** The program, or why there is none: some reasons are thrown, others are told later. */
function started(
  program: string,
  args: readonly string[],
  where: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
) {
  try {
    return spawn(program, args, { ...where, shell: false, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (failure) {
    return whyNotStarted((failure as NodeJS.ErrnoException).code);
  }
}

function whyNotStarted(code: string | undefined): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'was not found';
  if (code === 'EACCES') return 'may not be run by this user';
  return `can't be started (${code ?? 'unknown error'})`;
}

import type { Writable } from 'node:stream';
import { escapeLines, escapeLogCommands, jsonText } from '../base/escape.js';
import { error, type Problem } from '../base/problems.js';
import { systemErrorText } from '../base/system-errors.js';
import { problemsText } from '../report/problems.js';
import { redactReport } from '../secrets/redact-report.js';
import type { Redactor } from '../secrets/redactor.js';

export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

export interface OutputOptions {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly quiet: boolean;
  readonly debug: boolean;
  /** False with `--no-color`; otherwise the environment and the terminal decide, for each stream. */
  readonly color: boolean;
  readonly env: { readonly [name: string]: string | undefined };
  readonly redactor: Redactor;
}

export type Output = ReturnType<typeof createOutput>;

const eraseRest = '\u001b[K';

/** Writes to standard output and standard error; nothing else does. Redacts messages and problems, but not results. Await `flush` before the process ends. */
export function createOutput(options: OutputOptions) {
  const { stdout, stderr, quiet, debug, redactor } = options;
  const color = { stdout: takesColor(stdout, options), stderr: takesColor(stderr, options) };
  const out = createSink(stdout);
  const err = createSink(stderr);
  let isStatusShown = false;
  let hasResult = false;

  const clear = (): void => {
    if (isStatusShown) err.write(`\r${eraseRest}`);
    isStatusShown = false;
  };
  const write = (sink: Sink, text: string): void => {
    if (text === '') return;
    clear();
    sink.write(escapeLogCommands(text.endsWith('\n') ? text : `${text}\n`));
  };

  return {
    color,
    isResultOnTerminal: stdout.isTTY === true,
    /** Writes the result, escaped and redacted already, to standard output. */
    result(text: string): void {
      hasResult ||= text !== '';
      write(out, text);
    },
    /** Writes a result, redacted already, to standard output as JSON. */
    json(value: unknown): void {
      hasResult = true;
      write(out, jsonText(value));
    },
    get hasResult(): boolean {
      return hasResult;
    },
    /** Writes a message to standard error; not with `--quiet`. */
    message(text: string): void {
      if (!quiet) write(err, escapeLines(redactor.redactSentence(text)));
    },
    /** Writes a report, escaped and redacted already, to standard error; not with `--quiet`. */
    report(text: string): void {
      if (!quiet) write(err, text);
    },
    /** The same about a failure, also with `--quiet`. */
    failure: (text: string): void => write(err, text),
    /** Writes errors and warnings to standard error. */
    problems: (problems: readonly Problem[]): void =>
      write(err, problemsText(redactReport(problems, redactor), { color: color.stderr })),
    /** Writes a text to standard error; only with `--debug`. */
    debug(text: string): void {
      if (debug) write(err, escapeLines(redactor.redact(text)));
    },
    /** Shows a status line on a terminal, until the next output replaces it; null removes it. */
    showStatus(line: string | null): void {
      if (line === null || quiet) clear();
      else err.write(`\r${line}${eraseRest}`);
      isStatusShown = line !== null && !quiet;
    },
    /** Waits until everything is written. Rejects if standard output can't be written, as with a full disk. */
    async flush(): Promise<void> {
      clear();
      await err.flush();
      await out.flush();
      if (out.failure !== null) throw out.failure;
    },
  };
}

/** Whether to use colours: `--no-color` decides first, then NO_COLOR, FORCE_COLOR, and whether the stream is a terminal. */
function takesColor(stream: OutputStream, { color, env }: OutputOptions): boolean {
  if (!color || env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return stream.isTTY === true && env.TERM !== 'dumb';
}

type Sink = ReturnType<typeof createSink>;

function createSink(stream: OutputStream) {
  let failure: Error | null = null;
  let closed = false;
  let pending: Promise<void> = Promise.resolve();
  // A closed pipe, as with `head`, is not a failure; the work continues.
  const fail = (reason: Error & { code?: string }): void => {
    closed = true;
    if (reason.code !== 'EPIPE' && reason.code !== 'ERR_STREAM_DESTROYED') failure ??= reason;
  };
  stream.on('error', fail);
  return {
    get failure(): Error | null {
      return failure;
    },
    write(text: string): void {
      if (closed) return;
      const written = new Promise<void>((resolve) => {
        try {
          stream.write(text, (reason) => {
            if (reason) fail(reason);
            resolve();
          });
        } catch (reason) {
          // Writes to files are synchronous and may throw.
          fail(reason instanceof Error ? reason : new Error(String(reason)));
          resolve();
        }
      });
      pending = pending.then(() => written);
    },
    flush: () => pending,
  };
}

/** The message for standard output that can't be written. */
export function unwritableMessage(failure: unknown): string {
  const hint = 'free disk space or redirect it elsewhere; the command has completed its work';
  const problem = error(
    'not-writable',
    `standard output can't be written: ${systemErrorText(failure)}`,
    [],
    hint,
  );
  return problemsText([problem], { color: false });
}

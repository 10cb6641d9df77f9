import type { Writable } from 'node:stream';
import { disarmLog, escapeLines, jsonText } from '../base/escape.js';
import { error, type Problem } from '../base/problems.js';
import { systemErrorText } from '../base/system-errors.js';
import { problemsText } from '../report/problems.js';
import { redactProblems } from '../report/redacted.js';
import type { Redactor } from '../secrets/redactor.js';

/** Standard output or standard error, or what stands in for them. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

export interface OutputOptions {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Results and problems alone. */
  readonly quiet: boolean;
  readonly debug: boolean;
  /** False with `--no-color`; otherwise the environment and the terminal decide, for each stream. */
  readonly color: boolean;
  readonly env: { readonly [name: string]: string | undefined };
  readonly redactor: Redactor;
}

/**
 * The only way to the terminal, results apart from all else. Secrets are taken out of sentences and problems here; out of
 * what reports are made of before that.
 */
export interface Output {
  /** Whether each stream takes colours. */
  readonly color: { readonly stdout: boolean; readonly stderr: boolean };
  /** The result, to standard output. It must be harmless and without secrets already, as reports are. */
  result(text: string): void;
  /** A result in JSON, to standard output; without secrets already. */
  json(value: unknown): void;
  /** Whether standard output is a terminal, and not a file or another program. */
  readonly resultIsSeen: boolean;
  /** Whether standard output has a result already. */
  readonly gaveResult: boolean;
  /** What a person should know besides, to standard error; nothing with `--quiet`. */
  message(text: string): void;
  /** A report beside the result, to standard error; harmless and without secrets already. Nothing with `--quiet`. */
  beside(text: string): void;
  /** Mistakes and warnings, to standard error. */
  problems(problems: readonly Problem[]): void;
  /** For `--debug` alone, to standard error. */
  debug(text: string): void;
  /** A line of idops' own words that the next output takes away, at the end of standard error; for terminals. Null removes it. */
  transient(line: string | null): void;
  /** Waits until everything is written. Rejects where standard output couldn't take it, as a full disk can't. */
  flush(): Promise<void>;
}

const eraseRest = '\u001b[K';

/** Opens the way to the terminal. Wait for `flush` before the process ends. */
export function createOutput(options: OutputOptions): Output {
  const { stdout, stderr, quiet, debug, redactor } = options;
  const color = { stdout: takesColor(stdout, options), stderr: takesColor(stderr, options) };
  const out = createSink(stdout);
  const err = createSink(stderr);
  let shown = false;
  let gaveResult = false;

  const clear = (): void => {
    if (shown) err.write(`\r${eraseRest}`);
    shown = false;
  };
  const write = (sink: Sink, text: string): void => {
    if (text === '') return;
    clear();
    sink.write(disarmLog(text.endsWith('\n') ? text : `${text}\n`));
  };

  return {
    color,
    resultIsSeen: stdout.isTTY === true,
    result: (text) => {
      gaveResult ||= text !== '';
      write(out, text);
    },
    json: (value) => {
      gaveResult = true;
      write(out, jsonText(value));
    },
    get gaveResult() {
      return gaveResult;
    },
    message: (text) => {
      if (!quiet) write(err, escapeLines(redactor.redactSentence(text)));
    },
    beside: (text) => {
      if (!quiet) write(err, text);
    },
    problems: (problems) =>
      write(err, problemsText(redactProblems(problems, redactor), { color: color.stderr })),
    debug: (text) => {
      if (debug) write(err, escapeLines(redactor.redact(text)));
    },
    transient: (line) => {
      if (line === null || quiet) {
        clear();
        return;
      }
      err.write(`\r${line}${eraseRest}`);
      shown = true;
    },
    flush: async () => {
      clear();
      await err.flush();
      await out.flush();
      // Where standard error is gone there is nobody left to tell.
      if (out.failure !== null) throw out.failure;
    },
  };
}

/** Whether a stream takes colours: `--no-color`, NO_COLOR, FORCE_COLOR, and last whether it is a terminal. */
function takesColor(stream: OutputStream, { color, env }: OutputOptions): boolean {
  if (!color || env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return stream.isTTY === true && env.TERM !== 'dumb';
}

interface Sink {
  readonly failure: Error | null;
  write(text: string): void;
  flush(): Promise<void>;
}

function createSink(stream: OutputStream): Sink {
  let failure: Error | null = null;
  let closed = false;
  let pending: Promise<void> = Promise.resolve();
  // A reader that went away, as `head` does, is no mistake; the work goes on without it.
  const fail = (reason: Error & { code?: string }): void => {
    closed = true;
    if (reason.code !== 'EPIPE' && reason.code !== 'ERR_STREAM_DESTROYED') failure ??= reason;
  };
  stream.on('error', fail);
  return {
    get failure() {
      return failure;
    },
    write: (text) => {
      if (closed) return;
      const written = new Promise<void>((resolve) => {
        try {
          stream.write(text, (reason) => {
            if (reason) fail(reason);
            resolve();
          });
        } catch (reason) {
          // Files are written at once, and Node throws what goes wrong there.
          fail(reason instanceof Error ? reason : new Error(String(reason)));
          resolve();
        }
      });
      pending = pending.then(() => written);
    },
    flush: () => pending,
  };
}

/** What is said where standard output doesn't take a result. */
export function unwritable(failure: unknown): string {
  const hint = 'make room, or send it elsewhere; what the command did is done';
  const problem = error(
    'not-writable',
    `standard output can't be written: ${systemErrorText(failure)}`,
    [],
    hint,
  );
  return problemsText([problem], { color: false });
}

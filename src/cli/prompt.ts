import { type Readable, Writable } from 'node:stream';
import { escapeLines } from '../base/escape.js';
import type { Redactor } from '../base/redact.js';
import type { OutputStream } from './output.js';

export type Reply = 'yes' | 'no' | 'aborted';

export interface Prompt {
  /** Whether there is someone to ask: standard input and standard error are both terminals. */
  readonly available: boolean;
  /** Asks a question with yes or no; no is the default. Ctrl-C, Ctrl-D and Escape abort. */
  confirm(question: string): Promise<Reply>;
}

export interface PromptOptions {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stderr: OutputStream;
  readonly color: boolean;
  readonly redactor: Redactor;
}

/** Questions to a person, on standard error, since standard output carries the result alone. */
export function createPrompt({ stdin, stderr, color, redactor }: PromptOptions): Prompt {
  const available = stdin.isTTY === true && stderr.isTTY === true;
  return {
    available,
    confirm: async (question) => {
      if (!available) throw new Error('a question was asked where nobody can answer');
      const { confirm, isCancel } = await import('@clack/prompts');
      const over = new AbortController();
      // Without this, the end of the input would leave the question open for ever.
      const abort = (): void => over.abort();
      const onKey = (_: unknown, key?: { ctrl?: boolean; name?: string }): void => {
        if (key?.ctrl === true && key.name === 'd') abort();
      };
      stdin.on('keypress', onKey).once('end', abort).once('close', abort);
      try {
        const answer = await confirm({
          message: escapeLines(redactor.redactSentence(question)),
          initialValue: false,
          input: stdin,
          output: screen(stderr, color),
          signal: over.signal,
        });
        return isCancel(answer) ? 'aborted' : answer ? 'yes' : 'no';
      } finally {
        stdin.off('keypress', onKey).off('end', abort).off('close', abort);
      }
    },
  };
}

/** Standard error as the library sees it: without colours where they aren't wanted; cursor movements stay. */
function screen(stream: OutputStream, color: boolean): Writable {
  const output = new Writable({
    decodeStrings: false,
    write: (chunk, _encoding, done) => {
      const text = String(chunk);
      stream.write(color ? text : text.replace(/\u001b\[[\d;]*m/g, ''), () => done());
    },
  });
  // A terminal may say that it has no columns, and the library would put each character on its own line.
  return Object.defineProperty(output, 'columns', { get: () => stream.columns || 80 });
}

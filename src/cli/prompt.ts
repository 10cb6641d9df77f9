import { type Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { styleText } from 'node:util';
import { escapeLines, escapeText } from '../base/escape.js';
import { wrap } from '../report/words.js';
import type { Redactor } from '../secrets/redactor.js';
import type { OutputStream } from './output.js';

export type Reply = 'yes' | 'no' | 'aborted';

export interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
}

export type Prompt = ReturnType<typeof createPrompt>;

export interface PromptOptions {
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  readonly stderr: OutputStream;
  readonly color: boolean;
  readonly redactor: Redactor;
}

/** Questions on standard error, since standard output carries only the result. */
export function createPrompt({ stdin, stderr, color, redactor }: PromptOptions) {
  const available = stdin.isTTY === true && stderr.isTTY === true;
  type Clack = typeof import('@clack/prompts');
  type Common = { message: string; input: typeof stdin; output: Writable; signal: AbortSignal };

  const ask = async <T>(
    question: string,
    way: (clack: Clack, common: Common) => Promise<T | symbol>,
  ): Promise<T | null> => {
    if (!available) throw new Error('there is no terminal to ask a question');
    const clack = await import('@clack/prompts');
    const aborted = new AbortController();
    // Without this, the question would stay open after the end of input.
    const abort = (): void => aborted.abort();
    const onKey = (_: unknown, key?: { ctrl?: boolean; name?: string }): void => {
      if (key?.ctrl === true && key.name === 'd') abort();
      // Programs such as expect send a line feed for Enter, which would clear the answer.
      if (key?.name === 'enter') key.name = 'return';
    };
    stdin.on('keypress', onKey).once('end', abort).once('close', abort);
    try {
      if ((await dropInput(stdin)) === 'aborted') abort();
      const answer = await way(clack, {
        message: framed(escapeLines(redactor.redactSentence(question)), stderr.columns || 80),
        input: stdin,
        output: screen(stderr, color),
        signal: aborted.signal,
      });
      return clack.isCancel(answer) ? null : (answer as T);
    } finally {
      stdin.off('keypress', onKey).off('end', abort).off('close', abort);
    }
  };

  return {
    available,
    /** Asks for yes or no, or for a word that means yes; the default is no. Ctrl-C, Ctrl-D and Escape abort. */
    async confirm(question: string, word?: string): Promise<Reply> {
      let isAgain = false;
      const answer = await ask<string>(question, (clack, common) =>
        clack.text({
          ...common,
          placeholder: word === undefined ? 'y, or Enter for no' : 'n or Enter alone for no',
          validate: (text) => {
            const wrong = isAgain ? undefined : wrongWord(text ?? '', word);
            isAgain ||= wrong !== undefined;
            return wrong;
          },
        }),
      );
      if (answer === null) return 'aborted';
      const typed = answer.trim();
      return (word === undefined ? yesPattern.test(typed) : typed === word) ? 'yes' : 'no';
    },
    /** Asks for a text until `wrong` returns undefined; null if aborted. The typed text is visible. */
    text: (question: string, wrong: (text: string) => string | undefined, example?: string) =>
      ask<string>(question, (clack, common) =>
        clack.text({
          ...common,
          validate: (text) => wrong(text ?? ''),
          ...(example === undefined ? {} : { placeholder: example }),
        }),
      ),
    /** Asks for one of several answers; the first is the default. Null if aborted. */
    async select<T extends string>(question: string, choices: readonly Choice<T>[]): Promise<T | null> {
      const options = choices.map((choice) => ({ ...choice, value: choice.value as string }));
      const answer = await ask(question, (clack, common) => clack.select({ ...common, options }));
      return choices.find(({ value }) => value === answer)?.value ?? null;
    },
  };
}

const yesPattern = /^y(?:es)?$/i;
const noPattern = /^(?:no?)?$/i;

/** A question, wrapped to fit next to the frame that the library draws. */
function framed(question: string, columns: number): string {
  const frame = styleText('cyan', '│', { validateStream: false });
  const lines = question
    .split('\n')
    .flatMap((line) => wrap(/^ */.exec(line)?.[0] ?? '', line, Math.max(20, columns - 3)));
  return lines.join(`\n${frame}  `);
}

/** An error for a wrong word, which may be a typing error; undefined for the right word, a no or an empty answer. */
function wrongWord(text: string, word: string | undefined): string | undefined {
  const typed = text.trim();
  if (word === undefined || typed === word || noPattern.test(typed)) return undefined;
  return `that is not ${escapeText(word)}; another wrong word means no`;
}

/** Milliseconds to wait for earlier input. */
const DRAIN_TIME = 50;

/** Discards input that was typed before the question; a Ctrl-C in it still aborts. */
async function dropInput(stdin: PromptOptions['stdin']): Promise<'aborted' | 'dropped'> {
  let typed = '';
  const drop = (chunk: Buffer | string): void => {
    typed += chunk;
  };
  // In line mode, the terminal would not send an unfinished line.
  stdin.setRawMode?.(true);
  stdin.on('data', drop);
  try {
    await wait(DRAIN_TIME);
  } finally {
    stdin.off('data', drop).pause();
    stdin.setRawMode?.(false);
  }
  return typed.includes('\u0003') ? 'aborted' : 'dropped';
}

/** Standard error for the library, without colours if they are off. */
function screen(stream: OutputStream, color: boolean): Writable {
  const output = new Writable({
    decodeStrings: false,
    write: (chunk, _encoding, done) => {
      const text = String(chunk);
      stream.write(color ? text : text.replace(/\u001b\[[\d;]*m/g, ''), () => done());
    },
  });
  // A terminal may report 0 columns, which the library can't handle.
  return Object.defineProperty(output, 'columns', { get: () => stream.columns || 80 });
}

import { stringifyJson } from '../base/json.js';
import type { Journal } from './journal.js';

interface Waiting {
  readonly text: string;
  readonly done: () => void;
  readonly failed: (reason: unknown) => void;
}

/**
 * A journal whose lines go together if they come while others are on their way, so that one flush, push or commit serves many requests.
 * `put` brings lines, each as its text, to their place, and rejects where they may not have arrived; `end` is called at the end.
 */
export function batched(
  put: (lines: readonly string[]) => Promise<void>,
  end: () => Promise<void> = async () => {},
): Journal {
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;
  const writeAll = async (): Promise<void> => {
    // The lines of one turn of the event loop go together.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await put(batch.map(({ text }) => text));
        for (const { done } of batch) done();
      } catch (failure) {
        for (const { failed } of batch) failed(failure);
      }
    }
    writing = undefined;
  };
  return {
    kept: null,
    write: (line) =>
      new Promise((done, failed) => {
        waiting.push({ text: stringifyJson(line), done, failed });
        writing ??= writeAll();
      }),
    async close() {
      await writing;
      await end();
    },
  };
}

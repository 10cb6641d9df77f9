import { parentPort } from 'node:worker_threads';
import { tapeOf } from './quick.js';
import type { Tape } from './tape.js';

/** A part of a file that is to be taken apart. */
export interface Job {
  readonly id: number;
  readonly text: string;
}

/** What became of a job; null where the part isn't plain. */
export interface Done {
  readonly id: number;
  readonly tape: Tape | null;
}

parentPort?.on('message', ({ id, text }: Job) => {
  const tape = tapeOf(text);
  if (tape === undefined) {
    parentPort?.postMessage({ id, tape: null } satisfies Done);
    return;
  }
  const marks = Int32Array.from(tape.marks);
  const done: Done = { id, tape: { marks, texts: tape.texts } };
  parentPort?.postMessage(done, [marks.buffer]);
});

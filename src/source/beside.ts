import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Pauses } from '../base/pauses.js';
import type { SourceFile } from './file.js';
import type { ParsedFile } from './parsed.js';
import type { PlacedTape, Tape } from './tape.js';
import type { Done, Job } from './thread.js';
import { parsing } from './yaml.js';

/** From so many characters on, starting threads takes less than it saves. */
const WORTHWHILE = 500_000;
/** About how many characters a part has: enough to outweigh its way to a thread and back. */
const PART = 200_000;
/** More threads have nothing to do: what they take apart is read by one. */
const MOST_THREADS = 4;
/** How many parts wait at a thread, so that it needn't wait for the next. */
const AHEAD = 2;

/** A file that is to be parsed, with what else is known of it. */
interface Given {
  readonly source: SourceFile;
}

/**
 * Parses files in their order, each when it is asked for: many or large ones are taken apart beside everything else, on
 * the machine's other cores. Throws a ProblemsError (`interrupted`) where the pauses do.
 */
export async function* parseAll<T extends Given>(
  files: readonly T[],
  pauses: Pauses,
): AsyncGenerator<{ readonly of: T; readonly parsed: ParsedFile }> {
  const length = files.reduce((sum, { source }) => sum + source.text.length, 0);
  const script = new URL('./thread.js', import.meta.url);
  // The action is one file.
  const isBeside = length >= WORTHWHILE && availableParallelism() > 1 && existsSync(fileURLToPath(script));
  if (!isBeside) {
    for (const of of files) yield { of, parsed: await pauses.during(parsing(of.source)) };
    return;
  }
  const threads = new Threads(script);
  try {
    const parts = files.map(({ source }) => threads.takeApart(source.text));
    threads.start();
    for (const [index, of] of files.entries()) {
      const tapes = await Promise.all(parts[index] ?? []);
      parts[index] = [];
      const plain = tapes.filter((tape) => tape !== null);
      const taken = plain.length === tapes.length ? plain : null;
      yield { of, parsed: await pauses.during(parsing(of.source, taken)) };
    }
  } finally {
    threads.close();
  }
}

/** A part of a file; it begins where a document does, so that what is before it says nothing about it. */
interface Part {
  readonly text: string;
  readonly offset: number;
}

/** The parts of a text, none of them much longer than `length` where documents aren't. */
export function partsOf(text: string, length = PART): Part[] {
  const parts: Part[] = [];
  const marker = /\n(?=---\s)/g;
  let offset = 0;
  while (text.length - offset > length) {
    marker.lastIndex = offset + length;
    let found = marker.exec(text);
    while (found !== null && endsInComment(text, offset, found.index)) found = marker.exec(text);
    if (found === null) break;
    parts.push({ text: text.slice(offset, found.index + 1), offset });
    offset = found.index + 1;
  }
  parts.push({ text: text.slice(offset), offset });
  return parts;
}

/** Whether the last line before an end that isn't blank may have a comment: where a document ends that has one hangs on what follows. */
function endsInComment(text: string, begin: number, end: number): boolean {
  for (let last = end; last > begin; ) {
    const first = Math.max(begin, text.lastIndexOf('\n', last - 1) + 1);
    const line = text.slice(first, last);
    if (line.trim() !== '') return line.includes('#');
    last = first - 1;
  }
  return false;
}

interface Waiting {
  readonly text: string;
  readonly done: (tape: Tape | null) => void;
}

/** Threads that take texts apart, the first that are given first. */
class Threads {
  readonly #script: URL;
  readonly #waiting: Waiting[] = [];
  readonly #threads = new Map<Worker, Map<number, Waiting>>();
  #jobs = 0;

  constructor(script: URL) {
    this.#script = script;
  }

  /** What becomes of the parts of a text; null for one that isn't plain. */
  takeApart(text: string): Promise<PlacedTape | null>[] {
    return partsOf(text).map(async ({ text: part, offset }) => {
      const tape = await new Promise<Tape | null>((done) => {
        this.#waiting.push({ text: part, done });
      });
      return tape === null ? null : { tape, offset };
    });
  }

  start(): void {
    this.#waiting.reverse();
    const most = Math.min(MOST_THREADS, availableParallelism(), this.#waiting.length);
    for (let count = 0; count < most; count += 1) this.#add(new Worker(this.#script));
  }

  close(): void {
    for (const worker of this.#threads.keys()) void worker.terminate();
  }

  #add(worker: Worker): void {
    const jobs = new Map<number, Waiting>();
    this.#threads.set(worker, jobs);
    worker.on('message', ({ id, tape }: Done) => {
      jobs.get(id)?.done(tape);
      jobs.delete(id);
      this.#feed(worker, jobs);
    });
    // What a thread leaves behind is parsed here, which tells what is wrong with it.
    const ended = (): void => {
      this.#threads.delete(worker);
      const left = [...jobs.values(), ...(this.#threads.size === 0 ? this.#waiting.splice(0) : [])];
      jobs.clear();
      for (const { done } of left) done(null);
    };
    worker.on('error', ended);
    worker.on('exit', ended);
    this.#feed(worker, jobs);
  }

  #feed(worker: Worker, jobs: Map<number, Waiting>): void {
    while (jobs.size < AHEAD) {
      const next = this.#waiting.pop();
      if (next === undefined) return;
      this.#jobs += 1;
      jobs.set(this.#jobs, next);
      worker.postMessage({ id: this.#jobs, text: next.text } satisfies Job);
    }
  }
}

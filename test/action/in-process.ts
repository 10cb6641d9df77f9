import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inSurroundings, type Surroundings } from '../e2e/in-process.js';

/** What a run of the action printed, and how it ended. */
export interface Printed {
  readonly code: number | null;
  readonly text: string;
}

type Action = typeof import('../../src/action/run.js');

/** The same code as the action's, bundled the same way, but for the lines that call `run` and listen to signals. */
const action = pathToFileURL(resolve('node_modules/.in-process/action.mjs')).href;
/** The summary of each run in this process: the toolkit keeps the first path that it gets. */
export const summaryFile = join(tmpdir(), `idops-summary-${process.pid}`);

/** Runs the action in this process; undefined where that can't be told from one of its own. */
export function runActionInProcess(surroundings: Surroundings): Promise<Printed> | undefined {
  return inSurroundings(surroundings, async () => {
    const { run } = (await import(/* @vite-ignore */ action)) as Action;
    const chunks: Buffer[] = [];
    const { stdout, stderr } = process;
    const writes = [stdout, stderr].map((stream) => [stream, stream.write] as const);
    const collect = (chunk: string | Uint8Array): boolean => {
      chunks.push(Buffer.from(chunk));
      return true;
    };
    try {
      for (const [stream] of writes) stream.write = collect;
      const code = await run(new AbortController().signal);
      return { code, text: Buffer.concat(chunks).toString('utf8') };
    } finally {
      for (const [stream, write] of writes) stream.write = write;
    }
  });
}

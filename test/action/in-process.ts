import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inSurroundings, type Surroundings } from '../e2e/in-process.js';

/** The output and the exit code of the action. */
export interface Printed {
  readonly code: number | null;
  readonly text: string;
}

type Action = typeof import('../../src/action/run.js');

/** The action's code, bundled the same way, except for the lines that call `run` and listen to signals. */
const action = pathToFileURL(resolve('node_modules/.in-process/action.mjs')).href;
/** The summary file of all runs in this process: the toolkit keeps the first path. */
export const summaryFile = join(tmpdir(), `idops-summary-${process.pid}`);

/** Runs the action in this process; undefined if that would differ from a new process. */
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

#!/usr/bin/env node
import { version } from '../base/version.js';
import type { Streams } from './context.js';
import { exit } from './exit.js';

const argv = process.argv.slice(2);
const [first] = argv;
// Scripts ask for the version often: that needs nothing of what reads a command line.
process.exitCode =
  argv.length === 1 && (first === '--version' || first === '-V')
    ? await sayVersion(process)
    : await (await import('./program.js')).run(argv, process);

/** Answers `--version` alone, as the whole program would, and gives the exit code. */
async function sayVersion(streams: Pick<Streams, 'stdout' | 'stderr'>): Promise<number> {
  const { stdout } = streams;
  const failure = await new Promise<NodeJS.ErrnoException | null>((done) => {
    stdout.on('error', done);
    stdout.write(`${version}\n`, (wrong) => done(wrong ?? null));
  });
  // A reader that went away, as `head` does, is no mistake.
  if (failure === null || failure.code === 'EPIPE') return exit.done;
  // Node opens a stream when it is first asked for, which takes as long as all else here.
  const { stderr } = streams;
  stderr.on('error', () => {});
  stderr.write((await import('./output.js')).unwritable(failure));
  return exit.failed;
}

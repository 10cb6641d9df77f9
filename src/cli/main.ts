#!/usr/bin/env node
import { version } from '../base/version.js';
import type { Streams } from './context.js';
import { exit } from './exit.js';

const argv = process.argv.slice(2);
const [first] = argv;
// --version needs no parser, so it stays fast.
process.exitCode =
  argv.length === 1 && (first === '--version' || first === '-V')
    ? await sayVersion(process)
    : await (await import('./program.js')).run(argv, process);

async function sayVersion(streams: Pick<Streams, 'stdout' | 'stderr'>): Promise<number> {
  const { stdout } = streams;
  const failure = await new Promise<NodeJS.ErrnoException | null>((done) => {
    stdout.on('error', done);
    stdout.write(`${version}\n`, (wrong) => done(wrong ?? null));
  });
  // A closed pipe, as with `head`, is no failure.
  if (failure === null || failure.code === 'EPIPE') return exit.done;
  // Opened only now, since opening it is slow.
  const { stderr } = streams;
  stderr.on('error', () => {});
  stderr.write((await import('./output.js')).unwritable(failure));
  return exit.failed;
}

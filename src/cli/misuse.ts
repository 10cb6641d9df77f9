import type { Command, CommanderError } from 'commander';
import { error, type Problem } from '../base/problems.js';
import { commanderMessage } from '../session/options.js';
import type { Streams } from './context.js';

/** Where commander ends by itself: help or the version were shown, or a command line can't be run. */
export class Ended extends Error {
  readonly command: Command;
  readonly failure: CommanderError;

  constructor(command: Command, failure: CommanderError) {
    super(failure.message, { cause: failure });
    this.name = 'Ended';
    this.command = command;
    this.failure = failure;
  }
}

/**
 * Has a program, and each command in it, throw an Ended in the place of words on standard error and an exit; help and the
 * version go to these streams.
 */
export function endQuietly(command: Command, streams: Pick<Streams, 'stdout' | 'stderr'>): void {
  const { stdout, stderr } = streams;
  command.configureOutput({
    writeOut: (text) => void stdout.write(text),
    writeErr: (text) => void stderr.write(text),
    getOutHelpWidth: () => (stdout.isTTY === true && stdout.columns) || 80,
    outputError() {},
  });
  command.exitOverride((failure) => {
    throw new Ended(command, failure);
  });
  for (const one of command.commands) endQuietly(one, streams);
}

/** What is wrong with a command line, in the form of all other problems; nothing if help or the version were shown. */
export function misuse({ command, failure }: Ended): Problem[] {
  // Without any command its help says what is missing.
  if (failure.exitCode === 0 || failure.code === 'commander.help') return [];
  return [
    error('wrong-option', commanderMessage(failure), [], `${nameOf(command)} --help lists what there is`),
  ];
}

/** The formats that a command line that can't be read asks for, as far as one can tell. */
export function formatsAsked(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  return words.flatMap((word, index) =>
    word === '--format'
      ? words.slice(index + 1, index + 2)
      : word.startsWith('--format=')
        ? [word.slice('--format='.length)]
        : [],
  );
}

/** How a command is called: `idops runs show`. */
function nameOf(command: Command): string {
  const parent = command.parent === null ? '' : `${nameOf(command.parent)} `;
  return `${parent}${command.name()}`;
}

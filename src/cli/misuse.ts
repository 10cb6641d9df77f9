import type { Command, CommanderError } from 'commander';
import { type ProblemsError, problemError } from '../base/problems.js';
import { commanderMessage } from '../session/options.js';
import type { Streams } from './context.js';

/** Thrown instead of exiting, when commander has shown help or the version, or can't parse the command line. */
export class CommanderExit extends Error {
  readonly command: Command;
  readonly failure: CommanderError;

  constructor(command: Command, failure: CommanderError) {
    super(failure.message, { cause: failure });
    this.name = 'CommanderExit';
    this.command = command;
    this.failure = failure;
  }
}

/** Makes a program and its commands throw a CommanderExit instead of exiting; help and the version are written to these streams. */
export function throwInsteadOfExit(command: Command, streams: Pick<Streams, 'stdout' | 'stderr'>): void {
  const { stdout, stderr } = streams;
  command.configureOutput({
    writeOut: (text) => void stdout.write(text),
    writeErr: (text) => void stderr.write(text),
    getOutHelpWidth: () => (stdout.isTTY === true && stdout.columns) || 80,
    outputError() {},
  });
  command.exitOverride((failure) => {
    throw new CommanderExit(command, failure);
  });
  for (const one of command.commands) throwInsteadOfExit(one, streams);
}

/** The problem of a command line; undefined if help or the version was shown. */
export function usageError({ command, failure }: CommanderExit): ProblemsError | undefined {
  // Without a command, commander has shown the help.
  if (failure.exitCode === 0 || failure.code === 'commander.help') return undefined;
  return wrongOption(commanderMessage(failure), `${nameOf(command)} --help lists what there is`);
}

/** The values of `--format` in a command line that commander can't parse. */
export function formatsInArguments(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  const words = end < 0 ? argv : argv.slice(0, end);
  return valuesOf(words, '--format');
}

/** The values of an option in words that commander has not parsed. */
export function valuesOf(words: readonly string[], option: string): string[] {
  return words.flatMap((word, index) => {
    if (word === option) return words.slice(index + 1, index + 2);
    return word.startsWith(`${option}=`) ? [word.slice(option.length + 1)] : [];
  });
}

/** A ProblemsError (`wrong-option`). */
export function wrongOption(message: string, hint?: string): ProblemsError {
  return problemError('wrong-option', message, hint);
}

function nameOf(command: Command): string {
  const parent = command.parent === null ? '' : `${nameOf(command.parent)} `;
  return `${parent}${command.name()}`;
}

import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { Ended, endQuietly } from './misuse.js';

const helpFlags: readonly string[] = ['-h', '--help'];
const versionFlags: readonly string[] = ['-V', '--version'];

/** The words of a command line that may be options: those before `--`. */
function optionsEnd(argv: readonly string[]): number {
  const end = argv.indexOf('--');
  return end < 0 ? argv.length : end;
}

/** A command line with `--help` in the place of the word `help`, so that it says which command is meant in one way alone. */
export function helpAsOption(argv: readonly string[], program: Command): readonly string[] {
  const end = optionsEnd(argv);
  let command = program;
  for (let at = 0; at < end; at += 1) {
    const word = argv[at] ?? '';
    if (word.startsWith('-')) {
      const option = command.options.find(({ short, long }) => word === short || word === long);
      if (option?.required === true) at += 1;
    } else if (word === 'help' && command.commands.length > 0) {
      const rest = argv.slice(at + 1, end).filter((other) => other !== 'help');
      return [...argv.slice(0, at), ...rest, '--help', ...argv.slice(end)];
    } else {
      const next = command.commands.find((one) => one.name() === word);
      if (next === undefined) return argv;
      command = next;
    }
  }
  return argv;
}

/** Which words of a command line ask for help or the version. */
function askingIn(argv: readonly string[]): (word: string, at: number) => boolean {
  const end = optionsEnd(argv);
  return (word, at) => at < end && (helpFlags.includes(word) || versionFlags.includes(word));
}

/** Whether a command line asks for help or the version, beside whatever else is there. */
export function asksAside(argv: readonly string[]): boolean {
  return argv.some(askingIn(argv));
}

/**
 * What is wrong with a command line that asks for help or the version, which commander shows whatever else is there: a command, an
 * argument or an option that there isn't. `probe` is the program with commands that do nothing.
 */
export async function mistakeBeside(argv: readonly string[], probe: Command): Promise<Ended | undefined> {
  const isAsking = askingIn(argv);
  if (!argv.some(isAsking)) return undefined;
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  endQuietly(probe, { stdout: nowhere, stderr: nowhere });
  try {
    await probe.parseAsync(
      argv.filter((word, at) => !isAsking(word, at)),
      { from: 'user' },
    );
  } catch (failure) {
    if (!(failure instanceof Ended)) throw failure;
    // What is missing is what help is asked for.
    if (nameless.includes(failure.failure.code)) return failure;
  }
  return undefined;
}

/** What commander calls a command, an argument or an option that there isn't. */
const nameless: readonly string[] = [
  'commander.unknownCommand',
  'commander.unknownOption',
  'commander.excessArguments',
];

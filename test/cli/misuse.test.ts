import { Writable } from 'node:stream';
import { Command, InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/base/problems.js';
import { CommanderExit, formatsInArguments, throwInsteadOfExit, usageError } from '../../src/cli/misuse.js';

function never(): never {
  throw new InvalidArgumentError('It must be a number.');
}

/** A program in which commander can refuse everything that it refuses in idops. */
function program(): Command {
  const idops = new Command('idops').version('1.0.0').showSuggestionAfterError();
  idops
    .command('plan')
    .argument('[file]')
    .option('--target <ADDRESS>')
    .option('--rate <N>', 'requests', never)
    .action(() => {});
  idops
    .command('runs')
    .enablePositionalOptions()
    .command('show')
    .argument('<run>')
    .action(() => {});
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  throwInsteadOfExit(idops, { stdout: nowhere, stderr: nowhere });
  return idops;
}

async function found(...words: string[]): Promise<Problem[]> {
  try {
    await program().parseAsync(words, { from: 'user' });
  } catch (failure) {
    if (failure instanceof CommanderExit) return [...(usageError(failure)?.problems ?? [])];
    throw failure;
  }
  throw new Error('it was taken');
}

describe("an invalid command line is a problem with commander's message", () => {
  it.each([
    [['plam'], "unknown command 'plam'\n(Did you mean plan?)", 'idops'],
    [['plan', '--tagret', 'x'], "unknown option '--tagret'\n(Did you mean --target?)", 'idops plan'],
    [['plan', '--target'], "option '--target <ADDRESS>' argument missing", 'idops plan'],
    [['plan', 'a', 'b'], "too many arguments for 'plan'. Expected 1 argument but got 2.", 'idops plan'],
    [
      ['plan', '--rate', 'x is invalid. Y'],
      "option '--rate <N>' argument 'x is invalid. Y' is invalid. It must be a number.",
      'idops plan',
    ],
    [['runs', 'show'], "missing required argument 'run'", 'idops runs show'],
    [['--', '--help'], "unknown command '--help'", 'idops'],
  ])('%j', async (words, message, command) => {
    const problem = { code: 'wrong-option', severity: 'error', message: expect.stringContaining(message) };
    const hint = `${command} --help lists what there is`;
    expect(await found(...words)).toEqual([{ ...problem, hint, places: [] }]);
  });

  it.each([[['--help']], [['plan', '--help']], [['--version']], [['help', 'plan']], [[]]])(
    'but %j is not',
    async (words) => {
      expect(await found(...words)).toEqual([]);
    },
  );
});

it.each([
  [['github'], ['plan', '--format', 'github']],
  [['github'], ['plan', '--format=github', '--nope']],
  [
    ['text', 'json'],
    ['plan', '--format', 'text', '--format', 'json'],
  ],
  [['github=file'], ['plan', '--format', 'github=file']],
  [['json'], ['plan', '--format', 'json', 'github']],
  [[], ['plan', '--', '--format', 'github']],
  [[], ['plan', '--format']],
])('the requested formats are %j: %j', (asked, words) => {
  expect(formatsInArguments(words)).toEqual(asked);
});

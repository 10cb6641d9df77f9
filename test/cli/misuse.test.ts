import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/base/problems.js';
import { helpAsOption, mistakeBeside } from '../../src/cli/asked.js';
import { Ended, endQuietly, formatsAsked, misuse } from '../../src/cli/misuse.js';

function never(): never {
  throw new InvalidArgumentError('It must be a number.');
}

/** A program with something of everything that commander refuses. */
function program(): Command {
  const idops = new Command('idops').version('1.0.0').showSuggestionAfterError();
  idops
    .command('plan')
    .argument('[file]')
    .option('--target <ADDRESS>')
    .option('--all')
    .option('--alt')
    .addOption(new Option('--one').conflicts('all'))
    .addOption(new Option('--kind <KIND>').choices(['User', 'Client']))
    .option('--rate <N>', 'requests', never)
    .action(() => {});
  idops
    .command('list')
    .addArgument(new Argument('[kind]').choices(['User', 'Client']))
    .action(() => {});
  idops
    .command('pull')
    .requiredOption('--out <DIR>')
    .action(() => {});
  const runs = idops.command('runs').enablePositionalOptions();
  runs.command('list', { isDefault: true }).action(() => {});
  runs
    .command('show')
    .argument('<run>')
    .action(() => {});
  const quiet = (command: Command): void => {
    command.configureOutput({ writeOut() {}, writeErr() {} });
    command.commands.forEach(quiet);
  };
  quiet(idops);
  endQuietly(idops, process);
  return idops;
}

async function found(...words: string[]): Promise<Problem[]> {
  try {
    const line = helpAsOption(words, program());
    const mistake = await mistakeBeside(line, program());
    if (mistake !== undefined) return misuse(mistake);
    await program().parseAsync(line, { from: 'user' });
  } catch (failure) {
    if (failure instanceof Ended) return misuse(failure);
    throw failure;
  }
  throw new Error('it was taken');
}

describe('a command line that cannot be run is a problem', () => {
  const seeHelp = (command: string) => `${command} --help lists what there is`;

  it.each([
    [['plam'], "unknown command 'plam', did you mean plan?", seeHelp('idops')],
    [['zzzz'], "unknown command 'zzzz'", seeHelp('idops')],
    [['pla'], "unknown command 'pla', did you mean plan?", seeHelp('idops')],
    [['PLAN'], "unknown command 'PLAN', did you mean plan?", seeHelp('idops')],
    [['Pul'], "unknown command 'Pul', did you mean pull?", seeHelp('idops')],
    [['plan', '--tagret', 'x'], "unknown option '--tagret', did you mean --target?", seeHelp('idops plan')],
    [['plan', '--alk'], "unknown option '--alk', did you mean one of --all, --alt?", seeHelp('idops plan')],
    [['plan', '--target'], "option '--target <ADDRESS>' argument missing", seeHelp('idops plan')],
    [
      ['plan', 'a', 'b'],
      "too many arguments for 'plan': expected 1 argument but got 2",
      seeHelp('idops plan'),
    ],
    [['plan', '--all', '--one'], "option '--one' cannot be used with option '--all'", seeHelp('idops plan')],
    [
      ['plan', '--kind', 'Users'],
      "option '--kind <KIND>' argument 'Users' is invalid, did you mean User?",
      'allowed choices are User, Client',
    ],
    [
      ['plan', '--rate', 'x is invalid. Y'],
      "option '--rate <N>' argument 'x is invalid. Y' is invalid",
      'it must be a number',
    ],
    [
      ['list', "x is invalid for argument 'y'. Z"],
      "argument KIND 'x is invalid for argument 'y'. Z' is invalid",
      'allowed choices are User, Client',
    ],
    [
      ['list', 'user'],
      "argument KIND 'user' is invalid, did you mean User?",
      'allowed choices are User, Client',
    ],
    [['list', 'zzzzzz'], "argument KIND 'zzzzzz' is invalid", 'allowed choices are User, Client'],
    [['pull'], "required option '--out <DIR>' not specified", seeHelp('idops pull')],
    [['runs', 'show'], "missing required argument 'run'", seeHelp('idops runs show')],
    [['--', '--help'], "unknown command '--help'", seeHelp('idops')],
    [['runs', 'shwo'], "unknown command 'shwo', did you mean show?", seeHelp('idops runs')],
    [['runs', 'shwo', 'x'], "unknown command 'shwo', did you mean show?", seeHelp('idops runs')],
    [['runs', 'zzzz'], "unknown command 'zzzz'", seeHelp('idops runs')],
    [
      ['runs', 'list', 'x'],
      "too many arguments for 'list': expected 0 arguments but got 1",
      seeHelp('idops runs list'),
    ],
    [['help', 'plam'], "unknown command 'plam', did you mean plan?", seeHelp('idops')],
    [['plam', '--help'], "unknown command 'plam', did you mean plan?", seeHelp('idops')],
    [['--help', 'plam'], "unknown command 'plam', did you mean plan?", seeHelp('idops')],
    [['plam', '--version'], "unknown command 'plam', did you mean plan?", seeHelp('idops')],
    [['plan', '--tagret', '-h'], "unknown option '--tagret', did you mean --target?", seeHelp('idops plan')],
    [['runs', 'shwo', '--help'], "unknown command 'shwo', did you mean show?", seeHelp('idops runs')],
    [['help', 'runs', 'shwo'], "unknown command 'shwo', did you mean show?", seeHelp('idops runs')],
    [
      ['help', 'plan', 'a', 'b'],
      "too many arguments for 'plan': expected 1 argument but got 2",
      seeHelp('idops plan'),
    ],
    [['plan', '--all=1'], "option '--all' takes no value", seeHelp('idops plan')],
    [['plan', '--oen'], "unknown option '--oen', did you mean --one?", seeHelp('idops plan')],
    [['plan', '--tree'], "unknown option '--tree'", seeHelp('idops plan')],
    [['runs', 'list', '--keep'], "unknown option '--keep'", seeHelp('idops runs list')],
    [['runs', 'help', 'shwo'], "unknown command 'shwo', did you mean show?", seeHelp('idops runs')],
  ])('%j', async (words, message, hint) => {
    expect(await found(...words)).toEqual([
      { code: 'wrong-option', severity: 'error', message, hint, places: [] },
    ]);
  });

  it.each([
    [['--help']],
    [['plan', '--help']],
    [['--version']],
    [['help', 'plan']],
    [['help', 'help']],
    [['runs', 'show', '--help']],
    [['help', 'runs', 'show', '--', 'x']],
    [[]],
  ])('but %j is none', async (words) => {
    expect(await found(...words)).toEqual([]);
  });
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
])('the formats %j are asked for: %j', (asked, words) => {
  expect(formatsAsked(words)).toEqual(asked);
});

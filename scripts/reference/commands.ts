import type { Argument, Command, Option } from 'commander';
import { kindNames } from '../../src/base/kind-names.js';
import { declare } from '../../src/cli/declare.js';
import { examples } from '../../src/cli/examples.js';
import { exit, exitMeanings } from '../../src/cli/exit.js';
import { code, type Makers, plain, table } from './blocks.js';

/** The tables of the page of commands, from what the command line itself is declared with. */
export function commandMakers(): Makers {
  const program = declare(() => async () => {});
  return {
    commands: () =>
      table(
        ['command', 'does'],
        program.commands.map((command) => [
          `[${code(['idops', command.name(), ...command.registeredArguments.map(usage)].join(' '))}](#${command.name()})`,
          plain(command.description()),
        ]),
      ),
    options: (name) =>
      name === '' ? optionsOf(program, []) : ofCommand(find(program, name), sharedBy(program)),
    shared: () =>
      table(
        ['option', 'meaning'],
        sharedBy(program).map((option) => [flags(option), meaning(option)]),
      ),
    'exit-codes': () =>
      table(
        ['code', 'meaning'],
        Object.entries(exit).map(([name, number]) => [
          String(number),
          plain(exitMeanings[name as keyof typeof exit]),
        ]),
      ),
  };
}

function find(program: Command, name: string): Command {
  const found = program.commands.find((command) => command.name() === name);
  if (found === undefined) throw new Error(`there is no command "${name}"`);
  return found;
}

/** The options that several commands have with the same meaning; one table explains them. */
function sharedBy(program: Command): Option[] {
  // The formats differ from command to command.
  const all = program.commands.flatMap(({ options }) => options).filter(({ long }) => long !== '--format');
  const same = (option: Option) =>
    all.filter((other) => meaning(other) === meaning(option) && flags(other) === flags(option));
  return all.filter((option) => same(option).length > 1 && same(option)[0] === option);
}

/** The options of a command, and those of the commands below it, each with whose it is. */
function ofCommand(command: Command, shared: readonly Option[]): string {
  if (command.commands.length === 0)
    return [optionsOf(command, shared), exampleOf(command.name())].join('\n\n').trim();
  const names = command.commands.map((below) => [
    code(['idops', command.name(), below.name(), ...below.registeredArguments.map(usage)].join(' ')),
    plain(below.description()),
  ]);
  const all = command.commands.flatMap((below) =>
    below.options.map((option) => ({ of: code(below.name()), shown: flags(option), means: meaning(option) })),
  );
  const options = all
    .filter(
      ({ shown, means }, at) => all.findIndex((one) => one.shown === shown && one.means === means) === at,
    )
    .map(({ shown, means }) => {
      const owners = all.filter((one) => one.shown === shown && one.means === means);
      return [shown, owners.map(({ of }) => of).join(', '), means];
    });
  return [table(['command', 'does'], names), table(['option', 'of', 'meaning'], options)].join('\n\n');
}

function optionsOf(command: Command, shared: readonly Option[]): string {
  const isShared = (option: Option) =>
    shared.some((one) => flags(one) === flags(option) && meaning(one) === meaning(option));
  const own = command.options
    .filter((option) => !isShared(option))
    .map((option) => [flags(option), meaning(option)]);
  const others = command.options.filter(isShared).map(flags);
  const all = [
    ...own,
    ...(others.length === 0 ? [] : [[others.join(', '), '[shared](#options-of-several-commands)']]),
    // Commander doesn't list the option for help.
    ...(command.parent === null ? [['`-h, --help`', 'display help for a command']] : []),
  ];
  return all.length === 0 ? '' : table(['option', 'meaning'], all);
}

/** The example that `--help` of a command ends with. */
function exampleOf(command: string): string {
  const example = examples[command];
  if (example === undefined) throw new Error(`${command} has no example`);
  return `Example: ${code(`idops ${example.args}`)}`;
}

function usage(argument: Argument): string {
  const name = argument.name().toUpperCase().replaceAll('-', '_');
  return argument.required ? name : `[${name}]`;
}

function flags(option: Option): string {
  return code(option.flags.replaceAll('<', '').replaceAll('>', ''));
}

/** What an option does, with its choices and its default; the page explains formats once. */
function meaning(option: Option): string {
  const isKind = option.argChoices?.join() === kindNames.join();
  const choices = isKind ? '' : (option.argChoices ?? []).map(code).join(', ');
  if (option.long === '--format') return choices;
  const usual =
    option.defaultValue === undefined || option.negate || String(option.defaultValue) === ''
      ? ''
      : `default: ${plain(option.defaultValueDescription ?? String(option.defaultValue))}`;
  const more = [choices, usual].filter((part) => part !== '');
  return [plain(option.description), ...(more.length === 0 ? [] : [`(${more.join('; ')})`])].join(' ');
}

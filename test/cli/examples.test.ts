import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { declare } from '../../src/cli/declare.js';
import { endQuietly } from '../../src/cli/misuse.js';
import { helpOf } from '../help.js';
import { Kept } from './streams.js';

/** Every command, by the names that lead to it. */
function commandsOf(command: Command, path: readonly string[] = []): string[][] {
  return command.commands.flatMap((one) => {
    const names = [...path, one.name()];
    return [names, ...commandsOf(one, names)];
  });
}

/** The command that a command line leads to; throws where commander refuses it. */
async function commandOf(args: readonly string[]): Promise<string> {
  let ran = '';
  const program = declare(() => async (...all) => {
    for (let command = all.at(-1) as Command | null; command?.parent; command = command.parent) {
      ran = `${command.name()} ${ran}`;
    }
  });
  const strict = (command: Command): void => {
    command.exitOverride().configureOutput({ writeErr: () => {} });
    for (const one of command.commands) strict(one);
  };
  strict(program);
  await program.parseAsync(args, { from: 'user' });
  return ran.trim();
}

it.each([40, 60, 80])('help is folded for %i columns', (width) => {
  const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
  for (const command of all(declare(() => async () => {}))) {
    let help = '';
    command.configureOutput({
      getOutHelpWidth: () => width,
      writeOut: (text) => {
        help += text;
      },
    });
    command.outputHelp();
    expect(help).toContain('\nExample:\n');
    // The lines of usage and of the example are there to be copied.
    const lines = help.split('\n').filter((line) => !/^(Usage:| {2}idops )/.test(line));
    expect(lines.filter((line) => line.length > width)).toEqual([]);
  }
});

it.each([
  [0, 80],
  [undefined, 80],
  [20, 40],
  [100, 100],
])('a terminal that says %s columns gets help for %i', (columns, width) => {
  const program = declare(() => async () => {});
  const stream = Object.assign(new Kept(true), { columns });
  endQuietly(program, { stdout: stream, stderr: stream });
  expect(program.configureOutput().getOutHelpWidth?.()).toBe(width);
});

describe('the help of', () => {
  const commands = [[], ...commandsOf(declare(() => async () => {}))];

  it.each(commands.map((names) => [names.join(' ')]))(
    '%s ends with an example that can be run',
    async (name) => {
      const help = await helpOf(...name.split(' ').filter(Boolean));
      const [, example = ''] = /\nExample:\n {2}idops (.+)\n(?: {6}\S.+\n)+$/.exec(help) ?? [];
      // What stands behind a `>` is the shell's.
      const [line = ''] = example.split(' > ');
      const ran = await commandOf(line.split(' '));
      // `idops runs` is `idops runs list`, and `idops state` is `idops state show`.
      const alone = new Map([
        ['runs', 'runs list'],
        ['state', 'state show'],
      ]);
      if (name !== '') expect(ran).toBe(alone.get(name) ?? name);
    },
  );
});

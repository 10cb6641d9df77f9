import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { declare } from '../../src/cli/declare.js';
import { helpOf } from '../help.js';

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

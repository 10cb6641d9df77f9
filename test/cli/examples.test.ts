import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { declare } from '../../src/cli/declare.js';
import { helpOf } from '../help.js';

/** The names of every command. */
function commandsOf(command: Command, path: readonly string[] = []): string[][] {
  return command.commands.flatMap((one) => {
    const names = [...path, one.name()];
    return [names, ...commandsOf(one, names)];
  });
}

/** The command that commander runs for these arguments; throws if it refuses them. */
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

describe('the help of idops', () => {
  const commands = [[], ...commandsOf(declare(() => async () => {}))];

  it.each(commands.map((names) => [names.join(' ')]))(
    '%s ends with an example that can run',
    async (name) => {
      const help = await helpOf(...name.split(' ').filter(Boolean));
      const [, example = ''] = /\nExample:\n {2}idops (.+)\n(?: {6}\S.+\n)+$/.exec(help) ?? [];
      // The shell handles what follows `>`.
      const [line = ''] = example.split(' > ');
      const ran = await commandOf(line.split(' '));
      // `idops runs` is `idops runs list`, and `idops state` is `idops state show`.
      const defaults = new Map([
        ['runs', 'runs list'],
        ['state', 'state show'],
      ]);
      if (name !== '') expect(ran).toBe(defaults.get(name) ?? name);
    },
  );
});

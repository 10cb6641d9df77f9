import type { Command } from 'commander';
import { bashCompletion } from '../completion/bash.js';
import { fishCompletion } from '../completion/fish.js';
import { type CompletedCommand, completedCommands } from '../completion/tree.js';
import { zshCompletion } from '../completion/zsh.js';
import type { Context } from '../context.js';
import { type ExitCode, exit } from '../exit.js';
import type { Shell } from '../shells.js';

const scripts: { readonly [shell in Shell]: (commands: readonly CompletedCommand[]) => string } = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** `idops completion`: a script for a shell, made of what the command line itself is declared with. */
export function completionOf(program: Command) {
  return async ({ output }: Context, _options: object, shell: Shell): Promise<ExitCode> => {
    output.result(scripts[shell](completedCommands(program)));
    return exit.done;
  };
}

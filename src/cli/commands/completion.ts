import type { Command, Option } from 'commander';
import type { Context } from '../context.js';
import { type ExitCode, exit } from '../exit.js';

export type Shell = 'bash' | 'zsh' | 'fish';

/** The script for each shell: it asks idops for completions, and completes files if there are none. */
const scripts: { readonly [shell in Shell]: string } = {
  bash: `# bash completion of idops; load it with: source <(idops completion bash)
_idops() {
  local IFS=$'\\n'
  COMPREPLY=($(idops completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _idops idops
`,
  zsh: `# zsh completion of idops; load it after compinit with: source <(idops completion zsh)
_idops() {
  local -a found
  found=(\${(f)"$(idops completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  _describe idops found || _files
}
compdef _idops idops
`,
  fish: `# fish completion of idops; load it with: idops completion fish | source
function __idops
    set -l found (idops completion fish -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
    if test -n "$found"
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c idops -f -a '(__idops)'
`,
};

/** `idops completion`: the script for a shell; with words, completions of the last one. */
export function completionCommand(program: Command) {
  return async (
    { output }: Context,
    _options: object,
    shell: Shell,
    words: readonly string[],
  ): Promise<ExitCode> => {
    const lines = words.length === 0 ? [] : completionsOf(program, words, shell);
    output.result(words.length === 0 ? scripts[shell] : lines.map((line) => `${line}\n`).join(''));
    return exit.done;
  };
}

function completionsOf(program: Command, typed: readonly string[], shell: Shell): string[] {
  // bash splits "--option=value" itself.
  const isBash = shell === 'bash';
  const words = typed.flatMap((word, index) => {
    if (isBash && word === '=') return index === typed.length - 1 ? [''] : [];
    const [, name, value] = (!isBash && /^(--[\w-]+)=(.*)$/s.exec(word)) || [];
    return name === undefined || value === undefined ? [word] : [name, value];
  });
  const last = typed.at(-1) ?? '';
  const current = words.at(-1) ?? '';
  const prefix = current !== last && !isBash ? last.slice(0, last.indexOf('=') + 1) : '';
  let command = program;
  let option: Option | undefined;
  for (const word of words.slice(0, -1)) {
    const takesValue = option?.required === true;
    option = takesValue
      ? undefined
      : optionsOf(command).find(({ short, long }) => word === short || word === long);
    if (!takesValue) command = command.commands.find((one) => one.name() === word) ?? command;
  }
  const separator = { bash: undefined, zsh: ':', fish: '\t' }[shell];
  return candidates(command, option, current)
    .filter(([word = '']) => word.startsWith(current))
    .map(([word = '', says = '']) =>
      separator === undefined || says === '' ? prefix + word : `${prefix}${word}${separator}${says}`,
    );
}

/** Possible next words and their descriptions, after a command or an option with a value. */
function candidates(command: Command, option: Option | undefined, current: string): (readonly string[])[] {
  if (option?.required === true) return (option.argChoices ?? []).map((choice) => [choice]);
  if (current.startsWith('-')) return optionsOf(command).map((one) => [one.long ?? '', one.description]);
  const subcommands = command.createHelp().visibleCommands(command);
  if (subcommands.length > 0) return subcommands.map((one) => [one.name(), one.description()]);
  return (command.registeredArguments[0]?.argChoices ?? []).map((choice) => [choice]);
}

function optionsOf(command: Command): Option[] {
  const help = command.createHelp();
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
}

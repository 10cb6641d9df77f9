import type { CompletedCommand, CompletedOption, CompletedValue } from './tree.js';

/** What zsh takes as a function of its completion system, or sources after `compinit`. */
export function zshCompletion(commands: readonly CompletedCommand[]): string {
  return `#compdef idops
# zsh completion of idops; load it after compinit with: source <(idops completion zsh)

${commands.map((command) => functionOf(command)).join('\n')}
if [[ $funcstack[1] == _idops ]]; then
  _idops "$@"
else
  compdef _idops idops
fi
`;
}

function nameOf(path: readonly string[]): string {
  return ['_idops', ...path].join('_').replaceAll('-', '_');
}

function functionOf({ path, options, argument, below }: CompletedCommand): string {
  const specs = options.flatMap(specsOf);
  if (below.length === 0) {
    const value = argument === null ? [] : [quoted(`1:${argument.kind}:${actionOf(argument)}`)];
    return `${nameOf(path)}() {
  _arguments -s -S ${[...specs, ...value].map((spec) => `\\\n    ${spec}`).join(' ')}
}
`;
  }
  const names = below.map(({ name, says }) => quoted(`${name}:${plain(says)}`));
  const calls = below.filter(({ name }) => name !== 'help');
  return `${nameOf(path)}() {
  local curcontext="$curcontext" state line
  local -a commands
  _arguments -C -s ${[...specs, quoted('1: :->command'), quoted('*:: :->rest')].map((spec) => `\\\n    ${spec}`).join(' ')}
  case $state in
    command)
      commands=(
        ${names.join('\n        ')}
      )
      _describe -t commands command commands ;;
    rest)
      case $line[1] in
${calls.map(({ name }) => `        ${name}) ${nameOf([...path, name])} ;;`).join('\n')}
      esac ;;
  esac
}
`;
}

/** Each may be given several times: which may not, the command itself tells best. */
function specsOf({ flags, says, value }: CompletedOption): string[] {
  return flags.map((flag) => {
    const takes = value === null ? '' : `:${value.kind}:${actionOf(value)}`;
    const joined = value !== null && flag.startsWith('--') ? '=' : '';
    return quoted(`*${flag}${joined}[${plain(says).replace(/[[\]]/g, '\\$&')}]${takes}`);
  });
}

function actionOf({ kind, words }: CompletedValue): string {
  if (kind === 'words') return `(${words.join(' ')})`;
  if (kind === 'file') return '_files';
  return kind === 'folder' ? '_files -/' : ' ';
}

/** A colon would begin another part of what zsh reads. */
function plain(text: string): string {
  return text.replace(/[\\:]/g, '\\$&');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

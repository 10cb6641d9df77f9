import type { CompletedCommand, CompletedOption, CompletedValue } from './tree.js';

/** What bash sources, from version 3.2 on and without the package bash-completion. */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  const valued = commands.flatMap(({ path, options }) =>
    options.flatMap(({ flags, value }) =>
      value === null ? [] : flags.map((flag) => ({ at: `${key(path)} ${flag}`, value })),
    ),
  );
  const below = commands.filter(({ path }) => path.length > 0).map(({ path }) => key(path));
  return `# bash completion of idops; load it with: source <(idops completion bash)

_idops_words() {
  COMPREPLY=($(compgen -W "$1" -- "$2"))
}

_idops_names() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen "$1" -- "$2"))
  compopt -o filenames 2>/dev/null
}

_idops() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command='' expects='' word i
  local last=$COMP_CWORD
  COMPREPLY=()
  # bash takes "--option=value" and "NAME=FILE" apart at the "=".
  [[ $current == '=' ]] && current='' && last=$((COMP_CWORD + 1))
  for ((i = 1; i < last; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ $word == '=' ]]; then
      [[ \${COMP_WORDS[i - 1]} == -* ]] || expects='='
    elif [[ -n $expects ]]; then
      expects=''
    elif [[ $word == -* ]]; then
      case "$command $word" in
${pattern(valued.map(({ at }) => at))}
          expects="$word" ;;
      esac
    else
      case "$command $word" in
${pattern(below)}
          command="$command $word" ;;
      esac
    fi
  done
  if [[ $expects == '=' ]]; then
    _idops_names -f "$current"
    return
  fi
  if [[ -n $expects ]]; then
    case "$command $expects" in
${grouped(valued)}
    esac
    return
  fi
  case "$command" in
${commands.map(clause).join('\n')}
  esac
}

complete -F _idops idops
`;
}

/** How the script writes the way to a command: ' runs show', and nothing for the program. */
function key(path: readonly string[]): string {
  return path.map((name) => ` ${name}`).join('');
}

function pattern(keys: readonly string[]): string {
  return `        ${keys.map((one) => `'${one}'`).join(' | \\\n        ')})`;
}

/** One clause for all options that take the same. */
function grouped(valued: readonly { readonly at: string; readonly value: CompletedValue }[]): string {
  const clauses = new Map<string, string[]>();
  for (const { at, value } of valued) {
    const reply = replyOf(value);
    if (reply !== null) clauses.set(reply, [...(clauses.get(reply) ?? []), at]);
  }
  return [...clauses].map(([reply, keys]) => `${pattern(keys)}\n          ${reply} ;;`).join('\n');
}

function replyOf({ kind, words }: CompletedValue): string | null {
  if (kind === 'words') return `_idops_words '${words.join(' ')}' "$current"`;
  if (kind === 'anything') return null;
  return `_idops_names ${kind === 'file' ? '-f' : '-d'} "$current"`;
}

function clause({ path, options, argument, below }: CompletedCommand): string {
  const flags = options.flatMap((option: CompletedOption) => option.flags).join(' ');
  const names = below.map(({ name }) => name).join(' ');
  const value = argument === null ? null : replyOf(argument);
  const otherwise = below.length > 0 ? `_idops_words '${names}' "$current"` : (value ?? ':');
  return `    '${key(path)}')
      if [[ $current == -* ]]; then
        _idops_words '${flags}' "$current"
      else
        ${otherwise}
      fi ;;`;
}

import type { CompletedCommand, CompletedOption, CompletedValue } from './tree.js';

/** What fish sources. */
export function fishCompletion(commands: readonly CompletedCommand[]): string {
  const valued = new Set(
    commands.flatMap(({ options }) =>
      options.filter(({ value }) => value !== null).flatMap(({ flags }) => flags),
    ),
  );
  const paths = commands.filter(({ path }) => path.length > 0).map(({ path }) => quoted(path.join(' ')));
  return `# fish completion of idops; load it with: idops completion fish | source

# Whether the words before the cursor lead to this command.
function __idops_at
    set -l path
    set -l skip no
    for word in (commandline -opc)[2..-1]
        if test $skip = yes
            set skip no
        else if string match -q -- '-*' $word
            contains -- $word ${[...valued].sort().join(' ')}
            and set skip yes
        else if contains -- (string join ' ' $path $word) ${paths.join(' ')}
            set -a path $word
        end
    end
    test "$path" = "$argv"
end

complete -c idops -f
${commands.flatMap(linesOf).join('\n')}
`;
}

function linesOf({ path, options, argument, below }: CompletedCommand): string[] {
  const at = `complete -c idops -n ${quoted(`__idops_at ${path.join(' ')}`.trimEnd())}`;
  return [
    ...below.map(({ name, says }) => `${at} -a ${name} -d ${quoted(says)}`),
    ...(argument === null || argument.kind === 'anything' ? [] : [`${at} ${argumentOf(argument)}`]),
    ...options.map((option) => `${at} ${optionOf(option)}`),
  ];
}

function optionOf({ flags, says, value }: CompletedOption): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  return [...names, ...(value === null ? [] : ['-r', argumentOf(value)]), `-d ${quoted(says)}`].join(' ');
}

function argumentOf({ kind, words }: CompletedValue): string {
  if (kind === 'words') return `-f -a ${quoted(words.join(' '))}`;
  if (kind === 'file') return '-F';
  return kind === 'folder' ? `-f -a '(__fish_complete_directories)'` : '-f';
}

/** In fish a backslash means itself within quotes, but for these. */
function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}

import type { Argument, Command, Option } from 'commander';
import { wordsOf } from './suggestions.js';

/** What a value may be: one of some words, the name of a file or a folder, or anything. */
export type ValueKind = 'words' | 'file' | 'folder' | 'anything';

export interface CompletedValue {
  readonly kind: ValueKind;
  readonly words: readonly string[];
}

export interface CompletedOption {
  /** As they are typed: `-h`, `--help`. */
  readonly flags: readonly string[];
  readonly says: string;
  /** Null for one that takes none. */
  readonly value: CompletedValue | null;
}

/** A command as a shell completes it. */
export interface CompletedCommand {
  /** The names that lead to it, without that of the program: `[]`, `['runs', 'show']`. */
  readonly path: readonly string[];
  readonly says: string;
  /** Its own options, and those of the commands above. */
  readonly options: readonly CompletedOption[];
  /** What its first argument may be. */
  readonly argument: CompletedValue | null;
  /** The names of the commands below it, and what they do. */
  readonly below: readonly { readonly name: string; readonly says: string }[];
}

/** A program and every command in it, each before those below it. */
export function completedCommands(command: Command, path: readonly string[] = []): CompletedCommand[] {
  const help = command.createHelp();
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  const [argument] = command.registeredArguments;
  const below = help.visibleCommands(command);
  const isHelp = (one: Command): boolean => !command.commands.includes(one);
  return [
    {
      path,
      says: command.description(),
      options: options.map(asOption),
      argument: argument === undefined ? null : takenBy(argument, argument.name()),
      below: below.map((one) => ({ name: one.name(), says: one.description() })),
    },
    ...below.flatMap((one) => (isHelp(one) ? [] : completedCommands(one, [...path, one.name()]))),
  ];
}

function asOption(option: Option): CompletedOption {
  const takesValue = option.required || option.optional;
  const name = /[<[](.+)[>\]]$/.exec(option.flags)?.[1] ?? '';
  return {
    flags: [option.short, option.long].filter((flag) => flag !== undefined),
    says: option.description,
    value: takesValue ? takenBy(option, name) : null,
  };
}

function takenBy(one: Argument | Option, name: string): CompletedValue {
  const words = wordsOf(one);
  if (words.length > 0) return { kind: 'words', words };
  if (/file$/i.test(name)) return { kind: 'file', words };
  return { kind: /^dir$/i.test(name) ? 'folder' : 'anything', words };
}

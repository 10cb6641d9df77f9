import type { Argument, Option } from 'commander';

const suggested = new WeakMap<Argument | Option, readonly string[]>();

/** Says what an option or an argument may begin with, where that is no closed list of choices. Gives it back. */
export function suggest<T extends Argument | Option>(to: T, words: readonly string[]): T {
  suggested.set(to, words);
  return to;
}

/** What an option or an argument may be, as far as that is known without a look anywhere. */
export function wordsOf(one: Argument | Option): readonly string[] {
  return one.argChoices ?? suggested.get(one) ?? [];
}

import { error, type Problem, ProblemsError } from '../base/problems.js';
import { parseShard, type Shard, shardName } from '../base/shard.js';
import { shardOptions } from '../session/shard.js';

/** The commands that take a shard. */
const commands: readonly string[] = ['plan', 'apply'];

/**
 * The shard of the input `shard`, or of `--shard` in `args`; undefined for all objects. Adds what is wrong with it to the problems.
 */
export function readShard(
  text: string | undefined,
  inArgs: Shard | 'auto' | undefined,
  command: string,
  problems: Problem[],
): Shard | undefined {
  const wrong = (message: string, hint: string): undefined => {
    problems.push(error('wrong-option', message, [], hint));
  };
  const name = text === undefined ? 'args: --shard' : 'the input shard';
  if (text !== undefined && inArgs !== undefined)
    return wrong('the input shard and --shard in args say both what is meant', 'leave one of them out');
  const given = text === undefined ? inArgs : ofText(text);
  if (given === undefined)
    return text === undefined
      ? undefined
      : wrong(`the input shard is "${text}"`, 'it is I/N with I from 1 to N, such as 2/4, or auto');
  if (!commands.includes(command))
    return wrong(`${name} works only with the commands ${commands.join(', ')}`, 'leave it out');
  try {
    return resolved(given);
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    problems.push(...failure.problems);
    return undefined;
  }
}

/** A file name that no other shard has. */
export function fileOf(name: string, shard: Shard | undefined): string {
  return shard === undefined ? name : `${name}-${shardName(shard)}`;
}

function ofText(text: string): Shard | 'auto' | undefined {
  return text === 'auto' ? text : parseShard(text);
}

function resolved(given: Shard | 'auto' | undefined): Shard | undefined {
  const { shard } = shardOptions(given, process.env);
  // Shard 1/1 is everything, and has the same comment.
  return shard?.count === 1 ? undefined : shard;
}

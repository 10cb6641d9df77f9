import { error, type Problem, ProblemsError } from '../base/problems.js';
import { parseShard, type Shard, shardName } from '../base/shard.js';
import { shardOptions } from '../session/shard.js';

/** The commands that take a shard. */
const commands: readonly string[] = ['plan', 'apply'];

/** The shard of the input `shard`, or of `--shard` in `args`; undefined for all objects. Adds to `problems` what is wrong with it. */
export function readShard(
  text: string | undefined,
  inArgs: Shard | 'auto' | undefined,
  command: string,
  problems: Problem[],
): Shard | undefined {
  const addProblem = (message: string, hint: string): undefined => {
    problems.push(error('wrong-option', message, [], hint));
  };
  const name = text === undefined ? 'args: --shard' : 'the input shard';
  if (text !== undefined && inArgs !== undefined)
    return addProblem('the input shard and --shard in args are both set', 'remove one of them');
  const choice = text === undefined ? inArgs : parseShardInput(text);
  if (choice === undefined)
    return text === undefined
      ? undefined
      : addProblem(`the input shard is "${text}"`, 'it is I/N with I from 1 to N, such as 2/4, or auto');
  if (!commands.includes(command))
    return addProblem(`${name} works only with the commands ${commands.join(', ')}`, 'leave it out');
  try {
    return resolveShard(choice);
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    problems.push(...failure.problems);
    return undefined;
  }
}

/** A file name that is different for each shard. */
export function shardFileName(name: string, shard: Shard | undefined): string {
  return shard === undefined ? name : `${name}-${shardName(shard)}`;
}

function parseShardInput(text: string): Shard | 'auto' | undefined {
  return text === 'auto' ? text : parseShard(text);
}

function resolveShard(choice: Shard | 'auto' | undefined): Shard | undefined {
  const { shard } = shardOptions(choice, process.env);
  // Shard 1/1 is everything, and has the comment of a plan without shards.
  return shard?.count === 1 ? undefined : shard;
}

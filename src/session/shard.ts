import { type ProblemsError, problemError } from '../base/problems.js';
import { MAX_SHARDS, parseShard, type Shard } from '../base/shard.js';
import type { Environment } from './forge.js';
import type { SessionOptions } from './session.js';

/** The variables that say which shard a process is; `first` is the number of the first one. */
const sources = [
  { index: 'IDOPS_SHARD_INDEX', counts: ['IDOPS_SHARD_COUNT'], first: 1 },
  // An Indexed Job of Kubernetes sets only the index.
  { index: 'JOB_COMPLETION_INDEX', counts: ['IDOPS_SHARD_COUNT', 'JOB_COMPLETIONS'], first: 0 },
  { index: 'CI_NODE_INDEX', counts: ['CI_NODE_TOTAL'], first: 1 },
];

/** The shard that the variables of a parallel job name. Throws a ProblemsError (`wrong-option`) if they name none. */
function shardOfJob(variables: Environment): Shard {
  const found = sources.find(({ index }) => variables[index]);
  if (found === undefined) {
    const others = sources.slice(1).map(({ index }) => index);
    const hint = `set IDOPS_SHARD_INDEX and IDOPS_SHARD_COUNT, or run it where ${others.join(' or ')} is set`;
    throw refused('no variable says which part this is', hint);
  }
  const { index, counts, first } = found;
  const [name, ...more] = ['IDOPS_SHARD_COUNT', ...counts].filter((one) => variables[one]);
  const other = more.find((one) => variables[one] !== variables[name ?? '']);
  if (name !== undefined && other !== undefined) {
    const hint = 'unset one of them: with another number of parts, objects are left out';
    throw refused(`${other} says ${variables[other]}, and ${name} ${variables[name]}`, hint);
  }
  const count = name === undefined ? '' : variables[name];
  const number = /^\d{1,4}$/.test(variables[index] ?? '') ? Number(variables[index]) - first + 1 : Number.NaN;
  const shard = parseShard(`${number}/${count}`);
  if (shard !== undefined) return shard;
  const why =
    name === undefined
      ? `${index} is ${variables[index]}, and ${counts.join(' or ')} does not say of how many`
      : `${index} ${variables[index]} and ${name} ${count} are no part of a whole`;
  throw refused(why, `${index} counts from ${first}, and there are ${MAX_SHARDS} parts at most`);
}

function refused(why: string, hint: string): ProblemsError {
  return problemError('wrong-option', `--shard auto: ${why}`, hint);
}

/** The options of a session for a shard that is given, or that the variables of a parallel job name. */
export function shardOptions(
  shard: Shard | 'auto' | undefined,
  variables: Environment,
): Pick<SessionOptions, 'shard' | 'ofJob' | 'sharedRun'> {
  if (shard === undefined) return {};
  const run = sharedRun(variables);
  return {
    ...(shard === 'auto' ? { shard: shardOfJob(variables), ofJob: true } : { shard }),
    ...(run === undefined ? {} : { sharedRun: run }),
  };
}

/** What the processes of one sharded run have in common, from their variables: by it they find the run that they share. */
function sharedRun(variables: Environment): string | undefined {
  const { IDOPS_SHARD_RUN, GITHUB_RUN_ID, GITHUB_RUN_ATTEMPT, CI_PIPELINE_ID } = variables;
  if (IDOPS_SHARD_RUN) return IDOPS_SHARD_RUN;
  if (GITHUB_RUN_ID) return `github ${GITHUB_RUN_ID}/${GITHUB_RUN_ATTEMPT ?? '1'}`;
  return CI_PIPELINE_ID ? `gitlab ${CI_PIPELINE_ID}` : undefined;
}

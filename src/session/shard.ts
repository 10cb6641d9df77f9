import { type ProblemsError, problemError } from '../base/problems.js';
import { MAX_SHARDS, parseShard, type Shard } from '../base/shard.js';
import type { Environment } from './forge.js';
import type { SessionOptions } from './session.js';

/** The variables that tell a process its shard; `first` is the number of the first shard. */
const sources = [
  { index: 'IDOPS_SHARD_INDEX', counts: ['IDOPS_SHARD_COUNT'], first: 1 },
  // An Indexed Job of Kubernetes sets only the index.
  { index: 'JOB_COMPLETION_INDEX', counts: ['IDOPS_SHARD_COUNT', 'JOB_COMPLETIONS'], first: 0 },
  { index: 'CI_NODE_INDEX', counts: ['CI_NODE_TOTAL'], first: 1 },
];

/** The shard from the variables of a parallel job. Throws a ProblemsError (`wrong-option`) if they have none. */
function shardOfJob(variables: Environment): Shard {
  const found = sources.find(({ index }) => variables[index]);
  if (found === undefined) {
    const others = sources.slice(1).map(({ index }) => index);
    const hint = `set IDOPS_SHARD_INDEX and IDOPS_SHARD_COUNT, or run it in a job that sets ${others.join(' or ')}`;
    throw refused('no variable has the number of the shard', hint);
  }
  const { index, counts, first } = found;
  const [name, ...more] = ['IDOPS_SHARD_COUNT', ...counts].filter((one) => variables[one]);
  const other = more.find((one) => variables[one] !== variables[name ?? '']);
  if (name !== undefined && other !== undefined) {
    const hint = 'unset one of them: with a wrong number of shards, objects are left out';
    throw refused(`${other} is ${variables[other]}, but ${name} is ${variables[name]}`, hint);
  }
  const count = name === undefined ? '' : variables[name];
  const number = /^\d{1,4}$/.test(variables[index] ?? '') ? Number(variables[index]) - first + 1 : Number.NaN;
  const shard = parseShard(`${number}/${count}`);
  if (shard !== undefined) return shard;
  const why =
    name === undefined
      ? `${index} is ${variables[index]}, but no ${counts.join(' or ')} is set`
      : `${index}=${variables[index]} and ${name}=${count} are not a valid shard`;
  throw refused(why, `${index} counts from ${first}, and there are at most ${MAX_SHARDS} shards`);
}

function refused(why: string, hint: string): ProblemsError {
  return problemError('wrong-option', `--shard auto: ${why}`, hint);
}

/** The session options for a given shard, or for the shard from the variables of a parallel job. */
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

/** An id that all processes of one sharded run have in their variables, so that they find their shared run. */
function sharedRun(variables: Environment): string | undefined {
  const { IDOPS_SHARD_RUN, GITHUB_RUN_ID, GITHUB_RUN_ATTEMPT, CI_PIPELINE_ID } = variables;
  if (IDOPS_SHARD_RUN) return IDOPS_SHARD_RUN;
  if (GITHUB_RUN_ID) return `github ${GITHUB_RUN_ID}/${GITHUB_RUN_ATTEMPT ?? '1'}`;
  return CI_PIPELINE_ID ? `gitlab ${CI_PIPELINE_ID}` : undefined;
}

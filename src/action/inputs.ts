import { Command, CommanderError, type Option } from 'commander';
import { error, type Problem, refuse } from '../base/problems.js';
import type { Shard } from '../base/shard.js';
import { withoutUndefined } from '../base/values.js';
import type { Share } from '../plan/plan.js';
import {
  type AllowOptions,
  type ConnectionOptions,
  commanderMessage,
  connectionOptions,
  debugOption,
  endedOption,
  messageOption,
  onlyOption,
  planFileConflicts,
  type SelectionOptions,
  selectionOptions,
  wholeNumber,
} from '../session/options.js';
import { readShard } from './shard.js';

const commands = ['validate', 'plan', 'apply'] as const;
const approveModes = ['reviewed', 'merged'] as const;
const commentModes = ['true', 'false', 'on-change'] as const;

/** The options in `args`, as on the command line. */
export interface Args extends SelectionOptions, ConnectionOptions {
  /** The part of the changes that is shown. */
  readonly only?: Share;
  readonly debug?: boolean;
  readonly message?: string;
}

/** The checked inputs of the action. Empty inputs are undefined. */
export interface Inputs extends AllowOptions {
  readonly command: (typeof commands)[number];
  readonly workingDirectory: string;
  readonly config?: string;
  readonly environment?: string;
  readonly baseUrl?: string;
  readonly token?: string;
  readonly githubToken?: string;
  readonly comment: (typeof commentModes)[number];
  readonly planFile?: string;
  readonly expectDigest?: string;
  /** Which plan of a pull request approves; by default what its base branch requires. */
  readonly approve?: (typeof approveModes)[number];
  /** The file of the workflow that plans pull requests. */
  readonly planWorkflow: string;
  /** The pull request, if the event doesn't name it. */
  readonly prNumber?: number;
  readonly failOnChanges: boolean;
  readonly driftIssue: boolean;
  /** Files, and folders as `FOLDER/**`: a pull request that changes none of them isn't planned. */
  readonly paths: readonly string[];
  /** The shard, from its own input or `args`; undefined for all objects. */
  readonly shard?: Shard;
  readonly args: Args;
}

/** The value of `expect-digest` that reads the digest from the merged pull request. */
export const fromPullRequest = 'from-pull-request';

/** Reads and checks the inputs. Throws a ProblemsError with all that is wrong with them. */
export function readInputs(getInput: (name: string) => string): Inputs {
  const problems: Problem[] = [];
  const text = (name: string): string | undefined => getInput(name).trim() || undefined;
  const oneOf = <T extends string>(name: string, allowed: readonly T[], fallback: T): T => {
    const value = text(name) ?? fallback;
    const choice = allowed.find((candidate) => candidate === value.toLowerCase());
    if (choice === undefined)
      problems.push(wrongOption(`the input ${name} is "${value}"`, `it is ${allowed.join(' or ')}`));
    return choice ?? fallback;
  };
  const flag = (name: string): boolean => oneOf(name, ['true', 'false'], 'false') === 'true';

  const command = oneOf('command', commands, 'plan');
  const number = (name: string, min: number): number | undefined => {
    const value = text(name);
    const parsed = value === undefined ? undefined : parseWholeNumber(value, min);
    if (value !== undefined && parsed === undefined)
      problems.push(
        wrongOption(
          `the input ${name} is "${value}"`,
          `it is a whole number${min === 0 ? '' : `, ${min} or more`}`,
        ),
      );
    return parsed;
  };
  const expectDigest = text('expect-digest');
  if (
    expectDigest !== undefined &&
    expectDigest !== fromPullRequest &&
    !/^sha256:[0-9a-f]{64}$/.test(expectDigest)
  ) {
    problems.push(
      wrongOption(
        `the input expect-digest is "${expectDigest}"`,
        `it is a plan's digest or ${fromPullRequest}`,
      ),
    );
  }
  if (expectDigest !== undefined && command !== 'apply') {
    problems.push(wrongOption('the input expect-digest works only with the command apply', 'leave it out'));
  }
  const driftIssue = flag('drift-issue');
  if (driftIssue && command === 'validate') {
    problems.push(
      wrongOption('the input drift-issue works only with the commands plan and apply', 'leave it out'),
    );
  }
  const args = readArgs(splitWords(getInput('args')), problems);
  const inputs: Inputs = {
    command,
    workingDirectory: text('working-directory') ?? '.',
    comment: oneOf('comment', commentModes, 'on-change'),
    planWorkflow: text('plan-workflow') ?? '.github/workflows/idops-pull-request.yml',
    failOnChanges: flag('fail-on-changes'),
    driftIssue,
    paths: text('paths')?.split(/\s+/) ?? [],
    ...withoutUndefined({
      config: text('config'),
      environment: text('environment'),
      baseUrl: text('base-url'),
      token: text('token'),
      githubToken: text('github-token'),
      planFile: text('plan-file'),
      expectDigest,
      approve: text('approve') === undefined ? undefined : oneOf('approve', approveModes, 'reviewed'),
      allowDestructive: number('allow-destructive', 0),
      allowPrivileged: number('allow-privileged', 0),
      allowChanges: number('allow-changes', 0),
      prNumber: number('pr-number', 1),
      shard: readShard(text('shard'), args.shard, command, problems),
    }),
    args,
  };
  if (args.only !== undefined && command !== 'plan') {
    problems.push(wrongOption('args: --only works only with the command plan', 'leave it out'));
  }
  if (args.ended === true && command !== 'apply') {
    problems.push(wrongOption('args: --ended works only with the command apply', 'leave it out'));
  }
  if (command === 'apply' && inputs.planFile !== undefined) {
    problems.push(
      ...planFileConflicts({ ...args, ...withoutUndefined({ shard: inputs.shard ?? args.shard }) }),
    );
  }
  refuse(problems);
  return inputs;
}

function wrongOption(message: string, hint: string): Problem {
  return error('wrong-option', message, [], hint);
}

function parseWholeNumber(text: string, min: number): number | undefined {
  try {
    return wholeNumber(min)(text);
  } catch (failure) {
    if (failure instanceof CommanderError) return undefined;
    throw failure;
  }
}

/** The options of the command line that `args` accepts. */
export function argsOptions(): Option[] {
  return [
    ...selectionOptions(),
    endedOption(),
    onlyOption(),
    messageOption(),
    ...connectionOptions(),
    debugOption(),
  ];
}

function readArgs(words: readonly string[], problems: Problem[]): Args {
  const options = argsOptions();
  const addProblem = (message: string, hint = `it takes ${options.map(({ long }) => long).join(', ')}`) =>
    problems.push(wrongOption(`args: ${message}`, hint));
  const parser = new Command('args')
    .helpOption(false)
    .allowExcessArguments()
    .configureOutput({ outputError() {} })
    .exitOverride();
  for (const option of options) parser.addOption(option);
  try {
    parser.parse(words, { from: 'user' });
    for (const argument of parser.args) addProblem(`unexpected argument '${argument}'`);
    return parser.opts<Args>();
  } catch (failure) {
    if (!(failure instanceof CommanderError)) throw failure;
    // If the last value is missing, earlier mistakes are reported too.
    if (failure.code === 'commander.optionMissingArgument') readArgs(words.slice(0, -1), problems);
    addProblem(commanderMessage(failure));
    return { target: [], kind: [] };
  }
}

/** Splits words as a shell does: with quotes, but without variables and command substitution. */
function splitWords(text: string): string[] {
  const words = text.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+|["']/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}

import { Command, CommanderError, type Option } from 'commander';
import { error, type Problem, refuse } from '../base/problems.js';
import type { Shard } from '../base/shard.js';
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

/** The checked inputs of the action. Empty ones are undefined. */
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

/** Reads and checks the inputs. Throws a ProblemsError with everything that is wrong with them. */
export function readInputs(given: (name: string) => string): Inputs {
  const problems: Problem[] = [];
  const text = (name: string): string | undefined => given(name).trim() || undefined;
  const oneOf = <T extends string>(name: string, known: readonly T[], otherwise: T): T => {
    const value = text(name) ?? otherwise;
    const found = known.find((one) => one === value.toLowerCase());
    if (found === undefined)
      problems.push(wrong(`the input ${name} is "${value}"`, `it is ${known.join(' or ')}`));
    return found ?? otherwise;
  };
  const flag = (name: string): boolean => oneOf(name, ['true', 'false'], 'false') === 'true';

  const command = oneOf('command', commands, 'plan');
  const number = (name: string, least: number): number | undefined => {
    const value = text(name);
    const found = value === undefined ? undefined : whole(value, least);
    if (value !== undefined && found === undefined)
      problems.push(
        wrong(
          `the input ${name} is "${value}"`,
          `it is a whole number${least === 0 ? '' : `, ${least} or more`}`,
        ),
      );
    return found;
  };
  const expectDigest = text('expect-digest');
  if (
    expectDigest !== undefined &&
    expectDigest !== fromPullRequest &&
    !/^sha256:[0-9a-f]{64}$/.test(expectDigest)
  ) {
    problems.push(
      wrong(`the input expect-digest is "${expectDigest}"`, `it is a plan's digest or ${fromPullRequest}`),
    );
  }
  if (expectDigest !== undefined && command !== 'apply') {
    problems.push(wrong('the input expect-digest works only with the command apply', 'leave it out'));
  }
  const driftIssue = flag('drift-issue');
  if (driftIssue && command === 'validate') {
    problems.push(wrong('the input drift-issue works only with the commands plan and apply', 'leave it out'));
  }
  const args = readArgs(words(given('args')), problems);
  const shard = text('shard');
  const inputs = {
    command,
    workingDirectory: text('working-directory') ?? '.',
    ...optional('config', text('config')),
    ...optional('environment', text('environment')),
    ...optional('baseUrl', text('base-url')),
    ...optional('token', text('token')),
    ...optional('githubToken', text('github-token')),
    comment: oneOf('comment', commentModes, 'on-change'),
    ...optional('planFile', text('plan-file')),
    ...optional('expectDigest', expectDigest),
    ...optional(
      'approve',
      text('approve') === undefined ? undefined : oneOf('approve', approveModes, 'reviewed'),
    ),
    planWorkflow: text('plan-workflow') ?? '.github/workflows/idops-pull-request.yml',
    failOnChanges: flag('fail-on-changes'),
    driftIssue,
    paths: text('paths')?.split(/\s+/) ?? [],
    ...optional('allowDestructive', number('allow-destructive', 0)),
    ...optional('allowPrivileged', number('allow-privileged', 0)),
    ...optional('allowChanges', number('allow-changes', 0)),
    ...optional('prNumber', number('pr-number', 1)),
    ...optional('shard', readShard(shard, args.shard, command, problems)),
    args,
  };
  if (args.only !== undefined && command !== 'plan') {
    problems.push(wrong('args: --only works only with the command plan', 'leave it out'));
  }
  if (command === 'apply' && inputs.planFile !== undefined) {
    problems.push(...planFileConflicts({ ...args, ...optional('shard', inputs.shard ?? args.shard) }));
  }
  refuse(problems);
  return inputs;
}

function wrong(message: string, hint: string): Problem {
  return error('wrong-option', message, [], hint);
}

/** A member, or nothing if it has no value. */
function optional<K extends string, V>(name: K, value: V | undefined): { [name in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [name in K]?: V });
}

function whole(text: string, least: number): number | undefined {
  try {
    return wholeNumber(least)(text);
  } catch (failure) {
    if (failure instanceof CommanderError) return undefined;
    throw failure;
  }
}

/** The options of the command line that `args` takes. */
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

function readArgs(given: readonly string[], problems: Problem[]): Args {
  const options = argsOptions();
  const refuseWith = (message: string, hint = `it takes ${options.map(({ long }) => long).join(', ')}`) =>
    problems.push(wrong(`args: ${message}`, hint));
  const parser = new Command('args')
    .helpOption(false)
    .allowExcessArguments()
    .configureOutput({ outputError() {} })
    .exitOverride();
  for (const option of options) parser.addOption(option);
  try {
    parser.parse(given, { from: 'user' });
    for (const argument of parser.args) refuseWith(`unexpected argument '${argument}'`);
    return parser.opts<Args>();
  } catch (failure) {
    if (!(failure instanceof CommanderError)) throw failure;
    // A missing last value doesn't hide earlier mistakes.
    if (failure.code === 'commander.optionMissingArgument') readArgs(given.slice(0, -1), problems);
    refuseWith(commanderMessage(failure));
    return { target: [], kind: [] };
  }
}

/** Splits words as a shell does, with quotes but without variables and commands. */
function words(text: string): string[] {
  const found = text.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+|["']/g) ?? [];
  return found.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}

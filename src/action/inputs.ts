import { parseArgs } from 'node:util';
import { error, type Problem, refuse } from '../base/problems.js';

const commands = ['validate', 'plan', 'apply'] as const;
const commentModes = ['true', 'false', 'on-change'] as const;
const kindNames: readonly string[] = ['Organization', 'User', 'KeyPair', 'EmailTemplate', 'Client'];

/** What `args` may say, as the command line would. */
export interface Args {
  readonly target: readonly string[];
  readonly kind: readonly string[];
  readonly prune: boolean;
  readonly assert: boolean;
  readonly acceptDid: readonly string[];
  readonly debug: boolean;
  readonly concurrency?: number;
  readonly rate?: number;
  readonly retries?: number;
  readonly timeout?: number;
  readonly tokenFile?: string;
}

/** The inputs of the action, checked. What was left empty is not there. */
export interface Inputs {
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
  readonly failOnChanges: boolean;
  readonly driftIssue: boolean;
  readonly allowDestructive?: number;
  readonly args: Args;
}

/** The value of `expect-digest` that takes the digest of the merged pull request. */
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
  const allowed = text('allow-destructive');
  const allowDestructive = allowed === undefined ? undefined : whole(allowed);
  if (allowed !== undefined && allowDestructive === undefined) {
    problems.push(wrong(`the input allow-destructive is "${allowed}"`, 'it is a whole number'));
  }
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
    problems.push(wrong('the input expect-digest goes with the command apply alone', 'leave it out'));
  }
  const driftIssue = flag('drift-issue');
  if (driftIssue && command !== 'plan') {
    problems.push(wrong('the input drift-issue goes with the command plan alone', 'leave it out'));
  }
  const args = readArgs(given('args'), problems);
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
    failOnChanges: flag('fail-on-changes'),
    driftIssue,
    ...optional('allowDestructive', allowDestructive),
    args,
  };
  if (args.acceptDid.length > 0 && command !== 'apply') {
    problems.push(wrong('args: --accept-did goes with the command apply alone', 'leave it out'));
  }
  const selects =
    args.target.length > 0 || args.kind.length > 0 || args.prune || args.assert || args.acceptDid.length > 0;
  if (command === 'apply' && inputs.planFile !== undefined && selects) {
    problems.push(
      wrong(
        "--target, --kind, --prune, --assert and --accept-did don't go with a plan file",
        'a stored plan says itself what it is about',
      ),
    );
  }
  refuse(problems);
  return inputs;
}

function wrong(message: string, hint: string): Problem {
  return error('wrong-option', message, [], hint);
}

/** A member that is left out where it has no value. */
function optional<K extends string, V>(name: K, value: V | undefined): { [name in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [name in K]?: V });
}

function whole(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function readArgs(text: string, problems: Problem[]): Args {
  const none: Args = { target: [], kind: [], prune: false, assert: false, acceptDid: [], debug: false };
  const options = {
    target: { type: 'string', multiple: true },
    kind: { type: 'string', multiple: true },
    prune: { type: 'boolean' },
    assert: { type: 'boolean' },
    'accept-did': { type: 'string', multiple: true },
    debug: { type: 'boolean' },
    concurrency: { type: 'string' },
    rate: { type: 'string' },
    retries: { type: 'string' },
    timeout: { type: 'string' },
    'token-file': { type: 'string' },
  } as const;
  try {
    const { values } = parseArgs({ args: words(text), options, strict: true, allowPositionals: false });
    const unknown = (values.kind ?? []).filter((kind) => !kindNames.includes(kind));
    if (unknown.length > 0) {
      problems.push(
        wrong(`args: --kind ${unknown.join(', ')} is not known`, `the kinds are ${kindNames.join(', ')}`),
      );
    }
    const number = (
      name: 'concurrency' | 'rate' | 'retries' | 'timeout',
      most: number,
    ): number | undefined => {
      const value = values[name];
      if (value === undefined) return undefined;
      const read = /^\d+(\.\d+)?$/.test(value) ? Number(value) : -1;
      const counts = name === 'concurrency' || name === 'retries';
      const enough = name === 'retries' ? read >= 0 : read > 0;
      const fits = enough && read <= most && (!counts || Number.isInteger(read));
      if (!fits)
        problems.push(wrong(`args: --${name} ${value} is no number that it takes`, 'see idops --help'));
      return fits ? read : undefined;
    };
    return {
      target: values.target ?? [],
      kind: values.kind ?? [],
      prune: values.prune ?? false,
      assert: values.assert ?? false,
      acceptDid: values['accept-did'] ?? [],
      debug: values.debug ?? false,
      ...optional('concurrency', number('concurrency', 1000)),
      ...optional('rate', number('rate', Number.MAX_SAFE_INTEGER)),
      ...optional('retries', number('retries', 100)),
      ...optional('timeout', number('timeout', 86400)),
      ...optional('tokenFile', values['token-file']),
    };
  } catch (failure) {
    const [message = ''] = (failure instanceof Error ? failure.message : String(failure)).split('\n');
    problems.push(
      wrong(
        `args: ${message}`,
        `it takes ${Object.keys(options)
          .map((name) => `--${name}`)
          .join(', ')}`,
      ),
    );
    return none;
  }
}

/** Words as a shell would split them, with quotes and nothing else: no variables, no commands. */
function words(text: string): string[] {
  const found = text.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+|["']/g) ?? [];
  return found.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}

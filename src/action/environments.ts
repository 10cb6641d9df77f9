import { error, type Problem } from '../base/problems.js';

/** One of several environments, with what is given for it alone. */
export interface EnvironmentInputs {
  readonly name: string;
  readonly baseUrl?: string;
  readonly token?: string;
}

/** A comment has no room for more. */
const most = 20;
/** What may be part of a file's name. */
const namePattern = /^\w[\w.-]{0,99}$/;
const linePattern = /^(\w[\w.-]*)\s*:\s+(\S.*)$/;
/** What stands for the name of the environment in the name of a file. */
export const environmentMark = '{environment}';

/** The names in the input `environments`, whatever they are. */
export function environmentNames(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** All tokens that the input `token` may hold: one, or one for each environment. */
export function tokensIn(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim());
  const named = lines.flatMap((line) => linePattern.exec(line)?.[2] ?? []);
  return [text.trim(), ...named, ...(lines.length > 1 ? lines : [])].filter((token) => token !== '');
}

/** Reads what is given for several environments; empty where there is one alone. What is wrong with it is added to the problems. */
export function readEnvironments(
  text: string | undefined,
  given: (name: string) => string | undefined,
  command: string,
  problems: Problem[],
): EnvironmentInputs[] {
  if (text === undefined) return [];
  const names = environmentNames(text);
  const wrong = (message: string, hint: string): void => {
    problems.push(error('wrong-option', message, [], hint));
  };
  if (command === 'apply' || command === 'check')
    wrong(
      'the input environments goes with the commands plan and validate alone',
      'give one environment, and a step for each of them',
    );
  if (given('environment') !== undefined)
    wrong('the inputs environment and environments say both what is meant', 'leave one of them out');
  for (const name of names)
    if (!namePattern.test(name))
      wrong(
        `the input environments names "${name}"`,
        'names are of letters, digits, dots, hyphens and underscores, with a comma between them',
      );
  if (names.length === 0 || names.length > most || new Set(names).size < names.length)
    wrong(
      names.length > most
        ? `the input environments names ${names.length}`
        : 'the input environments names none, or one twice',
      `it takes 1 to ${most}, each once`,
    );
  const planFile = given('plan-file');
  if (planFile !== undefined && !planFile.includes(environmentMark))
    wrong(
      'the input plan-file names one file for several environments',
      `write ${environmentMark} where the name of the environment belongs`,
    );
  const [addresses, tokens] = ['base-url', 'token'].map((name) => perName(name, given(name), names, wrong));
  const isOneServer = addresses?.single !== undefined;
  const alone =
    tokens?.single === undefined
      ? tokens?.named.size === 0
        ? process.env.IDOPS_TOKEN
        : undefined
      : tokens.single;
  // The configuration, which a branch may change, would say which servers get it.
  if (command === 'plan' && names.length > 1 && (alone ?? '') !== '' && !isOneServer)
    wrong(
      'one token is given for several environments, whose servers would all get it',
      'give a line NAME: TOKEN for each of them, or one base-url that is the server of all',
    );
  return names.map((name) => {
    const [baseUrl, token] = [addresses, tokens].map((one) => one?.named.get(name) ?? one?.single);
    return { name, ...(baseUrl === undefined ? {} : { baseUrl }), ...(token === undefined ? {} : { token }) };
  });
}

interface PerName {
  /** What is given for all of them. */
  readonly single?: string;
  readonly named: ReadonlyMap<string, string>;
}

/** Reads one value for all, or a line `NAME: VALUE` for each. No value is ever repeated in a message. */
function perName(
  input: string,
  text: string | undefined,
  names: readonly string[],
  wrong: (message: string, hint: string) => void,
): PerName {
  const named = new Map<string, string>();
  if (text === undefined) return { named };
  const lines = text.split('\n').map((line) => line.trim());
  const parts = lines.map((line) => linePattern.exec(line));
  if (lines.length === 1 && parts[0] === null) return { single: text, named };
  for (const [index, part] of parts.entries()) {
    if (lines[index] === '') continue;
    const [, name = '', value = ''] = part ?? [];
    if (part === null || !names.includes(name) || named.has(name))
      wrong(
        `line ${index + 1} of the input ${input} is not NAME: VALUE of one of the environments, or is the second of one`,
        `the environments are ${names.join(', ')}`,
      );
    else named.set(name, value);
  }
  return { named };
}

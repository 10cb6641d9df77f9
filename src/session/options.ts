import { type CommanderError, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { kindNames } from '../base/kind-names.js';
import { error, type Problem, refuse } from '../base/problems.js';
import type { Safety } from '../base/safety.js';
import { MAX_SHARDS, parseShard, type Shard } from '../base/shard.js';
import type { Limits } from '../plan/approve.js';
import { shares } from '../plan/plan.js';
import type { PlanOptions, SessionOptions } from './session.js';

/* Options that the command line and the `args` of the action share. */

export interface SelectionOptions {
  readonly target: readonly string[];
  readonly kind: readonly string[];
  readonly prune?: boolean;
  readonly assert?: boolean;
  readonly shard?: Shard | 'auto';
  readonly now?: Date;
  readonly ended?: boolean;
}

export interface ConnectionOptions {
  readonly tokenFile?: string;
  readonly concurrency?: number;
  readonly rate?: number;
  readonly timeout?: number;
  readonly retries?: number;
}

export function selectionOptions(): Option[] {
  return [
    new Option(
      '--target <ADDRESS>',
      'only objects that match, such as User/9b1d…; * matches any characters (repeatable)',
    )
      .argParser(collect)
      .default([], 'everything'),
    kindOption(),
    new Option(
      '--prune',
      'delete objects that idops applied or created and that no manifest declares any more',
    ),
    new Option('--assert', 'send even if the recorded value already matches'),
    shardOption(),
  ];
}

function option(flags: string, description: string, parse: (value: string) => unknown): Option {
  return new Option(flags, description).argParser(parse);
}

function shardOption(): Option {
  const description = 'only shard I of N; auto takes both from the parallel CI job or the Indexed Job';
  return option('--shard <I/N>', description, (value) => {
    const shard = value === 'auto' ? value : parseShard(value);
    if (shard !== undefined) return shard;
    throw new InvalidArgumentError(
      `It must be I/N with I from 1 to N, such as 2/4 (N at most ${MAX_SHARDS}), or auto.`,
    );
  });
}

export function onlyOption(): Option {
  const description = 'show only drift, or only other changes; the plan stays the same';
  return new Option('--only <SHARE>', description).choices(shares);
}

export function kindOption(): Option {
  return new Option('--kind <KIND>', 'only this kind (repeatable)')
    .choices(kindNames)
    .argParser(collectKinds)
    .default([], 'all');
}

export interface PullingOptions {
  readonly kind: readonly string[];
  readonly backend: readonly string[];
  readonly type: readonly string[];
  readonly user: readonly string[];
  readonly client: readonly string[];
  readonly format: readonly string[];
}

export function discoveryOptions(): Option[] {
  const repeatable = (flags: string, description: string): Option =>
    new Option(flags, `${description} (repeatable)`).argParser(collect).default([], 'all');
  return [
    repeatable('--backend <ID>', 'only the users and email templates of this backend, an id or a name'),
    repeatable('--type <TYPE>', 'only templates of this type'),
    repeatable('--user <ID>', 'only this user'),
    repeatable('--client <ID>', 'only this client; required if the server lists none'),
  ];
}

export function byOption(): Option {
  return new Option(
    '--by <HOW>',
    'how new documents name objects: by unique names if the server lists them, or by ids',
  )
    .choices(['name', 'id'])
    .default('name');
}

export function discoveryOptionsOf({ kind, backend, type, user, client }: Omit<PullingOptions, 'format'>) {
  return { kinds: kindNames.filter((name) => kind.includes(name)), asked: { backend, type, user, client } };
}

/** Limits of one run, which override those of `safety`. */
export interface AllowOptions {
  readonly allowDestructive?: number;
  readonly allowPrivileged?: number;
  readonly allowChanges?: number;
}

export function allowOptions(when = ''): Option[] {
  return ['destructive', 'privileged', 'changes'].map((what) => {
    const changes = what === 'changes' ? what : `${what} changes`;
    const text = `${when}allow this many ${changes}, instead of safety.max_${what}`;
    return option(`--allow-${what} <N>`, text, wholeNumber(0));
  });
}

export function limitsOf(
  { maxDestructive, maxPrivileged, maxChanges }: Safety,
  { allowDestructive, allowPrivileged, allowChanges }: AllowOptions,
): Limits {
  return {
    maxDestructive: allowDestructive ?? maxDestructive,
    maxPrivileged: allowPrivileged ?? maxPrivileged,
    maxChanges: allowChanges ?? maxChanges,
  };
}

/** Read the numbers of a connection; each throws an InvalidArgumentError for one out of range. */
const connectionNumbers = {
  concurrency: wholeNumber(1, 1000),
  rate: positive,
  timeout: seconds,
  retries: wholeNumber(0, 100),
};

export function connectionOptions(): Option[] {
  const { concurrency, rate, timeout, retries } = connectionNumbers;
  return [
    option(
      '--token-file <FILE>',
      'file with the bearer token (IDOPS_TOKEN holds the token itself)',
      notEmpty,
    ),
    option('--concurrency <N>', 'requests at once, 1 to 1000 (10)', concurrency),
    option('--rate <N>', 'requests a second at most (no limit)', rate),
    option('--timeout <SECONDS>', 'seconds that one request may take, up to 86400 (30)', timeout),
    option('--retries <N>', 'how often a failed request is retried (3: four tries in all)', retries),
  ];
}

export function endedOption(): Option {
  return new Option('--ended', 'only remove access that has ended');
}

/** The instant that decides which access has ended. */
export function nowOption(): Option {
  const description =
    'the instant that decides which access has ended, such as 2027-01-31T00:00:00Z (the present)';
  return option('--now <INSTANT>', description, (text) => {
    const { success } = z
      .union([z.iso.date(), z.iso.datetime({ offset: true })])
      .safeParse(text.toUpperCase());
    const instant = new Date(text.toUpperCase());
    if (!success || Number.isNaN(instant.getTime()))
      throw new InvalidArgumentError('expected a day or a date-time such as 2027-01-31T00:00:00Z.');
    return instant;
  });
}

export function messageOption(): Option {
  return option('--message <TEXT>', 'the reason for the run, one line, for the journal', notEmpty);
}

export function debugOption(): Option {
  return new Option('--debug', 'also show unchanged objects, whole values, requests and stack traces');
}

export function planOptionsOf(options: SelectionOptions): PlanOptions {
  const { target, kind, prune = false, assert = false, ended = false } = options;
  return { targets: target, kinds: kind, prune, assert, ended };
}

export function sessionOptionsOf(options: ConnectionOptions & { readonly baseUrl?: string | undefined }) {
  const { baseUrl, tokenFile, concurrency, rate, timeout, retries } = options;
  return { baseUrl, tokenFile, concurrency, timeout, network: { rate, retries } };
}

/** Throws a ProblemsError (`wrong-option`) for numbers of a program that the command line would refuse. */
export function refuseWrongNumbers({ concurrency, timeout, network = {} }: SessionOptions): void {
  const wrong = Object.entries({
    concurrency,
    timeout,
    rate: network.rate,
    retries: network.retries,
  }).flatMap(([name, number]) => {
    try {
      if (number !== undefined) connectionNumbers[name as keyof typeof connectionNumbers](String(number));
      return [];
    } catch (failure) {
      if (!(failure instanceof InvalidArgumentError)) throw failure;
      return [error('wrong-option', `the option ${name} is out of range: ${failure.message}`)];
    }
  });
  refuse(wrong);
}

/** A problem if options conflict with a stored plan. */
export function planFileConflicts(options: SelectionOptions & { readonly out?: string }): Problem[] {
  const { target, kind, prune, assert, shard, out, ended } = options;
  if (target.length + kind.length === 0 && ![prune, assert, shard, out, ended].some(Boolean)) return [];
  return [
    error(
      'wrong-option',
      "--target, --kind, --prune, --assert, --shard, --ended and --out can't be used with a plan file",
      [],
      'a stored plan already has these options',
    ),
  ];
}

export function commanderMessage({ message }: CommanderError): string {
  return message.replace(/^error: /, '');
}

/** Parses one value of a repeatable option. */
export function collect(value: string, before: readonly string[]): string[] {
  return [...before, notEmpty(value)];
}

function collectKinds(value: string, before: readonly string[]): string[] {
  const known: readonly string[] = kindNames;
  if (!known.includes(value)) throw new InvalidArgumentError(`Allowed choices are ${known.join(', ')}.`);
  return [...before, value];
}

export function notEmpty(value: string): string {
  if (value === '') throw new InvalidArgumentError('It must not be empty.');
  return value;
}

export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): (value: string) => number {
  return (value) => {
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };
}

function positive(value: string): number {
  const number = Number(value);
  if (/^[\d.]+$/.test(value) && Number.isFinite(number) && number > 0) return number;
  throw new InvalidArgumentError('It must be a number greater than 0.');
}

function seconds(value: string): number {
  const number = Number(value);
  if (value.trim() !== '' && Number.isFinite(number) && number > 0 && number <= 86_400) return number;
  throw new InvalidArgumentError('It must be a number of seconds, greater than 0 and at most 86400 (a day).');
}

import { escapeText, shellWord } from '../base/escape.js';
import { shardText } from '../base/shard.js';
import { code } from '../report/markdown-escape.js';
import type { Args, Inputs } from './inputs.js';
import { chosenEnvironment, configInRepository } from './workspace.js';

/** What a plan is about, for headings: it tells several comments of a pull request apart. */
export interface Subject {
  readonly environment: string | null;
  /** The path of the configuration in the repository; null for `idops.yaml`. */
  readonly config: string | null;
  /** The server's address without its scheme; null if unknown. */
  readonly server: string | null;
  /** The shard, such as `2/4`; null for all objects. */
  readonly shard: string | null;
  /** The options of `args` that select objects or changes; empty for everything. */
  readonly selection: string;
  /** Whether only a part of the declared objects was planned. */
  readonly isNarrowed: boolean;
}

/** The maximum length of a name and of a selection, in characters. */
const maxNameLength = 100;
const maxSelectionLength = 600;

/** The subject of the inputs; without a plan, the server is unknown. `hide` removes credentials from a text. */
export function subjectOf(
  inputs: Pick<Inputs, 'config' | 'environment' | 'workingDirectory' | 'shard'>,
  args: Args,
  hide: (text: string) => string,
  plan?: { readonly environment: string | null; readonly server: string },
): Subject {
  const config = configInRepository(inputs);
  const environment = plan === undefined ? chosenEnvironment(inputs) : plan.environment;
  return {
    environment: environment === null ? null : hide(environment),
    config: config === 'idops.yaml' ? null : hide(config),
    server: plan === undefined ? null : hide(plan.server.replace(/^https?:\/\//, '')),
    shard: inputs.shard === undefined ? null : shardText(inputs.shard),
    selection: selectionText(args, hide),
    isNarrowed: args.target.length + args.kind.length > 0 || inputs.shard !== undefined,
  };
}

/** A heading in Markdown: `idops plan in shard 2/4 for production of infra/idops.yaml at id.example.com`. */
export function headingOf(what: string, subject: Subject): string {
  return formatHeading(what, subject, (name) => code(shorten(name)));
}

/** A heading in plain text on one line. */
export function plainHeadingOf(what: string, subject: Subject): string {
  return formatHeading(what, subject, (name) => escapeText(shorten(name)));
}

function formatHeading(
  what: string,
  { environment, config, server, shard }: Subject,
  name: (text: string) => string,
): string {
  return [
    what,
    ...(shard === null ? [] : [`in shard ${shard}`]),
    ...(environment === null ? [] : [`for ${name(environment)}`]),
    ...(config === null ? [] : [`of ${name(config)}`]),
    ...(server === null ? [] : [`at ${name(server)}`]),
  ].join(' ');
}

/** The selection as a sentence in Markdown; empty for everything. */
export function selectionSentence({ selection }: Subject): string {
  if (selection === '') return '';
  const shown =
    selection.length > maxSelectionLength ? `${selection.slice(0, maxSelectionLength)}…` : selection;
  return `Made with ${code(shown)}.`;
}

function shorten(text: string): string {
  return text.length > maxNameLength ? `${text.slice(0, maxNameLength)}…` : text;
}

function selectionText({ target, kind, only, prune, assert }: Args, hide: (text: string) => string): string {
  return [
    ...target.map((address) => `--target ${shellWord(hide(address))}`),
    ...kind.map((name) => `--kind ${name}`),
    ...(only === undefined ? [] : [`--only ${only}`]),
    ...(prune === true ? ['--prune'] : []),
    ...(assert === true ? ['--assert'] : []),
  ].join(' ');
}

import { escapeText, shellWord } from '../base/escape.js';
import { shardText } from '../base/shard.js';
import { code } from '../report/markdown-escape.js';
import type { Args, Inputs } from './inputs.js';
import { configInRepository, environmentOf } from './places.js';

/** What a plan is about, for people: it tells several comments apart. */
export interface Subject {
  readonly environment: string | null;
  /** The configuration's path in the repository; null for the default one. */
  readonly config: string | null;
  /** The server's address without its scheme; null if unknown. */
  readonly server: string | null;
  /** The shard, such as `2/4`; null for all objects. */
  readonly shard: string | null;
  /** The selection, as in `args`; empty for everything. */
  readonly selected: string;
  /** Whether only a part of the declared objects was planned. */
  readonly narrowed: boolean;
}

/** The characters that are shown of a name, and of a selection. */
const nameRoom = 100;
const selectedRoom = 600;

/** The subject of the inputs, as far as it is known without a plan. `hide` removes credentials from a text. */
export function subjectOf(
  inputs: Pick<Inputs, 'config' | 'environment' | 'workingDirectory' | 'shard'>,
  args: Args,
  hide: (text: string) => string,
  plan?: { readonly environment: string | null; readonly server: string },
): Subject {
  const config = configInRepository(inputs);
  const environment = plan === undefined ? environmentOf(inputs) : plan.environment;
  return {
    environment: environment === null ? null : hide(environment),
    config: config === 'idops.yaml' ? null : hide(config),
    server: plan === undefined ? null : hide(plan.server.replace(/^https?:\/\//, '')),
    shard: inputs.shard === undefined ? null : shardText(inputs.shard),
    selected: selectedText(args, hide),
    narrowed: args.target.length + args.kind.length > 0 || inputs.shard !== undefined,
  };
}

/** A heading in Markdown: `idops plan in shard 2/4 for production of infra/idops.yaml at id.example.com`. */
export function aboutText(what: string, subject: Subject): string {
  return aboutWith(what, subject, (name) => code(short(name)));
}

/** The same as plain text, on one line. */
export function aboutPlain(what: string, subject: Subject): string {
  return aboutWith(what, subject, (name) => escapeText(short(name)));
}

function aboutWith(
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
export function selectedSentence({ selected }: Subject): string {
  if (selected === '') return '';
  const shown = selected.length > selectedRoom ? `${selected.slice(0, selectedRoom)}…` : selected;
  return `Made with ${code(shown)}.`;
}

function short(text: string): string {
  return text.length > nameRoom ? `${text.slice(0, nameRoom)}…` : text;
}

function selectedText({ target, kind, only, prune, assert }: Args, hide: (text: string) => string): string {
  return [
    ...target.map((address) => `--target ${shellWord(hide(address))}`),
    ...kind.map((name) => `--kind ${name}`),
    ...(only === undefined ? [] : [`--only ${only}`]),
    ...(prune === true ? ['--prune'] : []),
    ...(assert === true ? ['--assert'] : []),
  ].join(' ');
}

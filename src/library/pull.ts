import type { KindName } from '../base/kind-names.js';
import type { Problem } from '../base/problems.js';
import { type Redactor, redactAddress } from '../base/redact.js';
import { mapValues } from '../base/values.js';
import type { ToSet as VariableToSet } from '../pull/literal.js';
import type { LackingObject } from '../report/pull.js';
import { redactProblems } from '../report/redacted.js';
import type { ProfileName } from '../server/profiles.js';
import { type Listing, list as listFrom } from '../session/list.js';
import { type PullRequest, pull as pullFrom } from '../session/pull.js';
import { telling } from './errors.js';
import { checkedOptions, type Rule, someKinds, someText, someTexts, yesOrNo } from './given.js';
import { type Inside, insideOf, type Project } from './project.js';
import { type SessionOptions, given as sessionGiven, sessionRules } from './session.js';

export type { OtherName } from '../kinds/other-names.js';
export type { LackingObject, ListedObject, ListedOther, ShownListing } from '../report/pull.js';
export type { Listing } from '../session/list.js';
export type { VariableToSet };

/** What is looked for on a server, and how it is spoken to. */
export interface ListOptions extends Omit<SessionOptions, 'manifests'> {
  /** Objects of these kinds alone. */
  readonly kinds?: readonly KindName[];
  /** The backends whose email templates are meant; those that can be found where it isn't given. */
  readonly backends?: readonly string[];
  /** The types of email templates that are meant; those that are known where it isn't given. */
  readonly types?: readonly string[];
  /** The ids of the users that are meant. */
  readonly users?: readonly string[];
  /** The ids of the clients that are meant, which have to be given where the server lists none. */
  readonly clients?: readonly string[];
}

/** What is pulled, and where to. */
export interface PullOptions extends ListOptions {
  /** A folder for a fresh set of files, relative to `ProjectOptions.cwd`; the project's own manifests where it isn't given. */
  readonly out?: string;
  /** Built-in email templates too, which nobody customised. */
  readonly allTemplates?: boolean;
}

/** A file of a pull. */
export interface PulledFile {
  /** Absolute. */
  readonly path: string;
  /** What `write` does with it. */
  readonly action: 'write' | 'update' | 'unchanged';
  /** What is in it then. */
  readonly text: string;
}

/** What a pull comes to; nothing is written before `write`. */
export interface Pulling {
  /** The base URL of the server. */
  readonly server: string;
  /** The profile that it was read with. */
  readonly profile: ProfileName;
  /** Manifests and bodies. */
  readonly files: readonly PulledFile[];
  /** How many objects get a document. */
  readonly added: number;
  /** How many documents are changed. */
  readonly updated: number;
  /** How many documents say what the server has already. */
  readonly unchanged: number;
  /** What to set before the next plan. */
  readonly toSet: readonly VariableToSet[];
  /** What of new objects no manifest can say, and what could not be looked for, a sentence each. */
  readonly notes: readonly string[];
  /** What stays as it is although the server has something else (`not-pulled`), and ids that it doesn't show (`not-found`). */
  readonly left: readonly Problem[];
  /** Writes the files, each whole or not at all. Throws a ProblemsError (`file-moved`, `not-writable`) where that can't be done. */
  write(): Promise<void>;
}

/**
 * Works out how manifests come to say what the server has: the project's own, or with `out` a fresh set. Sends GETs alone, takes no
 * lock and leaves the state alone; nothing is written yet. Throws a ProblemsError with everything that is wrong, and a TypeError where an option is none.
 */
export async function pull(project: Project, given: PullOptions = {}): Promise<Pulling> {
  const inside = insideOf(project);
  const { redactor } = inside;
  const options = checkedOptions<PullOptions>(given, pullRules(), redactor);
  const { out, allTemplates = false } = options;
  const request = { ...requestOf(options), builtIn: allTemplates };
  const made = await telling(redactor, () =>
    pullFrom(inside.project, sessionOf(options, inside), {
      ...request,
      ...(out === undefined ? {} : { out }),
    }),
  );
  const { server, profile, added, updated, unchanged } = made;
  return Object.freeze({
    server,
    profile,
    added,
    updated,
    unchanged,
    files: made.files.map(({ path, action, text }) => ({ path, action, text })),
    toSet: made.toSet.map(({ name, address, path }) => ({
      name,
      address: redactAddress(address, redactor),
      path: redactor.redactName(path),
    })),
    notes: [
      ...sentences(made.notes, redactor),
      ...sentences(
        made.leftOut.map(({ address, reason }) => `${address}: ${reason}`),
        redactor,
      ),
    ],
    left: redactProblems([...made.left, ...made.missing], redactor),
    write: () => telling(redactor, () => made.write()),
  });
}

/** Lists what the project's server has, as far as its profile can read it, with GETs alone. Throws a TypeError where an option is none. */
export async function listObjects(project: Project, given: ListOptions = {}): Promise<Listing> {
  const inside = insideOf(project);
  const { redactor } = inside;
  const options = checkedOptions<ListOptions>(given, listRules(), redactor);
  const { server, profile, objects, lacking, others, notes, missing, problems, unsure } = await telling(
    redactor,
    () => listFrom(inside.project, sessionOf(options, inside), requestOf(options)),
  );
  return {
    server,
    profile,
    objects: objects.map(({ kind, address, identity, name, remark, declaredAt }) => ({
      kind,
      address: redactAddress(address, redactor),
      identity: mapValues({ ...identity }, redactor.redactName),
      name: name === null ? null : redactor.redact(name),
      remark,
      ...(declaredAt === undefined ? {} : { declaredAt: placeIn(declaredAt, redactor) }),
    })),
    lacking: lacking.map(({ kind, address, identity, declaredAt }) => ({
      kind,
      address: redactAddress(address, redactor),
      identity: mapValues({ ...identity }, redactor.redactName),
      declaredAt: placeIn(declaredAt, redactor),
    })),
    others: others.map(({ kind, id, name, label }) => ({
      kind,
      id: redactor.redactName(id),
      name: name === null ? null : redactor.redact(name),
      label: label === null ? null : redactor.redact(label),
    })),
    notes: sentences(notes, redactor),
    missing: redactProblems(missing, redactor),
    problems: redactProblems(problems, redactor),
    unsure,
  };
}

function listRules(): { readonly [name in keyof ListOptions]-?: Rule } {
  const { manifests: _, ...rules } = sessionRules();
  return {
    ...rules,
    kinds: someKinds,
    backends: someTexts,
    types: someTexts,
    users: someTexts,
    clients: someTexts,
  };
}

function pullRules(): { readonly [name in keyof PullOptions]-?: Rule } {
  return {
    ...listRules(),
    out: someText,
    allTemplates: yesOrNo,
  };
}

function sentences(texts: readonly string[], { redactSentence }: Redactor): string[] {
  return texts.map(redactSentence);
}

function requestOf({ kinds, backends, types, users, clients }: ListOptions): PullRequest {
  const asked = { backend: backends, type: types, user: users, client: clients };
  return { asked, ...(kinds === undefined ? {} : { kinds }) };
}

function sessionOf(options: ListOptions, inside: Inside) {
  const { baseUrl, tokenFile, concurrency, rate, timeout, retries, progress, signal } = options;
  return sessionGiven(
    {
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(tokenFile === undefined ? {} : { tokenFile }),
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(rate === undefined ? {} : { rate }),
      ...(timeout === undefined ? {} : { timeout }),
      ...(retries === undefined ? {} : { retries }),
      ...(progress === undefined ? {} : { progress }),
      ...(signal === undefined ? {} : { signal }),
    },
    inside,
  );
}

/** A place in a manifest, by the file's path from the project. */
function placeIn(
  { file, inProject = file, line }: LackingObject['declaredAt'],
  { redactFile }: Redactor,
): { file: string; line: number } {
  return { file: redactFile(inProject), line };
}

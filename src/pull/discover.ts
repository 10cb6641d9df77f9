import { allSettled } from '../base/concurrency.js';
import { isUuid } from '../base/identifiers.js';
import { error, type Problem, refuse } from '../base/problems.js';
import { findReference } from '../kinds/by-name.js';
import { matchesFilters } from '../kinds/discovery.js';
import { addressOf, kinds as everyKind } from '../kinds/index.js';
import type {
  Declared,
  DiscoverContext,
  Discovery,
  DiscoveryFilters,
  DiscoveryResult,
  FoundObject,
  Kind,
  KnownObject,
} from '../kinds/kind.js';
import { unusableId } from '../kinds/limits.js';
import {
  awaitLists,
  listNames,
  listScope,
  type PendingLists,
  type References,
  readListOnce,
} from '../kinds/references.js';
import { answerFields } from '../kinds/rules.js';
import { identifier } from '../kinds/schema.js';
import { contextOf, listsFor, type ObserveOptions } from '../plan/observe.js';
import { placeholderDocument } from '../plan/subjects.js';
import type { Profile } from '../server/profiles.js';

export interface DiscoverOptions extends ObserveOptions {
  readonly lists: PendingLists;
}

/** What to pull, and how to write it. */
export interface PullOptions {
  readonly kinds: readonly Kind[];
  readonly asked: DiscoveryFilters;
  /** The objects that manifests and the state name. */
  readonly known: readonly KnownObject[];
  /** Whether new documents refer to objects by id, or by name if the name is unique. */
  readonly by: 'name' | 'id';
  /** Pull only declared objects. */
  readonly declaredOnly: boolean;
  /** Pull the server's built-in objects too. */
  readonly builtIn: boolean;
  /** The ids of objects that get no document, since only their id is known. */
  readonly referencedOnly?: ReadonlySet<string>;
  /** Whether a text contains a credential, which no file may contain. */
  readonly hasCredential: (text: string) => boolean;
}

/** The objects of a server, and the lists that they refer to. */
export interface DiscoveredAll {
  readonly found: readonly { readonly kind: Kind; readonly finding: FoundObject }[];
  readonly references: References;
  /** A sentence about the kinds that can't be read. */
  readonly notes: readonly string[];
  /** Problems of ids that were asked for and don't exist. */
  readonly missing: readonly Problem[];
}

/**
 * Finds the objects of the selected kinds, with GETs only, and reads the lists that they and `declared` refer to. Throws an
 * AggregateError of everything that the reader threw.
 */
export async function discoverAll(
  options: PullOptions,
  declared: readonly Declared[],
  context: DiscoverOptions,
) {
  const { kinds, asked: filters, known, by, declaredOnly } = options;
  const { profile, lists } = context;
  const byKind = await discoverKinds(declaredOnly ? [] : kinds, context, {
    ...contextOf(context),
    filters,
    // The server can't have an object if its id fits in no path.
    known: known.filter(({ identity }) => unusableId(identity, profile) === undefined),
  });
  const foundOf = (kind: Kind): readonly FoundObject[] => byKind.get(kind)?.found ?? [];
  const found = kinds.flatMap((kind) => foundOf(kind).map((finding) => ({ kind, finding })));
  const referring = [
    ...declared,
    ...found.map(({ kind, finding: { identity, live } }) =>
      placeholderDocument(kind.name, identity, { fields: live.fields }),
    ),
  ];
  const declaredAddresses = new Set(declared.map(({ kind, identity }) => addressOf(kind, identity)));
  const listsForNames = kinds.flatMap((kind) => {
    const own = foundOf(kind);
    const isNew = own.some(({ identity }) => !declaredAddresses.has(addressOf(kind.name, identity)));
    return by === 'name' && isNew ? (kind.discovery?.byName?.lists(own) ?? []) : [];
  });
  const needed = new Set([...listsFor(referring, profile), ...listsForNames]);
  await Promise.all(
    listNames
      .filter((name) => needed.has(name) && listScope(name, profile) !== undefined)
      .map((name) => readListOnce(lists, name, context)),
  );
  const searchedKinds = declaredOnly ? kinds.filter((kind) => !kind.readable(profile)) : kinds;
  // If all kinds are asked for, those of another profile need no note.
  const needsNote = ({ onlyProfile = profile.name }: Kind) =>
    onlyProfile === profile.name || kinds.length < everyKind.length;
  const unreadableKinds = searchedKinds.filter(
    (kind) => kind.discovery !== undefined && !byKind.has(kind) && needsNote(kind),
  );
  return {
    found,
    references: await awaitLists(lists),
    notes: [
      ...unreadableKindsNote(unreadableKinds, profile),
      ...kinds.flatMap((kind) => byKind.get(kind)?.notes ?? []),
    ],
    missing: notFoundProblems(searchedKinds, found, filters, byKind, profile),
  };
}

/** The objects that are asked for, by kind; kinds that the profile can't read are missing. */
async function discoverKinds(kinds: readonly Kind[], options: DiscoverOptions, context: DiscoverContext) {
  const { profile, progress } = options;
  const readable = kinds.flatMap((kind) =>
    kind.discovery !== undefined && kind.readable(profile) ? [[kind, kind.discovery] as const] : [],
  );
  if (readable.length > 0) progress.phase('Looking', readable.length);
  const look = async ([kind, discovery]: readonly [Kind, Discovery]): Promise<[Kind, DiscoveryResult]> => {
    const discovered = await discovery.find(context);
    progress.step();
    const found = discovered.found
      .map((one) => ({ ...one, live: { ...one.live, ...answerFields(kind, one.live.fields, profile) } }))
      .filter(({ identity, live }) => matchesFilters(discovery, identity, context.filters, live));
    return [kind, { ...discovered, found }];
  };
  try {
    // The first kind before the others, so that an unreachable server or a refused token is reported once.
    const [first, ...others] = readable;
    const found = first === undefined ? [] : [await look(first), ...(await allSettled(others.map(look)))];
    progress.end();
    return new Map(found);
  } catch (failure) {
    progress.end('failed');
    throw failure;
  }
}

/** A sentence about kinds that the profile can't read. */
function unreadableKindsNote(kinds: readonly Kind[], { name }: Profile): string[] {
  if (kinds.length === 0) return [];
  const nouns = new Intl.ListFormat('en-GB').format(kinds.map(({ noun }) => `${noun}s`));
  return [
    `${nouns} can't be read with the profile ${name}: declare what you manage of them by hand, or set the profile that idops doctor recommends`,
  ];
}

const alternatives = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Problems of ids that were asked for and don't exist in any of the option's kinds. */
function notFoundProblems(
  kinds: readonly Kind[],
  found: DiscoveredAll['found'],
  asked: DiscoveryFilters,
  byKind: ReadonlyMap<Kind, DiscoveryResult>,
  { name }: Profile,
): Problem[] {
  const hint = 'run idops list to see what exists, or idops doctor to see which profile fits';
  return Object.entries(asked).flatMap(([option, ids = []]) => {
    const about = kinds.filter((kind) => kind.discovery?.options[option] !== undefined);
    const read = about.filter((kind) => byKind.has(kind));
    const [first] = read.length > 0 ? read : about;
    if (first === undefined) return [];
    const { [option]: part = '' } = first.discovery?.options ?? {};
    const { skipped } = byKind.get(first) ?? {};
    const nouns = alternatives.format(read.map(({ noun }) => noun));
    const why =
      read.length === 0
        ? `no ${first.noun} can be read with the profile ${name}`
        : (skipped ?? `the server shows no ${nouns} with this ${part}`);
    return ids
      .filter(
        (id) => !found.some(({ kind, finding }) => about.includes(kind) && finding.identity[part] === id),
      )
      .map((id) => error('not-found', `--${option} ${id}: ${why}`, [], hint));
  });
}

/** Replaces the names of asked backends by ids. Throws a ProblemsError if a backend isn't found. */
export async function resolveAskedBackends(
  asked: DiscoveryFilters,
  look: DiscoverOptions,
): Promise<DiscoveryFilters> {
  const { backend = [] } = asked;
  if (backend.every(isUuid) || listScope('backends', look.profile) === undefined) return asked;
  const references = { backends: await readListOnce(look.lists, 'backends', look) };
  const found = backend.map((one) => findReference('backend', one, references));
  refuse(found.flatMap((one) => (typeof one === 'string' ? [error('not-found', `--backend: ${one}`)] : [])));
  return { ...asked, backend: found.flatMap((one) => (typeof one === 'string' ? [] : [one.id])) };
}

/** Problems of what was asked for: ids that no path can contain, and options of kinds that aren't asked for. */
export function askedProblems(asked: DiscoveryFilters, kinds: readonly Kind[], profile: Profile): Problem[] {
  const optionsOf = ({ discovery }: Kind) => discovery?.options ?? {};
  const options = new Map(everyKind.flatMap((kind) => Object.entries(optionsOf(kind))));
  return [...options].flatMap(([option, part]) =>
    (asked[option] ?? []).flatMap((id) => {
      const about = everyKind.filter((kind) => optionsOf(kind)[option] !== undefined);
      const limits = kinds.some(
        (one) => about.includes(one) || one.discovery?.parentFilter?.option === option,
      );
      if (!limits) {
        const names = alternatives.format(about.map(({ name }) => name));
        return [error('wrong-option', `--${option} needs the kind ${names}, which isn't asked for`)];
      }
      const usable = identifier().safeParse(id).success;
      // The name of a backend is resolved later.
      const isName = option === 'backend' && !isUuid(id) && listScope('backends', profile) !== undefined;
      const trouble = isName ? undefined : unusableId({ [part]: id }, profile);
      const why = usable ? trouble : `no object can have this ${part}`;
      return why === undefined ? [] : [error('wrong-option', `--${option}: ${why}`)];
    }),
  );
}

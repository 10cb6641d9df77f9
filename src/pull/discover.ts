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

export interface LookOptions extends ObserveOptions {
  readonly lists: PendingLists;
}

/** What to look for, and how to write it. */
export interface PullWishes {
  readonly kinds: readonly Kind[];
  readonly asked: DiscoveryFilters;
  /** What manifests and the state name. */
  readonly known: readonly KnownObject[];
  /** How new documents refer to objects: by names if these are unique. */
  readonly by: 'name' | 'id';
  /** Look for nothing that isn't declared. */
  readonly declaredOnly: boolean;
  /** Also write the server's built-in objects. */
  readonly builtIn: boolean;
  /** The ids of objects of which nothing is known but the id, so that they get no document. */
  readonly referredOnly?: ReadonlySet<string>;
  /** Whether a text contains a known credential, which no file may hold. */
  readonly holds: (text: string) => boolean;
}

/** The objects that were found, and the lists that they refer to. */
export interface DiscoveredAll {
  readonly found: readonly { readonly kind: Kind; readonly finding: FoundObject }[];
  readonly references: References;
  /** A sentence for each thing that can't be looked for. */
  readonly notes: readonly string[];
  /** What was asked for by id and doesn't exist. */
  readonly missing: readonly Problem[];
}

/**
 * Finds the objects of some kinds, with GETs only, and reads the lists that they and `declared` refer to. Throws an
 * AggregateError of everything that the reader threw.
 */
export async function discoverAll(wishes: PullWishes, declared: readonly Declared[], look: LookOptions) {
  const { kinds, asked: filters, known, by, declaredOnly } = wishes;
  const { profile, lists } = look;
  const byKind = await discoverKinds(declaredOnly ? [] : kinds, look, {
    ...contextOf(look),
    filters,
    // The server can't have objects whose id fits in no path.
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
  const present = new Set(declared.map(({ kind, identity }) => addressOf(kind, identity)));
  const naming = kinds.flatMap((kind) => {
    const own = foundOf(kind);
    const isNew = own.some(({ identity }) => !present.has(addressOf(kind.name, identity)));
    return by === 'name' && isNew ? (kind.discovery?.byName?.lists(own) ?? []) : [];
  });
  const needed = new Set([...listsFor(referring, profile), ...naming]);
  await Promise.all(
    listNames
      .filter((name) => needed.has(name) && listScope(name, profile) !== undefined)
      .map((name) => readListOnce(lists, name, look)),
  );
  const looked = declaredOnly ? kinds.filter((kind) => !kind.readable(profile)) : kinds;
  // Nobody who asks for all kinds misses those that another profile has.
  const isAbout = ({ onlyProfile = profile.name }: Kind) =>
    onlyProfile === profile.name || kinds.length < everyKind.length;
  const unread = looked.filter((kind) => kind.discovery !== undefined && !byKind.has(kind) && isAbout(kind));
  return {
    found,
    references: await awaitLists(lists),
    notes: [...unreadable(unread, profile), ...kinds.flatMap((kind) => byKind.get(kind)?.notes ?? [])],
    missing: missing(looked, found, filters, byKind, profile),
  };
}

/** The objects that are asked for, of each kind that the profile can read. */
async function discoverKinds(kinds: readonly Kind[], options: LookOptions, context: DiscoverContext) {
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
    // The first kind alone, so that an unreachable server or a refused token is reported once.
    const [first, ...others] = readable;
    const found = first === undefined ? [] : [await look(first), ...(await allSettled(others.map(look)))];
    progress.end();
    return new Map(found);
  } catch (failure) {
    progress.end('failed');
    throw failure;
  }
}

/** A sentence about the kinds that the profile can't read. */
function unreadable(kinds: readonly Kind[], { name }: Profile): string[] {
  if (kinds.length === 0) return [];
  const nouns = new Intl.ListFormat('en-GB').format(kinds.map(({ noun }) => `${noun}s`));
  return [
    `${nouns} can't be read with the profile ${name}: declare what you manage of them by hand, or set the profile that idops doctor recommends`,
  ];
}

const alternatives = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Problems for what was asked for and doesn't exist, of any of the kinds that an option is for. */
function missing(
  kinds: readonly Kind[],
  found: DiscoveredAll['found'],
  asked: DiscoveryFilters,
  byKind: ReadonlyMap<Kind, DiscoveryResult>,
  { name }: Profile,
): Problem[] {
  const hint = 'idops list shows what there is, and idops doctor which profile fits';
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

/** What is asked for, with ids in place of the names of backends. Throws a ProblemsError if one isn't found. */
export async function withAskedIds(asked: DiscoveryFilters, look: LookOptions): Promise<DiscoveryFilters> {
  const { backend = [] } = asked;
  if (backend.every(isUuid) || listScope('backends', look.profile) === undefined) return asked;
  const references = { backends: await readListOnce(look.lists, 'backends', look) };
  const found = backend.map((one) => findReference('backend', one, references));
  refuse(found.flatMap((one) => (typeof one === 'string' ? [error('not-found', `--backend: ${one}`)] : [])));
  return { ...asked, backend: found.flatMap((one) => (typeof one === 'string' ? [] : [one.id])) };
}

/** Problems of what was asked for: ids that no path can carry, and options of kinds that were left out. */
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
        return [error('wrong-option', `--${option} goes with the kind ${names}, which isn't asked for`)];
      }
      const usable = identifier().safeParse(id).success;
      // The name of a backend is looked up.
      const isName = option === 'backend' && !isUuid(id) && listScope('backends', profile) !== undefined;
      const trouble = isName ? undefined : unusableId({ [part]: id }, profile);
      const why = usable ? trouble : `the ${part} can't name an object`;
      return why === undefined ? [] : [error('wrong-option', `--${option}: ${why}`)];
    }),
  );
}

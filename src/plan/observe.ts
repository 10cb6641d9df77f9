import pLimit from 'p-limit';
import { allSettled, interrupted } from '../base/concurrency.js';
import type { Progress } from '../base/progress.js';
import { lazy } from '../base/values.js';
import { setParts } from '../kinds/fields.js';
import { kindOf, kinds } from '../kinds/index.js';
import type { Declared, Identity, KindName, Live, ObserveContext } from '../kinds/kind.js';
import {
  awaitLists,
  type ListName,
  listNames,
  listScope,
  type PendingLists,
  type References,
  readListOnce,
  withListScopes,
} from '../kinds/references.js';
import { answerFields } from '../kinds/rules.js';
import { ServerFailure } from '../server/failures.js';
import type { Scope } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import type { Reader } from '../server/reader.js';

/** The kind and identity of an object. */
export interface ObjectRef {
  readonly kind: KindName;
  readonly identity: Identity;
}

export interface ObserveOptions {
  readonly reader: Reader;
  readonly profile: Profile;
  readonly concurrency: number;
  readonly progress: Progress;
  /** After an abort, nothing more is read. */
  readonly signal?: AbortSignal;
  /** The lists that were already requested. Lists that are requested now are added. */
  readonly lists?: PendingLists;
  /** The ids that new objects have in the plan. Objects that belong to one aren't read. */
  readonly plannedIds?: ReadonlySet<string>;
  /** Whether to read each object with its own request if the server can, since a list may be older. */
  readonly oneByOne?: boolean;
}

/** The server's answers; an object without an entry is of a kind that the profile can't read. */
export interface Observed<T> {
  readonly live: ReadonlyMap<T, Live>;
  /** The lists that were read. */
  readonly references: References;
}

/**
 * Reads each of the given objects once, and the needed lists, if the profile can.
 * Throws an AggregateError of the reader's failures, since a partial answer is useless.
 */
export async function observe<T extends ObjectRef>(
  objects: readonly T[],
  needed: readonly ListName[],
  options: ObserveOptions,
): Promise<Observed<T>> {
  const { profile, progress, lists = {}, plannedIds } = options;
  let refused: ServerFailure | undefined;
  const context = contextOf({ ...options, lists }, (name) => {
    // A list that replaces reads of single objects isn't a separate step.
    if (planned.has(name)) progress.step();
  });
  const limited =
    (step: () => void): ObserveContext['limit'] =>
    (read) =>
      context.limit(async () => {
        // If the server refused the credentials once, it refuses them each time.
        if (refused !== undefined) throw refused;
        try {
          const result = await read();
          step();
          return result;
        } catch (failure) {
          if (failure instanceof ServerFailure && failure.kind === 'unauthorized') refused = failure;
          throw failure;
        }
      });
  const live = new Map<T, Live>();
  const isThere = (object: T): boolean => {
    const part = plannedIds === undefined ? undefined : partOfNewObject(object, plannedIds);
    if (part !== undefined) live.set(object, part);
    return part === undefined;
  };
  const asked = kinds.flatMap((kind) => {
    const own = kind.readable(profile)
      ? objects.filter((object) => object.kind === kind.name && isThere(object))
      : [];
    return own.length > 0 ? [{ kind, own }] : [];
  });
  const wanted = new Set(needed);
  const shared = listNames.filter((name) => wanted.has(name) && listScope(name, profile) !== undefined);
  // A list is one step, and none if it was already read.
  const planned = new Set([
    ...shared,
    ...asked.flatMap(({ kind: { listedIn = 'own' } }) => (listedIn === 'own' ? [] : listedIn)),
  ]);
  const steps =
    asked.reduce(
      (sum, { kind: { listedIn }, own }) =>
        sum + (listedIn === undefined ? own.length : listedIn === 'own' ? 1 : 0),
      0,
    ) + [...planned].filter((name) => lists[name] === undefined).length;
  if (steps > 0) progress.phase('Observing', steps);
  try {
    await allSettled<unknown>([
      ...asked.map(async ({ kind, own }) => {
        const step = kind.listedIn === undefined ? () => progress.step() : () => {};
        const observed = await kind.observe(own, { ...context, limit: limited(step) });
        // A list may need further reads, which belong to its step.
        if (kind.listedIn === 'own') progress.step();
        for (const [object, shown] of observed)
          live.set(object, { ...shown, ...answerFields(kind, shown.fields, profile) });
      }),
      ...shared.map((name) => context.list(name)),
    ]);
  } catch (failure) {
    if (steps > 0) progress.end('failed');
    throw failure;
  }
  if (steps > 0) progress.end();
  return { live, references: await awaitLists(lists) };
}

/** The context with which kinds read. Calls `onRead` after a list was read. */
export function contextOf(options: Omit<ObserveOptions, 'progress'>, onRead?: (name: ListName) => void) {
  const { profile, concurrency, signal, lists = {}, oneByOne = false } = options;
  const { reader, check } = abortable(options.reader, signal);
  const limit = pLimit(concurrency);
  const context: ObserveContext = {
    reader,
    profile,
    oneByOne,
    hasList: (name) => lists[name] !== undefined,
    list: (name) => readListOnce(lists, name, { reader, profile }, () => onRead?.(name)),
    limit: (read) =>
      limit(async () => {
        check();
        return await read();
      }),
  };
  return context;
}

/** An object that belongs to one the plan creates, as it is right after the creation; undefined for any other object. */
export function partOfNewObject(
  { kind: name, identity }: ObjectRef,
  newIds: ReadonlySet<string>,
): Live | undefined {
  const { parentId = 'backend', creation } = kindOf(name);
  if (!newIds.has(identity[parentId] ?? '')) return undefined;
  if (creation === undefined) return { exists: true, identity, fields: { id: null } };
  return { exists: false, identity, fields: {}, missing: true };
}

/** The lists in which the documents' references are looked up. */
export function listsFor(declared: readonly Declared[], profile: Profile): readonly ListName[] {
  return declared.flatMap((document) => kindOf(document.kind).referenceLists?.(document, profile) ?? []);
}

/** The lists in which the objects of documents are found by name. */
export function listsOfNames(documents: readonly Declared[], targets: readonly string[], profile: Profile) {
  const named = documents.flatMap(({ kind, identity, selector }) => {
    const { byName, bulk } = kindOf(kind);
    if (selector !== undefined) return bulk?.lists(selector) ?? [];
    return byName !== undefined && identity[byName.id] === undefined ? byName.lists(identity) : [];
  });
  const targeted = kinds.flatMap(({ name, byName }) =>
    targets.some((target) => target.startsWith(`${name}/`) && !byId.test(target))
      ? (byName?.lists({}) ?? [])
      : [],
  );
  return [...new Set([...named, ...targeted])].filter((name) => listScope(name, profile) !== undefined);
}

/** The lists in which names in whole sets are found, if several documents may declare the sets of an object. */
export function listsOfWholeSets(documents: readonly Declared[], profile: Profile): readonly ListName[] {
  if (!documents.some(({ selector }) => selector !== undefined)) return [];
  return documents.flatMap(({ kind, fields }) =>
    Object.entries(kindOf(kind).setLists ?? {}).flatMap(([field, list]) => {
      const { whole } = setParts(fields[field] ?? null);
      return Array.isArray(whole) && whole.length > 0 && listScope(list, profile) !== undefined ? [list] : [];
    }),
  );
}

/** Matches a target that can only contain an id, or that selects all objects. */
const byId = /^[^/]*\/([0-9a-f-]*\*?|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})(\/.*)?$/i;

/** The scopes that documents need: those of their kinds, and those of the lists that they refer to; sorted. */
export function scopesOf(declared: readonly Declared[], profile: Profile): Scope[] {
  const own = declared.map(({ kind }) => kindOf(kind).scope);
  const lists = [...listsFor(declared, profile), ...listsOfNames(declared, [], profile)];
  return [...new Set(withListScopes(own, lists, profile))].sort();
}

/** A reader that sends nothing more once the signal is aborted, and `check`, which throws then. */
function abortable(
  reader: Reader,
  signal: AbortSignal | undefined,
): { readonly reader: Reader; readonly check: () => void } {
  // One error for all remaining reads, since there may be many.
  const stop = lazy(() => interrupted('nothing more was asked'));
  const check = (): void => {
    if (signal?.aborted) throw stop();
  };
  /** Checks before the request, and again when its turn comes. */
  const checked = async <T>(
    isWanted: () => boolean,
    ask: (isWanted: () => boolean) => Promise<T>,
  ): Promise<T> => {
    check();
    let wasStopped = false;
    try {
      return await ask(() => {
        wasStopped = signal?.aborted === true;
        return !wasStopped && isWanted();
      });
    } catch (failure) {
      throw wasStopped ? stop() : failure;
    }
  };
  const always = () => true;
  return {
    check,
    reader: {
      listOrganizations: (page, wanted = always) =>
        checked(wanted, (still) => reader.listOrganizations(page, still)),
      showTemplate: (backendId, type, wanted = always) =>
        checked(wanted, (still) => reader.showTemplate(backendId, type, still)),
      showExtra: (read, params, parse, wanted = always) =>
        checked(wanted, (still) => reader.showExtra(read, params, parse, still)),
      listExtra: (read, page, parse, wanted = always) =>
        checked(wanted, (still) => reader.listExtra(read, page, parse, still)),
    },
  };
}

import { noProgress } from '../base/progress.js';
import { isByMember, value as valueType } from '../kinds/fields.js';
import { addressOf, kindOf } from '../kinds/index.js';
import type { Declared, Kind, Live } from '../kinds/kind.js';
import type { PendingRestore } from '../kinds/loss.js';
import { listNames, type ReadLists, type References } from '../kinds/references.js';
import { withSlowHashes } from '../secrets/slow-hash.js';
import type { WriteRequest } from '../server/operations.js';
import type { Recorded } from './compare.js';
import { Decider, pendingRestoreIn } from './decider.js';
import { blockLosses, countedLists, mayTake } from './keep.js';
import { listsFor, observe } from './observe.js';
import type { BuildOptions } from './options.js';
import type { Change } from './plan.js';
import { type Addressed, placeholderDocument, type Subject } from './subjects.js';

/** Plans single changes again: after a new observation, or to repair a loss. */
export interface Replan {
  /** When the plan's observations began, as a time of `performance.now()`. */
  readonly observedAt: number;
  /** Whether a change sends undeclared values of an object that can be read. Such an object is read again before each attempt. */
  carries(change: Change): boolean;
  /** Plans a change again, with lists no older than `notBefore`; undefined if the object can't be read. Throws the reader's failures. */
  again(change: Change, notBefore: number): Promise<Change | undefined>;
  /** Plans a repair after a loss: to the declared values, or to those before the update; undefined if there is none. */
  repair(change: Change, restore: PendingRestore, live: Live, aim: 'asked' | 'before'): Change | undefined;
}

/** For plans whose changes are sent as planned, without repair. */
export const noReplan: Replan = {
  observedAt: Number.POSITIVE_INFINITY,
  carries: () => false,
  again: async () => undefined,
  repair: () => undefined,
};

/** Plans the changes of a plan again, from its options and the lists that were read for it. */
export function replanOf(
  options: BuildOptions,
  byKey: ReadonlyMap<string, Addressed>,
  planned: Decider,
  read: ReadLists,
  changes: readonly Change[],
): Replan {
  let decider = planned;
  let held = read;
  /** The lists in which holders are counted for `safety.keep`, by what a change awaits: they are read after that. */
  const countedIn = new Map<string, ReadLists>();
  /** The lists of the present decider. */
  let seen: References | undefined;
  const carries: Replan['carries'] = ({ kind, requests, apply: { key } }) => {
    const one = byKey.get(key);
    if (one === undefined || !kindOf(kind).readable(options.profile)) return false;
    const declared = decider.adjusted(one);
    return requests.some((request) => carriesIn(request, kindOf(kind), declared));
  };
  return {
    observedAt: read.at,
    carries,
    async again(change, notBefore) {
      const { key } = change.apply;
      const one = byKey.get(key);
      if (one === undefined || !kindOf(one.subject.kind).readable(options.profile)) return undefined;
      // All replanned objects share the lists.
      if (held.at < notBefore) held = { at: performance.now(), lists: {} };
      const needed = listsFor(referring([one.subject], options), options.profile);
      const { live, references } = await observe([one.subject], needed, {
        ...options,
        lists: held.lists,
        oneByOne: carries(change),
        progress: noProgress,
      });
      // Building a decider processes all documents, so it is reused while the lists are the same.
      if (seen === undefined || listNames.some((name) => references[name] !== seen?.[name])) {
        const { references: earlier } = decider;
        decider = new Decider(options, { ...earlier, ...references }, earlier);
        seen = references;
      }
      const again = await withSlowHashes(() => decider.decide(one, live.get(one.subject)));
      if (again === undefined || options.safety.keep.length === 0 || !mayTake(again)) return again;
      const awaited = (change.awaits ?? []).join();
      const known = countedIn.get(awaited);
      const counted =
        known !== undefined && known.at >= notBefore ? known : { at: performance.now(), lists: {} };
      countedIn.set(awaited, counted);
      const present = await observe([], countedLists, {
        ...options,
        lists: counted.lists,
        progress: noProgress,
      });
      // What the rest of the plan takes counts, and what it gives counts as soon as the server shows it.
      const rest = async () => changes.filter(({ apply }) => apply.key !== key);
      const [kept] = await blockLosses([again], { ...options, read: counted }, present.references, rest);
      return kept;
    },
    repair({ apply }, restore, live, aim) {
      const one = byKey.get(apply.key);
      if (one === undefined) return undefined;
      const known = planned.recorded(apply.key) ?? NO_RECORD;
      const asked = decider.adjusted(one, undefined, known, live);
      const fields = Object.fromEntries(
        Object.entries(apply.before).filter(([field]) => Object.hasOwn(apply.expected, field)),
      );
      const before = { fields, absent: false, whole: Object.keys(fields), remembered: true } as const;
      const declared = aim === 'asked' ? asked : { ...asked, ...before };
      const change = decider.compare(one, live, { ...known, restore }, declared);
      if (change.action !== 'update' || change.requests.length === 0) return undefined;
      // An undo restores the fields from before the first request.
      return { ...change, apply: { ...change.apply, before: apply.before, managed: apply.managed } };
    },
  };
}

/** Whether a request sends undeclared values, such as the other keys of a map that is managed by key. */
function carriesIn({ body = {}, params }: WriteRequest, { fields }: Kind, declared: Declared): boolean {
  const ids = new Set<unknown>(Object.values(params));
  return Object.entries(body).some(
    ([name, value]) =>
      name !== 'id' &&
      !ids.has(value) &&
      (declared.fields[name] === undefined ||
        isByMember(fields[name] ?? valueType, declared.fields[name]) ||
        fields[name]?.type === 'list' ||
        (fields[name]?.type === 'map' && !declared.whole.includes(name))),
  );
}

const NO_RECORD: Recorded = {
  fields: {},
  uncertain: new Set(),
  at: '',
  run: '',
  matchesDeleteResponse: () => false,
};

/** The documents in which references are resolved: those of the subjects, and one for each pending restore. */
export function referring(subjects: readonly Subject[], { state, hasher }: BuildOptions): Declared[] {
  return subjects.flatMap(({ kind, identity, declared }) => {
    if (declared === undefined) return [];
    const restore = pendingRestoreIn(state, addressOf(kind, identity), hasher);
    if (restore === undefined) return [declared];
    const fields = 'before' in restore ? restore.before : restore.lost;
    return [declared, placeholderDocument(kind, identity, { fields })];
  });
}

import { noProgress } from '../base/progress.js';
import type { Fields } from '../base/values.js';
import { altered } from '../kinds/declared.js';
import { addressOf, kindOf } from '../kinds/index.js';
import type { Declared, Kind, Live } from '../kinds/kind.js';
import type { PendingRestore } from '../kinds/loss.js';
import { listNames, type ReadLists, type References } from '../kinds/references.js';
import { withSlowHashes } from '../secrets/slow-hash.js';
import type { WriteRequest } from '../server/operations.js';
import type { Recorded } from './compare.js';
import { Decider, pendingRestoreIn } from './decider.js';
import { listsFor, observe } from './observe.js';
import type { BuildOptions } from './options.js';
import type { Change } from './plan.js';
import { type Addressed, type Subject, undocumented } from './subjects.js';

/** Makes single changes of a plan anew: on what is there by then, and for what an update left behind. */
export interface Replan {
  /** When what the plan is built on began to be read, as `performance.now()` tells it. */
  readonly observedAt: number;
  /**
   * Whether the requests of a change hold values that no document declares, of an object that the server shows: these have to be as they
   * are right before they are sent.
   */
  carries(change: Change): boolean;
  /**
   * The same object planned on what the server shows now, with lists read no earlier than that; undefined where it
   * can't be asked about it. Throws what reading throws.
   */
  again(change: Change, notBefore: number): Promise<Change | undefined>;
  /**
   * What brings an object that an update took something from to what was asked for, or back to what was there before
   * it; undefined where nothing can.
   */
  repair(change: Change, owed: PendingRestore, live: Live, aim: 'asked' | 'before'): Change | undefined;
}

/** For a plan whose changes can't be made anew: what was planned is sent, and nothing is mended. */
export const noReplan: Replan = {
  observedAt: Number.POSITIVE_INFINITY,
  carries: () => false,
  again: async () => undefined,
  repair: () => undefined,
};

/** What makes the changes of a plan anew, given what they were made of; `read` are the lists that were read for it. */
export function replanOf(
  options: BuildOptions,
  byKey: ReadonlyMap<string, Addressed>,
  planned: Decider,
  read: ReadLists,
): Replan {
  let decider = planned;
  let held = read;
  /** The lists that the decider was made with. */
  let seen: References | undefined;
  const carries: Replan['carries'] = ({ kind, requests, apply: { key } }) => {
    const one = byKey.get(key);
    if (one === undefined || !kindOf(kind).readable(options.profile)) return false;
    const declared = decider.adjusted(one, undefined);
    return requests.some((request) => carriesIn(request, kindOf(kind), declared));
  };
  return {
    observedAt: read.at,
    carries,
    async again(change, notBefore) {
      const { key } = change.apply;
      const one = byKey.get(key);
      if (one === undefined || !kindOf(one.subject.kind).readable(options.profile)) return undefined;
      // The lists serve all objects that are planned anew in their time.
      if (held.at < notBefore) held = { at: performance.now(), lists: {} };
      const needed = listsFor(referring([one.subject], options), options.profile);
      const { live, references } = await observe([one.subject], needed, {
        ...options,
        lists: held.lists,
        alone: carries(change),
        progress: noProgress,
      });
      // Making one looks at all documents: it serves as long as the lists are the same.
      if (seen === undefined || listNames.some((name) => references[name] !== seen?.[name])) {
        const { references: earlier } = decider;
        decider = new Decider(options, { ...earlier, ...references }, earlier);
        seen = references;
      }
      return await withSlowHashes(() => decider.decide(one, live.get(one.subject)));
    },
    repair({ apply }, owed, live, aim) {
      const one = byKey.get(apply.key);
      if (one === undefined) return undefined;
      const known = planned.recorded(apply.key) ?? NO_RECORD;
      const asked = decider.adjusted(one, undefined);
      const before = altered(asked, {
        fields: picked(apply.before, Object.keys(apply.expected)),
        absent: false,
        remembered: true,
      });
      const declared = aim === 'asked' ? asked : altered(before, { whole: Object.keys(before.fields) });
      const change = decider.compare(one, live, { ...known, owed }, declared);
      if (change.action !== 'update' || change.requests.length === 0) return undefined;
      // What the object had before the first of the requests, which is what undoing leads back to.
      return { ...change, apply: { ...change.apply, before: apply.before, managed: apply.managed } };
    },
  };
}

/** Whether a request sends what a document doesn't declare. Of a map that is managed key by key it sends every key. */
function carriesIn({ body = {}, params }: WriteRequest, { fields }: Kind, declared: Declared): boolean {
  const ids = new Set<unknown>(Object.values(params));
  return Object.entries(body).some(
    ([name, value]) =>
      name !== 'id' &&
      !ids.has(value) &&
      (declared.fields[name] === undefined ||
        (fields[name]?.type === 'map' && !declared.whole.includes(name))),
  );
}

const NO_RECORD: Recorded = { fields: {}, uncertain: new Set(), at: '', run: '', asDeleted: () => false };

function picked(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(
    names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  );
}

/** What may refer to other things: the documents, and what is owed to objects. */
export function referring(subjects: readonly Subject[], { state, hasher }: BuildOptions): Declared[] {
  return subjects.flatMap(({ kind, identity, declared }) => {
    if (declared === undefined) return [];
    const owed = pendingRestoreIn(state, addressOf(kind, identity), hasher);
    if (owed === undefined) return [declared];
    const fields = 'before' in owed ? owed.before : owed.lost;
    return [declared, altered(undocumented(kind, identity), { fields })];
  });
}

import { noProgress } from '../base/progress.js';
import type { Fields } from '../base/values.js';
import { altered } from '../kinds/declared.js';
import { addressOf, kindOf } from '../kinds/index.js';
import type { Declared, Live } from '../kinds/kind.js';
import type { Owed } from '../kinds/loss.js';
import { type HeldLists, listNames, type References } from '../kinds/references.js';
import { withSlowHashes } from '../state/slow-hash.js';
import type { Recorded } from './compare.js';
import { Decider, owedIn } from './decide.js';
import { listsFor, observe } from './observe.js';
import type { BuildOptions } from './options.js';
import type { Change } from './plan.js';
import { type Addressed, type Subject, undocumented } from './subjects.js';

/** Makes single changes of a plan anew: on what is there by then, and for what an update left behind. */
export interface Replan {
  /** When what the plan is built on began to be read, as `performance.now()` tells it. */
  readonly observedAt: number;
  /**
   * The same object planned on what the server shows now, with lists read no earlier than that; undefined where it
   * can't be asked about it. Throws what reading throws.
   */
  again(change: Change, notBefore: number): Promise<Change | undefined>;
  /**
   * What brings an object that an update took something from to what was asked for, or back to what was there before
   * it; undefined where nothing can.
   */
  repair(change: Change, owed: Owed, live: Live, aim: 'asked' | 'before'): Change | undefined;
}

/** For a plan whose changes can't be made anew: what was planned is sent, and nothing is mended. */
export const noReplan: Replan = {
  observedAt: Number.POSITIVE_INFINITY,
  again: async () => undefined,
  repair: () => undefined,
};

/** What makes the changes of a plan anew, given what they were made of. */
export function replanOf(
  options: BuildOptions,
  byKey: ReadonlyMap<string, Addressed>,
  planned: Decider,
  observedAt: number,
): Replan {
  let decider = planned;
  let held: { readonly at: number; readonly lists: HeldLists } | undefined;
  /** The lists that the decider was made with. */
  let seen: References | undefined;
  return {
    observedAt,
    async again({ apply: { key } }, notBefore) {
      const one = byKey.get(key);
      if (one === undefined || !kindOf(one.subject.kind).readable(options.profile)) return undefined;
      // The lists serve all objects that are planned anew in their time.
      if (held === undefined || held.at < notBefore) held = { at: performance.now(), lists: {} };
      const needed = listsFor(referring([one.subject], options), options.profile);
      const { live, references } = await observe([one.subject], needed, {
        ...options,
        lists: held.lists,
        progress: noProgress,
      });
      // Making one looks at all documents: it serves as long as the lists are the same.
      if (seen === undefined || listNames.some((name) => references[name] !== seen?.[name])) {
        const { references: earlier, names } = decider;
        decider = new Decider(options, { ...earlier, ...references }, names, earlier);
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
    const owed = owedIn(state, addressOf(kind, identity), hasher);
    if (owed === undefined) return [declared];
    const fields = 'before' in owed ? owed.before : owed.lost;
    return [declared, altered(undocumented(kind, identity), { fields })];
  });
}

import type { Problem } from '../base/problems.js';
import type { RunStore } from '../state/backend.js';
import type { JournalContent, RunLine } from '../state/journal.js';
import { newestSettled, openRuns } from '../state/shards.js';
import type { State } from '../state/state.js';
import { readRuns } from './find-runs.js';
import { belongsTo } from './owner.js';

/** Which journals to keep: by age, by number; a journal that either keeps is kept. */
export interface RetentionPolicy {
  /** Milliseconds. */
  readonly age: number | undefined;
  readonly last: number | undefined;
}

/** The runs of a state, oldest first in each list. */
export interface PrunePlan {
  readonly remove: readonly RunLine[];
  readonly keep: readonly RunLine[];
  /** Those of `keep` that age and number would remove, but that are still needed. */
  readonly needed: readonly { readonly run: RunLine; readonly why: string }[];
  /** The problems of unreadable journals, which stay. */
  readonly problems: readonly Problem[];
}

/** Chooses the journals of a state that nobody needs any more. Journals of other states in the same folder stay. */
export async function planPruning(
  runs: RunStore,
  state: State,
  keep: RetentionPolicy,
  now: Date,
): Promise<PrunePlan> {
  const { runs: found, problems } = await readRuns(runs);
  // The journals of one run go together or not at all: an undo of a part of them would be wrong.
  const byRun = found
    .map(({ contents }) => contents.filter(({ run }) => belongsTo(run, state)))
    .filter((contents) => contents.length > 0);
  const old = byRun.filter((parts, index) => {
    const ends = parts.map(({ run, lines }) => Date.parse(lines.at(-1)?.at ?? run.at));
    return (
      !(keep.age !== undefined && now.getTime() - Math.max(...ends) <= keep.age) &&
      !(keep.last !== undefined && index >= byRun.length - keep.last)
    );
  });
  const needed: { run: RunLine; why: string }[] = [];
  const removable: RunLine[] = [];
  for (const parts of old) {
    const reasons = parts.flatMap((content) => {
      const why = whyNeeded(content, state);
      return why === undefined ? [] : [{ run: content.run, why }];
    });
    needed.push(...reasons);
    if (reasons.length === 0) removable.push(...parts.map(({ run }) => run));
  }
  const remaining = byRun
    .flat()
    .map(({ run }) => run)
    .filter((run) => !removable.includes(run));
  return { remove: removable, keep: remaining, needed, problems };
}

/** Why a journal is needed, whatever its age. */
function whyNeeded({ run: { run }, ended }: JournalContent, state: State): string | undefined {
  if (!ended || openRuns(state).has(run)) return 'it has not ended';
  if (Object.values(state.resources).some((record) => record.pending_regeneration === run)) {
    return 'a regeneration in it has no known outcome yet; idops runs settle takes the answer';
  }
  if (Object.values(state.resources).some((record) => record.owed?.run === run)) {
    return 'what it took away is not put back yet';
  }
  const newestHeld = newestSettled(state, run);
  if (newestHeld === undefined || run > newestHeld) return 'the state does not hold it yet';
  return run === newestHeld ? 'it is the newest that the state holds' : undefined;
}

import type { Problem } from '../base/problems.js';
import type { RunStore } from '../state/backend.js';
import type { JournalContent, RunLine } from '../state/journal.js';
import { newestSettled, openRuns } from '../state/shards.js';
import type { State } from '../state/state.js';
import { readRuns } from './find-runs.js';
import { belongsTo } from './owner.js';

/** Which journals to keep; undefined sets no limit. A journal within either limit is kept. */
export interface RetentionPolicy {
  /** Milliseconds. */
  readonly age: number | undefined;
  readonly last: number | undefined;
}

/** The runs of a state, oldest first in each list. */
export interface PrunePlan {
  readonly remove: readonly RunLine[];
  readonly keep: readonly RunLine[];
  /** Those of `keep` that are beyond the limits and still needed. */
  readonly needed: readonly { readonly run: RunLine; readonly why: string }[];
  /** The problems of unreadable journals, which are kept. */
  readonly problems: readonly Problem[];
}

/** Chooses the journals of a state to remove. Ignores journals of other states in the same folder. */
export async function planPruning(
  runs: RunStore,
  state: State,
  keep: RetentionPolicy,
  now: Date,
): Promise<PrunePlan> {
  const { runs: found, problems } = await readRuns(runs);
  // The journals of a run are removed together: an undo with only some of them would be wrong.
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

/** Why a journal is still needed; undefined if it isn't. */
function whyNeeded({ run: { run }, ended }: JournalContent, state: State): string | undefined {
  if (!ended || openRuns(state).has(run)) return 'it has not ended';
  if (Object.values(state.resources).some((record) => record.pending_regeneration === run)) {
    return 'the outcome of a regeneration in it is unknown; idops runs settle records it';
  }
  if (Object.values(state.resources).some((record) => record.owed?.run === run)) {
    return 'what it removed is not restored yet';
  }
  const newestHeld = newestSettled(state, run);
  if (newestHeld === undefined || run > newestHeld) return 'it is not in the state yet';
  return run === newestHeld ? 'it is the newest in the state' : undefined;
}

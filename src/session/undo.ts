import { findRun } from '../apply/find-runs.js';
import { entriesOf } from '../apply/journal-entries.js';
import type { StateLocation } from '../apply/owner.js';
import { newestRun } from '../apply/resume.js';
import type { Left } from '../apply/undo.js';
import { problemError } from '../base/problems.js';
import { runOf } from '../base/shard.js';
import { addressOf, kindOf } from '../kinds/index.js';
import type { Declared } from '../kinds/kind.js';
import type { Plan } from '../plan/plan.js';
import { labelIn, namesInJournal } from '../report/names.js';
import type { JournalContent } from '../state/journal.js';
import type { State } from '../state/state.js';
import type { UndoPlan } from './session.js';

/** The plan of an undo without its blocked changes, which `left` lists instead. */
export function undoPlan(plan: Plan, given: readonly Left[], content: JournalContent): UndoPlan {
  const blocked = plan.changes.filter(({ action }) => action === 'blocked');
  const left = [
    ...given,
    ...blocked.map(({ address, reason }) => ({ address, path: null, reason: reason ?? 'it is blocked' })),
  ];
  return {
    plan: {
      ...plan,
      changes: plan.changes
        .filter(({ action }) => action !== 'blocked')
        .map((change) => ({ ...change, declaredAt: null, apply: { ...change.apply, managed: [] } })),
    },
    left: withPlanLabels(left, plan, content),
  };
}

/** The recorded templates and pages of objects that an undo creates again: the server deleted both together. */
export function partsLeft(declared: readonly Declared[], { resources }: Pick<State, 'resources'>): Left[] {
  const recreated = declared.filter(({ creates }) => creates === true);
  const owners = new Map(recreated.map(({ kind, identity, replaces }) => [replaces ?? identity.id, kind]));
  return Object.values(resources).flatMap(({ kind, identity, left, deleted }) => {
    const owner = owners.get(identity[kindOf(kind).parentId ?? ''] ?? '');
    if (owner === undefined || left === undefined || deleted !== undefined) return [];
    const reason = `it was deleted with its ${kindOf(owner).noun}; apply its manifest to restore it`;
    return [{ address: addressOf(kind, identity), path: null, reason }];
  });
}

/** What is left, with the address and the label of each object in the plan. */
function withPlanLabels(left: readonly Left[], { changes }: Plan, content: JournalContent): readonly Left[] {
  const entries = entriesOf(content);
  const names = namesInJournal(entries);
  const past = new Map(entries.map((entry) => [entry.sending.address, entry]));
  const planned = new Map(changes.map((change) => [change.apply.key, change]));
  return left.map((one) => {
    const entry = past.get(one.address);
    const change = planned.get(entry?.sending.key ?? one.address);
    const { label } = change ?? (entry === undefined ? {} : labelIn(entry, names));
    return { ...one, ...(change && { address: change.address }), ...(label === undefined ? {} : { label }) };
  });
}

/** The run that `undo --last` undoes: the newest run or, if it is an unfinished undo, the run that it undoes. Throws a ProblemsError if there is none. */
export async function lastRun(location: StateLocation, state: State): Promise<string> {
  const newest = await newestRun(location, state);
  if (newest === undefined) {
    const hint = 'only idops apply makes runs; --env and state in the configuration choose the state';
    throw problemError('no-such-run', 'this state has no runs', hint);
  }
  const content = await findRun(location.backend.runs, newest);
  const { run, undoes } = content.run;
  if (undoes === undefined) return runOf(run);
  const ends = content.lines.filter((line) => line.type === 'end');
  if (ends.length === 0 || ends.some(({ interrupted }) => interrupted)) return undoes;
  const message = `the newest run ${runOf(run)} is already an undo of run ${undoes}`;
  const hint = `idops undo ${undoes} retries what it left; idops undo ${runOf(run)} undoes it`;
  throw problemError('already-undone', message, hint);
}

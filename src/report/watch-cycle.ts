import { countedWords, type Result } from '../apply/result.js';
import { escapeText } from '../base/escape.js';
import type { Problem } from '../base/problems.js';
import { isListed } from '../plan/drift.js';
import type { Action, Plan } from '../plan/plan.js';
import { planJson, problemsJson, resultJson } from './json.js';
import { resultText } from './result-text.js';
import { headline } from './review.js';
import { planText, type TextOptions } from './text.js';

/** What differs from the previous cycle. */
export interface ChangedInCycle {
  readonly plan: boolean;
  readonly result: boolean;
  readonly problems: boolean;
}

export interface ShownCycle {
  readonly number: number;
  /** When it started: ISO 8601 in UTC. */
  readonly time: string;
  readonly seconds: number;
  readonly outcome: Outcome;
  readonly plan: Plan | null;
  readonly result: Result | null;
  readonly problems: readonly Problem[];
  readonly notes: readonly string[];
  readonly changed: ChangedInCycle;
}

/** The number of changes by kind and action, without unchanged objects. */
function countByKind({ changes }: Pick<Plan, 'changes'>): Map<string, Map<Action, number>> {
  const kinds = new Map<string, Map<Action, number>>();
  for (const { kind, action } of changes) {
    if (action === 'unchanged') continue;
    const counts = kinds.get(kind) ?? new Map<Action, number>();
    kinds.set(kind, counts.set(action, (counts.get(action) ?? 0) + 1));
  }
  return kinds;
}

export function cycleText(cycle: ShownCycle, options: TextOptions): string {
  const { plan, result, changed } = cycle;
  const parts = [
    `${cycleLine(cycle)}\n`,
    ...(plan !== null && changed.plan && hasContent(plan) ? [planText(plan, options)] : []),
    ...(result !== null && changed.result ? [resultText(result, options)] : []),
  ];
  return parts.join('\n') + (parts.length > 1 ? '\n' : '');
}

function cycleLine({ time, outcome, plan, result, problems, changed, seconds }: ShownCycle): string {
  const codes = new Set(problems.flatMap(({ severity, code }) => (severity === 'error' ? [code] : [])));
  const details = [
    ...(plan === null ? [] : [planWords(plan)]),
    ...(result === null ? [] : countedWords(result)),
    ...(result === null || result.run === null ? [] : [`run ${result.run}`]),
    ...codes,
  ];
  const isNew = changed.plan || changed.result || changed.problems;
  const isRepeated = !isNew && outcome !== 'unchanged' && outcome !== 'interrupted';
  const words = [...details, ...(isRepeated ? ['as before'] : []), `${seconds.toFixed(1)} s`];
  return escapeText(`${time} ${outcome}: ${words.join(', ')}`);
}

function planWords(plan: Plan): string {
  const kinds = [...countByKind(plan)].map(([kind, counts]) => {
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
    return `${all} ${kind}`;
  });
  return `${headline(plan)}${kinds.length === 0 ? '' : ` (${kinds.join(', ')})`}`;
}

function hasContent({ changes, warnings }: Plan): boolean {
  return warnings.length > 0 || changes.some((change) => isListed(change, false));
}

export function cycleJson(cycle: ShownCycle, options: Pick<TextOptions, 'debug' | 'only'>) {
  const { number, time, outcome, seconds, plan, result, changed, problems, notes } = cycle;
  const json = plan === null ? null : planJson(plan, options);
  return {
    format_version: 1,
    turn: number,
    time,
    outcome,
    seconds: Math.round(seconds * 1000) / 1000,
    new: changed.plan || changed.result || changed.problems,
    summary: json === null ? null : json.summary,
    kinds:
      plan === null
        ? null
        : Object.fromEntries(
            [...countByKind(plan)].map(([kind, counts]) => [kind, Object.fromEntries(counts)]),
          ),
    ...(json !== null && plan !== null && changed.plan && hasContent(plan) ? { plan: json } : {}),
    ...(result === null ? {} : { result: resultJson(result) }),
    problems: problemsJson(problems).problems,
    notes: [...notes],
  };
}

export const outcomes = [
  'unchanged',
  // There are changes, and watch runs without --apply.
  'changes',
  // As above, and some changes are drift.
  'drift',
  'applied',
  // Something is blocked, or a limit of `safety` is exceeded.
  'refused',
  // The plan couldn't be made or wasn't applied completely.
  'failed',
  'interrupted',
] as const;

export type Outcome = (typeof outcomes)[number];

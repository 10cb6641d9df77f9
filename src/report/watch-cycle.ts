import { countedWords, type Result } from '../apply/result.js';
import { escapeText } from '../base/escape.js';
import type { Problem } from '../base/problems.js';
import { isListed } from '../plan/drift.js';
import type { Action, Plan } from '../plan/plan.js';
import { planJson, problemsJson, resultJson } from './json.js';
import { resultText } from './result-text.js';
import { headline } from './review.js';
import { planText, type TextOptions } from './text.js';

export interface NewInCycle {
  readonly plan: boolean;
  readonly result: boolean;
  readonly problems: boolean;
}

export interface ShownCycle {
  readonly number: number;
  /** Start, ISO 8601 in UTC. */
  readonly time: string;
  readonly seconds: number;
  readonly outcome: Outcome;
  readonly plan: Plan | null;
  readonly result: Result | null;
  readonly problems: readonly Problem[];
  readonly notes: readonly string[];
  readonly news: NewInCycle;
}

/** Numbers of changes by kind and action, without unchanged ones. */
export function countKinds({ changes }: Pick<Plan, 'changes'>): Map<string, Map<Action, number>> {
  const kinds = new Map<string, Map<Action, number>>();
  for (const { kind, action } of changes) {
    if (action === 'unchanged') continue;
    const counts = kinds.get(kind) ?? new Map<Action, number>();
    kinds.set(kind, counts.set(action, (counts.get(action) ?? 0) + 1));
  }
  return kinds;
}

export function cycleText(cycle: ShownCycle, options: TextOptions): string {
  const { plan, result, news } = cycle;
  const parts = [
    `${cycleLine(cycle)}\n`,
    ...(plan !== null && news.plan && hasContent(plan) ? [planText(plan, options)] : []),
    ...(result !== null && news.result ? [resultText(result, options)] : []),
  ];
  return parts.join('\n') + (parts.length > 1 ? '\n' : '');
}

function cycleLine({ time, outcome, plan, result, problems, news, seconds }: ShownCycle): string {
  const codes = new Set(problems.flatMap(({ severity, code }) => (severity === 'error' ? [code] : [])));
  const details = [
    ...(plan === null ? [] : [planWords(plan)]),
    ...(result === null ? [] : countedWords(result)),
    ...(result === null || result.run === null ? [] : [`run ${result.run}`]),
    ...codes,
  ];
  const isNew = news.plan || news.result || news.problems;
  const isOld = !isNew && outcome !== 'unchanged' && outcome !== 'interrupted';
  const words = [...details, ...(isOld ? ['as before'] : []), `${seconds.toFixed(1)} s`];
  return escapeText(`${time} ${outcome}: ${words.join(', ')}`);
}

function planWords(plan: Plan): string {
  const kinds = [...countKinds(plan)].map(([kind, counts]) => {
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
    return `${all} ${kind}`;
  });
  return `${headline(plan)}${kinds.length === 0 ? '' : ` (${kinds.join(', ')})`}`;
}

function hasContent({ changes, warnings }: Plan): boolean {
  return warnings.length > 0 || changes.some((change) => isListed(change, false));
}

export function cycleJson(cycle: ShownCycle, options: Pick<TextOptions, 'debug' | 'only'>) {
  const { number, time, outcome, seconds, plan, result, news, problems, notes } = cycle;
  const json = plan === null ? null : planJson(plan, options);
  return {
    format_version: 1,
    turn: number,
    time,
    outcome,
    seconds: Math.round(seconds * 1000) / 1000,
    new: news.plan || news.result || news.problems,
    summary: json === null ? null : json.summary,
    kinds:
      plan === null
        ? null
        : Object.fromEntries(
            [...countKinds(plan)].map(([kind, counts]) => [kind, Object.fromEntries(counts)]),
          ),
    ...(json !== null && plan !== null && news.plan && hasContent(plan) ? { plan: json } : {}),
    ...(result === null ? {} : { result: resultJson(result) }),
    problems: problemsJson(problems).problems,
    notes: [...notes],
  };
}

export const outcomes = [
  'unchanged',
  // There are changes, and nothing applies them.
  'changes',
  // The same, and some of them are drift.
  'drift',
  'applied',
  // Something is blocked, or the plan is more destructive than allowed.
  'refused',
  // There is no plan, or not all of it could be applied.
  'failed',
  'interrupted',
] as const;

export type Outcome = (typeof outcomes)[number];

import { bare, displayWidth } from '../base/escape.js';
import type { ProblemCode } from '../base/problems.js';
import type { Value } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import type { Action, Change, FieldChange, Plan } from '../plan/plan.js';
import { summarize } from '../plan/plan.js';
import { type BodyDifference, compareBodies, countLines } from './bodies.js';
import { compareSets, type ElementChange } from './sets.js';
import { fateText, fieldPair } from './values.js';
import { lineWidth, plural } from './words.js';

/** Changes that a reviewer looks at together. */
export interface ReviewGroup {
  readonly title: string;
  /** How much it matters that a reviewer sees it; 0 matters most. */
  readonly rank: number;
  readonly changes: readonly Change[];
}

/** A plan's changes in the order in which they are reviewed: what would be lost first, what can't be done next. */
export function reviewGroups(plan: Plan, { debug }: { readonly debug: boolean }): ReviewGroup[] {
  const destructive = plan.changes.filter(isDestructive);
  const rest = plan.changes.filter((change) => !isDestructive(change));
  const of = (action: Action) => rest.filter((change) => change.action === action);
  const done = rest.filter(({ action }) => ['update', 'delete', 'regenerate'].includes(action));
  const byKind = new Map<string, Change[]>();
  for (const change of done) byKind.set(change.kind, [...(byKind.get(change.kind) ?? []), change]);
  return [
    { title: 'Destructive', rank: 0, changes: destructive },
    { title: 'Blocked', rank: 0, changes: of('blocked') },
    ...[...byKind.values()].map((changes) => ({ title: kindTitle(changes), rank: 1, changes })),
    { title: 'Recorded only, nothing is sent', rank: 2, changes: of('adopt') },
    { title: 'Unchanged', rank: 3, changes: debug ? of('unchanged') : [] },
  ].filter(({ changes }) => changes.length > 0);
}

function kindTitle(changes: readonly Change[]): string {
  const [first] = changes;
  if (first === undefined) return '';
  const noun = kindOf(first.kind).noun;
  return noun.charAt(0).toUpperCase() + noun.slice(1) + (changes.length === 1 ? '' : 's');
}

/** Whether something would be lost. */
export function isDestructive({ destructions }: Change): boolean {
  return destructions.length > 0;
}

/** Every warning of a plan, with the change that it is about; null for those about the plan as a whole. */
export function allWarnings(
  plan: Plan,
): { readonly change: Change | null; readonly code: ProblemCode; readonly message: string }[] {
  return [
    ...plan.warnings.map((warning) => ({ ...warning, change: null })),
    ...plan.changes.flatMap((change) => change.warnings.map((warning) => ({ ...warning, change }))),
  ];
}

/** The counts of a plan for a headline, in words: `3 to update, 1 to delete, 12 unchanged`. */
export function headline(plan: Plan): string {
  const count = summarize(plan);
  const parts = [
    [count.update, 'to update'],
    [count.delete, 'to delete'],
    [count.regenerate, 'to regenerate'],
    [count.adopt, 'to adopt'],
    [count.blocked, 'blocked'],
  ] as const;
  const told = parts.filter(([number]) => number > 0).map(([number, words]) => `${number} ${words}`);
  if (told.length === 0) {
    if (plan.undoes !== undefined) return 'nothing to put back';
    return count.unchanged === 0 ? 'nothing is declared' : `nothing to change, ${count.unchanged} unchanged`;
  }
  return [...told, `${count.unchanged} unchanged`].join(', ');
}

/** Where the present value came from, where that isn't the server just now. */
export function observedNote(change: Change): string | null {
  if (change.action === 'adopt') {
    const generation = change.apply.generation;
    return generation === undefined || change.fields.length > 0
      ? 'will be recorded, nothing is sent'
      : `did_generation ${generation} will be recorded, nothing is sent`;
  }
  if (change.observed === 'recorded') {
    const time = change.recordedAt === undefined ? '' : ` ${change.recordedAt}`;
    // The DID beside it may well have been read.
    const what = change.apply.generation === undefined ? '' : 'did_generation ';
    return change.apply.existed === true
      ? `${what}compared with what was recorded${time}, since the server doesn't show it`
      : `${what}compared with what was recorded${time}, not read from the server`;
  }
  return change.observed === 'unknown' && change.action === 'update'
    ? 'the present value is unknown, so this will be asserted'
    : null;
}

/** One difference in the form in which it is shown; every text in it is harmless, on one line. */
export type FieldView =
  | { readonly view: 'secret'; readonly unknown: boolean }
  | {
      readonly view: 'set';
      /** Said where the present elements aren't known. */
      readonly head: string | null;
      readonly elements: readonly ElementChange[];
      readonly kept: number;
    }
  | {
      readonly view: 'body';
      /** What the diff doesn't say: that a body is cleared, how line endings change. */
      readonly notes: readonly string[];
      readonly hunks: BodyDifference['hunks'];
    }
  | { readonly view: 'value'; readonly before: string; readonly after: string };

/** How a difference is best shown; with `diff`, short bodies are compared line by line too. */
export function viewField(
  field: FieldChange,
  { whole, diff = false }: { readonly whole: boolean; readonly diff?: boolean },
): FieldView {
  const { before } = field;
  if (field.sensitive) return { view: 'secret', unknown: before === undefined };
  return (
    (field.type === 'set' ? viewSet(field) : undefined) ??
    viewBody(field, diff) ?? { view: 'value', ...fieldPair(field, whole) }
  );
}

/** A change of one value of no more characters is told in one line. */
const shortLength = 100;

/** The one value that changes, where it is short and there is nothing else to tell. */
export function shortValue(
  change: Change,
): { readonly path: string; readonly before: string; readonly after: string } | undefined {
  const [field, ...others] = change.fields;
  if (field === undefined || others.length > 0 || observedNote(change) !== null) return undefined;
  const view = viewField(field, { whole: false });
  if (view.view !== 'value' || view.before.length + view.after.length > shortLength) return undefined;
  return { path: field.path, before: view.before, after: view.after };
}

function viewSet({ before, after, confirmed = false }: FieldChange): FieldView | undefined {
  const difference = compareSets(before, after, confirmed);
  if (difference === undefined) return undefined;
  const { elements, kept, move } = difference;
  const head =
    before !== undefined ? move : `(unknown) → ${elements.length === 0 ? 'none' : 'exactly these'}`;
  return { view: 'set', head, elements, kept };
}

function viewBody(field: FieldChange, diff: boolean): FieldView | undefined {
  const { before, after, type } = field;
  if (!isText(before) || !isText(after)) return undefined;
  const several = [before, after].some((text) => text?.includes('\n'));
  const short = [before, after].every((text) => text == null || displayWidth(text) <= lineWidth / 2);
  if (!several && (type !== 'body' || (short && !diff))) return undefined;
  const { notes, hunks, tooDifferent } = compareBodies(before ?? '', after ?? '');
  const said = [
    ...(before === undefined && after !== null
      ? [`the present value is unknown; it will be ${plural(countLines(after), 'line')}`]
      : []),
    ...(before === null ? ['there was none (null)'] : []),
    ...(after === null ? [fateText(field) ?? 'cleared (null)'] : []),
    ...notes,
    ...(tooDifferent === null ? [] : [tooDifferent]),
  ];
  return { view: 'body', notes: said, hunks };
}

function isText(value: Value | undefined): value is string | null | undefined {
  return value === undefined || value === null || typeof value === 'string';
}

/** How many lines a body's difference adds and takes away. */
export function countChanges(hunks: BodyDifference['hunks']): { added: number; removed: number } {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return {
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
  };
}

/** A place as a person reads it, harmless. */
export function placeText({ file, line }: { readonly file: string; readonly line: number }): string {
  return `${bare(file)}:${line}`;
}

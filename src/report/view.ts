import { displayWidth, escapeText } from '../base/escape.js';
import { isMap, same, type Value } from '../base/values.js';
import { isUnplanned } from '../plan/drift.js';
import type { Change, FieldChange } from '../plan/plan.js';
import { operationPath, operations } from '../server/operations.js';
import { type BodyDifference, compareBodies, countLines } from './bodies.js';
import { driftText } from './drift.js';
import { type DiffLine, hunkHead, hunkLines } from './hunks.js';
import { compareSets, type ElementChange } from './set-difference.js';
import { inlinePair } from './values.js';
import { lineWidth } from './words.js';

/* What every format shows of a change. Every text in a view is escaped, on one line. */

interface Drifting {
  readonly drift: string | null;
}

export interface SecretView extends Drifting {
  readonly view: 'secret';
  readonly path: string;
  readonly unknown: boolean;
  readonly removed: boolean;
}

export interface SetView extends Drifting {
  readonly view: 'set';
  readonly path: string;
  /** A note if the present elements are unknown. */
  readonly head: string | null;
  readonly elements: readonly ElementChange[];
  readonly kept: number;
}

export interface BodyView extends Drifting {
  readonly view: 'body';
  readonly path: string;
  readonly before: 'text' | 'null' | 'unknown';
  /** A note if the text is removed. */
  readonly removal: string | null;
  readonly lines: number;
  /** What a line diff doesn't show, such as changed line endings. */
  readonly notes: readonly string[];
  /** The changed lines; the whole text if the present one is unknown. */
  readonly hunks: readonly {
    /** `@@ -1,3 +1,4 @@` */
    readonly head: string;
    readonly lines: readonly DiffLine[];
  }[];
}

export interface ValueView extends Drifting {
  readonly view: 'value';
  readonly path: string;
  /** Whether the present value is unknown, as `before` says. */
  readonly unknown: boolean;
  /** Sides without a value, as their text says. */
  readonly lacks?: 'before' | 'after';
  /** Whether the object is new, so that there is nothing before. */
  readonly isNew?: true;
  readonly before: string;
  readonly after: string;
}

export type FieldView = SecretView | SetView | BodyView | ValueView;

export interface ViewOptions {
  /** Don't shorten long values and new texts. */
  readonly whole: boolean;
  /** Compare short bodies by lines too. */
  readonly medium: 'terminal' | 'comment' | 'page';
}

export function viewField(field: FieldChange, options: ViewOptions): FieldView {
  const path = escapeText(field.path);
  const unknown = field.before === undefined;
  const drift = driftText(field, options.whole);
  if (isUnplanned(field)) return { ...viewField(driftAsChange(field), options), drift };
  if (field.sensitive) return { view: 'secret', path, unknown, removed: field.becomes === 'removed', drift };
  const view = (field.type === 'set' ? viewSet(path, field, options) : undefined) ??
    viewBody(path, field, options) ?? { view: 'value', path, unknown, ...valuePair(field, options) };
  return { ...view, drift };
}

function driftAsChange({ drift, was, ...field }: FieldChange): FieldChange {
  const before = drift?.recorded ?? null;
  return {
    ...field,
    before,
    ...(before === null ? { was: 'absent' } : {}),
    ...(was === 'absent' ? { becomes: 'removed' } : {}),
  };
}

export function removalText({ becomes }: FieldChange): string | undefined {
  switch (becomes) {
    case 'built-in':
      return "the server's built-in text takes its place";
    case 'gone':
      return 'deleted';
    case 'removed':
      return 'removed';
    default:
      return undefined;
  }
}

function valuePair(
  field: FieldChange,
  { whole }: ViewOptions,
): Pick<ValueView, 'before' | 'after' | 'lacks' | 'isNew'> {
  const pair = inlinePair(
    shortReference(field.before, field),
    shortReference(field.after, field) ?? null,
    whole,
  );
  const removal = removalText(field);
  if (field.was === 'new') return { before: '', after: pair.after, isNew: true };
  return {
    before: field.was === 'absent' ? '(absent)' : pair.before,
    after: removal === undefined ? pair.after : `(${removal})`,
    ...(field.was === 'absent' ? { lacks: 'before' } : removal === undefined ? {} : { lacks: 'after' }),
  };
}

/** A reference by its name, if no other object has that. */
function shortReference(value: Value | undefined, { type, confirmed }: FieldChange): Value | undefined {
  const isNamed = type === 'reference' && confirmed === true && value !== undefined && isMap(value);
  return isNamed ? (value.name ?? value) : value;
}

function viewSet(
  path: string,
  { before, after, confirmed = false }: FieldChange,
  { whole }: ViewOptions,
): Omit<SetView, 'drift'> | undefined {
  const difference =
    compareSets(before, after, confirmed, whole) ??
    // Sent again although it matches the record.
    (before !== undefined && same(before, after)
      ? compareSets(undefined, after, confirmed, whole)
      : undefined);
  if (difference === undefined) return undefined;
  const { elements, kept } = difference;
  const unknown = `(unknown) → ${elements.length === 0 ? 'none' : 'exactly these'}`;
  return { view: 'set', path, head: before === undefined ? unknown : null, elements, kept };
}

function viewBody(
  path: string,
  field: FieldChange,
  options: ViewOptions,
): Omit<BodyView, 'drift'> | undefined {
  const { before, after } = field;
  if (!isText(before) || !isText(after) || fitsLine(field, before, after, options)) return undefined;
  const { notes, hunks } =
    before === undefined ? newLines(after ?? '') : compareBodies(before ?? '', after ?? '');
  return {
    view: 'body',
    path,
    before: before === undefined ? 'unknown' : before === null && field.was === undefined ? 'null' : 'text',
    removal: after === null ? (removalText(field) ?? 'cleared (null)') : null,
    lines: countLines(after ?? ''),
    notes,
    hunks: hunks.map((hunk) => ({ head: hunkHead(hunk), lines: hunkLines(hunk, options.whole) })),
  };
}

type MaybeText = string | null | undefined;

function isText(value: Value | undefined): value is MaybeText {
  return value === undefined || value === null || typeof value === 'string';
}

/** Whether `"old" → "new"` shows everything, as for short texts without line breaks. */
function fitsLine(
  { type }: FieldChange,
  before: MaybeText,
  after: MaybeText,
  { medium }: ViewOptions,
): boolean {
  const texts = [before, after];
  if (texts.some((text) => text?.includes('\n'))) return false;
  if (type !== 'body') return true;
  // There is no former line to compare with.
  if (medium === 'terminal' && before === undefined) return true;
  return medium !== 'page' && texts.every((text) => text == null || displayWidth(text) <= lineWidth / 2);
}

/** The whole new text, if the present one is unknown. */
function newLines(text: string): BodyDifference {
  if (text === '') return { notes: [], hunks: [] };
  const lines = text.replace(/\n$/, '').split('\n');
  const hunk = { oldStart: 1, oldLines: 0, newStart: 1, newLines: lines.length };
  return { notes: [], hunks: [{ ...hunk, lines: lines.map((line) => `+${line}`) }] };
}

/** `PATCH /api/organizations/1`, a line each. */
export function requestTexts({ requests }: Change): string[] {
  return requests.map(
    ({ operation, params }) =>
      `${operations[operation].method} ${escapeText(operationPath(operation, params))}`,
  );
}

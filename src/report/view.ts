import { displayWidth, escapeText } from '../base/escape.js';
import { isMap, same, type Value } from '../base/values.js';
import { isUnplanned } from '../plan/drift.js';
import type { Change, FieldChange } from '../plan/plan.js';
import { operationPath, operations } from '../server/operations.js';
import { type BodyDifference, compareBodies, countLines } from './bodies.js';
import { driftText } from './drift.js';
import { type DiffLine, hunkHeader, hunkLines } from './hunks.js';
import { compareSets, type ElementChange } from './set-difference.js';
import { inlinePair } from './values.js';
import { lineWidth } from './words.js';

/* What every format shows of a change. Each text in a view is escaped and on one line. */

interface WithDrift {
  /** How the field drifted; null if it didn't. */
  readonly drift: string | null;
}

export interface SecretView extends WithDrift {
  readonly view: 'secret';
  readonly path: string;
  readonly unknown: boolean;
  readonly removed: boolean;
}

export interface SetView extends WithDrift {
  readonly view: 'set';
  readonly path: string;
  /** A note if the present elements are unknown. */
  readonly note: string | null;
  readonly elements: readonly ElementChange[];
  readonly unchanged: number;
}

export interface BodyView extends WithDrift {
  readonly view: 'body';
  readonly path: string;
  readonly before: 'text' | 'null' | 'unknown';
  /** A note if the text is removed. */
  readonly removalNote: string | null;
  readonly lineCount: number;
  /** What a line diff doesn't show, such as changed line endings. */
  readonly notes: readonly string[];
  /** The changed lines; if the present text is unknown, the whole new text. */
  readonly hunks: readonly {
    /** `@@ -1,3 +1,4 @@` */
    readonly header: string;
    readonly lines: readonly DiffLine[];
  }[];
}

export interface ValueView extends WithDrift {
  readonly view: 'value';
  readonly path: string;
  /** Whether the present value is unknown; `before` says so too. */
  readonly unknown: boolean;
  /** The side without a value; its text says so. */
  readonly missingSide?: 'before' | 'after';
  /** Whether the object is new, so that `before` is empty. */
  readonly isNew?: true;
  readonly before: string;
  readonly after: string;
}

export type FieldView = SecretView | SetView | BodyView | ValueView;

export interface ViewOptions {
  /** Whether long values are shown whole. */
  readonly whole: boolean;
  /** Where it is shown: a page compares short bodies by lines too. */
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
): Pick<ValueView, 'before' | 'after' | 'missingSide' | 'isNew'> {
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
    ...(field.was === 'absent'
      ? { missingSide: 'before' }
      : removal === undefined
        ? {}
        : { missingSide: 'after' }),
  };
}

/** A reference as its name, if that is unique. */
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
    // An equal set is sent again with --assert.
    (before !== undefined && same(before, after)
      ? compareSets(undefined, after, confirmed, whole)
      : undefined);
  if (difference === undefined) return undefined;
  const { elements, unchanged } = difference;
  const unknown = `(unknown) → ${elements.length === 0 ? 'none' : 'exactly these'}`;
  return { view: 'set', path, note: before === undefined ? unknown : null, elements, unchanged };
}

function viewBody(
  path: string,
  field: FieldChange,
  options: ViewOptions,
): Omit<BodyView, 'drift'> | undefined {
  const { before, after } = field;
  if (!isText(before) || !isText(after) || fitsOneLine(field, before, after, options)) return undefined;
  const { notes, hunks } =
    before === undefined ? newTextDifference(after ?? '') : compareBodies(before ?? '', after ?? '');
  return {
    view: 'body',
    path,
    before: before === undefined ? 'unknown' : before === null && field.was === undefined ? 'null' : 'text',
    removalNote: after === null ? (removalText(field) ?? 'cleared (null)') : null,
    lineCount: countLines(after ?? ''),
    notes,
    hunks: hunks.map((hunk) => ({ header: hunkHeader(hunk), lines: hunkLines(hunk, options.whole) })),
  };
}

type MaybeText = string | null | undefined;

function isText(value: Value | undefined): value is MaybeText {
  return value === undefined || value === null || typeof value === 'string';
}

/** Whether a text is shown as `"old" → "new"` instead of a diff. */
function fitsOneLine(
  { type }: FieldChange,
  before: MaybeText,
  after: MaybeText,
  { medium }: ViewOptions,
): boolean {
  const texts = [before, after];
  if (texts.some((text) => text?.includes('\n'))) return false;
  if (type !== 'body') return true;
  // Without a former text there is nothing to compare.
  if (medium === 'terminal' && before === undefined) return true;
  return medium !== 'page' && texts.every((text) => text == null || displayWidth(text) <= lineWidth / 2);
}

/** The new text as one hunk, if the present one is unknown. */
function newTextDifference(text: string): BodyDifference {
  if (text === '') return { notes: [], hunks: [] };
  const lines = text.replace(/\n$/, '').split('\n');
  const hunk = { oldStart: 1, oldLines: 0, newStart: 1, newLines: lines.length };
  return { notes: [], hunks: [{ ...hunk, lines: lines.map((line) => `+${line}`) }] };
}

/** The requests of a change, such as `PATCH /api/organizations/1`. */
export function requestTexts({ requests }: Change): string[] {
  return requests.map(
    ({ operation, params }) =>
      `${operations[operation].method} ${escapeText(operationPath(operation, params))}`,
  );
}

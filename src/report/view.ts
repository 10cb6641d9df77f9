import { displayWidth, escapeText } from '../base/escape.js';
import { same, type Value } from '../base/values.js';
import { isUnplanned } from '../plan/drift.js';
import type { Change, FieldChange } from '../plan/plan.js';
import { operationPath, operations } from '../server/operations.js';
import { type BodyDifference, compareBodies, countLines } from './bodies.js';
import { driftText } from './drift.js';
import { type DiffLine, hunkHead, hunkLines } from './hunks.js';
import { compareSets, type ElementChange } from './set-difference.js';
import { inlinePair } from './values.js';
import { lineWidth } from './words.js';

/*
 * What a reviewer is shown of a change, whatever draws it: a terminal, a comment or a page. Every text in a view is
 * harmless, on one line.
 */

/** What every view has. */
interface Drifting {
  /** That the server was changed since a run left the field, and what it was then; null where it was not. */
  readonly drift: string | null;
}

/** A difference of which nothing may be shown. */
export interface SecretView extends Drifting {
  readonly view: 'secret';
  readonly path: string;
  /** Whether the present value isn't known. */
  readonly unknown: boolean;
}

/** How a set changes, element by element. */
export interface SetView extends Drifting {
  readonly view: 'set';
  readonly path: string;
  /** Says that the present elements aren't known; null where they are. */
  readonly head: string | null;
  readonly elements: readonly ElementChange[];
  /** How many elements stay as they are. */
  readonly kept: number;
}

/** A text, line by line. */
export interface BodyView extends Drifting {
  readonly view: 'body';
  readonly path: string;
  readonly before: 'text' | 'null' | 'unknown';
  /** What becomes of a text that goes, in words; null where there is one afterwards. */
  readonly fate: string | null;
  /** How many lines it has afterwards. */
  readonly lines: number;
  /** What no diff of lines shows, such as how line endings change. */
  readonly notes: readonly string[];
  /** What changes; all of the text where the present one isn't known. */
  readonly hunks: readonly Hunk[];
}

/** Lines that change, and some around them. */
export interface Hunk {
  /** Where it stands: `@@ -1,3 +1,4 @@`. */
  readonly head: string;
  readonly lines: readonly DiffLine[];
}

/** A value that has a line to itself. */
export interface ValueView extends Drifting {
  readonly view: 'value';
  readonly path: string;
  /** Whether the present value isn't known: `before` says so then. */
  readonly unknown: boolean;
  /** Where a side is no value: nothing was there before, or nothing will be; the text says so. */
  readonly lacks?: 'before' | 'after';
  readonly before: string;
  readonly after: string;
}

/** One difference in the form in which it is shown. */
export type FieldView = SecretView | SetView | BodyView | ValueView;

/** How much there is room for. */
export interface ViewOptions {
  /** Long values and new texts whole; a page shows all of them so. */
  readonly whole: boolean;
  /** A page compares short bodies line by line too. */
  readonly room: 'terminal' | 'comment' | 'page';
}

/** How a difference is best shown. */
export function viewField(field: FieldChange, options: ViewOptions): FieldView {
  const path = escapeText(field.path);
  const unknown = field.before === undefined;
  const drift = driftText(field, options.whole);
  if (isUnplanned(field)) return { ...viewField(asItWas(field), options), drift };
  if (field.sensitive) return { view: 'secret', path, unknown, drift };
  const view = (field.type === 'set' ? viewSet(path, field, options) : undefined) ??
    viewBody(path, field, options) ?? { view: 'value', path, unknown, ...valuePair(field, options) };
  return { ...view, drift };
}

/** What somebody changed on the server, as the change that it was. */
function asItWas({ drift, was, ...field }: FieldChange): FieldChange {
  const before = drift?.recorded ?? null;
  return {
    ...field,
    before,
    ...(before === null ? { was: 'absent' } : {}),
    ...(was === 'absent' ? { becomes: 'removed' } : {}),
  };
}

/** What becomes of a field that goes, in words; undefined where the change says it itself. */
export function fateText({ becomes }: FieldChange): string | undefined {
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
): Pick<ValueView, 'before' | 'after' | 'lacks'> {
  const pair = inlinePair(field.before, field.after, whole);
  const fate = fateText(field);
  return {
    before: field.was === 'absent' ? '(absent)' : pair.before,
    after: fate === undefined ? pair.after : `(${fate})`,
    ...(field.was === 'absent' ? { lacks: 'before' } : fate === undefined ? {} : { lacks: 'after' }),
  };
}

function viewSet(
  path: string,
  { before, after, confirmed = false }: FieldChange,
  { whole }: ViewOptions,
): Omit<SetView, 'drift'> | undefined {
  const difference =
    compareSets(before, after, confirmed, whole) ??
    // What is sent again as it is recorded.
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
    fate: after === null ? (fateText(field) ?? 'cleared (null)') : null,
    lines: countLines(after ?? ''),
    notes,
    hunks: hunks.map((hunk) => ({ head: hunkHead(hunk), lines: hunkLines(hunk, options.whole) })),
  };
}

type MaybeText = string | null | undefined;

function isText(value: Value | undefined): value is MaybeText {
  return value === undefined || value === null || typeof value === 'string';
}

/** Whether `"old" → "new"` shows all there is to see, as it does for short texts without line breaks. */
function fitsLine(
  { type }: FieldChange,
  before: MaybeText,
  after: MaybeText,
  { room }: ViewOptions,
): boolean {
  const texts = [before, after];
  if (texts.some((text) => text?.includes('\n'))) return false;
  if (type !== 'body') return true;
  // There is nothing that a long line could be compared with.
  if (room === 'terminal' && before === undefined) return true;
  return room !== 'page' && texts.every((text) => text == null || displayWidth(text) <= lineWidth / 2);
}

/** All of a text as it will be, with its line endings: nobody knows which lines of it are new. */
function newLines(text: string): BodyDifference {
  if (text === '') return { notes: [], hunks: [] };
  const lines = text.replace(/\n$/, '').split('\n');
  const hunk = { oldStart: 1, oldLines: 0, newStart: 1, newLines: lines.length };
  return { notes: [], hunks: [{ ...hunk, lines: lines.map((line) => `+${line}`) }] };
}

/** The requests of a change, a line each: `PATCH /api/organizations/1`. */
export function requestTexts({ requests }: Change): string[] {
  return requests.map(
    ({ operation, params }) =>
      `${operations[operation].method} ${escapeText(operationPath(operation, params))}`,
  );
}

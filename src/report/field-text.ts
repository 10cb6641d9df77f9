import { displayWidth, escapeWorkflowCommand } from '../base/escape.js';
import type { FieldChange } from '../plan/plan.js';
import type { DiffLine } from './hunks.js';
import { type BodyView, type FieldView, type SetView, type ValueView, viewField } from './view.js';
import { type Colors, lineWidth, plural, wrap } from './words.js';

/** How text is rendered. */
export interface TextStyle {
  readonly paint: Colors;
  /** Shows whole values, unchanged objects and requests. */
  readonly debug: boolean;
}

const indent = '    ';

export function fieldLines(field: FieldChange, pen: TextStyle): string[] {
  const view = viewField(field, { whole: pen.debug, medium: 'terminal' });
  const drift = view.drift === null ? [] : wrap(`${indent}  `, view.drift).map(pen.paint.cyan);
  return [...viewLines(view, pen), ...drift];
}

function viewLines(view: FieldView, pen: TextStyle): string[] {
  // Escaped with the colon that follows it.
  const path = escapeWorkflowCommand(`${view.path}:`).slice(0, -1);
  switch (view.view) {
    case 'secret':
      return [
        `${indent}${path}: ${view.unknown ? '(unknown) → ' : ''}(sensitive)${view.removed ? ' → (removed)' : ''}`,
      ];
    case 'set':
      return setLines(path, view, pen);
    case 'body':
      return bodyLines(path, view, pen);
    default:
      return valueLines(path, view, pen);
  }
}

function valueLines(path: string, view: ValueView, { paint }: TextStyle): string[] {
  const { before, after, unknown, missingSide, isNew = false } = view;
  if (isNew) return [`${indent}${path}: ${paint.green(after)}`];
  const was = unknown || missingSide === 'before' ? before : paint.red(before);
  const is = missingSide === 'after' ? paint.red(after) : paint.green(after);
  const width = displayWidth(`${indent}${path}: ${before} → ${after}`);
  if (width <= lineWidth) return [`${indent}${path}: ${was} → ${is}`];
  // Values are never wrapped, so that they can be copied.
  return [`${indent}${path}: ${was}`, `${indent}  → ${is}`];
}

function setLines(path: string, { note, elements, unchanged }: SetView, { paint }: TextStyle): string[] {
  const tints = { '+': paint.green, '-': paint.red, '~': paint.yellow, '=': String };
  return [
    `${indent}${path}:${note === null ? '' : ` ${note}`}`,
    ...elements.map(({ mark, text }) => `${indent}  ${tints[mark](`${mark} ${text}`)}`),
    ...(unchanged > 0 ? [paint.dim(`${indent}  (${unchanged} unchanged)`)] : []),
  ];
}

function bodyLines(
  path: string,
  { before, removalNote, lineCount, notes, hunks }: BodyView,
  { paint }: TextStyle,
): string[] {
  if (before === 'unknown') {
    return [
      `${indent}${path}: (unknown) → ${removalNote ?? plural(lineCount, 'line')}`,
      ...hunks.flatMap((hunk) => hunk.lines.map(diffRow)),
    ];
  }
  const note = removalNote ?? (before === 'null' ? 'was null' : null);
  return [
    `${indent}${path}:${note === null ? '' : ` ${note}`}`,
    ...notes.map((note) => `${indent}  ${note}`),
    ...hunks.flatMap((hunk) => [
      paint.cyan(`${indent}  │ ${hunk.header}`),
      ...hunk.lines.map((line) => diffLine(line, paint)),
    ]),
  ];
}

/** Marks changed words only with colours: other marks would look like a part of the text. */
function diffLine(line: DiffLine, paint: Colors): string {
  const { mark, spans } = line;
  if (mark === ' ') return diffRow(line);
  const tint = mark === '+' ? paint.green : paint.red;
  const text = spans?.map((span) => (span.change === null ? span.text : paint.inverse(span.text))).join('');
  return tint(diffRow(text === undefined ? line : { ...line, text }));
}

/** The bar prevents CI systems from reading the line as a command. */
function diffRow({ mark, text }: DiffLine): string {
  return text === '' ? `${indent}  │ ${mark}`.trimEnd() : `${indent}  │ ${mark}${text}`;
}

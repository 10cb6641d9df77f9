import { escapeWorkflowCommand } from '../base/escape.js';
import type { Change } from '../plan/plan.js';
import { code, fence, prose } from './markdown-escape.js';
import { bodyNotes, observedNote, shortValue } from './review.js';
import { type BodyView, type FieldView, requestTexts, viewField } from './view.js';

/** Whether a change has more to show than its line. */
export function hasDetails(change: Change, debug: boolean): boolean {
  if (!debug && shortValue(change) !== undefined) return false;
  return change.fields.length > 0 || observedNote(change) !== null || (debug && change.requests.length > 0);
}

/** The differences of a change in Markdown; `short` omits the diffs of bodies. */
export function detailsOf(change: Change, debug: boolean): { readonly full: string; readonly short: string } {
  const note = observedNote(change);
  const views = change.fields.map((field) => viewField(field, { whole: debug, medium: 'comment' }));
  const textOf = (withDiffs: boolean) =>
    [
      ...(note === null ? [] : [prose(note)]),
      ...valueFence(views.filter(({ view }) => view !== 'body')),
      ...views.flatMap((view) => (view.view === 'body' ? [bodyBlock(view, withDiffs)] : [])),
      ...(debug ? requestTexts(change).map((request) => `Sends ${code(request)}`) : []),
    ]
      .map((block) => `${block}\n`)
      .join('\n');
  return { full: textOf(true), short: textOf(false) };
}

function valueFence(views: readonly FieldView[]): string[] {
  return views.length === 0 ? [] : [fence(views.flatMap(valueLines))];
}

function valueLines(view: FieldView): string[] {
  return [...shownLines(view), ...(view.drift === null ? [] : [`!   ${view.drift}`])];
}

function shownLines(view: FieldView): string[] {
  const { path } = view;
  switch (view.view) {
    case 'secret':
      return [
        `! ${path}: ${view.unknown ? '(unknown) → ' : ''}(sensitive)${view.removed ? ' → (removed)' : ''}`,
      ];
    case 'value':
      return view.unknown
        ? [`! ${path}: ${view.before} → ${view.after}`]
        : [...(view.isNew === true ? [] : [`- ${path}: ${view.before}`]), `+ ${path}: ${view.after}`];
    case 'set':
      return [
        `  ${path}:${view.note === null ? '' : ` ${view.note}`}`,
        ...view.elements.map(({ mark, text }) => `${setMarks[mark]}   ${text}`),
        ...(view.unchanged > 0 ? [`    (${view.unchanged} unchanged)`] : []),
      ];
    default:
      return [];
  }
}

/** Marks that get colours in a diff block; `!` for changed and unknown elements. */
const setMarks = { '+': '+', '-': '-', '~': '!', '=': '!' } as const;

function bodyBlock(view: BodyView, withDiff: boolean): string {
  const { path, hunks } = view;
  const notes = [
    ...(view.drift === null ? [] : [prose(view.drift)]),
    ...bodyNotes(view),
    ...(withDiff || hunks.length === 0 ? [] : ['left out for length']),
  ];
  const head = `${code(path)}: ${notes.join('; ')}`;
  if (!withDiff || hunks.length === 0) return head;
  const lines = hunks.flatMap((hunk) => [
    hunk.header,
    ...hunk.lines.map(({ mark, text }) => escapeWorkflowCommand(`${mark}${text}`).trimEnd()),
  ]);
  return `${head}\n\n${fence(lines)}`;
}

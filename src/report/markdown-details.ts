import { escapeWorkflowCommand } from '../base/escape.js';
import type { Change } from '../plan/plan.js';
import { code, fence, prose } from './markdown-escape.js';
import { bodyNotes, observedNote, shortValue } from './review.js';
import { type BodyView, type FieldView, requestTexts, viewField } from './view.js';

export function hasDetails(change: Change, debug: boolean): boolean {
  if (!debug && shortValue(change) !== undefined) return false;
  return change.fields.length > 0 || observedNote(change) !== null || (debug && change.requests.length > 0);
}

export function detailsOf(change: Change, debug: boolean): { readonly full: string; readonly short: string } {
  const note = observedNote(change);
  const views = change.fields.map((field) => viewField(field, { whole: debug, medium: 'comment' }));
  const textOf = (bodies: boolean) =>
    [
      ...(note === null ? [] : [prose(note)]),
      ...valueFence(views.filter(({ view }) => view !== 'body')),
      ...views.flatMap((view) => (view.view === 'body' ? [bodyBlock(view, bodies)] : [])),
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
        `  ${path}:${view.head === null ? '' : ` ${view.head}`}`,
        ...view.elements.map(({ mark, text }) => `${setMarks[mark]}   ${text}`),
        ...(view.kept > 0 ? [`    (${view.kept} unchanged)`] : []),
      ];
    default:
      return [];
  }
}

/** Marks for the colours of a diff; `!` for changed and unknown elements. */
const setMarks = { '+': '+', '-': '-', '~': '!', '=': '!' } as const;

function bodyBlock(view: BodyView, shown: boolean): string {
  const { path, hunks } = view;
  const notes = [
    ...(view.drift === null ? [] : [prose(view.drift)]),
    ...bodyNotes(view),
    ...(shown || hunks.length === 0 ? [] : ['left out for length']),
  ];
  const head = `${code(path)}: ${notes.join('; ')}`;
  if (!shown || hunks.length === 0) return head;
  const lines = hunks.flatMap((hunk) => [
    hunk.head,
    ...hunk.lines.map(({ mark, text }) => escapeWorkflowCommand(`${mark}${text}`).trimEnd()),
  ]);
  return `${head}\n\n${fence(lines)}`;
}

import { displayWidth, escapeEach, escapeText } from '../base/escape.js';
import type { Place, Problem, Severity } from '../base/problems.js';
import { fold, inWords, type Tinted } from './fold.js';
import { placeList } from './places.js';
import { type Colors, colors, lineWidth, plural } from './words.js';

/** How problems are laid out. */
export interface ProblemsLook {
  readonly color: boolean;
  /** How wide the terminal is; left out where there is none, as in a CI log. */
  readonly columns?: number;
}

/** Problems for a person: each with its place, the line of the file and a caret under what is meant. */
export function problemsText(problems: readonly Problem[], { color, columns }: ProblemsLook): string {
  if (problems.length === 0) return '';
  const paint = colors(color);
  const blocks = problems.map((problem) => problemLines(problem, paint, columns).join('\n'));
  return `${[...blocks, paint.bold(countsLine(problems))].join('\n\n')}\n`;
}

/** How many there are of each severity: `2 errors, 1 warning`. */
function countsLine(problems: readonly Problem[]): string {
  const counts = (['error', 'warning'] as const).map((severity) => ({
    severity,
    count: problems.filter((problem) => problem.severity === severity).length,
  }));
  return counts
    .filter(({ count }) => count > 0)
    .map(({ severity, count }) => plural(count, severity))
    .join(', ');
}

function severityPaint(severity: Severity, paint: Colors): (text: string) => string {
  return severity === 'error' ? paint.red : paint.yellow;
}

/** So many places of a problem are shown with their lines; the others are named. */
const snippetsAtMost = 3;

function problemLines(problem: Problem, paint: Colors, columns: number | undefined): string[] {
  const tint = severityPaint(problem.severity, paint);
  const shown = problem.places.slice(0, snippetsAtMost);
  const others = problem.places.slice(snippetsAtMost);
  const digits = Math.max(1, ...shown.map(({ line }) => String(line).length));
  const [message = '', ...more] = paragraphs(problem.message);
  const [help, ...moreHelp] = paragraphs(problem.hint ?? '');
  const margin = ' '.repeat(digits + 2);
  // A mark before each line keeps data from standing where only our own words do.
  const barred = (line: string): string[] =>
    fold(inWords(line), 2, columns === undefined ? undefined : columns - margin.length - 2)
      .split('\n')
      .map((part) => `${margin}${paint.blue('|')} ${part}`);
  const head: Tinted[] = [
    { text: `${problem.severity}[${escapeText(problem.code)}]`, tint: (text) => paint.bold(tint(text)) },
    ...inWords(`: ${message}`, paint.bold),
  ];
  return [
    fold(head, margin.length + 2, columns),
    ...more.flatMap(barred),
    ...shown.flatMap((place) => placeLines(place, digits, tint, paint, columns)),
    ...(others.length === 0
      ? []
      : [
          fold(
            [
              { text: ' '.repeat(digits + 1) },
              { text: '-->', tint: paint.blue },
              ...inWords(` also at ${placeList(others, problem.morePlaces)}`),
            ],
            margin.length + 2,
            columns,
          ),
        ]),
    ...(help === undefined
      ? []
      : [
          fold(
            [{ text: margin }, { text: '=', tint: paint.blue }, ...inWords(` help: ${help}`)],
            margin.length + 2,
            columns,
          ),
        ]),
    ...moreHelp.flatMap(barred),
  ];
}

function paragraphs(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => escapeText(line.trimEnd()))
    .filter((line) => line !== '');
}

function placeLines(
  place: Place,
  digits: number,
  tint: (text: string) => string,
  paint: Colors,
  columns: number | undefined,
): string[] {
  const gutter = (label: string) => paint.blue(` ${label.padStart(digits)} |`);
  const arrow = `${' '.repeat(digits + 1)}${paint.blue('-->')} `;
  const head = `${arrow}${escapeText(place.file)}:${place.line}:${place.column}`;
  if (place.text === undefined) return [head];
  const { source, before, under } = snippet(place, place.text, (columns ?? lineWidth) - digits - 4);
  return [
    head,
    gutter(''),
    `${gutter(String(place.line))} ${source}`.trimEnd(),
    `${gutter('')} ${' '.repeat(before)}${tint('^'.repeat(under))}`,
  ];
}

/** How many characters on either side of a caret are looked at; far more than a line shows. */
const REACH = 2_000;

/** An offset at which a character begins, at or before that one. */
function beginsAt(text: string, offset: number): number {
  const at = Math.min(Math.max(0, offset), text.length);
  return at > 0 && /[\udc00-\udfff]/.test(text.charAt(at)) ? at - 1 : at;
}

interface Cell {
  readonly shown: string;
  readonly width: number;
  readonly marked: boolean;
}

/**
 * A source line as it is shown, with how many columns stand before the caret and how many it underlines.
 * A line that is too wide is cut around the caret.
 */
function snippet(
  { column, length }: Place,
  text: string,
  room: number,
): { source: string; before: number; under: number } {
  const [whole = ''] = text.split(/\r?\n|\r$/);
  const caret = Math.min(column - 1, whole.length);
  // A body may be one line of megabytes.
  const cut = beginsAt(whole, caret - REACH);
  const line = whole.slice(cut, beginsAt(whole, caret + REACH));
  const start = caret - cut;
  const end = Math.max(start + 1, start + length);
  const cells: Cell[] = [];
  let at = 0;
  for (const { character, shown: escaped } of escapeEach(line)) {
    const shown = character === '\t' ? '  ' : escaped;
    const marked = at < end && at + character.length > start;
    cells.push({ shown, width: displayWidth(shown), marked });
    at += character.length;
  }
  // A caret behind the end of the line points at nothing that is there.
  if (start >= line.length) cells.push({ shown: ' ', width: 1, marked: true });

  const first = Math.max(
    0,
    cells.findIndex(({ marked }) => marked),
  );
  const { from, to } = visibleRange(cells, first, room);
  const shown = cells.slice(from, to);
  const lead = from > 0 || cut > 0 ? '…' : '';
  const tail = to < cells.length || cut + line.length < whole.length ? '…' : '';
  const before = lead.length + widthOf(cells.slice(from, first));
  const under = widthOf(shown.filter(({ marked }) => marked));
  return {
    source: `${lead}${shown.map((cell) => cell.shown).join('')}${tail}`,
    before,
    under: Math.max(1, under),
  };
}

function widthOf(cells: readonly Cell[]): number {
  return cells.reduce((sum, { width }) => sum + width, 0);
}

/** The part of a line that fits, with a third of the room before the caret. */
function visibleRange(cells: readonly Cell[], caret: number, room: number): { from: number; to: number } {
  if (widthOf(cells) <= room) return { from: 0, to: cells.length };
  // Two columns are for the marks of what is cut.
  const inside = room - 2;
  let from = caret;
  let used = 0;
  while (from > 0 && used + (cells[from - 1]?.width ?? 0) <= inside / 3) {
    from -= 1;
    used += cells[from]?.width ?? 0;
  }
  let to = caret;
  while (to < cells.length && used + (cells[to]?.width ?? 0) <= inside) {
    used += cells[to]?.width ?? 0;
    to += 1;
  }
  // Near the end of the line there is room left, which goes to what stands before.
  while (to === cells.length && from > 0 && used + (cells[from - 1]?.width ?? 0) <= inside) {
    from -= 1;
    used += cells[from]?.width ?? 0;
  }
  return { from, to };
}

/** How many documents are fine: `3 objects are valid`. */
export function validText(objects: number): string {
  return `${objects} ${objects === 1 ? 'object is' : 'objects are'} valid`;
}

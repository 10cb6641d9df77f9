import { displayWidth, escapeText } from '../base/escape.js';
import type { Place, Problem } from '../base/problems.js';
import { groupByKey } from './group-equal.js';
import { type Colors, colors, lineWidth, maxPlaces, placeList, plural } from './words.js';

/** Problems for people, each with its place and source line, and a caret below the line. */
export function problemsText(problems: readonly Problem[], { color }: { readonly color: boolean }): string {
  if (problems.length === 0) return '';
  const paint = colors(color);
  const repeated = groupByKey(problems, ({ severity, code, message, hint }) =>
    JSON.stringify([severity, code, message, hint]),
  );
  const blocks = repeated.flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const all = [first, ...others];
    const morePlaces = all.reduce((sum, problem) => sum + (problem.morePlaces ?? 0), 0);
    const merged = { ...first, places: all.flatMap(({ places }) => places), morePlaces };
    return [problemLines(merged, paint).join('\n')];
  });
  return `${[...blocks, paint.bold(countsLine(problems))].join('\n\n')}\n`;
}

function countsLine(problems: readonly Problem[]): string {
  const counts = (['error', 'warning'] as const).flatMap((severity) => {
    const count = problems.filter((problem) => problem.severity === severity).length;
    return count > 0 ? [plural(count, severity)] : [];
  });
  return counts.join(', ');
}

/** At most so many places of a problem are shown with their source lines. */
const maxSnippets = 3;

function problemLines(problem: Problem, paint: Colors): string[] {
  const tint = problem.severity === 'error' ? paint.red : paint.yellow;
  const shown = problem.places.slice(0, maxSnippets);
  const others = problem.places.slice(maxSnippets);
  const digits = Math.max(1, ...shown.map(({ line }) => String(line).length));
  const [message = '', ...more] = paragraphs(problem.message);
  const [help, ...moreHelp] = paragraphs(problem.hint ?? '');
  const margin = ' '.repeat(digits + 1);
  const arrow = `${margin}${paint.blue('-->')}`;
  // The bar before each further line tells data from messages.
  const withBar = (line: string) => `${margin} ${paint.blue('|')} ${line}`;
  return [
    `${paint.bold(tint(`${problem.severity}[${escapeText(problem.code)}]`))}${paint.bold(`: ${message}`)}`,
    ...more.map(withBar),
    ...shown.flatMap((place) => [
      `${arrow} ${escapeText(place.file)}:${place.line}:${place.column}`,
      ...(place.text === undefined ? [] : snippet(place, place.text, digits, tint, paint)),
    ]),
    ...(others.length === 0
      ? []
      : [
          `${arrow} also at ${placeList(others, problem.morePlaces)}${others.length + (problem.morePlaces ?? 0) > maxPlaces ? '; --format json lists all of them' : ''}`,
        ]),
    ...(help === undefined ? [] : [`${margin} ${paint.blue('=')} help: ${help}`]),
    ...moreHelp.map(withBar),
  ];
}

function paragraphs(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => escapeText(line.trimEnd()))
    .filter((line) => line !== '');
}

/** A source line with a caret below it; a long line is shortened around the caret. */
function snippet(
  { line, column, length }: Place,
  text: string,
  digits: number,
  tint: (text: string) => string,
  paint: Colors,
): string[] {
  const [source = ''] = text.split(/\r?\n|\r$/);
  const caret = characterAt(source, Math.min(column - 1, source.length));
  // Two of the columns are for ellipses.
  const room = lineWidth - digits - 6;
  const start = characterAt(source, Math.max(0, Math.min(caret - room / 3, source.length - room)));
  const end = characterAt(source, start + room);
  const shown = (from: number, to: number) => escapeText(source.slice(from, to).replaceAll('\t', '  '));
  const before = (start > 0 ? 1 : 0) + displayWidth(shown(start, caret));
  const last = characterAt(source, caret + Math.max(1, length) - 1);
  const stop = Math.min(end, last + String.fromCodePoint(source.codePointAt(last) ?? 32).length);
  const caretWidth = displayWidth(shown(caret, stop)) || 1;
  const gutter = (label: string | number) => paint.blue(` ${String(label).padStart(digits)} |`);
  const shownLine = `${start > 0 ? '…' : ''}${shown(start, end)}${end < source.length ? '…' : ''}`;
  return [
    gutter(''),
    `${gutter(line)} ${shownLine}`.trimEnd(),
    `${gutter('')} ${' '.repeat(before)}${tint('^'.repeat(caretWidth))}`,
  ];
}

/** The offset of the first unit of the character at an offset. */
function characterAt(text: string, offset: number): number {
  const at = Math.floor(offset);
  return /[\udc00-\udfff]/.test(text.charAt(at)) ? at - 1 : at;
}

export function validText(objects: number): string {
  return `${objects} ${objects === 1 ? 'object is' : 'objects are'} valid`;
}

import { type ChangeResult, type Result, statusWords } from '../apply/result.js';
import { code, codeName, prose } from './markdown-escape.js';
import type { RenderOptions } from './render-options.js';
import { notesOf, resultSummaryLine, shardSuffix } from './result-text.js';
import { defaultBudget, plural } from './words.js';

/** A result in Markdown within the budget, failures first. */
export function resultMarkdown(
  result: Result,
  { budget = defaultBudget, title, intro = '' }: Pick<RenderOptions, 'budget' | 'title' | 'intro'> = {},
): string {
  const command = result.undoes === undefined ? 'apply' : 'undo';
  const head = [
    `## ${title ?? `idops ${command}: ${prose(resultSummaryLine(result))}`}`,
    ...(result.run === null ? [] : ['', `Run ${code(result.run)}${shardSuffix(result)}`]),
    ...(intro === '' ? [] : ['', intro]),
    ...(result.undoes === undefined ? [] : ['', `Undoes run ${code(result.undoes)}`]),
    ...(result.interrupted ? ['', '**Interrupted**: the remaining changes were not sent.'] : []),
    '',
  ].join('\n');
  const lines = failuresFirst(result).map(
    ({ address, label, action, status, error, ...rest }) =>
      `- ${status === 'applied' ? status : `**${statusWords(status)}**`} ${codeName({ address, label })} (${action})${[
        ...(error === null ? [] : [error]),
        ...notesOf(rest),
      ]
        .map((text) => `: ${prose(text)}`)
        .join('')}`,
  );
  return `${head}\n${fitLines(lines, budget - head.length - 100)}\n`;
}

/** The lines that fit into `room` characters, and the number of the others. */
function fitLines(lines: readonly string[], room: number): string {
  let used = 0;
  const shown = lines.filter((line) => {
    used += line.length + 1;
    return used <= room;
  });
  const more = lines.length - shown.length;
  return [...shown, ...(more > 0 ? [`- and ${plural(more, 'more result')}, see the log`] : [])].join('\n');
}

function failuresFirst({ results }: Result): ChangeResult[] {
  return results.toSorted((a, b) => Number(a.status === 'applied') - Number(b.status === 'applied'));
}

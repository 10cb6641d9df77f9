import { type ChangeResult, type Result, statusWords } from '../apply/result.js';
import { code, codeName, prose } from './markdown-escape.js';
import type { RenderOptions } from './render-options.js';
import { notesOf, partText, resultSummaryLine } from './result-text.js';
import { defaultBudget, plural } from './words.js';

/** A result in Markdown, failures first; never longer than its budget. */
export function resultMarkdown(
  result: Result,
  { budget = defaultBudget, title, intro = '' }: Pick<RenderOptions, 'budget' | 'title' | 'intro'> = {},
): string {
  const command = result.undoes === undefined ? 'apply' : 'undo';
  const head = [
    `## ${title ?? `idops ${command}: ${prose(resultSummaryLine(result))}`}`,
    ...(result.run === null ? [] : ['', `Run ${code(result.run)}${partText(result)}`]),
    ...(intro === '' ? [] : ['', intro]),
    ...(result.undoes === undefined ? [] : ['', `Undoes run ${code(result.undoes)}`]),
    ...(result.interrupted ? ['', '**Interrupted**: what was left was not sent.'] : []),
    '',
  ].join('\n');
  const lines = ordered(result).map(
    ({ address, label, action, status, error, ...rest }) =>
      `- ${status === 'applied' ? status : `**${statusWords(status)}**`} ${codeName({ address, label })} (${action})${[
        ...(error === null ? [] : [error]),
        ...notesOf(rest),
      ]
        .map((text) => `: ${prose(text)}`)
        .join('')}`,
  );
  return `${head}\n${fitting(lines, budget - head.length - 100)}\n`;
}

function fitting(lines: readonly string[], room: number): string {
  let used = 0;
  const kept = lines.filter((line) => {
    used += line.length + 1;
    return used <= room;
  });
  const left = lines.length - kept.length;
  return [...kept, ...(left > 0 ? [`- and ${plural(left, 'more result')}, see the log`] : [])].join('\n');
}

function ordered({ results }: Result): ChangeResult[] {
  return results.toSorted((a, b) => Number(a.status === 'applied') - Number(b.status === 'applied'));
}

import type { ChangeResult, Result } from '../apply/result.js';
import { code, prose } from './markdown.js';
import { markup } from './markup.js';
import { pageText } from './page.js';
import { resultSummaryLine } from './text.js';
import { plural } from './words.js';

/** As much as a comment takes, with room for what stands around it. */
const budget = 60_000;

/** A result in Markdown, what went wrong first; never longer than 60,000 characters. */
export function resultMarkdown(result: Result): string {
  const head = [
    `## idops apply: ${prose(resultSummaryLine(result))}`,
    ...(result.run === null ? [] : ['', `Run ${code(result.run)}`]),
    ...(result.interrupted ? ['', '**Interrupted**: what was left was not sent.'] : []),
    '',
  ].join('\n');
  const lines = ordered(result).map(
    ({ address, action, status, error, notes = [] }) =>
      `- ${status === 'applied' ? status : `**${status.replace('_', ' ')}**`} ${code(address)} (${action})${[
        ...(error === null ? [] : [error]),
        ...notes,
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

/** A result as a page in one file, which loads and runs nothing. */
export function resultHtml(result: Result): string {
  const rows = ordered(result).map(
    ({ address, action, status, error, unverified, notes = [] }) =>
      markup`<tr><td>${status.replace('_', ' ')}</td><td>${address}</td><td>${action}</td><td>${[
        ...(error === null ? [] : [error]),
        ...(unverified.length === 0 ? [] : [`not shown by the server: ${unverified.join(', ')}`]),
        ...notes,
      ].join('; ')}</td></tr>`,
  );
  return pageText({
    title: 'idops apply',
    content: markup`<main id="main"><h1>idops apply</h1><p>${resultSummaryLine(result)}</p>
<p>${result.run === null ? 'Nothing was to be done.' : `Run ${result.run}`}</p>
<table><thead><tr><th scope="col">Status</th><th scope="col">Object</th><th scope="col">Action</th><th scope="col">Remark</th></tr></thead>
<tbody>${rows}</tbody></table></main>`,
  });
}

/** What went wrong comes first. */
function ordered({ results }: Result): ChangeResult[] {
  return results.toSorted((a, b) => Number(a.status === 'applied') - Number(b.status === 'applied'));
}

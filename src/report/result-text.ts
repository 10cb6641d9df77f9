import { type ChangeResult, countedWords, type Result, statusWords } from '../apply/result.js';
import { escapeText } from '../base/escape.js';
import { shardText } from '../base/shard.js';
import { firstFew } from '../base/words.js';
import type { Action } from '../plan/plan.js';
import type { TextStyle } from './field-text.js';
import { commonMessage, groupResults } from './group-equal.js';
import { nameOf } from './names.js';
import { type TextOptions, textStyle } from './text.js';
import { plural, wrap } from './words.js';

const pastTense: { readonly [action in Action]: string } = {
  create: 'created',
  update: 'updated',
  delete: 'deleted',
  regenerate: 'regenerated',
  adopt: 'adopted',
  blocked: 'blocked',
  unchanged: 'unchanged',
};

export function resultText(result: Result, options: TextOptions): string {
  const pen = textStyle(options);
  const { paint, debug } = pen;
  const groups = debug ? result.results.map((one) => [one]) : groupResults(result.results);
  const lines = groups.flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    if (first.status === 'applied') return appliedLines(first, pen);
    return others.length === 0 ? failureLines(first, pen) : equalResultLines(first, others, pen);
  });
  if (result.results.length === 0) lines.push('Nothing was applied.');
  if (result.interrupted) {
    lines.push(
      paint.yellow('Interrupted: requests in flight were finished and recorded, no more were sent.'),
    );
  }
  if (result.run !== null) lines.push('', `Run: ${escapeText(result.run)}${shardSuffix(result)}`);
  return `${[...lines, paint.bold(resultSummaryLine(result))].join('\n')}\n`;
}

export function shardSuffix({ shard }: Pick<Result, 'shard'>): string {
  return shard === undefined ? '' : `, shard ${shardText(shard)}`;
}

export function resultSummaryLine({ results }: Result): string {
  return `Applied: ${outcomeCounts(results)}.`;
}

/** `1 applied, 2 failed`. */
export function outcomeCounts(results: readonly ChangeResult[]): string {
  const none = results.some(({ status }) => status === 'applied') ? [] : ['0 applied'];
  return [...none, ...countedWords({ results })].join(', ');
}

/** Notes about an applied change: its new DID first. */
export function notesOf({ notes = [], did }: Pick<ChangeResult, 'notes' | 'did'>): readonly string[] {
  return did === undefined ? notes : [`the DID is now ${did}`, ...notes];
}

function appliedLines(result: ChangeResult, { paint, debug }: TextStyle): string[] {
  const notes = notesOf(result).flatMap((note) => wrap('    note: ', note));
  const attempts = debug ? paint.dim(attemptsText(result)) : '';
  const head = `${paint.green('✓')} ${nameOf(result)} ${pastTense[result.action]}${attempts}`;
  return [head, ...unverifiedLines(result), ...notes];
}

function unverifiedLines({ unverified }: ChangeResult): string[] {
  if (unverified.length === 0) return [];
  return wrap('    not in the answer, so unverified: ', unverified.join(', '));
}

function failureLines(result: ChangeResult, { paint }: TextStyle): string[] {
  const mark = { failed: '✗', not_converged: '≠', unknown: '?', skipped: '-', applied: '✓' }[result.status];
  const status = result.status === 'unknown' ? 'outcome unknown' : statusWords(result.status);
  const tint =
    result.status === 'skipped' ? paint.dim : result.status === 'unknown' ? paint.yellow : paint.red;
  return [
    `${tint(`${mark} ${result.action}`)} ${nameOf(result)} ${tint(status)}${attemptsText(result)}`,
    ...(result.error === null ? [] : wrap('    error: ', result.error)),
    ...unverifiedLines(result),
  ];
}

function equalResultLines(first: ChangeResult, others: readonly ChangeResult[], pen: TextStyle): string[] {
  const all = [first, ...others];
  const addresses = all.map(({ address }) => address);
  if (first.status === 'skipped') {
    const text = `- ${all.length} ${escapeText(commonMessage(first, first.error ?? 'not sent'))}`;
    return [pen.paint.dim(text), ...wrap('    ', firstFew(addresses))];
  }
  // --debug and JSON show the values that differ.
  const values = all.some(({ ownValues }) => ownValues !== undefined) ? ', each with its own values' : '';
  return [
    ...failureLines(first, pen),
    ...wrap(`    ${others.length} more like this${values}: `, firstFew(addresses.slice(1))),
  ];
}

function attemptsText({ httpStatus, attempts }: ChangeResult): string {
  const parts = [
    ...(httpStatus === null ? [] : [`HTTP ${httpStatus}`]),
    ...(attempts > 1 ? [plural(attempts, 'attempt')] : []),
  ];
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

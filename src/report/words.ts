import pc from 'picocolors';
import { disarm, escapeText } from '../base/escape.js';
import type { Action } from '../kinds/change.js';
import { fold } from './fold.js';

/** The width that idops keeps its own words in where no terminal says how wide it is. */
export const lineWidth = 80;

/** The colours of a text report: functions that leave the text alone where colour is off. */
export type Colors = ReturnType<typeof pc.createColors>;

export function colors(enabled: boolean): Colors {
  return pc.createColors(enabled);
}

/** `1 line`, `2 lines`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * Prose in lines of at most so many columns, escaped; the first line after `lead`, the others under it.
 * Words that are longer than a line stay whole, so that they can be copied.
 */
export function wrap(lead: string, text: string, columns: number = lineWidth): string[] {
  const indent = /^ */.exec(lead)?.[0] ?? '';
  // A line of data must not begin with what a CI log takes for a command, wherever it breaks.
  const words = [...wordsOf(lead), ...wordsOf(text).map((word) => disarm(escapeText(word)))];
  return fold([{ text: indent + words.join(' ') }], indent.length + 2, columns).split('\n');
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** What each action is called in a count. */
export const actionWords: { readonly [action in Action]: string } = {
  update: 'to update',
  delete: 'to delete',
  regenerate: 'to regenerate',
  adopt: 'to adopt',
  blocked: 'blocked',
  unchanged: 'unchanged',
};

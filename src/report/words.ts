import pc from 'picocolors';
import { displayWidth, escapeText, escapeWorkflowCommand, quoteIfNeeded } from '../base/escape.js';
import type { Action } from '../kinds/change.js';
import type { PlanWarning, WarningPlace } from '../plan/plan.js';

export const lineWidth = 80;

/** The length of Markdown in characters: below GitHub's limit for a comment, with room for additions of a workflow. */
export const defaultBudget = 60_000;

export type Colors = ReturnType<typeof pc.createColors>;

export function colors(enabled: boolean): Colors {
  return pc.createColors(enabled);
}

export function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** `1 line`, `2 lines`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** What templates are: `emails`, `pages`, or `emails and pages`. */
export function renderedWords(all: readonly { readonly page?: unknown }[]): string {
  const pages = all.filter(({ page }) => page !== undefined);
  const words = [...(pages.length < all.length ? ['emails'] : []), ...(pages.length > 0 ? ['pages'] : [])];
  return words.join(' and ') || 'emails';
}

/** Escapes a text and wraps it into lines; the first starts with `lead`. Long words aren't split, so that they can be copied. */
export function wrap(lead: string, text: string, columns: number = lineWidth): string[] {
  const indent = /^ */.exec(lead)?.[0] ?? '';
  // No line may start with a command for CI systems.
  const words = [...wordsOf(lead), ...wordsOf(text).map((word) => escapeWorkflowCommand(escapeText(word)))];
  const lines: string[] = [];
  let line = indent;
  for (const word of words) {
    const longer = line.trim() === '' ? line + word : `${line} ${word}`;
    const fits = line.trim() === '' || displayWidth(longer) <= columns;
    if (!fits) lines.push(line);
    line = fits ? longer : `${indent}  ${word}`;
  }
  return [...lines, line];
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

export const actionWords: { readonly [action in Action]: string } = {
  create: 'to create',
  update: 'to update',
  delete: 'to delete',
  regenerate: 'to regenerate',
  adopt: 'to adopt',
  blocked: 'blocked',
  unchanged: 'unchanged',
};

export const actions = Object.keys(actionWords) as readonly Action[];

/** A sentence names at most so many places; JSON has all. */
export const maxPlaces = 10;

export function placesOf({ place, places }: PlanWarning): readonly WarningPlace[] {
  return places ?? (place === undefined ? [] : [place]);
}

/** Escaped places: `emails/reset.html:5:9, 8:12 and 3 more`. */
export function placeList(
  places: readonly WarningPlace[],
  more = 0,
  show: (place: WarningPlace, text: string) => string = (_, text) => text,
): string {
  const shown = places.slice(0, maxPlaces).map((place, index) => {
    const { file, line, column } = place;
    const position = `${line}${column === undefined ? '' : `:${column}`}`;
    return show(place, places[index - 1]?.file === file ? position : `${quoteIfNeeded(file)}:${position}`);
  });
  const omitted = places.length - shown.length + more;
  return `${shown.join(', ')}${omitted > 0 ? ` and ${omitted} more` : ''}`;
}

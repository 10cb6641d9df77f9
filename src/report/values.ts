import { quote } from '../base/escape.js';
import { isMap, Sensitive, type Value } from '../base/values.js';
import { changedWords, shortened, textOf } from './changed-words.js';

/** A value on one line, harmless: JSON, with secrets held back. */
export function inline(value: Value): string {
  if (value instanceof Sensitive) return '(sensitive)';
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (isMap(value)) {
    const members = Object.entries(value).map(([key, member]) => `${quote(key)}: ${inline(member)}`);
    return `{${members.join(', ')}}`;
  }
  return String(value);
}

/** Both sides of a change on one line each; unless `whole`, long ones are cut where they don't differ. */
export function inlinePair(
  before: Value | undefined,
  after: Value,
  whole: boolean,
): { before: string; after: string } {
  const old = before === undefined ? '(unknown)' : inline(before);
  const now = inline(after);
  const note = typeof before === 'string' && typeof after === 'string' ? formNote(before, after) : null;
  const words = whole || before === undefined ? undefined : changedWords(old, now);
  return {
    before: words === undefined ? old : textOf(shortened(words.before)),
    after: (words === undefined ? now : textOf(shortened(words.after))) + (note === null ? '' : ` (${note})`),
  };
}

/** Says what the eye can't see: two texts that differ in how their accents are encoded, alone or beside the rest; null for all others. */
export function formNote(before: string, after: string): string | null {
  if (before === after) return null;
  const [old, now] = [before.normalize('NFC'), after.normalize('NFC')];
  if (old === now) return 'the same text in another Unicode normal form';
  return (before === old) === (after === now) ? null : 'the Unicode normal form changes as well';
}

import { looksSecret, shownKey } from '../base/secret-names.js';
import type { Span } from '../base/span.js';
import type { SourceFile } from './file.js';
import type { Node } from './tree.js';

/** Masks a plain scalar that is a field on a line of its own whose colon is missing. */
export function hideLoose(file: SourceFile, source: string, range: Span): void {
  if (shownKey(source) !== source && beginsLine(file.text, range.start)) file.hide(range);
}

function beginsLine(text: string, at: number): boolean {
  return /(?:^|\n)[ \t]*(?:-[ \t]+)*$/.test(text.slice(Math.max(0, at - 200), at));
}

/** Masks what of a member may be a secret: a value within its key, and the value that it has; says whether it masked that. */
export function hideMember(file: SourceFile, name: string, key: Span, value: Node): boolean {
  const told = shownKey(name);
  if (told !== name) {
    const at = file.text.indexOf(told, key.start);
    file.hide({ start: at < 0 || at >= key.end ? key.start : at + told.length, end: key.end });
  }
  // A token is pasted there by who doesn't know the keys below.
  const isAuth = name === 'auth' && value.type === 'scalar';
  if (!looksSecret(name) && !isAuth) return false;
  file.hide(value.range);
  return true;
}

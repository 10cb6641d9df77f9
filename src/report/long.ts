import { isMap, type Value } from '../base/values.js';
import { shown } from '../mail/limits.js';
import type { FieldChange } from '../plan/plan.js';
import { diffLineLimits } from './hunks.js';
import { type Insertable, markup } from './markup.js';
import { shorten } from './values.js';

/** Characters of long values that a page holds, before it is too heavy to be opened. */
const pageValueCharacters = 10_000_000;
/** A longer value is folded, with its ends and what differs in it in sight. */
const unfoldedCharacters = 500;
const shownCharacters = 120;

/** How much of long values a page may still show whole. */
export class ValueRoom {
  #left: number;

  constructor(characters = pageValueCharacters) {
    this.#left = characters;
  }

  /** Whether a difference is shown whole; short ones always are. */
  take(field: FieldChange): boolean {
    const size = sizeOf(field.before ?? null) + sizeOf(field.after) + sizeOf(field.drift?.recorded ?? null);
    if (size > this.#left) return false;
    this.#left -= size;
    return true;
  }
}

/** How many characters of a value would be left out of one that is cut, at most; lines of texts are cut one by one. */
function sizeOf(value: Value): number {
  if (typeof value === 'string') {
    return value
      .split('\n')
      .reduce((sum, { length }) => sum + (length > diffLineLimits.page ? length : 0), 0);
  }
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + sizeOf(one), 0);
  return isMap(value) ? Object.values(value).reduce<number>((sum, one) => sum + sizeOf(one), 0) : 0;
}

/** Said where a value is cut all the same. */
export const cutNote = markup`<p class="quiet">Cut in the middle: this page has ${shown(pageValueCharacters)} characters of long values already. Look at fewer changes at once, or at the JSON.</p>`;

/** A value whole: as it is, or folded where it is long. `other` is what it is compared with. */
export function wholeValue(text: string, other = ''): Insertable {
  if (text.length <= unfoldedCharacters) return text;
  return markup`<details class="long"><summary>${shorten(text, other, shownCharacters)}</summary>${text}</details>`;
}

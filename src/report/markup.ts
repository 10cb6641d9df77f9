import { escapeText } from '../base/escape.js';

/** Markup that is ready: what `markup` made, and nothing else. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

export type Insertable = Markup | string | number | null | readonly Insertable[];

/** HTML in which everything inserted is escaped, unless it is markup itself. */
export function markup(parts: TemplateStringsArray, ...inserted: readonly Insertable[]): Markup {
  return new Markup(
    parts
      .map((part, index) => part + (index < inserted.length ? insert(inserted[index] ?? null) : ''))
      .join(''),
  );
}

function insert(inserted: Insertable): string {
  if (inserted === null) return '';
  if (inserted instanceof Markup) return inserted.text;
  if (Array.isArray(inserted)) return inserted.map(insert).join('');
  return escapeMarkup(String(inserted));
}

const entities: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  // A line of a report in a CI log could begin with `::`.
  ':': '&#58;',
};

/** A text that means itself in HTML, in an element or a quoted attribute, as one line. */
export function escapeMarkup(text: string): string {
  return escapeText(text).replace(/[&<>"']|:(?=:)/g, (character) => entities[character] ?? '');
}

/** Like `escapeMarkup`, but keeps line breaks, for texts in `pre`. */
export function markupLines(text: string): Markup {
  return new Markup(text.split(/\r?\n/).map(escapeMarkup).join('\n'));
}

/**
 * A text as a block of data that a browser neither shows nor runs, and that a script can read as JSON: printable ASCII alone, on one
 * line, and nothing that could end the block or mean something in a log.
 */
export function dataBlock(id: string, text: string): Markup {
  const json = JSON.stringify(text.toWellFormed()).replace(
    /[<\u007f-\uffff]|:(?=:)|#(?=#)/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return markup`<script type="application/json" id="${id}">${new Markup(json)}</script>\n`;
}

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

/** A document for the `srcdoc` of a frame: printable ASCII on one line, with nothing that ends the attribute or is a command in a CI log. */
export function frameSource(html: string): Markup {
  return new Markup(
    html.toWellFormed().replace(/[^ -~]|[&"<>]|:(?=:)|#(?=#)/gu, (character) => {
      const code = character.codePointAt(0) ?? 0;
      // A reference to one of these controls means another character.
      return `&#${code === 0 || (code >= 0x80 && code < 0xa0) ? 0xfffd : code};`;
    }),
  );
}

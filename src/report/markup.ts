import { escapeText } from '../base/escape.js';

/** HTML that is escaped already. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Insertable = Markup | string | number | null | readonly Insertable[];

/** A template tag for HTML: escapes inserted values that aren't markup. */
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
  // `::` starts a command in CI logs.
  ':': '&#58;',
};

/** Escapes a text for an element or a quoted attribute, on one line. */
export function escapeMarkup(text: string): string {
  return escapeText(text).replace(/[&<>"']|:(?=:)/g, (character) => entities[character] ?? '');
}

/** Like `escapeMarkup`, but keeps line breaks, for texts in `pre`. */
export function markupLines(text: string): Markup {
  return new Markup(text.split(/\r?\n/).map(escapeMarkup).join('\n'));
}

/** Escapes a document for `srcdoc`: printable ASCII on one line, without commands for CI logs. */
export function frameSource(html: string): Markup {
  return new Markup(
    html.toWellFormed().replace(/[^ -~]|[&"<>]|:(?=:)|#(?=#)/gu, (character) => {
      const code = character.codePointAt(0) ?? 0;
      // HTML reads references to these control characters as other characters.
      return `&#${code === 0 || (code >= 0x80 && code < 0xa0) ? 0xfffd : code};`;
    }),
  );
}

import { disarm, escapeText } from '../base/escape.js';
import { escapeMarkup } from './markup.js';
import { type Named, shortLabel } from './names.js';

/*
 * Data in Markdown, and in the lines of HTML within it, so that it means itself: no markup, no mention, no link and no command
 * of a CI log comes of it.
 */

/** A block that shows lines as they are, with marks longer than any in them. */
export function fence(lines: readonly string[]): string {
  const longest = Math.max(
    2,
    ...lines.flatMap((line) => line.match(/`+/g) ?? []).map(({ length }) => length),
  );
  const marks = '`'.repeat(longest + 1);
  return [`${marks}diff`, ...lines.map(disarm), marks].join('\n');
}

/** A text as code, in which Markdown, mentions and links mean nothing. */
export function code(text: string): string {
  const shown = disarm(escapeText(text));
  if (shown.trim() === '') return '` `';
  const longest = Math.max(0, ...(shown.match(/`+/g) ?? []).map(({ length }) => length));
  const marks = '`'.repeat(longest + 1);
  // Markdown takes away one space on each side, so that a mark can stand at the edge.
  const pad = /^[` ]|[` ]$/.test(shown) ? ' ' : '';
  return `${marks}${pad}${shown}${pad}${marks}`;
}

/** A text as code in HTML. */
export function htmlCode(text: string): string {
  // In an element quotes mean themselves, and every character counts.
  return `<code>${escapeMarkup(text).replaceAll('&quot;', '"').replaceAll('&#39;', "'")}</code>`;
}

/** An object as a line of Markdown names it. */
export function codeName(named: Named): string {
  return `${code(named.address)}${labelIn(markdown, named)}`;
}

/** What a line is written in: Markdown isn't read inside of `summary`. */
export interface Language {
  code(text: string): string;
  /** Words of idops in bold. */
  bold(words: string): string;
  /** A sentence that may hold data. */
  prose(text: string): string;
  /** A text as code that leads to an address, which must be harmless; as code where there is none. */
  link(text: string, url: string | undefined): string;
}

export const markdown: Language = {
  code,
  bold: (words) => `**${words}**`,
  prose,
  link: (text, url) => (url === undefined ? code(text) : `[${code(text)}](${url})`),
};

export const html: Language = {
  code: htmlCode,
  bold: (words) => `<b>${words}</b>`,
  prose: htmlProse,
  link: (text, url) => (url === undefined ? htmlCode(text) : `<a href="${url}">${htmlCode(text)}</a>`),
};

/** What the server calls an object, behind its address; empty where that isn't known. */
export function labelIn({ code: show }: Pick<Language, 'code'>, { label }: Pick<Named, 'label'>): string {
  return label === undefined ? '' : ` (${show(shortLabel(label))})`;
}

/**
 * A sentence that may hold data. Words that could be anything else than a word, such as a mention, a link, a
 * reference to an issue or a commit, are shown as code.
 */
export function prose(text: string): string {
  return wordsAs(text, code);
}

/** The same in HTML. */
export function htmlProse(text: string): string {
  return wordsAs(text, htmlCode);
}

/** A word that means itself, whatever reads it. */
const plainWord = /^[("]?[\p{L}\p{M}]+(?:['’-][\p{L}\p{M}]+)*[)"]?$|^\d{1,6}$|^[—–→…)]$/u;
/** What may be short for a commit, or begin an address. */
const referringWord = /^[("]?(?:www|gh-)|[0-9a-f]{7}/i;
/** A placeholder of an email, a word, or what is between words. */
const pieces = /\{\{[^{}\n]{0,200}\}\}|[^\s{]+|\{|\s+/gu;
/** The same, with a quotation of several words as one: marks of code that begin in it end in it. */
const quotedPieces =
  /(?<![^\s])"(?:[^"\\\s]|\\\S)(?:[^"\\\n]|\\[^\n]){0,200}"(?=[,.;:!?)]{0,2}(?:\s|$))|\{\{[^{}\n]{0,200}\}\}|[^\s{]+|\{|\s+/gu;

/** A text in pieces; a quotation in words is words, whatever is around them. */
function piecesOf(text: string): string[] {
  return (text.match(quotedPieces) ?? []).flatMap((piece) => {
    const words = piece.match(pieces) ?? [];
    return words.every((word) => word.trim() === '' || isPlain(word)) ? words : [piece];
  });
}

/** Whether a word, with what may stand behind it, means itself. */
function isPlain(piece: string): boolean {
  // What stands behind a quotation.
  if (piece === ',' || piece === ';') return true;
  const word = piece.replace(/[,.;:!?]$/, '');
  // A number with a full stop could begin a list.
  return (
    plainWord.test(word) && !referringWord.test(word) && !/^\d+\.$/.test(piece) && escapeText(word) === word
  );
}

function wordsAs(text: string, show: (text: string) => string): string {
  let shown = '';
  let run = '';
  const flush = (): void => {
    const space = run.trimEnd() === run ? '' : ' ';
    if (run !== '') shown += `${show(run.trimEnd())}${space}`;
    run = '';
  };
  for (const piece of piecesOf(text.trim())) {
    if (piece.trim() === '') {
      if (run === '') shown += ' ';
      else run += ' ';
      continue;
    }
    // What closes a bracket of other words isn't part of this one.
    const [, word = '', end = ''] =
      (piece.includes('(') ? /^(.*?)([,.;:!?]?)$/su : /^(.*?)(\)?[,.;:!?]?)$/su).exec(piece) ?? [];
    const plain = isPlain(piece);
    if (plain && (run === '' || run.endsWith(' '))) {
      flush();
      shown += word + end;
    } else if (piece.startsWith('{{')) {
      if (run.endsWith(' ')) flush();
      run += piece;
    } else {
      run += word;
      // Nothing is left of a word that is punctuation alone, and a second mark could be part of a name.
      if (end !== '' && word === '' && run === '') run = end;
      else if (end !== '' && /[\p{L}\p{N})\]}"'`]$/u.test(run)) {
        flush();
        shown += end;
      } else run += end;
    }
  }
  flush();
  return shown;
}

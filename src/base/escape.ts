import { stringifyJson } from './json.js';

/**
 * What a terminal or a reader can be fooled with: control characters, bidi controls, separators, invisible
 * characters, spaces that look like the ordinary one, lone surrogates, combining marks without a letter.
 */
const hostile =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u{1d159}]|(?<=^|[\s"'(,:])\p{M}+/gu;

/** CI systems execute `##[command]`, `##vso[…]` and `##teamcity[…]` wherever in a logged line they stand. */
const logCommand = /#(?=#(?:vso|teamcity)?\[)/gi;

const short: { readonly [character: string]: string } = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escapeCharacter(characters: string): string {
  return [...characters].map(escaped).join('');
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return short[character] ?? (code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`);
}

/** Makes a text harmless on a terminal and in a CI log, as one line: hostile characters become visible. */
export function escapeText(text: string): string {
  return disarmLog(text.replace(hostile, escapeCharacter));
}

/** Makes commands to CI systems harmless, also those that only an assembled line has. */
export function disarmLog(text: string): string {
  return text.replace(logCommand, '\\u0023');
}

/** Like `escapeText`, but keeps line breaks, for texts of several lines. */
export function escapeLines(text: string): string {
  return text.split('\n').map(escapeText).map(disarm).join('\n');
}

/** GitHub executes `::command::` at the start of a line, even after spaces. */
export function disarm(line: string): string {
  return line.replace(/^(\s*):(?=:)/, '$1\\u003a');
}

/** How many characters of what a server or a program says a message shows. */
const maxLength = 500;

/** What somebody else says, as one line of bounded length, without control and invisible characters. */
export function oneLine(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  const characters = line.length > maxLength ? [...line] : [];
  return characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join('')}…` : line;
}

/** A text in double quotes, as JSON writes it, harmless and on one line. */
export function quote(text: string): string {
  return escapeText(JSON.stringify(text));
}

/** A name without quotes where nothing in it could be taken for what stands around it; else quoted. */
export function bare(text: string): string {
  return /^[\p{L}\p{N}_.:@/+*-][\p{L}\p{M}\p{N}_.:@/+*-]*$/u.test(text) && escapeText(text) === text
    ? text
    : quote(text);
}

/** JSON text with everything hostile as `\u` escapes: it parses to the same value, and can be logged. */
export function jsonText(value: unknown): string {
  return harmless(stringifyJson(value, 2));
}

/** The same on one line. */
export function jsonLine(value: unknown): string {
  return harmless(stringifyJson(value));
}

function harmless(json: string): string {
  const text = disarmLog(json).replace(hostile, (character) =>
    character === '\n'
      ? character
      : [...Array(character.length).keys()]
          .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
          .join(''),
  );
  return `${text}\n`;
}

const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;

/** How many columns a terminal needs for a text that has been escaped. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

function characterWidth(character: string): number {
  if (character <= '~') return 1;
  if (/[\p{Mn}\p{Me}]/u.test(character)) return 0;
  return wide.test(character) && !/[\uff61-\uffdc]/.test(character) ? 2 : 1;
}

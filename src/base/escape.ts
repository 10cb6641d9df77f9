import { stringifyJson } from './json.js';

/**
 * Characters that can mislead a terminal or a reader: control, bidi and invisible characters, separators, unusual spaces,
 * lone surrogates, combining marks without a letter.
 */
const hostile =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u{1d159}]|(?<=^|[\s"'(,:])\p{M}+/gu;

/** CI systems execute `##[command]`, `##vso[…]` and `##teamcity[…]` anywhere in a logged line. */
const logCommand = /#(?=#(?:vso|teamcity)?\[)/gi;

const shortEscapes: { readonly [character: string]: string } = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escapeCharacter(characters: string): string {
  return [...characters].map(escapeOne).join('');
}

function escapeOne(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return shortEscapes[character] ?? (code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`);
}

/** Makes a text safe for a terminal and a CI log, on one line: hostile characters become visible escapes. */
export function escapeText(text: string): string {
  return escapeLogCommands(text.replace(hostile, escapeCharacter));
}

/** Escapes commands to CI systems, also those that joined parts of a line form. */
export function escapeLogCommands(text: string): string {
  return text.replace(logCommand, '\\u0023');
}

/** Like `escapeText`, but keeps line breaks. */
export function escapeLines(text: string): string {
  return text.split('\n').map(escapeText).map(escapeWorkflowCommand).join('\n');
}

/** Escapes `::command::`, which GitHub executes at the start of a line, even after spaces. */
export function escapeWorkflowCommand(line: string): string {
  return line.replace(/^(\s*):(?=:)/, '$1\\u003a');
}

/** Maximum characters of a server's or program's text in a message. */
const maxLength = 500;

/** A server's or program's text as one line of limited length, without control and invisible characters. */
export function oneLine(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim();
  const characters = line.length > maxLength ? [...line] : [];
  return characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join('')}…` : line;
}

/** A text as a JSON string with hostile characters escaped. */
export function quote(text: string): string {
  return escapeText(JSON.stringify(text));
}

/** A name, quoted unless it is unambiguous without quotes. */
export function quoteIfNeeded(text: string): string {
  return /^[\p{L}\p{N}_.:@/+*-][\p{L}\p{M}\p{N}_.:@/+*-]*$/u.test(text) && escapeText(text) === text
    ? text
    : quote(text);
}

/** JSON text with hostile characters as `\u` escapes, so that it can be logged. */
export function jsonText(value: unknown): string {
  return escapeJson(stringifyJson(value, 2));
}

/** The same on one line. */
export function jsonLine(value: unknown): string {
  return escapeJson(stringifyJson(value));
}

function escapeJson(json: string): string {
  const text = escapeLogCommands(json).replace(hostile, (character) =>
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

/** The columns of an escaped text on a terminal. */
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

/** An argument of a command, quoted to be pasted into a shell; control characters stay readable. */
export function shellWord(text: string): string {
  // Otherwise the command would read it as an option.
  const word = text.startsWith('-') ? `./${text}` : text;
  if (/^[\w./:@%+=,-]+$/.test(word)) return word;
  if (process.platform === 'win32') return `"${word}"`;
  if (!/[\u0000-\u001f\u007f]/.test(word)) return `'${word.replaceAll("'", "'\\''")}'`;
  const escaped = word.replaceAll(/[\\']/g, '\\$&').replaceAll(/[\u0000-\u001f\u007f]/g, octal);
  return `$'${escaped}'`;
}

function octal(character: string): string {
  return `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
}

import { escapeText, escapeWorkflowCommand } from '../base/escape.js';
import type { NamedObject } from './names.js';

/* Escapes data for Markdown, so that it can't become markup, a mention, a link or a command in a CI log. */

/** A code block, with a fence longer than any in its lines. */
export function fence(lines: readonly string[]): string {
  const marks = '`'.repeat(Math.max(3, longestBackticks(lines.join('\n')) + 1));
  return [`${marks}diff`, ...lines.map(escapeWorkflowCommand), marks].join('\n');
}

export function code(text: string): string {
  const shown = escapeWorkflowCommand(escapeText(text));
  if (shown.trim() === '') return '` `';
  const marks = '`'.repeat(longestBackticks(shown) + 1);
  // Markdown strips one space on each side.
  const pad = /^[` ]|[` ]$/.test(shown) ? ' ' : '';
  return `${marks}${pad}${shown}${pad}${marks}`;
}

function longestBackticks(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
}

/** An object as code: its address, and its label in parentheses. */
export function codeName({ address, label }: NamedObject): string {
  return `${code(address)}${label === undefined ? '' : ` (${code(label)})`}`;
}

const plainWord = /^(?:[\p{L}\p{M}]+(?:['’-][\p{L}\p{M}]+)*|\d{1,6}|[—–→…])$/u;
/** What GitHub may read as a commit or the start of a link. */
const referringWord = /^(?:www|gh-)|[0-9a-f]{7}/i;
/** Matches words; a quotation, a placeholder and a JSON object count as one. */
const pieces =
  /(?:"(?:[^"\\]|\\.){1,200}"|\{\{[^{}]{0,200}\}\}|\{(?:"(?:[^"\\]|\\.){0,200}"|[^{}"]){1,200}\}|\S)+/gsu;

/** Escapes a sentence that may contain data: what could be a mention, a link, an issue or a commit becomes code. */
export function prose(text: string): string {
  return (text.match(pieces) ?? []).map(pieceText).join(' ');
}

function pieceText(piece: string): string {
  const [, open = '', core = '', close = ''] = /^(\(?)(.*?)(\)?[,.;:!?]?)$/su.exec(piece) ?? [];
  if (core === '') return /^[),;]$/.test(piece) ? piece : code(piece);
  // `1.` could start a list.
  const isNumbered = /^\d/.test(core) && /^[.)]/.test(close);
  const words = (/^"(.*)"$/s.exec(core)?.[1] ?? core).split(' ');
  return words.every(isPlain) && !isNumbered ? piece : `${open}${code(core)}${close}`;
}

function isPlain(word: string): boolean {
  return plainWord.test(word) && !referringWord.test(word) && escapeText(word) === word;
}

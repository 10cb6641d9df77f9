import { escapeText, escapeWorkflowCommand } from '../base/escape.js';
import type { Named } from './names.js';

/* Escapes data for Markdown, so that it is no markup, mention, link or command of a CI log. */

/** A code block, with a fence longer than any in its lines. */
export function fence(lines: readonly string[]): string {
  const longest = Math.max(
    2,
    ...lines.flatMap((line) => line.match(/`+/g) ?? []).map(({ length }) => length),
  );
  const marks = '`'.repeat(longest + 1);
  return [`${marks}diff`, ...lines.map(escapeWorkflowCommand), marks].join('\n');
}

export function code(text: string): string {
  const shown = escapeWorkflowCommand(escapeText(text));
  if (shown.trim() === '') return '` `';
  const longest = Math.max(0, ...(shown.match(/`+/g) ?? []).map(({ length }) => length));
  const marks = '`'.repeat(longest + 1);
  // Markdown strips one space on each side.
  const pad = /^[` ]|[` ]$/.test(shown) ? ' ' : '';
  return `${marks}${pad}${shown}${pad}${marks}`;
}

export function codeName({ address, label }: Named): string {
  return `${code(address)}${label === undefined ? '' : ` (${code(label)})`}`;
}

const plainWord = /^(?:[\p{L}\p{M}]+(?:['’-][\p{L}\p{M}]+)*|\d{1,6}|[—–→…])$/u;
/** What may be a commit, or begin a link. */
const referringWord = /^(?:www|gh-)|[0-9a-f]{7}/i;
/** Words; a quotation, a placeholder and a JSON object are one. */
const pieces =
  /(?:"(?:[^"\\]|\\.){1,200}"|\{\{[^{}]{0,200}\}\}|\{(?:"(?:[^"\\]|\\.){0,200}"|[^{}"]){1,200}\}|\S)+/gsu;

/** A sentence that may hold data: what could be a mention, a link, an issue or a commit is shown as code. */
export function prose(text: string): string {
  return (text.match(pieces) ?? []).map(pieceText).join(' ');
}

function pieceText(piece: string): string {
  const [, open = '', core = '', close = ''] = /^(\(?)(.*?)(\)?[,.;:!?]?)$/su.exec(piece) ?? [];
  if (core === '') return /^[),;]$/.test(piece) ? piece : code(piece);
  // It could begin a list.
  const isNumbered = /^\d/.test(core) && /^[.)]/.test(close);
  const words = (/^"(.*)"$/s.exec(core)?.[1] ?? core).split(' ');
  return words.every(isPlain) && !isNumbered ? piece : `${open}${code(core)}${close}`;
}

function isPlain(word: string): boolean {
  return plainWord.test(word) && !referringWord.test(word) && escapeText(word) === word;
}

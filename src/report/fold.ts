import { disarm, displayWidth } from '../base/escape.js';

/** A part of a line, and the colour that it has. */
export interface Tinted {
  readonly text: string;
  readonly tint?: (text: string) => string;
  /** Whether it is one word, whatever spaces are in it. */
  readonly whole?: boolean;
}

/**
 * A line in parts, folded between its words for a terminal of so many columns: what follows stands `hang` columns in. Words that
 * are longer than a line stay whole, so that they can be copied. One line where the terminal isn't known. The parts must be
 * harmless already.
 */
export function fold(parts: readonly Tinted[], hang: number, columns: number | undefined): string {
  if (columns === undefined) return painted(parts);
  const lines: Tinted[][] = [];
  let line: Tinted[] = [];
  let width = 0;
  let gap: Tinted[] = [];
  let isEmpty = true;
  for (const { pieces, space } of words(parts)) {
    const wide = widthOf(pieces);
    if (space) {
      gap = pieces;
      continue;
    }
    if (!isEmpty && width + widthOf(gap) + wide > columns) {
      lines.push(line);
      line = [{ text: ' '.repeat(hang) }, ...harmless(pieces)];
      width = hang + wide;
    } else {
      line.push(...gap, ...pieces);
      width += widthOf(gap) + wide;
    }
    gap = [];
    isEmpty = false;
  }
  return [...lines, line].map(painted).join('\n');
}

/** A word as a shell reads it, with what is in quotes. */
const shellWord = String.raw`(?:\$?'[^']*'|\\'|[^\s'])+`;
/** A command that a message names: it is to be typed or copied as it stands. */
const command = new RegExp(
  String.raw`\bidops(?: [a-z][a-z-]*(?: (?!-)${shellWord})?(?: --[a-z-]+(?: (?!-)${shellWord})?)*)`,
  'g',
);

/** Text of one or more lines, each folded by itself below its own beginning; commands in it stay whole. Must be harmless already. */
export function foldText(text: string, columns: number | undefined): string {
  if (columns === undefined) return text;
  return text
    .split('\n')
    .map((line) => fold(inWords(line), (/^ */.exec(line)?.[0].length ?? 0) + 2, columns))
    .join('\n');
}

/** A text in parts, with each command in it as one word. */
export function inWords(text: string, tint?: Tinted['tint']): Tinted[] {
  const look = tint === undefined ? {} : { tint };
  const parts: Tinted[] = [];
  let at = 0;
  for (const found of text.matchAll(command)) {
    parts.push({ ...look, text: text.slice(at, found.index) }, { ...look, text: found[0], whole: true });
    at = found.index + found[0].length;
  }
  return [...parts, { ...look, text: text.slice(at) }];
}

interface Word {
  readonly pieces: Tinted[];
  readonly space: boolean;
}

/** Words, which may have several colours, and the spaces between them. */
function words(parts: readonly Tinted[]): Word[] {
  const found: Word[] = [];
  for (const { text, ...look } of parts) {
    for (const piece of look.whole === true ? [text] : (text.match(/ +|[^ ]+/g) ?? [])) {
      const space = look.whole !== true && piece.startsWith(' ');
      const last = found.at(-1);
      if (last?.space === space) last.pieces.push({ ...look, text: piece });
      else found.push({ space, pieces: [{ ...look, text: piece }] });
    }
  }
  return found;
}

function widthOf(pieces: readonly Tinted[]): number {
  return pieces.reduce((sum, { text }) => sum + displayWidth(text), 0);
}

/** A line must not begin with what a CI log takes for a command, wherever it breaks. */
function harmless(pieces: readonly Tinted[]): readonly Tinted[] {
  const [first, ...rest] = pieces;
  const whole = pieces.map(({ text }) => text).join('');
  const safe = disarm(whole);
  if (first === undefined || safe === whole) return pieces;
  return [{ ...first, text: safe.slice(0, safe.length - whole.length + first.text.length) }, ...rest];
}

function painted(pieces: readonly Tinted[]): string {
  let line = '';
  for (let at = 0; at < pieces.length; ) {
    const { tint = String } = pieces[at] ?? {};
    let text = '';
    // Escape sequences within one colour would only be long.
    while (at < pieces.length && (pieces[at]?.tint ?? String) === tint) text += pieces[at++]?.text ?? '';
    line += text === '' ? '' : tint(text);
  }
  return line;
}

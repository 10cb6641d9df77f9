import type { Step } from './align.js';
import { eolOf, indentAt } from './lines.js';
import { type Extent, type Splice, spliced } from './tokens.js';
import { Unfit } from './unfit.js';

/** A flow collection as it is written. */
export interface FlowText {
  /** Between its brackets. */
  readonly inside: Extent;
  readonly members: readonly Extent[];
  /** Where commas stand, by the member before them. */
  readonly commas: ReadonlyMap<number, number>;
}

export interface FlowWriter {
  /** What changes within a member that stays. */
  readonly within: (step: Step, index: number) => readonly Splice[];
  /** A new member, on one line. */
  readonly fresh: (step: Step) => string;
}

/** A member with all that is written around it up to the next one. */
interface Piece {
  readonly extent: Extent;
  /** What of the lines above it is about something else. */
  readonly above: string;
  /** The comment directly above it, and where it begins. */
  readonly lead: string;
  /** Between it and its comma. */
  readonly pause: string;
  readonly hasComma: boolean;
  /** The comment behind it on its line. */
  readonly trail: string;
}

/** What a flow map or a flow list takes so that its members are those of the steps. */
export function editFlow(
  text: string,
  flow: FlowText,
  steps: readonly Step[],
  { within, fresh }: FlowWriter,
): Splice {
  const { opening, pieces, closing } = piecesOf(text, flow);
  const eol = eolOf(text, flow.inside.start);
  const broken = pieces.findLast(({ lead }) => lead.includes('\n'));
  const newLine =
    broken === undefined
      ? `${eol}${indentAt(text, flow.inside.start)}  `
      : eol + (broken.lead.split('\n').at(-1) ?? '');
  const between = pieces.at(-1)?.lead.includes('\n') === true ? newLine : ' ';
  const isLastEnded = pieces.at(-1)?.hasComma === true;
  const staying = new Set(steps.filter(({ moved }) => !moved).map(({ old }) => old));
  const made = new Joined(newLine);
  made.space(opening);
  let next = 0;
  const passTo = (end: number): void => {
    for (; next < end; next += 1) if (!staying.has(next)) made.space(pieces[next]?.above ?? '');
  };
  for (const [place, step] of steps.entries()) {
    const comma = place < steps.length - 1 || isLastEnded ? ',' : '';
    const isFirst = place === 0;
    const head = pieces[0]?.lead ?? '';
    const old = step.old === undefined ? undefined : pieces[step.old];
    if (step.old === undefined || old === undefined) {
      made.space(isFirst ? (head.includes('#') ? newLine : head) : between);
      made.say(fresh(step) + comma);
      continue;
    }
    if (!step.moved) {
      passTo(step.old);
      next += 1;
      made.space(old.above);
    }
    const isPlain = old.above === '' && !`${old.lead}${head}`.includes('#');
    made.space(isFirst && isPlain ? head : !isFirst && old.lead === '' ? between : old.lead);
    const { start, end } = old.extent;
    const inner = within(step, step.old).map((splice) => ({
      ...splice,
      start: splice.start - start,
      end: splice.end - start,
    }));
    const member = spliced(text.slice(start, end), inner);
    if (member === undefined) throw new Unfit('shape');
    made.say(member + (old.hasComma ? '' : comma));
    made.space(old.pause);
    made.say(old.hasComma ? comma : '');
    made.space(old.trail);
  }
  passTo(pieces.length);
  const isBare = steps.length === 0 && made.text.trim() === '' && closing.trim() === '';
  if (!isBare) made.end(closing);
  return { ...flow.inside, text: isBare ? '' : made.text };
}

/** Parts of a text one after the other; what follows a comment begins on a line of its own. */
class Joined {
  text = '';
  readonly #newLine: string;
  #isComment = false;

  constructor(newLine: string) {
    this.#newLine = newLine;
  }

  /** Space, line ends and comments. */
  space(part: string): void {
    if (part === '') return;
    this.text += this.#isComment && !/^[ \t]*\r?\n/.test(part) ? this.#newLine + part.trimStart() : part;
    this.#isComment = part.split('\n').at(-1)?.includes('#') === true;
  }

  /** What stands before the closing bracket. */
  end(part: string): void {
    if (this.#isComment && part === '') this.text += this.#newLine;
    else this.space(part);
  }

  say(part: string): void {
    if (part === '') return;
    this.text += this.#isComment ? this.#newLine + part : part;
    this.#isComment = false;
  }
}

function piecesOf(
  text: string,
  { inside, members, commas }: FlowText,
): { readonly opening: string; readonly pieces: readonly Piece[]; readonly closing: string } {
  const [head] = members;
  if (head === undefined) {
    const [opening, closing] = atLineEnd(text.slice(inside.start, inside.end));
    return { opening, pieces: [], closing };
  }
  let [opening, before] = atLineEnd(text.slice(inside.start, head.start));
  const pieces: Piece[] = [];
  for (const [index, extent] of members.entries()) {
    const comma = commas.get(index);
    const end = members[index + 1]?.start ?? inside.end;
    const pause = comma === undefined ? '' : text.slice(extent.end, comma);
    const [trail, rest] = atLineEnd(text.slice(comma === undefined ? extent.end : comma + 1, end));
    const [above, lead] = atOwn(before);
    pieces.push({ extent, above, lead, pause, hasComma: comma !== undefined, trail });
    before = rest;
  }
  return { opening, pieces, closing: before };
}

/** What stands between two members, cut where a comment on the line of the first one ends. */
function atLineEnd(gap: string): readonly [string, string] {
  const [line = ''] = gap.split(/\r?\n/, 1);
  return line.includes('#') ? [line, gap.slice(line.length)] : ['', gap];
}

/** What stands before a member, cut before the comment directly above it. */
function atOwn(gap: string): readonly [string, string] {
  const lines = gap.split(/(?<!\r)(?=\r?\n)/);
  let own = lines.length - 1;
  while (own > 0 && lines[own - 1]?.trim().startsWith('#')) own -= 1;
  const above = lines.slice(0, own).join('');
  return above.includes('#') ? [above, lines.slice(own).join('')] : ['', gap];
}

import type { Step } from './align.js';
import { eolOf, lineEnd, lineOf } from './lines.js';
import { type Extent, type Splice, spliced } from './tokens.js';
import { Unfit } from './unfit.js';

/** What writing the members of a collection takes. */
export interface Writer {
  /** What changes within a member that stays. */
  readonly within: (step: Step, index: number) => readonly Splice[];
  /** A new member, line by line, as if it stood at the beginning of its lines. */
  readonly fresh: (step: Step) => readonly string[];
}

/** A member with the lines that it has for itself. */
interface Placed extends Extent {
  /** The beginning of its first line, be it that of a comment directly above; undefined where it shares the line. */
  readonly own: number | undefined;
  /** Behind its last line. */
  readonly after: number;
  /** Behind what is written below it and further in than itself. */
  readonly behind: number;
}

/** What a block map or a block list takes so that its members are those of the steps; `empty` writes one that has none. */
export function editBlock(
  text: string,
  extents: readonly Extent[],
  steps: readonly Step[],
  { within, fresh }: Writer,
  empty: () => Splice,
): readonly Splice[] {
  const [head] = extents;
  if (head === undefined) throw new Unfit('shape');
  const eol = eolOf(text, head.start);
  const column = head.start - lineOf(text, head.start);
  const placed = placedIn(text, extents, column);
  const [first] = placed;
  const used = new Set(steps.map(({ old }) => old));
  const gone = new Set(placed.filter((_, index) => !used.has(index)));
  const splices: Splice[] = [];
  const rest = [...steps];
  let at = first?.own;
  if (first !== undefined && first.own === undefined) {
    const taken = takePlace(text, placed, rest, fresh, column, eol);
    splices.push(...taken.splices);
    for (const one of taken.done) gone.delete(one);
    at = taken.at;
  }
  if (steps.length === 0) splices.push(empty());
  const indent = ' '.repeat(column);
  for (const step of rest) {
    const index = step.old;
    const one = index === undefined ? undefined : placed[index];
    if (index === undefined || one === undefined) {
      splices.push(insertion(text, at, indented(fresh(step), indent, eol), eol));
    } else if (step.moved) {
      if (one.own === undefined) throw new Unfit('shape');
      const { own, after } = one;
      const inner = within(step, index).map((splice) => ({
        start: splice.start - own,
        end: splice.end - own,
        text: splice.text,
      }));
      const chunk = spliced(text.slice(own, after), inner);
      if (chunk === undefined) throw new Unfit('shape');
      splices.push(insertion(text, at, chunk.replace(/\r?\n$/, ''), eol));
      splices.push({ start: own, end: after, text: '' });
    } else {
      splices.push(...within(step, index));
      at = one.behind;
    }
  }
  for (const { own, after } of gone) {
    if (own === undefined) throw new Unfit('shape');
    splices.push({ start: own, end: after, text: '' });
  }
  return splices;
}

/** Puts something in the place of a first member that shares its line with the dash before it, where it doesn't stay. */
function takePlace(
  text: string,
  placed: readonly Placed[],
  rest: Step[],
  fresh: Writer['fresh'],
  column: number,
  eol: string,
): {
  readonly splices: readonly Splice[];
  readonly done: readonly Placed[];
  readonly at: number | undefined;
} {
  const [first] = placed;
  const [step] = rest;
  if (first === undefined || step === undefined || step.moved) throw new Unfit('shape');
  if (step.old === 0) return { splices: [], done: [], at: undefined };
  const { start } = first;
  if (step.old === undefined) {
    if (rest.some(({ old }) => old === 0)) throw new Unfit('shape');
    rest.shift();
    const lineEnd = first.after - (/\r?\n$/.exec(text.slice(start, first.after))?.[0].length ?? 0);
    const made = indented(fresh(step), ' '.repeat(column), eol).trimStart();
    return { splices: [{ start, end: lineEnd, text: made }], done: [first], at: first.after };
  }
  const gone = placed.slice(0, step.old);
  const heir = placed[step.old];
  const last = gone.at(-1);
  if (heir === undefined || last === undefined) throw new Unfit('shape');
  const isClear = gone.slice(0, -1).every(({ after }, index) => {
    const next = placed[index + 1];
    return next?.own !== undefined && text.slice(after, next.own).trim() === '';
  });
  if (!isClear || rest.some(({ old }) => old !== undefined && old < gone.length)) throw new Unfit('shape');
  // A comment above it comes to stand behind the dash.
  const comment = text.slice(last.after, heir.start).indexOf('#');
  const end = comment < 0 ? heir.start : last.after + comment;
  return { splices: [{ start, end, text: '' }], done: gone, at: undefined };
}

function insertion(text: string, at: number | undefined, made: string, eol: string): Splice {
  if (at === undefined) throw new Unfit('shape');
  const isOpen = at === text.length && at > 0 && text[at - 1] !== '\n';
  return { start: at, end: at, text: isOpen ? `${eol}${made}` : `${made}${eol}` };
}

function indented(lines: readonly string[], indent: string, eol: string): string {
  return lines.map((line) => (line === '' ? '' : indent + line)).join(eol);
}

function placedIn(text: string, extents: readonly Extent[], column: number): readonly Placed[] {
  let floor = 0;
  return extents.map(({ start, end }, index) => {
    const line = lineOf(text, start);
    // A block of text may end with the line.
    const after = text[end - 1] === '\n' ? end : lineEnd(text, end);
    const ceiling = extents[index + 1]?.start;
    const own = text.slice(line, start).trim() === '' ? ownStart(text, line, column, floor) : undefined;
    floor = after;
    return {
      start,
      end,
      own,
      after,
      behind: behindOf(text, after, column, ceiling === undefined ? text.length : lineOf(text, ceiling)),
    };
  });
}

/** Where the comment begins that stands directly above a line, as far in as what it is about. */
function ownStart(text: string, line: number, column: number, floor: number): number {
  let own = line;
  while (own > floor) {
    const above = lineOf(text, own - 1);
    if (above < floor || text.slice(above, above + column).trim() !== '' || text[above + column] !== '#') {
      break;
    }
    own = above;
  }
  return own;
}

/** Where a member's last comment ends that stands below it and further in than itself. */
function behindOf(text: string, after: number, column: number, ceiling: number): number {
  let behind = after;
  for (let at = after; at < ceiling; ) {
    const end = lineEnd(text, at);
    const [, space = '', mark] = /^([ ]*)(#?)/.exec(text.slice(at, end)) ?? [];
    const isBlank = text.slice(at, end).trim() === '';
    if (!isBlank && (mark !== '#' || space.length <= column)) break;
    if (!isBlank) behind = end;
    at = end;
  }
  return behind;
}

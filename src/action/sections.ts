import { readMarkers } from './marker.js';

/*
 * A comment is lines for idops alone, then text for people. Lines in the text say where the part of each environment begins and
 * ends, and where the result of applying stands in it, so that a later run finds them again. Nothing that comes from manifests or
 * from the server can be such a line: it is in code, or behind the mark of a difference.
 */

/** What GitHub takes as a comment or as the body of an issue. */
export const commentLimit = 65_536;

type Part = 'section' | 'result' | 'planned';

function begins(part: Part, key: string): string {
  return `<!-- idops-${part} key=${key} -->`;
}

function ends(part: Part, key: string): string {
  return `<!-- /idops-${part} key=${key} -->`;
}

/** A text for people as the part of one environment. */
export function sectionText(key: string, text: string): string {
  return `${begins('section', key)}\n${text.trimEnd()}\n${ends('section', key)}\n`;
}

/** What the lines around a part take. */
export const sectionRoom = sectionText('0'.repeat(16), '').length;

/** What a comment is made of, seen from one environment. */
export interface Parts {
  /** All before the part of the environment, with the lines for idops. */
  readonly before: string;
  /** The plan that was shown for it. */
  readonly planned: string;
  /** Whether a result of applying stands there too. */
  readonly hasResult: boolean;
  /** Empty where no lines mark the part. */
  readonly after: string;
}

/** Takes a comment apart; one without parts is about one environment alone. */
export function partsOf(body: string, key: string): Parts {
  const text = body.replaceAll('\r\n', '\n');
  const lead = text.split('\n').slice(0, readMarkers(text).length).join('\n').length + 1;
  const section = between(text, 'section', key, lead);
  const [from, to] = section ?? [lead, text.length];
  const shown = text.slice(from, to);
  const planned = between(shown, 'planned', key);
  return {
    before: section === null ? text.slice(0, lead) : text.slice(0, from),
    planned: (planned === null ? shown : shown.slice(...planned)).trim(),
    hasResult: between(shown, 'result', key) !== null,
    after: section === null ? '' : text.slice(to),
  };
}

/** Where a part stands between its lines; null where it isn't there. */
function between(text: string, part: Part, key: string, start = 0): [from: number, to: number] | null {
  const first = lineAt(text, begins(part, key), start);
  if (first < 0) return null;
  const from = first + begins(part, key).length + 1;
  const to = lineAt(text, ends(part, key), from);
  return to < 0 ? null : [from, to];
}

/** Where a line stands that is exactly so. */
function lineAt(text: string, line: string, start: number): number {
  for (let at = text.indexOf(line, start); at >= 0; at = text.indexOf(line, at + 1)) {
    const end = text[at + line.length];
    if ((at === 0 || text[at - 1] === '\n') && (end === undefined || end === '\n')) return at;
  }
  return -1;
}

/**
 * A comment with a result in the part of one environment, in the place of one of before, over the plan that stood there: folded, and
 * shortened where there is no room for all of it.
 */
export function withResult(
  { before, planned, after }: Parts,
  key: string,
  result: string,
  link: string,
): string {
  const around = (plan: string): string =>
    [
      begins('result', key),
      result.trimEnd(),
      ends('result', key),
      '',
      '<details><summary>What was planned</summary>',
      '',
      begins('planned', key),
      plan,
      ends('planned', key),
      '',
      '</details>',
      '',
    ].join('\n');
  // One that has no lines around it yet gets them, so that the next result finds its place.
  const whole = (plan: string): string =>
    after === '' ? `${before}${sectionText(key, around(plan))}` : `${before}${around(plan)}${after}`;
  const room = commentLimit - whole('').length;
  return whole(shortened(planned, room, link));
}

/** A plan in no more than so many characters: what is folded goes first, then what stands at its end. */
export function shortened(plan: string, room: number, link: string): string {
  if (plan.length <= room) return plan;
  const note = `\nThis is shortened: [the run's summary](${link}) has all of it.`;
  const blocks = blocksOf(plan);
  let length = blocks.join('').length + note.length;
  for (let at = blocks.length - 1; at >= 0 && length > room; at -= 1) {
    const block = blocks[at] ?? '';
    const [, summary] = /^<details><summary>(.*)<\/summary>$/m.exec(block) ?? [];
    if (!block.startsWith('<details>') || summary === undefined) continue;
    const line = `- ${summary}\n`;
    blocks[at] = line;
    length -= block.length - line.length;
  }
  while (length > room && blocks.length > 0) length -= blocks.pop()?.length ?? 0;
  return length > room ? '' : blocks.join('') + note;
}

/** A text in lines, with what is folded as one of them. */
function blocksOf(text: string): string[] {
  const blocks: string[] = [];
  let open: string | undefined;
  let depth = 0;
  for (const line of `${text}\n`.split(/(?<=\n)/)) {
    const opens = line.startsWith('<details>');
    if (opens) depth += 1;
    if (depth === 0) blocks.push(line);
    else open = (open ?? '') + line;
    if (depth > 0 && line === '</details>\n') depth -= 1;
    if (depth === 0 && open !== undefined) {
      blocks.push(open);
      open = undefined;
    }
  }
  return open === undefined ? blocks : [...blocks, open];
}

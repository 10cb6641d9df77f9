import { code } from '../report/marked.js';
import { markerLine, noPlan, readMarkers } from './marker.js';

/*
 * A comment is lines for idops alone, then text for people. Lines in the text say where the part of each environment begins and
 * ends, and where the result of applying stands in it, so that a later run finds them again. Nothing that comes from manifests or
 * from the server can be such a line: it is in code, or behind the mark of a difference.
 */

/** What GitHub takes as a comment or as the body of an issue. */
export const commentLimit = 65_536;

type Part = 'section' | 'result' | 'undo' | 'former' | 'unsent' | 'planned';

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
  /** What the latest run of apply that sent something came to; null where none did. */
  readonly result: string | null;
  /** The same of those before it, a line each, the latest first. */
  readonly former: readonly string[];
  /** What the latest run of apply after that came to, which sent nothing; null where there was none. */
  readonly unsent: string | null;
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
  const part = (name: Part): string | null => {
    const found = between(shown, name, key);
    return found === null ? null : shown.slice(...found).trim();
  };
  return {
    before: section === null ? text.slice(0, lead) : text.slice(0, from),
    planned: part('planned') ?? shown.trim(),
    result: part('result'),
    former: (part('former') ?? '').split('\n').filter((line) => line.startsWith('- ')),
    unsent: part('unsent'),
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

/** How a run is undone, as it stands in a result: found again there when another result takes its place. */
export function undoText(key: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : [begins('undo', key), ...lines, ends('undo', key)].join('\n');
}

/** What a run of apply came to. */
export interface ToldResult {
  readonly text: string;
  /** Whether it sent something, or may have. */
  readonly sent: boolean;
  /** The address of the run. */
  readonly link: string;
  /** What the list at the top of a comment of several environments says of this one. */
  readonly listed?: { readonly name: string; readonly words: string };
}

/** How many characters results of before may take. */
const formerRoom = 6_000;

/**
 * A comment with a result in the part of one environment, over the plan that stood there, folded. One that sent something leaves of
 * the one before it a line with its run and how that is undone; one that sent nothing stands above it. Where there is no room for
 * all of it, it is shortened: the plan first.
 */
export function withResult(parts: Parts, key: string, { text, sent, link, listed }: ToldResult): string {
  const { after } = parts;
  const told = listed !== undefined && (sent || parts.result === null);
  const before = told ? withListed(parts.before, listed.name, listed.words) : parts.before;
  const block = (part: Part, shown: string | null): string[] =>
    shown === null || shown === '' ? [] : [begins(part, key), shown, ends(part, key), ''];
  const old = sent && parts.result !== null ? [formerLine(parts.result, key)] : [];
  const former = kept([...old, ...parts.former], formerRoom);
  let result = sent ? text.trimEnd() : parts.result;
  let unsent = sent ? null : text.trimEnd();
  const around = (plan: string): string =>
    [
      ...block('unsent', unsent),
      ...block('result', result),
      ...block('former', former.length === 0 ? null : ['Before that:', '', ...former].join('\n')),
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
  const room = (): number => commentLimit - whole('').length;
  if (room() < 0 && unsent !== null) unsent = shortened(unsent, unsent.length + room(), link);
  if (room() < 0 && result !== null) result = shortened(result, result.length + room(), link);
  return whole(shortened(parts.planned, room(), link));
}

/** A comment with other words in the list at its top, where that names this environment. */
function withListed(text: string, name: string, words: string): string {
  const end = text.search(/^<!-- idops-section /m);
  const head = end < 0 ? text : text.slice(0, end);
  const start = `- ${code(name)}: `;
  const lines = head.split('\n').map((line) => (line.startsWith(start) ? start + words : line));
  return lines.join('\n') + text.slice(head.length);
}

/** One environment that a run is about. */
export interface Covered {
  readonly key: string;
  readonly name: string | null;
}

/** A comment of which another one shows a later plan of one environment: this part of it approves nothing any more. */
export function superseded(body: string, { key, name }: Covered): string {
  const text = body.replaceAll('\r\n', '\n');
  const markers = readMarkers(text);
  const lines = text.split('\n');
  const lead = lines.slice(0, markers.length).map((line, index) => {
    const isMeant = markers[index]?.kind === 'plan' && markers[index].key === key;
    return isMeant ? markerLine({ kind: 'past', key, run: null, ...noPlan }) : line;
  });
  const rest = lines.slice(markers.length).join('\n');
  const at = between(rest, 'section', key)?.[0] ?? 0;
  // Shorter than what the line for idops lost.
  const said =
    '**Superseded**: another comment shows its latest plan. What stands here approves nothing any more.';
  const shown = `${rest.slice(0, at)}${said}\n\n${rest.slice(at)}`;
  return `${lead.join('\n')}\n${name === null ? shown : withListed(shown, name, 'superseded')}`;
}

/** A result in one line: its heading, its run and how it is undone. */
function formerLine(result: string, key: string): string {
  const [, title = ''] = /^## (.*)$/m.exec(result) ?? [];
  const [run = ''] = /^Run `[^`]+`$/m.exec(result) ?? [];
  const undo = between(result, 'undo', key);
  const lines =
    undo === null
      ? []
      : result
          .slice(...undo)
          .trim()
          .split('\n');
  return `- ${[title, run, ...lines].filter((line) => line !== '').join('. ')}`;
}

/** The first lines, as many as there is room for. */
function kept(lines: readonly string[], room: number): string[] {
  let used = 0;
  return lines.filter((line) => {
    used += line.length + 1;
    return used <= room;
  });
}

/** A text in no more than so many characters: what is folded goes first, then what stands at its end. */
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

/** A text in lines, with what is folded, or fenced, as one of them. */
function blocksOf(text: string): string[] {
  const blocks: string[] = [];
  let open: string | undefined;
  let depth = 0;
  let fenced: string | undefined;
  for (const line of `${text}\n`.split(/(?<=\n)/)) {
    const [fence] = /^`{3,}/.exec(line) ?? [];
    const ends = fenced !== undefined && line === `${fenced}\n`;
    if (fenced === undefined) {
      fenced = fence;
      if (line.startsWith('<details>')) depth += 1;
    }
    if (depth === 0 && fenced === undefined) blocks.push(line);
    else open = (open ?? '') + line;
    if (ends) fenced = undefined;
    if (fenced === undefined && depth > 0 && line === '</details>\n') depth -= 1;
    if (fenced === undefined && depth === 0 && open !== undefined) {
      blocks.push(open);
      open = undefined;
    }
  }
  return open === undefined ? blocks : [...blocks, open];
}

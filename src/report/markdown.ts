import { disarm, escapeText } from '../base/escape.js';
import type { Share } from '../plan/drift.js';
import type { Action, Change, FieldChange, Plan } from '../plan/plan.js';
import { countDestructions } from '../plan/safety.js';
import { driftNote } from './drift.js';
import { escapeMarkup } from './markup.js';
import { type Named, shortLabel } from './names.js';
import {
  allWarnings,
  bodyNotes,
  headline,
  located,
  observedNote,
  placeText,
  type ReviewGroup,
  reviewGroups,
  shareNotes,
  shortValue,
} from './review.js';
import { shorten } from './values.js';
import { type BodyView, type FieldView, requestTexts, viewField } from './view.js';
import { plural } from './words.js';

/** Below what GitHub takes as a comment, with room for what a workflow adds. */
const defaultBudget = 60_000;

/** What is kept free for saying what was left out. */
const noticeRoom = 400;
/** And for saying it at the end of a list. */
const moreRoom = 60;

export interface MarkdownOptions {
  /** How many characters it may have at most; 60,000 where it isn't given. */
  readonly budget?: number;
  /** Unchanged objects and requests too, and long values whole. */
  readonly debug: boolean;
  /** Which changes are shown; all where it is left out. */
  readonly only?: Share;
}

/**
 * A plan for a comment of a pull request. Never longer than the budget: what matters least is left out first,
 * details before the lines that name a change, and it says so.
 */
export function planMarkdown(plan: Plan, { budget = defaultBudget, debug, only }: MarkdownOptions): string {
  const head = headText(plan, only);
  const foot = footText(plan);
  const title = `## idops plan: ${headline(plan)}\n`;
  const bare = `${title}\nThis is longer than ${budget} characters even without details.\n`;
  const fitting = fillRoom(
    sectionsOf(plan, { debug, ...(only === undefined ? {} : { only }) }),
    budget - title.length - head.length - foot.length - noticeRoom,
  );
  const text = [title, notice(fitting, budget), head, ...fitting.texts, foot].filter((part) => part !== '');
  const whole = text.join('\n');
  return whole.length <= budget ? whole : bare.slice(0, Math.max(0, budget));
}

function headText(plan: Plan, only: Share | undefined): string {
  const environment =
    plan.environment === null ? '' : `, environment ${code(shorten(escapeText(plan.environment), '', 100))}`;
  const lines = [
    `Server ${code(shorten(escapeText(plan.server), '', 200))}, profile ${code(plan.profile)}${environment}.`,
  ];
  const destructive = countDestructions(plan);
  const warnings = allWarnings(plan).length;
  const notes = [
    ...(destructive > 0 ? [`**${plural(destructive, 'destructive change')}**, first below`] : []),
    ...(warnings > 0 ? [`${plural(warnings, 'warning')}, last below`] : []),
  ];
  if (notes.length > 0) lines.push('', `${notes.join('; ')}.`);
  lines.push(...shareNotes(plan, only).flatMap((note) => ['', prose(note)]));
  return `${lines.join('\n')}\n`;
}

function footText(plan: Plan): string {
  const scopes = plan.requiredScopes.length === 0 ? 'none' : plan.requiredScopes.map(code).join(', ');
  return [
    '---',
    '',
    `Digest ${code(plan.digest)}  `,
    `Required scopes: ${scopes}  `,
    `idops ${code(plan.toolVersion)}, ${code(plan.createdAt)}`,
    '',
  ].join('\n');
}

/** One line of the report, and what is folded under it. */
interface Foldable {
  readonly line: string;
  /** All details, and those without bodies, where that is less. */
  readonly details: readonly string[];
}

interface Section {
  readonly title: string;
  /** What its entries are called where some are left out. */
  readonly noun: string;
  /** Sections with the lowest number are kept longest. */
  readonly rank: number;
  readonly entries: readonly Foldable[];
}

function sectionsOf(plan: Plan, options: Pick<MarkdownOptions, 'debug' | 'only'>): Section[] {
  const shown = reviewGroups(plan, options);
  const groups = shown.map((group) => groupSection(group, options.debug));
  const warnings = allWarnings(plan);
  if (warnings.length === 0) return groups;
  const entries = warnings.map(({ change, ...warning }) => ({
    line: `- ${change === null ? '' : `${codeName(change)}: `}${prose(located(warning))} (${code(warning.code)})`,
    details: [],
  }));
  return [...groups, { title: 'Warnings', noun: 'warning', rank: 0.5, entries }];
}

function groupSection({ title, rank, changes }: ReviewGroup, debug: boolean): Section {
  return {
    title,
    noun: 'change',
    rank,
    entries: changes.map((change) => ({ line: summaryOf(change), details: details(change, debug) })),
  };
}

interface Fitting {
  readonly texts: readonly string[];
  /** How many entries were left out, by what they are called. */
  readonly dropped: ReadonlyMap<string, number>;
  /** How many changes are without some of their details. */
  readonly folded: number;
}

/** Takes lines by importance, then details by importance, as long as there is room. */
function fillRoom(sections: readonly Section[], room: number): Fitting {
  let left = room;
  const byRank = sections.toSorted((a, b) => a.rank - b.rank);
  const taken = new Map<Section, number>();
  for (const section of byRank) {
    let count = 0;
    const heading = headingOf(section).length + moreRoom + 2;
    for (const entry of section.entries) {
      const cost = entryText(entry, undefined).length + 1 + (count === 0 ? heading : 0);
      if (cost > left) break;
      left -= cost;
      count += 1;
    }
    taken.set(section, count);
  }
  const chosen = new Map<Foldable, string>();
  let folded = 0;
  for (const section of byRank) {
    for (const entry of section.entries.slice(0, taken.get(section))) {
      const [whole] = entry.details;
      const fits = entry.details.find((text) => extraCost(entry, text) <= left);
      if (fits !== undefined) {
        left -= extraCost(entry, fits);
        chosen.set(entry, fits);
      }
      if (fits !== whole) folded += 1;
    }
  }
  const dropped = new Map<string, number>();
  const texts = sections.flatMap((section) => {
    const kept = section.entries.slice(0, taken.get(section));
    const missing = section.entries.length - kept.length;
    if (missing > 0) dropped.set(section.noun, (dropped.get(section.noun) ?? 0) + missing);
    if (kept.length === 0) return [];
    const more = missing > 0 ? `\n… and ${missing} more\n` : '';
    const lines = kept.map((entry) => entryText(entry, chosen.get(entry))).join('\n');
    return [`${headingOf(section)}\n${lines}\n${more}`];
  });
  return { texts, dropped, folded };
}

function headingOf({ title, entries }: Section): string {
  return `### ${title} (${entries.length})\n`;
}

function extraCost(entry: Foldable, text: string): number {
  return entryText(entry, text).length - entryText(entry, undefined).length;
}

/** An entry as it stands in the report; blocks of HTML are not searched for Markdown until an empty line. */
function entryText({ line }: Foldable, text: string | undefined): string {
  if (line.startsWith('- ')) return line;
  if (text === undefined) return `<p>${line}</p>\n`;
  return `<details><summary>${line}</summary>\n\n${text}\n</details>\n`;
}

function notice({ dropped, folded }: Fitting, budget: number): string {
  const parts = [
    ...(folded > 0 ? [`details of ${plural(folded, 'change')}`] : []),
    ...[...dropped].map(([noun, count]) => plural(count, noun)),
  ];
  if (parts.length === 0) return '';
  return [
    `> **Shortened** to stay within ${budget.toLocaleString('en')} characters. Left out: ${parts.join(', ')}.`,
    '> All of it: `idops plan`, or `idops plan --format html=plan.html` for a page to look at.',
    '',
  ].join('\n');
}

/** The line that names a change, as HTML: Markdown isn't read inside of `summary`. */
function summaryOf(change: Change): string {
  const { action, address, fields, destructions, reason, declaredAt, warnings } = change;
  const drift = driftNote(change);
  return [
    `<b>${action}</b> ${htmlCode(address)}${htmlLabel(change)}${inlineValue(change) ?? fieldNames(action, fields)}`,
    ...(drift === null ? [] : [` — ${htmlProse(drift)}`]),
    ...(destructions.length > 0 ? [` — <b>destructive:</b> ${destructions.map(htmlProse).join('; ')}`] : []),
    ...(reason === null ? [] : [` — ${htmlProse(reason)}`]),
    ...(warnings.length > 0 ? [` — ⚠️ ${plural(warnings.length, 'warning')}`] : []),
    ...(declaredAt === null ? [] : [` — ${htmlCode(placeText(declaredAt))}`]),
  ].join('');
}

function fieldNames(action: Action, fields: readonly FieldChange[]): string {
  if (action === 'delete' || fields.length === 0) return '';
  const paths = fields.slice(0, 3).map(({ path }) => htmlCode(path));
  const more = fields.length - paths.length;
  return `: ${paths.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function inlineValue(change: Change): string | undefined {
  const value = shortValue(change);
  if (value === undefined) return undefined;
  return `: ${htmlCode(value.path)} ${htmlCode(value.before)} → ${htmlCode(value.after)}`;
}

/** What is folded under a change: all of it, and without its bodies, where that is shorter. */
function details(change: Change, debug: boolean): string[] {
  if (!debug && inlineValue(change) !== undefined) return [];
  const note = observedNote(change);
  const views = change.fields.map((field) => viewField(field, { whole: debug, room: 'comment' }));
  const blocks = (bodies: boolean) => [
    ...(note === null ? [] : [prose(note)]),
    ...valueFence(views.filter(({ view }) => view !== 'body')),
    ...views.flatMap((view) => (view.view === 'body' ? [bodyBlock(view, bodies)] : [])),
    ...(debug ? requestTexts(change).map((request) => `Sends ${code(request)}`) : []),
  ];
  const texts = [true, false].map((bodies) =>
    blocks(bodies)
      .map((block) => `${block}\n`)
      .join('\n'),
  );
  return [...new Set(texts)].filter((text) => text !== '');
}

function valueFence(views: readonly FieldView[]): string[] {
  return views.length === 0 ? [] : [fence(views.flatMap(valueLines))];
}

function valueLines(view: FieldView): string[] {
  return [...shownLines(view), ...(view.drift === null ? [] : [`!   ${view.drift}`])];
}

function shownLines(view: FieldView): string[] {
  const { path } = view;
  switch (view.view) {
    case 'secret':
      return [`! ${path}: ${view.unknown ? '(unknown) → ' : ''}(sensitive)`];
    case 'value':
      return view.unknown
        ? [`! ${path}: ${view.before} → ${view.after}`]
        : [`- ${path}: ${view.before}`, `+ ${path}: ${view.after}`];
    case 'set':
      return [
        `  ${path}:${view.head === null ? '' : ` ${view.head}`}`,
        ...view.elements.map(({ mark, text }) => `${setMarks[mark]}   ${text}`),
        ...(view.kept > 0 ? [`    (${view.kept} unchanged)`] : []),
      ];
    default:
      return [];
  }
}

/** The marks that a diff is coloured by; `!` stands for a change in place, and for what may be there already. */
const setMarks = { '+': '+', '-': '-', '~': '!', '=': '!' } as const;

function bodyBlock(view: BodyView, shown: boolean): string {
  const { path, hunks } = view;
  const said = [
    ...(view.drift === null ? [] : [prose(view.drift)]),
    ...bodyNotes(view),
    ...(shown || hunks.length === 0 ? [] : ['left out for length']),
  ];
  const head = `${code(path)}: ${said.join('; ')}`;
  if (!shown || hunks.length === 0) return head;
  const lines = hunks.flatMap((hunk) => [
    hunk.head,
    ...hunk.lines.map(({ mark, text }) => disarm(`${mark}${text}`).trimEnd()),
  ]);
  return `${head}\n\n${fence(lines)}`;
}

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

/** An object as a line of Markdown names it. */
export function codeName(named: Named): string {
  return `${code(named.address)}${named.label === undefined ? '' : ` (${code(shortLabel(named.label))})`}`;
}

function htmlLabel({ label }: Named): string {
  return label === undefined ? '' : ` (${htmlCode(shortLabel(label))})`;
}

function htmlCode(text: string): string {
  // In an element quotes mean themselves, and every character counts.
  return `<code>${escapeMarkup(text).replaceAll('&quot;', '"').replaceAll('&#39;', "'")}</code>`;
}

/**
 * A sentence that may hold data. Words that could be anything else than a word, such as a mention, a link, a
 * reference to an issue or a commit, are shown as code.
 */
export function prose(text: string): string {
  return wordsAs(text, code);
}

function htmlProse(text: string): string {
  return wordsAs(text, htmlCode);
}

/** A word that means itself, whatever reads it. */
const plainWord = /^[("]?[\p{L}\p{M}]+(?:['’-][\p{L}\p{M}]+)*[)"]?$|^\d{1,6}$|^[—–→…]$/u;
/** What may be short for a commit, or begin an address. */
const referringWord = /^[("]?(?:www|gh-)|[0-9a-f]{7}/i;
/** A placeholder of an email, a word, or what is between words. */
const pieces = /\{\{[^{}\n]{0,200}\}\}|[^\s{]+|\{|\s+/gu;
/** The same, with a quotation of several words as one: marks of code that begin in it end in it. */
const quotedPieces =
  /(?<![^\s])"[^"\s{][^"\n{]{0,200}"(?=[,.;:!?)]?(?:\s|$))|\{\{[^{}\n]{0,200}\}\}|[^\s{]+|\{|\s+/gu;

/** A text in pieces; a quotation in words is words, whatever is around them. */
function piecesOf(text: string): string[] {
  return (text.match(quotedPieces) ?? []).flatMap((piece) => {
    const words = piece.match(pieces) ?? [];
    return words.every((word) => word.trim() === '' || isPlain(word)) ? words : [piece];
  });
}

/** Whether a word, with what may stand behind it, means itself. */
function isPlain(piece: string): boolean {
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
    const [, word = '', end = ''] = /^(.*?)([,.;:!?]?)$/su.exec(piece) ?? [];
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

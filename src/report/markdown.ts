import { escapeText } from '../base/escape.js';
import { kindOf } from '../kinds/index.js';
import type { Change, Plan } from '../plan/plan.js';
import type { Share } from '../plan/share.js';
import { detailsOf, hasDetails } from './details.js';
import type { Forge } from './forge.js';
import { changeLine, type Form, tells, warningLine } from './lines.js';
import { code, html, markdown, prose } from './marked.js';
import {
  allWarnings,
  destructiveCount,
  headline,
  type ReviewGroup,
  reviewGroups,
  shardOf,
  shareNotes,
  shownPart,
} from './review.js';
import { allot, type Entry, type Section, type Shown, sectionTexts } from './room.js';
import { shorten } from './values.js';
import { groupWarnings, type WarningGroup } from './warnings.js';
import { plural } from './words.js';

/** Below what GitHub takes as a comment, with room for what a workflow adds. */
const defaultBudget = 60_000;

export interface MarkdownOptions {
  /** How many characters it may have at most; 60,000 where it isn't given. */
  readonly budget?: number;
  /** Unchanged objects and requests too, and long values whole. */
  readonly debug: boolean;
  /** Which changes are shown; all where it is left out. */
  readonly only?: Share;
  /** Where files are shown to people; places lead nowhere where that isn't known. */
  readonly forge?: Forge;
  /** What its heading says, in Markdown; what the plan comes to where it isn't given. */
  readonly title?: string;
  /** What is said below the heading, in Markdown. */
  readonly intro?: string;
}

/**
 * A plan for a comment of a pull request. Never longer than the budget, which is spent on naming every change first, then on
 * warnings, equal ones together, then on details; what is left out is counted.
 */
export function planMarkdown(plan: Plan, options: MarkdownOptions): string {
  const { budget = defaultBudget, only } = options;
  const warnings = groupWarnings(plan, allWarnings(shownPart(plan, only)));
  const sections = sectionsOf(plan, warnings, options);
  const { intro = '' } = options;
  const title = `## ${options.title ?? `idops plan: ${headline(plan)}`}\n${intro === '' ? '' : `\n${intro}\n`}`;
  const fixed = [title, headText(plan, warnings.length, only), footText(plan)] as const;
  const room = budget - fixed.join('\n').length - 1;
  const all = allot(sections, room);
  // What is kept free for saying what was left out is as long as that could be.
  const most = notice(mostLeftOut(sections), budget).length + 1;
  const shown = leftOut(sections, all).length === 0 ? all : allot(sections, room - most);
  const [, head, foot] = fixed;
  const parts = [
    title,
    notice(leftOut(sections, shown), budget),
    head,
    ...sectionTexts(sections, shown),
    foot,
  ];
  const text = parts.filter((part) => part !== '').join('\n');
  const bare = `${title}\nThis is longer than ${budget} characters even without details.\n`;
  return text.length <= budget ? text : bare.slice(0, Math.max(0, budget));
}

function headText(plan: Plan, warnings: number, only: Share | undefined): string {
  const environment =
    plan.environment === null ? '' : `, environment ${code(shorten(escapeText(plan.environment), '', 100))}`;
  const lines = [
    `Server ${code(shorten(escapeText(plan.server), '', 200))}, profile ${code(plan.profile)}${environment}${plan.shard === undefined ? '' : `, ${shardOf(plan)} of the objects`}.`,
  ];
  const { count, inAll } = destructiveCount(shownPart(plan, only));
  const notes = [
    ...(count > 0 ? [`**${plural(count, 'destructive change')}**${inAll}, first below`] : []),
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

function sectionsOf(
  plan: Plan,
  warnings: readonly WarningGroup[],
  { debug, only, forge }: MarkdownOptions,
): Section[] {
  const shown = reviewGroups(plan, { debug, ...(only === undefined ? {} : { only }) });
  const groups = shown.map(({ title, rank, changes }: ReviewGroup) => ({
    title,
    entries: changes.map((change) => changeEntry(change, rank, debug, forge)),
  }));
  if (warnings.length === 0) return groups;
  // What is about the plan as a whole comes first, then what is about most of it.
  const ordered = warnings.toSorted((a, b) => weight(b) - weight(a));
  const entries = ordered.map((group): Entry => {
    const line = once((form) => warningLine(group, form, forge));
    return { noun: 'warning', rank: 'warnings', folds: false, line, summary: line, details: () => [] };
  });
  return [...groups, { title: 'Warnings', entries }];
}

function weight({ objects }: WarningGroup): number {
  return objects.length === 0 ? Number.MAX_SAFE_INTEGER : objects.length;
}

function changeEntry(change: Change, rank: number, debug: boolean, forge: Forge | undefined): Entry {
  let details: readonly string[] | undefined;
  return {
    noun: kindOf(change.kind).noun,
    rank,
    folds: hasDetails(change, debug),
    line: once((form) => changeLine(change, form, markdown, forge)),
    summary: once((form) => changeLine(change, form, html, forge)),
    details: () => {
      details ??= detailsOf(change, debug);
      return details;
    },
  };
}

/** A line that is made once for each form, however often its length is asked for. */
function once(make: (form: Form) => string): (form: Form) => string {
  const made = new Map<Form, string>();
  return (form) => {
    const line = made.get(form) ?? make(form);
    made.set(form, line);
    return line;
  };
}

/** What is not shown, counted by kind: `details of 12 email templates, 40 users`. */
function leftOut(sections: readonly Section[], shown: ReadonlyMap<Entry, Shown>): string[] {
  const { changes, warnings } = divided(sections);
  const isMissing = (entry: Entry) => !shown.has(entry);
  const kept = changes.filter((entry) => !isMissing(entry));
  return leftOutParts({
    changes: changes.filter(isMissing),
    details: kept.filter((entry) => shown.get(entry)?.whole !== true),
    places: kept.filter((entry) => !tells(shown.get(entry)?.form ?? 'named', 'placed')),
    warnings: warnings.filter(isMissing),
  });
}

/** As much as could be left out of each, and more: saying less is never longer. */
function mostLeftOut(sections: readonly Section[]): string[] {
  const { changes, warnings } = divided(sections);
  return leftOutParts({ changes, details: changes, places: changes, warnings });
}

function divided(sections: readonly Section[]): { changes: readonly Entry[]; warnings: readonly Entry[] } {
  const entries = sections.flatMap((section) => section.entries);
  return {
    changes: entries.filter(({ rank }) => rank !== 'warnings'),
    warnings: entries.filter(({ rank }) => rank === 'warnings'),
  };
}

function leftOutParts(
  entries: {
    readonly [part in 'changes' | 'details' | 'places' | 'warnings']: readonly Entry[];
  },
): string[] {
  return [
    ...counted('the changes of ', entries.changes),
    ...counted('details of ', entries.details),
    ...counted('places of ', entries.places),
    ...counted('', entries.warnings),
  ];
}

function counted(what: string, entries: readonly Entry[]): string[] {
  const nouns = new Map<string, number>();
  for (const { noun } of entries) nouns.set(noun, (nouns.get(noun) ?? 0) + 1);
  const counts = [...nouns].map(([noun, number]) => plural(number, noun));
  return counts.length === 0 ? [] : [`${what}${counts.join(', ')}`];
}

function notice(parts: readonly string[], budget: number): string {
  if (parts.length === 0) return '';
  return [
    `> **Shortened** to stay within ${budget.toLocaleString('en')} characters. Left out: ${parts.join('; ')}.`,
    '> All of it: `idops plan`, or `idops plan --format html=plan.html` for a page to look at.',
    '',
  ].join('\n');
}

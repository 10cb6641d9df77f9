import { once } from '../base/once.js';
import type { Change, Plan } from '../plan/plan.js';
import type { Share } from '../plan/share.js';
import { detailsOf, hasDetails } from './details.js';
import type { Forge } from './forge.js';
import { changeLine, changeName, warningLine } from './lines.js';
import type { Look } from './look.js';
import { code, prose } from './marked.js';
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
import { allot, type Entry, isWhole, type Section, type Shown, sectionTexts } from './room.js';
import { groupWarnings, type WarningGroup } from './warnings.js';
import { plural } from './words.js';

/** Below what GitHub takes as a comment, with room for what a workflow adds. */
const defaultBudget = 60_000;

type MarkdownOptions = Pick<Look, 'budget' | 'debug' | 'only' | 'forge' | 'title' | 'intro'>;

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
  const head = headText(plan, warnings.length, only);
  const foot = footText(plan);
  const room = budget - [title, head, foot].join('\n').length - 1;
  const all = allot(sections, room);
  const entries = sections.flatMap((section) => section.entries);
  const isShort = !entries.every((entry) => isWhole(entry, all));
  // A number of what is shown is never longer than that of all.
  const most = notice(entries, new Map(entries.map((entry) => [entry, entry.forms.length - 1])), budget);
  const shown = isShort ? allot(sections, room - most.length - 1) : all;
  const parts = [
    title,
    isShort ? notice(entries, shown, budget) : '',
    head,
    ...sectionTexts(sections, shown),
    foot,
  ];
  const text = parts.filter((part) => part !== '').join('\n');
  const bare = `${title}\nThis is longer than ${budget} characters even without details.\n`;
  return text.length <= budget ? text : bare.slice(0, Math.max(0, budget));
}

function headText(plan: Plan, warnings: number, only: Share | undefined): string {
  const environment = plan.environment === null ? '' : `, environment ${code(plan.environment)}`;
  const lines = [
    `Server ${code(plan.server)}, profile ${code(plan.profile)}${environment}${plan.shard === undefined ? '' : `, ${shardOf(plan)} of the objects`}.`,
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
    return { rank: 'warnings', forms: [once(() => `- ${warningLine(group, forge)}\n`)] };
  });
  return [...groups, { title: 'Warnings', entries }];
}

function weight({ objects }: WarningGroup): number {
  return objects.length === 0 ? Number.MAX_SAFE_INTEGER : objects.length;
}

function changeEntry(change: Change, rank: number, debug: boolean, forge: Forge | undefined): Entry {
  // However often their length is asked for.
  const line = once(() => `- ${changeLine(change, forge)}\n`);
  const details = once(() => detailsOf(change, debug));
  const folded = (detail: string) =>
    `${line()}\n<details><summary>Differences</summary>\n\n${detail}\n</details>\n\n`;
  const withDetails = [() => folded(details().short), () => folded(details().full)];
  return {
    rank,
    forms: [() => `- ${changeName(change)}\n`, line, ...(hasDetails(change, debug) ? withDetails : [])],
  };
}

/** How much is shown where that isn't all. */
function notice(entries: readonly Entry[], shown: Shown, budget: number): string {
  const counted = (isWarning: boolean, noun: string) => {
    const all = entries.filter(({ rank }) => (rank === 'warnings') === isWarning);
    const whole = all.filter((entry) => isWhole(entry, shown)).length;
    return all.length === 0 ? [] : [`${whole} of ${plural(all.length, noun)}`];
  };
  const counts = [...counted(false, 'change'), ...counted(true, 'warning')].join(' and ');
  return [
    `> **Shortened** to stay within ${budget.toLocaleString('en')} characters: ${counts} are shown with all their differences.`,
    '> All of it: `idops plan`, or `idops plan --format html=plan.html` for a page to look at.',
    '',
  ].join('\n');
}

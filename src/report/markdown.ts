import { shardText } from '../base/shard.js';
import { lazy } from '../base/values.js';
import { countPrivileged, type Plan, type Share } from '../plan/plan.js';
import { type Fold, foldChanges } from './fold.js';
import {
  allot,
  type Entry,
  isShownWhole,
  type Section,
  type Shown,
  sectionTexts,
} from './markdown-budget.js';
import { detailsOf, hasDetails } from './markdown-details.js';
import { code, prose } from './markdown-escape.js';
import { changeLine, changeName, warningLine } from './markdown-lines.js';
import type { Forge, RenderOptions } from './render-options.js';
import {
  allWarnings,
  destructiveCount,
  headline,
  type ReviewGroup,
  reviewGroups,
  shareNotes,
  shownPart,
} from './review.js';
import { groupWarnings, type WarningGroup } from './warnings.js';
import { defaultBudget, plural } from './words.js';

type MarkdownOptions = Pick<RenderOptions, 'budget' | 'debug' | 'only' | 'forge' | 'title' | 'intro'>;

export function planMarkdown(plan: Plan, options: MarkdownOptions): string {
  return planComment(plan, options).text;
}

/** At most as long as the budget; counts what it omits. `isWhole`: it shows every difference, so a reader can approve the plan. */
export function planComment(plan: Plan, options: MarkdownOptions): { text: string; isWhole: boolean } {
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
  const isShort = !entries.every((entry) => isShownWhole(entry, all));
  // The longest possible notice.
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
  const fits = text.length <= budget;
  return {
    text: fits ? text : bare.slice(0, Math.max(0, budget)),
    isWhole: fits && !isShort && !isPart(plan, only),
  };
}

/** Whether a plan, or the shown part, omits something declared. */
function isPart({ partial }: Plan, only: Share | undefined): boolean {
  return partial === true || only !== undefined;
}

function headText(plan: Plan, warnings: number, only: Share | undefined): string {
  const environment = plan.environment === null ? '' : `, environment ${code(plan.environment)}`;
  const asOf = plan.asOf === undefined ? '' : ` As of ${code(plan.asOf)} (--now).`;
  const lines = [
    `Server ${code(plan.server)}, profile ${code(plan.profile)}${environment}${plan.shard === undefined ? '' : `, shard ${shardText(plan.shard)} of the objects`}.${asOf}`,
  ];
  const { count, inAll } = destructiveCount(shownPart(plan, only));
  const privileged = countPrivileged(shownPart(plan, only));
  const notes = [
    ...(privileged > 0 ? [`**${plural(privileged, 'privileged change')}**, first below`] : []),
    ...(count > 0
      ? [`**${plural(count, 'destructive change')}**${inAll}, ${privileged > 0 ? 'next' : 'first'} below`]
      : []),
    ...(warnings > 0 ? [`${plural(warnings, 'warning')}, last below`] : []),
  ];
  if (notes.length > 0) lines.push('', `${notes.join('; ')}.`);
  lines.push(...shareNotes(plan, only).flatMap((note) => ['', prose(note)]));
  if (isPart(plan, only)) lines.push('', 'This is a part of what is declared, so it carries no approval.');
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
    entries: foldChanges(changes, debug).map((fold) => changeEntry(fold, rank, debug, forge)),
  }));
  if (warnings.length === 0) return groups;
  // Warnings of the plan first, then those of most objects.
  const ordered = warnings.toSorted((a, b) => weight(b) - weight(a));
  const entries = ordered.map((group): Entry => {
    const line = lazy(() => `- ${warningLine(group, forge)}\n`);
    return { rank: 'warnings', objects: 1, differences: 1, forms: [line] };
  });
  return [...groups, { title: 'Warnings', entries }];
}

function weight({ objects }: WarningGroup): number {
  return objects.length === 0 ? Number.MAX_SAFE_INTEGER : objects.length;
}

function changeEntry(fold: Fold, rank: number, debug: boolean, forge: Forge | undefined): Entry {
  const { change, changes } = fold;
  const line = lazy(() => `- ${changeLine(fold, forge)}\n`);
  const details = lazy(() => detailsOf(change, debug));
  const folded = (detail: string) =>
    `${line()}\n<details><summary>Differences</summary>\n\n${detail}\n</details>\n\n`;
  const withDetails = [() => folded(details().short), () => folded(details().full)];
  return {
    rank,
    objects: changes.length,
    differences: changes.length * Math.max(1, change.fields.length),
    forms: [() => `- ${changeName(fold)}\n`, line, ...(hasDetails(change, debug) ? withDetails : [])],
  };
}

function notice(entries: readonly Entry[], shown: Shown, budget: number): string {
  const counted = (isWarning: boolean, noun: string) => {
    const all = entries.filter(({ rank }) => (rank === 'warnings') === isWarning);
    const count = (some: readonly Entry[]) => some.reduce((sum, { differences }) => sum + differences, 0);
    const whole = count(all.filter((entry) => isShownWhole(entry, shown)));
    return all.length === 0 ? [] : [`${whole} of ${plural(count(all), noun)}`];
  };
  const counts = [...counted(false, 'difference'), ...counted(true, 'warning')].join(' and ');
  return [
    `> **${counts} are shown**, since there is room for ${budget.toLocaleString('en')} characters. This carries no approval.`,
    '> All of it: `idops plan`, or `idops plan --format html=plan.html` for a page to look at.',
    '',
  ].join('\n');
}

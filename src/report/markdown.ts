import { shardText } from '../base/shard.js';
import { lazy } from '../base/values.js';
import { countPrivileged, type Plan, type Share } from '../plan/plan.js';
import { type Fold, foldChanges, foldPart } from './fold.js';
import {
  chooseForms,
  divideEntries,
  type Entry,
  isShownWhole,
  type Section,
  type ShownForms,
  sectionTexts,
} from './markdown-budget.js';
import { detailsOf, hasDetails } from './markdown-details.js';
import { code, prose } from './markdown-escape.js';
import { changeLine, changeName, warningLine } from './markdown-lines.js';
import type { Forge, RenderOptions } from './render-options.js';
import {
  allWarnings,
  destructiveCount,
  filterPlan,
  headline,
  isHighRisk,
  type ReviewGroup,
  reviewGroups,
  shareNotes,
} from './review.js';
import { groupWarnings, type WarningGroup } from './warnings.js';
import { defaultBudget, plural } from './words.js';

type MarkdownOptions = Pick<RenderOptions, 'budget' | 'debug' | 'only' | 'forge' | 'title' | 'intro'>;

export function planMarkdown(plan: Plan, options: MarkdownOptions): string {
  return planComment(plan, options).text;
}

/** A plan in Markdown within the budget, with the number of omitted differences. `isWhole`: it shows all, so a reader can approve the plan. */
export function planComment(plan: Plan, options: MarkdownOptions): { text: string; isWhole: boolean } {
  const { budget = defaultBudget, only } = options;
  const warnings = groupWarnings(plan, allWarnings(filterPlan(plan, only)));
  const sections = sectionsOf(plan, warnings, options);
  const { intro = '' } = options;
  const title = `## ${options.title ?? `idops plan: ${headline(plan)}`}\n${intro === '' ? '' : `\n${intro}\n`}`;
  const head = headText(plan, warnings.length, only);
  const foot = footText(plan);
  const room = budget - [title, head, foot].join('\n').length - 1;
  const forms = chooseForms(sections, room);
  const entries = sections.flatMap((section) => section.entries);
  const isShort = !entries.every((entry) => isShownWhole(entry, forms));
  const allForms = new Map(entries.map((entry) => [entry, entry.forms.length - 1]));
  const longestNotice = notice(entries, allForms, budget);
  const shortRoom = room - longestNotice.length - 1;
  const shownSections = isShort ? divideEntries(sections, shortRoom) : sections;
  const shown = isShort ? chooseForms(shownSections, shortRoom) : forms;
  const shownEntries = shownSections.flatMap((section) => section.entries);
  const parts = [
    title,
    isShort ? notice(shownEntries, shown, budget) : '',
    head,
    ...sectionTexts(shownSections, shown),
    foot,
  ];
  const text = parts.filter((part) => part !== '').join('\n');
  const titleOnly = `${title}\nThe plan is longer than ${budget} characters even without details.\n`;
  const fits = text.length <= budget;
  return {
    text: fits ? text : titleOnly.slice(0, Math.max(0, budget)),
    isWhole: fits && !isShort && !isPartial(plan, only),
  };
}

/** Whether the plan, or its shown part, omits declared objects. */
function isPartial({ partial }: Plan, only: Share | undefined): boolean {
  return partial === true || only !== undefined;
}

function headText(plan: Plan, warnings: number, only: Share | undefined): string {
  const environment = plan.environment === null ? '' : `, environment ${code(plan.environment)}`;
  const asOf = plan.asOf === undefined ? '' : ` As of ${code(plan.asOf)} (--now).`;
  const lines = [
    `Server ${code(plan.server)}, profile ${code(plan.profile)}${environment}${plan.shard === undefined ? '' : `, shard ${shardText(plan.shard)} of the objects`}.${asOf}`,
  ];
  const { count, totalNote } = destructiveCount(filterPlan(plan, only));
  const privileged = countPrivileged(filterPlan(plan, only));
  const notes = [
    ...(privileged > 0 ? [`**${plural(privileged, 'privileged change')}**, first below`] : []),
    ...(count > 0
      ? [`**${plural(count, 'destructive change')}**${totalNote}, ${privileged > 0 ? 'next' : 'first'} below`]
      : []),
    ...(warnings > 0 ? [`${plural(warnings, 'warning')}, last below`] : []),
  ];
  if (notes.length > 0) lines.push('', `${notes.join('; ')}.`);
  lines.push(...shareNotes(plan, only).flatMap((note) => ['', prose(note)]));
  if (isPartial(plan, only))
    lines.push('', 'This shows only a part of what is declared, so it carries no approval.');
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
  // Warnings about the whole plan come first, then those about the most objects.
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
  const withDetails = (text: string) =>
    `${line()}\n<details><summary>Differences</summary>\n\n${text}\n</details>\n\n`;
  const detailForms = [() => withDetails(details().short), () => withDetails(details().full)];
  const name = () => `- ${changeName(fold)}\n`;
  const forms = [name, line, ...(hasDetails(change, debug) ? detailForms : [])];
  const part = (start: number, end?: number) => changeEntry(foldPart(fold, start, end), rank, debug, forge);
  const divide = (count: number): [Entry, Entry] => {
    const first = part(0, count);
    return [{ ...first, forms: [...first.forms.slice(0, 1), ...first.forms.slice(-1)] }, part(count)];
  };
  return {
    rank,
    objects: changes.length,
    differences: changes.length * Math.max(1, change.fields.length),
    forms,
    ...(isHighRisk(change) && changes.length > 1 ? { divide } : {}),
  };
}

function notice(entries: readonly Entry[], shown: ShownForms, budget: number): string {
  const count = (counted: readonly Entry[]) => counted.reduce((sum, { differences }) => sum + differences, 0);
  const countText = (isWarning: boolean, noun: string) => {
    const all = entries.filter(({ rank }) => (rank === 'warnings') === isWarning);
    const whole = all.filter((entry) => isShownWhole(entry, shown));
    return all.length === 0 ? [] : [`${count(whole)} of ${plural(count(all), noun)}`];
  };
  const counts = [...countText(false, 'difference'), ...countText(true, 'warning')].join(' and ');
  return [
    `> **${counts} are shown**, since there is room for ${budget.toLocaleString('en')} characters. This carries no approval.`,
    '> To see all of them, run `idops plan`, or `idops plan --format html=plan.html` for a page.',
    '',
  ].join('\n');
}

import { kindOf } from '../kinds/index.js';
import type { Change } from '../plan/plan.js';
import { type Insertable, type Markup, markup } from './markup.js';
import { pageHeader, pageText } from './page.js';
import { capitalized, renderedWords } from './words.js';

export interface PageEntry {
  readonly number: number;
  readonly objects: number;
  readonly title: string;
  /** The action or status. */
  readonly badge: { readonly word: string; readonly className: string };
  readonly change: Change | undefined;
}

export interface PageGroup<E extends PageEntry> {
  readonly title: string;
  /** Explains the title; may be empty. */
  readonly meaning: string;
  /** The attribute that filters match; null if all filters show the group. */
  readonly filter: Markup | null;
  readonly entries: readonly E[];
}

/** Checkboxes of one legend, one for each value. */
export interface Filter {
  /** `kind`, `action` or `status`. */
  readonly name: string;
  readonly legend: string;
  readonly values: readonly string[];
  /** Labels by value, if they differ from the values. */
  readonly labels?: { readonly [value: string]: string };
}

/** A checkbox that shows only the changes of one class. */
export interface Toggle {
  readonly name: string;
  readonly label: string;
  /** Whether any change has the class. */
  readonly hasMatch: boolean;
}

export function changesPage<E extends PageEntry>(page: {
  readonly title: string;
  readonly heading: Insertable;
  readonly facts: readonly Insertable[];
  readonly counts: readonly { readonly count: number; readonly words: string }[];
  readonly notices: Insertable;
  readonly filters: readonly Filter[];
  readonly toggles: readonly Toggle[];
  readonly groups: readonly PageGroup<E>[];
  readonly renderEntry: (entry: E) => Markup;
  readonly footer: Insertable;
}): string {
  const { groups, renderEntry } = page;
  const entries = groups.flatMap((group) => group.entries);
  return pageText({
    title: page.title,
    content: markup`${pageHeader(page.heading, page.facts, page.counts)}
<main id="main">
${page.notices}
${renderedNote(entries)}
${entries.length > 1 ? [filterControls(page.filters, page.toggles), contents(groups)] : null}
${groups.map(
  ({ title, meaning, filter, entries: inGroup }) => markup`<section class="group"${filter}>
<h2>${title} (${countObjects(inGroup)})</h2>
${meaning === '' ? null : markup`<p class="quiet">${meaning}</p>\n`}${inGroup.map(renderEntry)}</section>
`,
)}
</main>
<footer>
${page.footer}
</footer>`,
  });
}

function countObjects(entries: readonly PageEntry[]): number {
  return entries.reduce((sum, { objects }) => sum + objects, 0);
}

function renderedNote(entries: readonly PageEntry[]): Insertable {
  const shown = entries.flatMap(({ change }) =>
    change?.fields.some(({ type }) => type === 'body') ? (kindOf(change.kind).email ?? []) : [],
  );
  if (shown.length === 0) return null;
  return markup`<p class="note">${capitalized(renderedWords(shown))} are rendered with sample data, and pictures and other things from the network are blocked.</p>\n`;
}

function contents(groups: readonly PageGroup<PageEntry>[]): Markup {
  return markup`<details class="contents">
<summary>Contents</summary>
<nav aria-label="Contents">${groups.map(
    ({ title, entries }, index) => markup`${index === 0 ? markup`<details open>` : markup`<details>`}
<summary>${title} (${countObjects(entries)})</summary>
<ul>${entries.map(
      ({ number, title, badge }) =>
        markup`<li><span class="badge ${badge.className}">${badge.word}</span> <a href="#change-${number}">${title}</a></li>\n`,
    )}</ul>
</details>
`,
  )}</nav>
</details>
`;
}

function filterControls(filters: readonly Filter[], only: readonly Toggle[]): Markup {
  const available = only.filter(({ hasMatch }) => hasMatch);
  return markup`<div class="filters">
${filters.map(checkboxes)}
${
  available.length === 0
    ? null
    : markup`<fieldset><legend>Only</legend>${available.map(
        ({ name, label }) =>
          markup`<label><input type="checkbox" name="only" value="${name}">${label}</label>`,
      )}</fieldset>`
}
</div>
`;
}

function checkboxes({ name, legend, values, labels = {} }: Filter): Markup {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return markup`<fieldset><legend>${legend}</legend>${[...counts].map(
    ([value, count]) =>
      markup`<label><input type="checkbox" name="${name}" value="${value}" checked>${labels[value] ?? value} (${count})</label>`,
  )}</fieldset>`;
}

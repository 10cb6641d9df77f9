import { type Insertable, type Markup, markup } from './markup.js';

/** What the list of contents and the filters know of a part of the page. */
export interface ContentsEntry {
  readonly number: number;
  readonly address: string;
  /** What is done, or what became of it, in a word, and the class of its badge. */
  readonly badge: { readonly word: string; readonly className: string };
}

/** A group of parts under one heading. */
export interface ContentsGroup {
  readonly title: string;
  readonly entries: readonly ContentsEntry[];
}

/** A list that leads to all parts of the page, group by group. */
export function contents(groups: readonly ContentsGroup[]): Markup {
  return markup`<details class="contents">
<summary>Contents</summary>
<nav aria-label="Contents">${groups.map(
    ({ title, entries }, at) => markup`${at === 0 ? markup`<details open>` : markup`<details>`}
<summary>${title} (${entries.length})</summary>
<ul>${entries.map(
      ({ number, address, badge }) =>
        markup`<li><span class="badge ${badge.className}">${badge.word}</span> <a href="#change-${number}">${address}</a></li>\n`,
    )}</ul>
</details>
`,
  )}</nav>
</details>
`;
}

/** One set of boxes, of which those that are checked say what is shown. */
export interface Filter {
  /** `kind`, `action` or `status`: the attribute of the parts that it looks at. */
  readonly name: string;
  readonly legend: string;
  /** What each part has. */
  readonly values: readonly string[];
  /** What they are called, where that isn't what they are. */
  readonly words?: { readonly [value: string]: string };
}

/** What only some parts have, by the class that they have then. */
export interface Only {
  readonly name: string;
  readonly label: string;
  readonly some: boolean;
}

/** Boxes to filter by. */
export function controls(filters: readonly Filter[], only: readonly Only[]): Markup {
  const told = only.filter(({ some }) => some);
  return markup`<div class="filters">
${filters.map(boxes)}
${
  told.length === 0
    ? null
    : markup`<fieldset><legend>Only</legend>${told.map(
        ({ name, label }) =>
          markup`<label><input type="checkbox" name="only" value="${name}">${label}</label>`,
      )}</fieldset>`
}
</div>
`;
}

function boxes({ name, legend, values, words = {} }: Filter): Markup {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return markup`<fieldset><legend>${legend}</legend>${[...counts].map(
    ([value, count]) =>
      markup`<label><input type="checkbox" name="${name}" value="${value}" checked>${words[value] ?? value} (${count})</label>`,
  )}</fieldset>`;
}

/** What is counted in the head of a page. */
export function countsList(counts: readonly { readonly count: number; readonly words: string }[]): Markup {
  return markup`<ul class="counts">${counts.map(
    ({ count, words }) => markup`<li><strong>${count}</strong> ${words}</li>`,
  )}</ul>`;
}

/** A line of small facts in the head of a page. */
export function factsList(facts: readonly Insertable[]): Markup {
  return markup`<ul class="facts quiet">
${facts.map((fact) => markup`<li>${fact}</li>\n`)}</ul>`;
}

/** What is to be known of every page that shows emails. */
export const aboutEmails = markup`<p class="note">Emails are rendered with sample data, and pictures and other things from the network are blocked.</p>\n`;

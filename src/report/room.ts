import { type Form, tells } from './lines.js';

/** One line of a report in Markdown, and what is folded under it. */
export interface Entry {
  /** What it is about, as it is counted where it is left out: `email template`; `warning`. */
  readonly noun: string;
  /** 0 matters most; `warnings` come after all changes. */
  readonly rank: number | 'warnings';
  /** Whether there is anything to fold under it. */
  readonly folds: boolean;
  /** The line as one of a list, and as the summary of what is folded. */
  line(form: Form): string;
  summary(form: Form): string;
  /** What is folded: all of it, and a shorter form of it, where there is one. */
  details(): readonly string[];
}

/** How an entry is shown. */
export interface Shown {
  readonly form: Form;
  /** What is folded under it; null where that is left out, or nothing. */
  readonly detail: string | null;
  /** Whether it is all that there is to tell, but for the place. */
  readonly whole: boolean;
}

export interface Section {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** What is kept free of a section for saying how many more there are. */
const moreRoom = 60;
/** Details are longer than this, so that none are worked out where there is less room. */
const leastDetail = 20;

/**
 * What is shown of each entry in so many characters; entries that aren't in it are left out. Every change is named before anything has
 * room that is less important: what would be lost, warnings, what is changed, places, and then details. Where not even names have
 * room, what would be lost is told before the names of the others.
 */
export function allot(sections: readonly Section[], room: number): ReadonlyMap<Entry, Shown> {
  const named = new Allotment(sections, room);
  named.raise(['named'], 0, 1, 2);
  if (named.has(0, 1, 2)) return withMore(named).shown;
  const short = new Allotment(sections, room);
  short.raise(['named'], 0);
  short.within(1 / 3, () => short.raise(['told'], 0));
  short.raise(['named'], 1, 2);
  return withMore(short).shown;
}

function withMore(allotment: Allotment): Allotment {
  const { raise } = allotment;
  raise(['told'], 0);
  // Neither of these may take all of it: places of many, or warnings of which each is another one.
  allotment.within(1 / 3, () => raise(['placed', 'linked'], 0));
  allotment.within(1 / 3, () => raise(['named', 'told'], 'warnings'));
  raise(['labelled', 'told'], 1, 2);
  raise(['named', 'told'], 'warnings');
  raise(['placed', 'linked'], 0, 1, 2, 'warnings');
  for (const rank of [0, 1, 2]) allotment.unfold(rank);
  // What is unchanged is shown to who looks for faults.
  raise(['named', 'told', 'linked'], 3);
  allotment.unfold(3);
  return allotment;
}

class Allotment {
  readonly shown = new Map<Entry, Shown>();
  readonly #sections: readonly Section[];
  readonly #begun = new Set<Section>();
  #left: number;

  constructor(sections: readonly Section[], room: number) {
    this.#sections = sections;
    this.#left = room;
  }

  /** Shows entries of these ranks in one form after the other, as far as there is room; those that aren't named stay away. */
  readonly raise = (forms: readonly Form[], ...ranks: readonly Entry['rank'][]): void => {
    for (const form of forms) for (const rank of ranks) this.#raise(form, rank);
  };

  #raise(form: Form, rank: Entry['rank']): void {
    for (const [section, entry] of this.#of(rank)) {
      const now = this.shown.get(entry);
      if (form !== 'named' && now === undefined) continue;
      if (now !== undefined && tells(now.form, form)) continue;
      const next: Shown = { form, detail: null, whole: tells(form, 'told') && !entry.folds };
      this.#show(section, entry, next, now);
    }
  }

  /** Whether all entries of these ranks are shown. */
  has(...ranks: readonly Entry['rank'][]): boolean {
    return ranks.every((rank) => [...this.#of(rank)].every(([, entry]) => this.shown.has(entry)));
  }

  /** Shows details of entries of a rank, those of the first before those of the others. */
  unfold(rank: Entry['rank']): void {
    for (const [section, entry] of this.#of(rank)) {
      const now = this.shown.get(entry);
      if (now === undefined || !entry.folds || !this.#holds(entry, now)) continue;
      entry
        .details()
        .some((detail, index) =>
          this.#show(section, entry, { ...now, detail, whole: index === 0 && tells(now.form, 'told') }, now),
        );
    }
  }

  /** Does something with a share of what is left. */
  within(share: number, work: () => void): void {
    const kept = Math.ceil(this.#left * (1 - share));
    this.#left -= kept;
    work();
    this.#left += kept;
  }

  /** Whether there is room for the least of details. */
  #holds(entry: Entry, now: Shown): boolean {
    const folded = entryText(entry, { ...now, detail: '' }).length - entryText(entry, now).length;
    return folded + leastDetail <= this.#left;
  }

  *#of(rank: Entry['rank']): Generator<readonly [Section, Entry]> {
    for (const section of this.#sections) {
      for (const entry of section.entries) if (entry.rank === rank) yield [section, entry];
    }
  }

  #show(section: Section, entry: Entry, next: Shown, now: Shown | undefined): boolean {
    const begins = this.#begun.has(section) ? 0 : headingOf(section).length + moreRoom;
    const cost =
      begins + entryText(entry, next).length - (now === undefined ? 0 : entryText(entry, now).length);
    if (cost > this.#left) return false;
    this.#left -= cost;
    this.#begun.add(section);
    this.shown.set(entry, next);
    return true;
  }
}

/** The sections with what is shown of them; those of which nothing is are not there. */
export function sectionTexts(sections: readonly Section[], shown: ReadonlyMap<Entry, Shown>): string[] {
  return sections.flatMap((section) => {
    const texts = section.entries.flatMap((entry) => {
      const how = shown.get(entry);
      return how === undefined ? [] : [entryText(entry, how)];
    });
    if (texts.length === 0) return [];
    const missing = section.entries.length - texts.length;
    return [`${headingOf(section)}${texts.join('')}${missing > 0 ? `\n… and ${missing} more\n` : ''}`];
  });
}

function headingOf({ title, entries }: Section): string {
  return `### ${title} (${entries.length})\n\n`;
}

/** An entry as it stands in the report; what is folded needs empty lines around it, or its Markdown isn't read. */
function entryText(entry: Entry, { form, detail }: Shown): string {
  if (detail === null) return `- ${entry.line(form)}\n`;
  return `\n<details><summary>${entry.summary(form)}</summary>\n\n${detail}\n</details>\n\n`;
}

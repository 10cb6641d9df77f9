/** A change or a warning in a report in Markdown. */
export interface Entry {
  /** 0 matters most. */
  readonly rank: number | 'warnings';
  /** How many objects it is about, and how many differences there are in it. */
  readonly objects: number;
  readonly differences: number;
  /** What can be shown of it, each form with more than the one before: its name, its line, and with details. */
  readonly forms: readonly (() => string)[];
}

export interface Section {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** Which form of each entry is shown; entries that aren't in it are left out. */
export type Shown = ReadonlyMap<Entry, number>;

/** What is kept free of a section for saying how many more there are. */
const moreRoom = 60;
/** Details are longer than this, so that none are worked out where there is less room. */
const leastDetail = 100;

/**
 * What is shown of each entry in so many characters. What would be lost comes first; then every change is named before anything has
 * room that is less important: warnings, what is changed and where, and then details.
 */
export function allot(sections: readonly Section[], room: number): Shown {
  const shown = new Map<Entry, number>();
  const begun = new Set<Section>();
  let left = room;

  const show = (section: Section, entry: Entry, form: number, least: number): boolean => {
    const lengthOf = (one: number | undefined) => entry.forms[one ?? -1]?.().length ?? 0;
    const begins = begun.has(section) ? 0 : headingOf(section).length + moreRoom;
    const cost = begins + lengthOf(form) - lengthOf(shown.get(entry));
    if (cost > left - least) return false;
    left -= cost;
    begun.add(section);
    shown.set(entry, form);
    return true;
  };
  /** Shows entries of these ranks in the first of these forms that there is room for, and leaves so much free. */
  const raise = (forms: readonly number[], ranks: readonly Entry['rank'][], least = 0): void => {
    for (const rank of ranks) {
      for (const section of sections) {
        for (const entry of section.entries) {
          if (entry.rank !== rank) continue;
          const there = forms.filter((form) => form < entry.forms.length);
          if (forms.includes(2) && left < leastDetail) return;
          there.some((form) => show(section, entry, form, least));
        }
      }
    }
  };

  raise([0], [0]);
  raise([1], [0]);
  raise([0], [1, 2]);
  // Warnings of which each is another one may not take all of it.
  raise([0], ['warnings'], left / 2);
  raise([1], [1, 2]);
  raise([0], ['warnings']);
  raise([3, 2], [0, 1, 2]);
  // What is unchanged is shown to who looks for faults.
  raise([3, 2, 1], [3]);
  return shown;
}

/** Whether all there is of an entry is shown. */
export function isShownWhole(entry: Entry, shown: Shown): boolean {
  return shown.get(entry) === entry.forms.length - 1;
}

/** The sections with what is shown of them; those of which nothing is are not there. */
export function sectionTexts(sections: readonly Section[], shown: Shown): string[] {
  return sections.flatMap((section) => {
    const texts = section.entries.flatMap((entry) => entry.forms[shown.get(entry) ?? -1]?.() ?? []);
    if (texts.length === 0) return [];
    const missing = objectsOf(section.entries.filter((entry) => !shown.has(entry)));
    return [`${headingOf(section)}${texts.join('')}${missing > 0 ? `\n… and ${missing} more\n` : ''}`];
  });
}

function headingOf({ title, entries }: Section): string {
  return `### ${title} (${objectsOf(entries)})\n\n`;
}

function objectsOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { objects }) => sum + objects, 0);
}

export interface Entry {
  /** 0 is the most important. */
  readonly rank: number | 'warnings';
  readonly objects: number;
  readonly differences: number;
  /** Its forms, from short to long: name, line, details. */
  readonly forms: readonly (() => string)[];
}

export interface Section {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** The shown form of each entry; others are omitted. */
export type Shown = ReadonlyMap<Entry, number>;

/** Reserved in each section for the number of omitted entries. */
const moreRoom = 60;
/** The least length of details; with less room, none are rendered. */
const leastDetail = 100;

/** The form of each entry that fits: destructive changes first, then every name, warnings, lines and details. */
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
  /** Shows entries of these ranks in the first form that fits, and keeps `spare` free. */
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
  // Warnings must not take all the room.
  raise([0], ['warnings'], left / 2);
  raise([1], [1, 2]);
  raise([0], ['warnings']);
  raise([3, 2], [0, 1, 2]);
  // Unchanged objects are only shown with --debug.
  raise([3, 2, 1], [3]);
  return shown;
}

export function isShownWhole(entry: Entry, shown: Shown): boolean {
  return shown.get(entry) === entry.forms.length - 1;
}

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

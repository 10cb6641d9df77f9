export interface Entry {
  /** 0 is the most important. */
  readonly rank: number | 'warnings';
  readonly objects: number;
  readonly differences: number;
  /** Renderings from short to long: name, line, short details, full details. */
  readonly forms: readonly (() => string)[];
  /** Divides an entry that names every object: the first `count` of them with all that they have to show, and the others. */
  readonly divide?: (count: number) => readonly [Entry, Entry];
}

export interface Section {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** The index of the shown form of each entry; other entries are omitted. */
export type ShownForms = ReadonlyMap<Entry, number>;

/** Characters reserved in each section for the number of omitted entries. */
const reservedForCount = 60;
/** With fewer characters left, no details are rendered. */
const minDetailLength = 100;

/** Chooses forms that fit into `room` characters: destructive changes first, then every name, warnings, lines and details. */
export function chooseForms(sections: readonly Section[], room: number): ShownForms {
  const shown = new Map<Entry, number>();
  const started = new Set<Section>();
  let left = room;

  const show = (section: Section, entry: Entry, form: number, reserve: number): boolean => {
    const lengthOf = (index: number | undefined) => entry.forms[index ?? -1]?.().length ?? 0;
    const heading = started.has(section) ? 0 : headingOf(section).length + reservedForCount;
    const cost = heading + lengthOf(form) - lengthOf(shown.get(entry));
    if (cost > left - reserve) return false;
    left -= cost;
    started.add(section);
    shown.set(entry, form);
    return true;
  };
  /** Shows entries of these ranks in the first form that fits, and leaves `reserve` characters. */
  const extend = (forms: readonly number[], ranks: readonly Entry['rank'][], reserve = 0): void => {
    for (const rank of ranks) {
      for (const section of sections) {
        for (const entry of section.entries) {
          if (entry.rank !== rank) continue;
          if (forms.includes(2) && left < minDetailLength) return;
          forms.some((form) => form < entry.forms.length && show(section, entry, form, reserve));
        }
      }
    }
  };

  extend([0], [0]);
  extend([1], [0]);
  extend([0], [1, 2]);
  // Warnings must leave room for lines.
  extend([0], ['warnings'], left / 2);
  extend([1], [1, 2]);
  extend([0], ['warnings']);
  extend([3, 2], [0, 1, 2]);
  // Unchanged objects are only shown with --debug.
  extend([3, 2, 1], [3]);
  return shown;
}

/** Divides the entries whose names don't fit into `room`, so that as many objects as possible are shown whole. */
export function divideEntries(sections: readonly Section[], room: number): readonly Section[] {
  let divided = sections;
  for (const entry of sections.flatMap(({ entries }) => entries)) {
    const { divide, objects } = entry;
    const shown = chooseForms(divided, room);
    if (divide === undefined || (shown.get(entry) ?? 0) > 0) continue;
    const whole = [...shown.keys()].filter((one) => one.rank === 0 && isShownWhole(one, shown));
    const divideAt = (count: number) => {
      const parts = divide(count);
      const replaced = divided.map(({ title, entries }) => ({
        title,
        entries: entries.flatMap((one) => (one === entry ? parts : [one])),
      }));
      const forms = chooseForms(replaced, room);
      return { replaced, fits: [...whole, parts[0]].every((one) => isShownWhole(one, forms)) };
    };
    let [fitting, tooMany] = [0, objects];
    while (tooMany - fitting > 1) {
      const middle = Math.floor((fitting + tooMany) / 2);
      if (divideAt(middle).fits) fitting = middle;
      else tooMany = middle;
    }
    if (fitting > 0) divided = divideAt(fitting).replaced;
  }
  return divided;
}

export function isShownWhole(entry: Entry, shown: ShownForms): boolean {
  return shown.get(entry) === entry.forms.length - 1;
}

export function sectionTexts(sections: readonly Section[], shown: ShownForms): string[] {
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

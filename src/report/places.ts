import { bare } from '../base/escape.js';
import type { PlanWarning, WarningPlace } from '../plan/plan.js';

/** So many places are named in a sentence; all of them are in the JSON. */
export const namedAtMost = 10;

/** Every place that a warning is about. */
export function placesOf({ place, places }: PlanWarning): readonly WarningPlace[] {
  return places ?? (place === undefined ? [] : [place]);
}

/** Places as a person reads them, harmless: `emails/reset.html:5:9, 8:12 and 3 more`. */
export function placeList(
  places: readonly WarningPlace[],
  more = 0,
  show: (place: WarningPlace, text: string) => string = (_, text) => text,
): string {
  const shown = places.slice(0, namedAtMost).map((place, index) => {
    const { file, line, column } = place;
    const spot = `${line}${column === undefined ? '' : `:${column}`}`;
    return show(place, places[index - 1]?.file === file ? spot : `${bare(file)}:${spot}`);
  });
  const left = places.length - shown.length + more;
  return `${shown.join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}

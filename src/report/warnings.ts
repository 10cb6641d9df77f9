import { escapeText } from '../base/escape.js';
import type { ProblemCode } from '../base/problems.js';
import { groupBy } from '../base/values.js';
import { firstFew } from '../base/words.js';
import type { Change, Plan, PlanWarning, WarningPlace } from '../plan/plan.js';
import type { TextStyle } from './field-text.js';
import { namesIn, withoutNames } from './group-equal.js';
import { nameOf } from './names.js';
import { type AttributedWarning, allWarnings, messageWithPlaces } from './review.js';
import { placeList, placesOf, plural, wrap } from './words.js';

/** Equal warnings about several objects. */
export interface WarningGroup {
  readonly code: ProblemCode;
  readonly message: string;
  readonly objects: readonly Change[];
  /** The places, if they aren't those of declarations. */
  readonly places: readonly WarningPlace[];
  readonly morePlaces?: number | undefined;
  readonly warnings: readonly PlanWarning[];
}

/** Groups warnings that are equal except for ids of their objects, in the order of the first ones. */
export function groupWarnings(
  plan: Plan,
  warnings: readonly AttributedWarning[] = allWarnings(plan),
): WarningGroup[] {
  const byAddress = new Map(plan.changes.map((change) => [change.address, change]));
  const groups = groupBy(
    warnings.map((warning) => attributeToObject(warning, byAddress)),
    (warning) => JSON.stringify([warning.code, warning.change !== null, withoutIds(warning)]),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const places = group.flatMap(placesOf);
    const morePlaces = group.reduce((sum, { morePlaces: more = 0 }) => sum + more, 0);
    return {
      code: first.code,
      message: group.every(({ message }) => message === first.message) ? first.message : withoutIds(first),
      objects: [...new Set(group.flatMap(({ change }) => change ?? []))],
      places: [...new Map(places.map((place) => [JSON.stringify(place), place])).values()],
      ...(morePlaces > 0 ? { morePlaces } : {}),
      warnings: group.map(({ original }) => original),
    };
  });
}

/** A warning of the plan whose message starts with the address of an object, as a warning about that object. */
function attributeToObject(
  warning: AttributedWarning,
  byAddress: ReadonlyMap<string, Change>,
): AttributedWarning {
  const { message, place } = warning;
  if (warning.change !== null || place === undefined) return warning;
  for (let at = message.indexOf(': '); at !== -1; at = message.indexOf(': ', at + 1)) {
    const change = byAddress.get(message.slice(0, at));
    if (change === undefined) continue;
    return {
      ...warning,
      change,
      message: message.slice(at + 2).replace(` (${place.file}:${place.line})`, ''),
    };
  }
  return warning;
}

/** A message in which `…` replaces ids of its object, but not names, which could be ordinary words. */
function withoutIds({ message, change }: AttributedWarning): string {
  const names = change === null ? [] : namesIn(change.address);
  return withoutNames(
    message,
    names.filter((name) => name.length >= 8 && /\d/.test(name) && /\D/.test(name)),
  );
}

/** Equal warnings about more objects are shown once, after the changes. */
const maxUngrouped = 2;

/** Groups the warnings of a plan and its shown changes, except with `debug`. `ungrouped` selects those in no group. */
export function splitWarnings(plan: Plan, changes: readonly Change[], debug: boolean) {
  if (debug) return { groups: [], ungrouped: (warnings: readonly PlanWarning[]) => warnings };
  const all = allWarnings({ warnings: plan.warnings, changes });
  const groups = groupWarnings(plan, all).filter(({ objects }) => objects.length > maxUngrouped);
  const grouped = new Set(groups.flatMap(({ warnings }) => warnings));
  const ungrouped = (warnings: readonly PlanWarning[]) => warnings.filter((warning) => !grouped.has(warning));
  return { groups, ungrouped };
}

export function warningLines(
  indent: string,
  warnings: readonly PlanWarning[],
  { paint }: TextStyle,
): string[] {
  return warnings.flatMap((warning) =>
    wrap(`${indent}warning[${escapeText(warning.code)}]: `, messageWithPlaces(warning)).map(paint.yellow),
  );
}

export function groupLines(groups: readonly WarningGroup[], { paint }: TextStyle): string[] {
  return groups.flatMap((group) => {
    const summary = `${plural(group.objects.length, 'object')}: ${group.message}`;
    const places = placeList(group.places, group.morePlaces);
    return [
      ...wrap(`warning[${escapeText(group.code)}]: `, summary).map(paint.yellow),
      ...wrap('    ', firstFew(group.objects.map(nameOf))).map(paint.yellow),
      ...(places === '' ? [] : wrap('    at ', places).map(paint.yellow)),
    ];
  });
}

import { escapeText } from '../base/escape.js';
import type { ProblemCode } from '../base/problems.js';
import { firstFew } from '../base/words.js';
import type { Change, Plan, PlanWarning, WarningPlace } from '../plan/plan.js';
import type { Pen } from './field-text.js';
import { namesIn, withoutNames } from './group-equal.js';
import { nameOf } from './names.js';
import { type AttributedWarning, allWarnings, located } from './review.js';
import { placeList, placesOf, plural, wrap } from './words.js';

export interface WarningGroup {
  readonly code: ProblemCode;
  readonly message: string;
  readonly objects: readonly Change[];
  /** The places, unless they are declarations of the objects. */
  readonly places: readonly WarningPlace[];
  readonly morePlaces?: number | undefined;
  readonly warnings: readonly PlanWarning[];
}

/** Groups the warnings of a plan that are equal apart from ids of their objects, in the order of the first. */
export function groupWarnings(
  plan: Plan,
  warnings: readonly AttributedWarning[] = allWarnings(plan),
): WarningGroup[] {
  const byAddress = new Map(plan.changes.map((change) => [change.address, change]));
  const groups = new Map<string, AttributedWarning[]>();
  for (const warning of warnings.map((one) => attributed(one, byAddress))) {
    const key = JSON.stringify([warning.code, warning.change !== null, nameless(warning)]);
    const group = groups.get(key) ?? [];
    group.push(warning);
    groups.set(key, group);
  }
  return [...groups.values()].flatMap((all) => {
    const [first] = all;
    if (first === undefined) return [];
    const places = all.flatMap(placesOf);
    const morePlaces = all.reduce((sum, { morePlaces: more = 0 }) => sum + more, 0);
    return {
      code: first.code,
      message: all.every(({ message }) => message === first.message) ? first.message : nameless(first),
      objects: [...new Set(all.flatMap(({ change }) => change ?? []))],
      places: [...new Map(places.map((place) => [JSON.stringify(place), place])).values()],
      ...(morePlaces > 0 ? { morePlaces } : {}),
      warnings: all.map(({ given }) => given),
    };
  });
}

function attributed(warning: AttributedWarning, byAddress: ReadonlyMap<string, Change>): AttributedWarning {
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

/** A message without ids of its object. Names that could be other words stay. */
function nameless({ message, change }: AttributedWarning): string {
  const names = change === null ? [] : namesIn(change.address);
  return withoutNames(
    message,
    names.filter((name) => name.length >= 8 && /\d/.test(name) && /\D/.test(name)),
  );
}

/** Equal warnings of more objects are grouped after the changes. */
const FEW = 2;

/** Groups the warnings of a plan and its shown changes; with debug, none. `ungrouped` picks the others. */
export function splitWarnings(plan: Plan, changes: readonly Change[], debug: boolean) {
  if (debug) return { groups: [], ungrouped: (warnings: readonly PlanWarning[]) => warnings };
  const all = allWarnings({ warnings: plan.warnings, changes });
  const groups = groupWarnings(plan, all).filter(({ objects }) => objects.length > FEW);
  const grouped = new Set(groups.flatMap(({ warnings }) => warnings));
  const ungrouped = (warnings: readonly PlanWarning[]) => warnings.filter((warning) => !grouped.has(warning));
  return { groups, ungrouped };
}

export function warningLines(indent: string, warnings: readonly PlanWarning[], { paint }: Pen): string[] {
  return warnings.flatMap((warning) =>
    wrap(`${indent}warning[${escapeText(warning.code)}]: `, located(warning)).map(paint.yellow),
  );
}

export function groupLines(groups: readonly WarningGroup[], { paint }: Pen): string[] {
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

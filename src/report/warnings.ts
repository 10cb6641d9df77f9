import { escapeText } from '../base/escape.js';
import type { ProblemCode } from '../base/problems.js';
import type { Change, Plan, PlanWarning, WarningPlace } from '../plan/plan.js';
import type { Pen } from './field-text.js';
import { firstFew, namesIn, withoutNames } from './group-results.js';
import { nameOf } from './names.js';
import { type AboutWarning, allWarnings, located } from './review.js';
import { placeList, placesOf, plural, wrap } from './words.js';

/** Warnings that say the same, each of another object or of another place. */
export interface WarningGroup {
  readonly code: ProblemCode;
  /** What they say; an ellipsis in the place of an id that is another one for each object. */
  readonly message: string;
  /** The objects that they are about, each once; none where they are about the plan as a whole. */
  readonly objects: readonly Change[];
  /** What they are about, each place once, as far as that is another one than the declaration of its object. */
  readonly places: readonly WarningPlace[];
  /** How many more places there are, where those are too many. */
  readonly morePlaces?: number | undefined;
  /** The warnings, as they were given. */
  readonly warnings: readonly PlanWarning[];
}

/**
 * A plan's warnings, those together that are equal apart from the ids of their objects, where the first of them stands.
 * What is said of another field, or of another value, is another warning.
 */
export function groupWarnings(
  plan: Plan,
  warnings: readonly AboutWarning[] = allWarnings(plan),
): WarningGroup[] {
  const byAddress = new Map(plan.changes.map((change) => [change.address, change]));
  const groups = new Map<string, AboutWarning[]>();
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

/** One that begins with the address of its object, and says its place, without these. */
function attributed(warning: AboutWarning, byAddress: ReadonlyMap<string, Change>): AboutWarning {
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

/** What a warning says apart from the ids of its object. A name that could be a word, a field or a value of its own stays. */
function nameless({ message, change }: AboutWarning): string {
  const names = change === null ? [] : namesIn(change.address);
  return withoutNames(
    message,
    names.filter((name) => name.length >= 8 && /\d/.test(name) && /\D/.test(name)),
  );
}

/** Equal warnings of more objects than this are told once, after the changes. */
const FEW = 2;

/** A plan's warnings as they are told: those of many objects together, the others where they belong. */
export interface ToldWarnings {
  readonly together: readonly WarningGroup[];
  /** Of warnings of the plan or of one of its changes those that aren't told together with others. */
  alone(warnings: readonly PlanWarning[]): readonly PlanWarning[];
}

/** How the warnings of a plan and of those of its changes that are shown are told; each by itself with debug. */
export function toldWarnings(plan: Plan, changes: readonly Change[], debug: boolean): ToldWarnings {
  if (debug) return { together: [], alone: (warnings) => warnings };
  const all = allWarnings({ warnings: plan.warnings, changes });
  const together = groupWarnings(plan, all).filter(({ objects }) => objects.length > FEW);
  const told = new Set(together.flatMap(({ warnings }) => warnings));
  return { together, alone: (warnings) => warnings.filter((warning) => !told.has(warning)) };
}

/** Warnings in lines, each by itself. */
export function warningLines(indent: string, warnings: readonly PlanWarning[], { paint }: Pen): string[] {
  return warnings.flatMap((warning) =>
    wrap(`${indent}warning[${escapeText(warning.code)}]: `, located(warning)).map(paint.yellow),
  );
}

/** What is said of several objects, once: how many they are, what it is, and the first few. */
export function togetherLines(groups: readonly WarningGroup[], { paint }: Pen): string[] {
  return groups.flatMap((group) => {
    const said = `${plural(group.objects.length, 'object')}: ${group.message}`;
    const places = placeList(group.places, group.morePlaces);
    return [
      ...wrap(`warning[${escapeText(group.code)}]: `, said).map(paint.yellow),
      ...wrap('    ', firstFew(group.objects, nameOf)).map(paint.yellow),
      ...(places === '' ? [] : wrap('    at ', places).map(paint.yellow)),
    ];
  });
}

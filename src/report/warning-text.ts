import { escapeText } from '../base/escape.js';
import type { Change, Plan, PlanWarning } from '../plan/plan.js';
import { firstFew } from './alike.js';
import type { Pen } from './field-text.js';
import { nameOf } from './names.js';
import { placeList } from './places.js';
import { allWarnings, located } from './review.js';
import { groupWarnings, type WarningGroup } from './warnings.js';
import { plural, wrap } from './words.js';

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

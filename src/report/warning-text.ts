import { escapeText } from '../base/escape.js';
import type { Change, Plan, PlanWarning } from '../plan/plan.js';
import type { Pen } from './field-text.js';
import { nameOf } from './names.js';
import { located } from './review.js';
import { type AboutWarning, groupWarnings, objectsText, type WarningGroup } from './warnings.js';
import { plural, wrap } from './words.js';

/** Equal warnings of more objects than this are told once, after the changes. */
const FEW = 2;

/** A plan's warnings as they are told: those of many objects together, the others where they belong. */
export interface ToldWarnings {
  readonly together: readonly WarningGroup[];
  /** Of the warnings of a change, or of the plan where there is none, those that aren't told together with others. */
  alone(warnings: readonly PlanWarning[], change?: Change): readonly PlanWarning[];
}

/** How the warnings of a plan and of those of its changes that are shown are told; each by itself with debug. */
export function toldWarnings(plan: Plan, changes: readonly Change[], debug: boolean): ToldWarnings {
  if (debug) return { together: [], alone: (warnings) => warnings };
  const about: AboutWarning[] = [
    ...plan.warnings.map((warning) => ({ ...warning, change: null })),
    ...changes.flatMap((change) => change.warnings.map((warning) => ({ ...warning, change }))),
  ];
  const together = groupWarnings(plan, about).filter(({ objects }) => objects.length > FEW);
  const members = new Map(together.map((group) => [group, new Set(group.objects)]));
  const isTogether = (warning: PlanWarning, change: Change | undefined): boolean =>
    together.some(
      (group) =>
        group.code === warning.code &&
        (change === undefined
          ? group.objects.some((object) => isOf(object, warning, group.message))
          : members.get(group)?.has(change) === true && says(group.message, warning.message)),
    );
  return {
    together,
    alone: (warnings, change) =>
      together.length === 0 ? warnings : warnings.filter((warning) => !isTogether(warning, change)),
  };
}

/** Whether a warning of the plan names the object, and says this of it. */
function isOf({ address }: Change, { message, place }: PlanWarning, said: string): boolean {
  const lead = `${address}: `;
  if (!message.startsWith(lead)) return false;
  const at = place === undefined ? '' : ` (${place.file}:${place.line})`;
  return says(said, message.slice(lead.length).replace(at, ''));
}

/** Whether a message is the same but for what an ellipsis stands for. */
function says(group: string, message: string): boolean {
  if (group === message) return true;
  const parts = group.split('…');
  const [first = ''] = parts;
  const last = parts.at(-1) ?? '';
  if (parts.length === 1 || !message.startsWith(first) || !message.endsWith(last)) return false;
  let at = 0;
  return parts.every((part) => {
    const found = message.indexOf(part, at);
    at = found + part.length;
    return found !== -1;
  });
}

/** Warnings in lines, each by itself. */
export function warningLines(
  indent: string,
  warnings: readonly PlanWarning[],
  { paint, columns }: Pen,
): string[] {
  return warnings.flatMap((warning) =>
    wrap(`${indent}warning[${escapeText(warning.code)}]: `, located(warning), columns).map(paint.yellow),
  );
}

/** What is said of several objects, once: how many they are, what it is, and the first few. */
export function togetherLines(groups: readonly WarningGroup[], { paint, columns }: Pen): string[] {
  return groups.flatMap((group) => {
    const said = `${plural(group.objects.length, 'object')}: ${group.message}`;
    return [
      ...wrap(`warning[${escapeText(group.code)}]: `, said, columns).map(paint.yellow),
      ...wrap('    ', objectsText(group, nameOf), columns).map(paint.yellow),
    ];
  });
}

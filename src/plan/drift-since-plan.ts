import { same, type Value } from '../base/values.js';
import type { FieldChange } from '../kinds/change.js';
import { asElements, keyOf } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import { isUnplanned } from './drift.js';
import type { Change } from './plan.js';

/**
 * What a plan showed of a change and is no longer so, when the same is planned again: the fields that a document
 * mentions, or what decides beside them. What nobody declared doesn't count. Pure.
 */
export function driftSincePlan(planned: Change, now: Change): string[] {
  if (now.action === 'blocked') return [now.reason ?? 'it is blocked now'];
  const fields = [...planned.fields, ...now.fields].filter((field) => !isUnplanned(field));
  const paths = new Set(fields.map(({ path }) => path));
  const moved = [...paths].filter((path) => !isAsShown(fieldAt(planned, path), fieldAt(now, path)));
  const decisive = (kindOf(planned.kind).decisive ?? []).filter(
    (field) => !same(planned.apply.before[field] ?? null, now.apply.before[field] ?? null),
  );
  const all = [...new Set([...moved, ...decisive])].sort();
  if (all.length > 0) return all;
  return planned.action === now.action ? [] : [`there is nothing to ${planned.action} any more`];
}

function fieldAt(change: Change, path: string): FieldChange | undefined {
  return change.fields.find((field) => field.path === path);
}

function isAsShown(planned: FieldChange | undefined, now: FieldChange | undefined): boolean {
  if (planned === undefined || now === undefined) return false;
  if (planned.type === 'set') return same(shownSet(planned), shownSet(now));
  return same(planned.before ?? null, now.before ?? null);
}

/** A set as it was before: its elements by id, and of what is in them that alone which changes or goes. */
function shownSet({ before, after }: FieldChange): Value {
  const goals = new Map(asElements(after).map((element) => [keyOf(element), element]));
  const elements = asElements(before ?? null).map((element): [string, Value] => {
    const goal = goals.get(keyOf(element));
    const inner = Object.entries(element).filter(
      ([name, member]) => Array.isArray(member) && (goal === undefined || !same(goal[name] ?? null, member)),
    );
    return [keyOf(element), Object.fromEntries(inner)];
  });
  return Object.fromEntries(elements);
}

import { same, type Value } from '../base/values.js';
import type { FieldChange } from '../kinds/change.js';
import { asElements, elementKey, type FieldType, matches, value as valueType } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import { isUnplanned } from './drift.js';
import { givesUp } from './order.js';
import type { Change } from './plan.js';

/**
 * The differences between a planned change and the same change planned again: in declared fields, and in fields on which the change
 * depends. Other fields don't count, nor does a default that another change of the plan has moved. Pure.
 */
export function driftSincePlan(planned: Change, now: Change, isSucceeded = false): string[] {
  if (now.action === 'blocked') return [now.reason ?? 'it is blocked now'];
  const fields = [...planned.fields, ...now.fields].filter((field) => !isUnplanned(field));
  const { preconditions: deciding = [], succession, fields: types } = kindOf(planned.kind);
  const isTaken = (path: string): boolean => isSucceeded && path === succession?.field && givesUp(planned);
  const paths = new Set(fields.map(({ path }) => path).filter((path) => !isTaken(path)));
  const changed = [...paths].filter(
    (path) => !isAsShown(types[path] ?? valueType, fieldAt(planned, path), fieldAt(now, path)),
  );
  const decisive = deciding.filter(
    (field) =>
      !(isSucceeded && field === succession?.holdersField) &&
      !same(planned.apply.before[field] ?? null, now.apply.before[field] ?? null),
  );
  const all = [...new Set([...changed, ...decisive])].sort();
  if (all.length > 0) return all;
  return planned.action === now.action ? [] : [`there is nothing to ${planned.action} any more`];
}

function fieldAt(change: Change, path: string): FieldChange | undefined {
  return change.fields.find((field) => field.path === path);
}

function isAsShown(type: FieldType, planned: FieldChange | undefined, now: FieldChange | undefined): boolean {
  if (planned === undefined || now === undefined) return false;
  if (planned.type === 'set')
    return same(shownSet(type, planned), shownSet(type, now)) && same(shownGains(planned), shownGains(now));
  // This run may have renamed the referenced object.
  return type.type === 'reference'
    ? matches(type, planned.before ?? null, now.before ?? null)
    : same(planned.before ?? null, now.before ?? null);
}

/** A set before the change, by id. Each element has only its own lists that change: the scopes of a role belong to the role. */
function shownSet(type: FieldType, { before, after }: FieldChange): Value {
  const own = type.type === 'set' ? type.nested : {};
  const goals = new Map(asElements(after).map((element) => [elementKey(element), element]));
  const elements = asElements(before ?? null).map((element): [string, Value] => {
    const goal = goals.get(elementKey(element));
    const inner = Object.entries(element).filter(
      ([name, member]) =>
        own[name] !== undefined &&
        Array.isArray(member) &&
        (goal === undefined || !same(goal[name] ?? null, member)),
    );
    return [elementKey(element), Object.fromEntries(inner)];
  });
  return Object.fromEntries(elements);
}

/** The elements that a set gains, by id, with their names and lists: a name may now belong to another object, or be privileged. */
function shownGains({ before, after }: FieldChange): Value {
  const there = new Set(asElements(before ?? null).map(elementKey));
  const gains = asElements(after).filter((element) => !there.has(elementKey(element)));
  return Object.fromEntries(
    gains.map((element): [string, Value] => {
      const lists = Object.entries(element).flatMap(([name, member]): [string, Value][] => {
        const inside = asElements(member).map((one) => `${elementKey(one)} ${String(one.name)}`);
        return Array.isArray(member) ? [[name, inside.sort()]] : [];
      });
      return [elementKey(element), { name: element.name ?? null, ...Object.fromEntries(lists) }];
    }),
  );
}

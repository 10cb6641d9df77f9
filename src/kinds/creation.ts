import { createHash } from 'node:crypto';
import { isMap, type Value } from '../base/values.js';

/**
 * The id that a new object has in a plan, made of its address, so that two plans are the same. No request has it: a new object gets
 * another one.
 */
export function plannedId(address: string): string {
  const hash = createHash('sha256').update(address).digest('hex');
  // A UUID of version 8.
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(12, 15)}`, `8${hash.slice(15, 18)}`];
  return [...parts, hash.slice(18, 30)].join('-');
}

/** The value without the ids that new objects have in a plan alone. */
export function withoutPlannedIds(value: Value): Value {
  if (Array.isArray(value)) return value.map(withoutPlannedIds);
  if (!isMap(value)) return value;
  const { id } = value;
  const isPlanned = typeof id === 'string' && /^.{14}8.{4}8/.test(id);
  const members = Object.entries(value).filter(([name]) => name !== 'id' || !isPlanned);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutPlannedIds(member)]));
}

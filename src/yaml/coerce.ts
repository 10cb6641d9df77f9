import { plainNumber } from '../base/json.js';
import { ExactNumber, type Json } from '../base/values.js';
import { type Note, pathKey } from './resolve.js';
import type { Path } from './tree.js';
import { parseText } from './types.js';

/** A value that a schema doesn't take, and the type that it wants in its place. */
interface Misfit {
  readonly path: Path;
  readonly expected?: string | undefined;
}

/**
 * Converts what variables gave to the type that the schema wants, and puts something harmless where the value
 * isn't known. Says whether anything was changed.
 */
export function repair(
  value: Json,
  issues: readonly Misfit[],
  notes: ReadonlyMap<string, Note>,
  tried: Set<string>,
): boolean {
  let changed = false;
  for (const issue of issues) {
    const key = pathKey(issue.path);
    const note = notes.get(key);
    if (note === undefined) {
      changed = takePlain(value, issue.path) || changed;
      continue;
    }
    if (!tried.has(key)) {
      tried.add(key);
      const converted = convert(issue.expected, valueAt(value, issue.path), note);
      if (converted !== undefined) {
        changed = put(value, issue.path, converted) || changed;
        continue;
      }
    }
    if (note.unknown && !tried.has(`${key}\0gone`)) {
      tried.add(`${key}\0gone`);
      changed = put(value, issue.path, undefined) || changed;
    }
  }
  return changed;
}

/** Puts the plain number where a schema takes no other, such as 1 for 1.0. */
function takePlain(value: Json, path: Path): boolean {
  const there = valueAt(value, path);
  const plain = there instanceof ExactNumber ? plainNumber(there.text) : undefined;
  return plain !== undefined && put(value, path, plain);
}

function convert(expected: string | undefined, value: Json | undefined, note: Note): Json | undefined {
  const number = expected === 'number' || expected === 'int';
  if (note.unknown) return expected === 'boolean' ? false : number ? 0 : undefined;
  // In quotes as well: inside {} and [] YAML takes a variable in quotes alone.
  return typeof value === 'string' ? parseText(expected, value) : undefined;
}

function valueAt(value: Json, path: Path): Json | undefined {
  let at: Json | undefined = value;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || at instanceof ExactNumber) return undefined;
    at = Array.isArray(at) ? at[Number(step)] : Object.hasOwn(at, step) ? at[String(step)] : undefined;
  }
  return at;
}

/** Replaces a member, or removes it; the elements of a list can't be removed, since paths count them. */
function put(value: Json, path: Path, member: Json | undefined): boolean {
  const parent = valueAt(value, path.slice(0, -1));
  const step = path.at(-1);
  if (typeof parent !== 'object' || parent === null || parent instanceof ExactNumber || step === undefined)
    return false;
  if (Array.isArray(parent)) {
    if (member === undefined) return false;
    parent[Number(step)] = member;
  } else if (member === undefined) delete parent[String(step)];
  else parent[String(step)] = member;
  return true;
}

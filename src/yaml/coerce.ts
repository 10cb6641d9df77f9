import { plainNumber } from '../base/json.js';
import { ExactNumber, type Json } from '../base/values.js';
import { type Note, pathKey } from './resolve.js';
import type { Path } from './tree.js';
import { parseText } from './types.js';

/** A value that a schema refuses, and the type that it expects. */
interface Mismatch {
  readonly path: Path;
  readonly expected?: string | undefined;
}

/** Converts values of variables to the types that the schema expects, and replaces unknown values by valid ones. Returns whether anything changed. */
export function coerce(
  value: Json,
  issues: readonly Mismatch[],
  notes: ReadonlyMap<string, Note>,
  attempted: Set<string>,
): boolean {
  let changed = false;
  for (const issue of issues) {
    const key = pathKey(issue.path);
    const note = notes.get(key);
    if (note === undefined) {
      changed = replaceExactNumber(value, issue.path) || changed;
      continue;
    }
    if (!attempted.has(key)) {
      attempted.add(key);
      const converted = convert(issue.expected, valueAt(value, issue.path), note);
      if (converted !== undefined) {
        changed = replaceMember(value, issue.path, converted) || changed;
        continue;
      }
    }
    if (note.unknown && !attempted.has(`${key}\0gone`)) {
      attempted.add(`${key}\0gone`);
      changed = replaceMember(value, issue.path, undefined) || changed;
    }
  }
  return changed;
}

/** Replaces an exact number by a plain number, such as 1.0 by 1. */
function replaceExactNumber(value: Json, path: Path): boolean {
  const there = valueAt(value, path);
  const plain = there instanceof ExactNumber ? plainNumber(there.text) : undefined;
  return plain !== undefined && replaceMember(value, path, plain);
}

function convert(expected: string | undefined, value: Json | undefined, note: Note): Json | undefined {
  const number = expected === 'number' || expected === 'int';
  if (note.unknown) return expected === 'boolean' ? false : number ? 0 : undefined;
  // Quoted values too, since YAML requires quotes around a variable inside {} and [].
  return typeof value === 'string' ? parseText(expected, value) : undefined;
}

/** The value at a path; ignores inherited members. */
export function valueAt(value: unknown, path: Path): Json | undefined {
  let at = value as Json | undefined;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || at instanceof ExactNumber) return undefined;
    at = Array.isArray(at) ? at[Number(step)] : Object.hasOwn(at, step) ? at[String(step)] : undefined;
  }
  return at;
}

/** Replaces a member, or removes it from a map. Elements of lists aren't removed, since that would change paths. */
function replaceMember(value: Json, path: Path, member: Json | undefined): boolean {
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

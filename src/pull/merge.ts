import { type Fields, isMap, type Json, same, type Value } from '../base/values.js';
import {
  asElements,
  contrast,
  desired,
  type FieldType,
  type FieldTypes,
  membersAmong,
  value as plain,
} from '../kinds/fields.js';
import { parseVariables } from '../yaml/interpolation.js';
import {
  fieldPath,
  fromMembers,
  hasCredential,
  type WriteContext,
  type Written,
  writeField,
} from './literal.js';

type Path = readonly (string | number)[];

export interface MergeContext {
  readonly field: string;
  /** Whether the document declares the map whole. */
  readonly whole: boolean;
  /** Keys that somebody added to the map on the server. */
  readonly added: readonly string[];
  readonly writing: WriteContext;
  /** Members that other documents declare or remove: they are not added to a whole set. */
  readonly others: readonly Fields[];
  /** The id of an element of a set, if known. */
  readonly idOf: (element: Value) => string | undefined;
  /** Takes the new and the former text of a body file; returns why it can't be written. */
  readonly body: (path: string, text: string, before: string) => string | undefined;
}

/**
 * The field as the document must write it to declare what the server has. What matches stays as written; what can't be edited
 * stays too, and goes to `writing.left` with the reason.
 */
export function mergeField(
  type: FieldType,
  declared: Written,
  live: Value,
  merging: MergeContext,
  path: Path = [merging.field],
): Written {
  if (type.type === 'set' && Array.isArray(declared.raw) && Array.isArray(declared.value)) {
    return mergeSet(type.nested, declared.raw, declared.value, live, path, merging);
  }
  if (type.type === 'set' && isMap(declared.raw) && isMap(declared.value)) {
    return mergeParts(type.nested, declared, live, path, merging);
  }
  const wanted = desired(type, declared.value, live, merging.whole);
  const matches =
    wanted !== undefined && contrast(type, '', wanted, live).every(({ verdict }) => verdict === 'same');
  return matches && merging.added.length === 0
    ? declared
    : mergeDiffering(type, declared, live, path, merging);
}

function mergeExactly(declared: Written, live: Value, path: Path, merging: MergeContext): Written {
  return same(declared.value, live) ? declared : mergeDiffering(plain, declared, live, path, merging);
}

function mergeDiffering(
  type: FieldType,
  declared: Written,
  live: Value,
  path: Path,
  merging: MergeContext,
): Written {
  return isMap(declared.raw) && isMap(declared.value) && isMap(live)
    ? mergeMap(type, declared, live, path, merging)
    : replace(type, declared, live, path, merging);
}

function mergeSet(
  nested: FieldTypes,
  raws: readonly Json[],
  values: readonly Value[],
  live: Value,
  path: Path,
  merging: MergeContext,
): Written {
  const left = new Set(asElements(live));
  const kept = raws.flatMap((raw, index): Written[] => {
    const value = values[index] ?? null;
    const found = findElement(value, left, merging);
    if (found === undefined) return [];
    left.delete(found);
    return [mergeElement(nested, { raw, value }, found, path, merging)];
  });
  for (const other of membersAmong([...left], merging.others)) left.delete(other);
  // New members are written like those beside them.
  const byId = raws.some((raw) => isMap(raw) && raw.id !== undefined);
  const writing = byId ? { ...merging.writing, nameOf: () => undefined } : merging.writing;
  const added = writeField({ type: 'set', nested }, merging.field, [...left], writing);
  if (added === undefined) {
    const declared = { raw: [...raws], value: [...values] };
    return keep(declared, path, ' has an element on the server that no document can name', merging);
  }
  return {
    raw: [...kept.map(({ raw }) => raw), ...(added.raw as Json[])],
    value: [...kept.map(({ value }) => value), ...(added.value as Value[])],
  };
}

/** Of the members that a document adds those that the server has, and of those that it removes the others. */
function mergeParts(
  nested: FieldTypes,
  declared: Written,
  live: Value,
  path: Path,
  merging: MergeContext,
): Written {
  const there = new Set(asElements(live));
  const parts = Object.keys(declared.value as Fields).map((part): [string, Written] => {
    const list = memberOf(declared, part);
    if (!Array.isArray(list.raw) || !Array.isArray(list.value)) return [part, list];
    const values = list.value;
    const kept = list.raw.flatMap((raw: Json, index): Written[] => {
      const value = values[index] ?? null;
      const found = findElement(value, there, merging);
      if (part === 'remove') return found === undefined ? [{ raw, value }] : [];
      return found === undefined
        ? []
        : [mergeElement(nested, { raw, value }, found, [...path, part], merging)];
    });
    return [part, { raw: kept.map(({ raw }) => raw), value: kept.map(({ value }) => value) }];
  });
  return fromMembers(parts);
}

/** The live element that a document means. */
function findElement(value: Value, among: Iterable<Fields>, { idOf }: MergeContext): Fields | undefined {
  const id = idOf(value);
  const name = isMap(value) ? value.name : value;
  return [...among].find((one) => (id === undefined ? one.name === name : one.id === id));
}

/** An element with the server's name and the sets that the document declares of it. */
function mergeElement(
  nested: FieldTypes,
  declared: Written,
  live: Fields,
  path: Path,
  merging: MergeContext,
): Written {
  if (!isMap(declared.raw) || !isMap(declared.value)) return declared;
  return fromMembers(
    Object.keys(declared.value).map((key) => {
      const member = memberOf(declared, key);
      const now = live[key];
      const type = nested[key];
      const at = [...path, key];
      if (type !== undefined && now !== undefined) return [key, mergeField(type, member, now, merging, at)];
      const isRenamed = key === 'name' && typeof now === 'string' && !same(member.value, now);
      return [key, isRenamed ? replace(plain, member, now, at, merging) : member];
    }),
  );
}

function mergeMap(
  type: FieldType,
  declared: Written,
  live: Fields,
  path: Path,
  merging: MergeContext,
): Written {
  const keys = Object.keys(declared.value as Fields);
  const isWhole = type.type === 'map' ? merging.whole : type.type !== 'members';
  const members = keys.flatMap((key): [string, Written][] => {
    const member = memberOf(declared, key);
    const at = [...path, key];
    const now = Object.hasOwn(live, key) ? live[key] : undefined;
    if (type.type === 'members') {
      if (now !== undefined) return [[key, mergeField(type.members[key] ?? plain, member, now, merging, at)]];
      return [[key, keep(member, at, ": the server doesn't show it", merging)]];
    }
    if (now !== undefined) return [[key, mergeExactly(member, now, at, merging)]];
    const isGone = isWhole && !(type.type === 'map' && member.value === null) && !holdsVariable(member.raw);
    return isGone ? [] : [[key, mergeExactly(member, null, at, merging)]];
  });
  const added = Object.keys(live).flatMap((key): [string, Written][] => {
    const isAdded = type.type === 'map' && merging.added.includes(key);
    if ((!isWhole && !isAdded) || keys.includes(key)) return [];
    const written = write(type, { [key]: live[key] ?? null }, path, merging);
    return isMap(written?.raw) && Object.hasOwn(written.raw, key) ? [[key, memberOf(written, key)]] : [];
  });
  return fromMembers([...members, ...added]);
}

function memberOf({ raw, value }: Written, key: string): Written {
  return {
    raw: ((isMap(raw) ? raw[key] : undefined) ?? null) as Json,
    value: (isMap(value) ? value[key] : undefined) ?? null,
  };
}

function replace(
  type: FieldType,
  declared: Written,
  live: Value,
  path: Path,
  merging: MergeContext,
): Written {
  const { raw } = declared;
  if (isMap(raw) && !isMap(declared.value) && typeof raw.file === 'string') {
    if (holdsVariable(raw.file)) return keepVariable(declared, path, merging);
    if (typeof live !== 'string') {
      return keep(declared, path, ' lies in a file, and the server has no text there', merging);
    }
    if (hasCredential(live, merging.writing)) {
      return keep(declared, path, ' has a credential in it on the server, which no file may hold', merging);
    }
    const trouble = merging.body(raw.file, live, typeof declared.value === 'string' ? declared.value : '');
    return trouble === undefined ? { raw, value: live } : keep(declared, path, `: ${trouble}`, merging);
  }
  if (holdsVariable(raw)) return keepVariable(declared, path, merging);
  if (live === null) return { raw: null, value: null };
  const written = write(type, live, path, merging);
  return written ?? keep(declared, path, " can't be declared with the server's value", merging);
}

/** A value at a path, by the same rules as a new one. */
function write(type: FieldType, live: Value, path: Path, merging: MergeContext): Written | undefined {
  const keys = path.slice(1).map(String);
  // Nested under its keys, since a key may say that a value is secret.
  const nested = keys.reduceRight<Value>((inner, key) => ({ [key]: inner }), live);
  let written = writeField(keys.length === 0 ? type : plain, merging.field, nested, merging.writing);
  for (const key of keys) written = written === undefined ? undefined : memberOf(written, key);
  return written;
}

function keepVariable(declared: Written, path: Path, merging: MergeContext): Written {
  return keep(declared, path, ' comes from a variable whose value differs from what the server has', merging);
}

function keep(declared: Written, path: Path, why: string, { writing }: MergeContext): Written {
  writing.left.push(`${fieldPath(path)}${why}`);
  return declared;
}

function holdsVariable(raw: Json): boolean {
  if (typeof raw === 'string') {
    return raw.includes('${') && parseVariables(raw).some((part) => typeof part !== 'string');
  }
  if (Array.isArray(raw)) return raw.some(holdsVariable);
  return isMap(raw) && Object.values(raw).some((member) => holdsVariable(member as Json));
}

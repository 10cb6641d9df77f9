import { type Fields, isMap, type Json, same, type Value } from '../base/values.js';
import {
  asElements,
  contrast,
  desired,
  type FieldType,
  type FieldTypes,
  value as plain,
} from '../kinds/fields.js';
import { parseVariables } from '../yaml/template.js';
import { fieldPath, fromMembers, isKnownOrSaid, type Writing, type Written, writeField } from './literal.js';

type Path = readonly (string | number)[];

/** What merging takes beside the values. */
export interface Merging {
  readonly field: string;
  /** Whether the document declares its map whole. */
  readonly whole: boolean;
  /** Keys that somebody added to the map on the server, to be taken in. */
  readonly added: readonly string[];
  readonly writing: Writing;
  /** The id that an element of a set stands for, where the server's lists tell it. */
  readonly idOf: (element: Value) => string | undefined;
  /** Takes the new text of a body that lies in a file, and the one that was read there; says why where it can't. */
  readonly body: (path: string, text: string, before: string) => string | undefined;
}

/**
 * What a document is to say of a field so that it says what the server has: what is so already stays as it is written, and
 * what can't be changed in place is kept, in words.
 */
export function mergeField(type: FieldType, said: Written, live: Value, merging: Merging): Written {
  return merge(type, said, live, [merging.field], merging);
}

function merge(type: FieldType, said: Written, live: Value, path: Path, merging: Merging): Written {
  if (type.type === 'set' && Array.isArray(said.raw) && Array.isArray(said.value)) {
    return mergeSet(type.nested, said.raw, said.value, live, path, merging);
  }
  const wanted = desired(type, said.value, live, merging.whole);
  const isSo =
    wanted !== undefined && contrast(type, '', wanted, live).every(({ verdict }) => verdict === 'same');
  return isSo && merging.added.length === 0 ? said : mergeDiffering(type, said, live, path, merging);
}

/** A value within a map, of which every part has to be the same. */
function mergeExactly(said: Written, live: Value, path: Path, merging: Merging): Written {
  return same(said.value, live) ? said : mergeDiffering(plain, said, live, path, merging);
}

function mergeDiffering(type: FieldType, said: Written, live: Value, path: Path, merging: Merging): Written {
  return isMap(said.raw) && isMap(said.value) && isMap(live)
    ? mergeMap(type, said, live, path, merging)
    : replace(type, said, live, path, merging);
}

function mergeSet(
  nested: FieldTypes,
  raws: readonly Json[],
  values: readonly Value[],
  live: Value,
  path: Path,
  merging: Merging,
): Written {
  const left = new Set(asElements(live));
  const kept = raws.flatMap((raw, index): Written[] => {
    const value = values[index] ?? null;
    const id = merging.idOf(value);
    const name = isMap(value) ? value.name : value;
    const found = [...left].find((one) => (id === undefined ? one.name === name : one.id === id));
    if (found === undefined) return [];
    left.delete(found);
    return [
      isMap(raw) && isMap(value)
        ? mergeElement(nested, { raw, value }, found, path, merging)
        : { raw, value },
    ];
  });
  const added = writeField({ type: 'set', nested }, merging.field, [...left], merging.writing);
  if (added === undefined) {
    const said = { raw: [...raws], value: [...values] };
    return keep(said, path, ' has an element on the server that no document can name', merging);
  }
  return {
    raw: [...kept.map(({ raw }) => raw), ...(added.raw as Json[])],
    value: [...kept.map(({ value }) => value), ...(added.value as Value[])],
  };
}

/** An element with the server's name and with the sets that the document has of it. */
function mergeElement(
  nested: FieldTypes,
  said: Written,
  live: Fields,
  path: Path,
  merging: Merging,
): Written {
  return fromMembers(
    Object.keys(said.value as Fields).map((key) => {
      const member = memberOf(said, key);
      const now = live[key];
      const type = nested[key];
      const at = [...path, key];
      if (type !== undefined && now !== undefined) return [key, merge(type, member, now, at, merging)];
      const isRenamed = key === 'name' && typeof now === 'string' && !same(member.value, now);
      return [key, isRenamed ? replace(plain, member, now, at, merging) : member];
    }),
  );
}

/** A map member by member: one of the kind's own members, a map of metadata, or a value of whatever shape. */
function mergeMap(type: FieldType, said: Written, live: Fields, path: Path, merging: Merging): Written {
  const keys = Object.keys(said.value as Fields);
  const isWhole = type.type === 'map' ? merging.whole : type.type !== 'members';
  const members = keys.flatMap((key): [string, Written][] => {
    const member = memberOf(said, key);
    const at = [...path, key];
    const now = Object.hasOwn(live, key) ? live[key] : undefined;
    if (type.type === 'members') {
      if (now !== undefined) return [[key, merge(type.members[key] ?? plain, member, now, at, merging)]];
      return [[key, keep(member, at, ": the server doesn't show it", merging)]];
    }
    if (now !== undefined) return [[key, mergeExactly(member, now, at, merging)]];
    // What a whole map doesn't mention isn't to be there.
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

/** A member of a map. */
function memberOf({ raw, value }: Written, key: string): Written {
  return {
    raw: ((isMap(raw) ? raw[key] : undefined) ?? null) as Json,
    value: (isMap(value) ? value[key] : undefined) ?? null,
  };
}

/** The server's value in the place of the document's. */
function replace(type: FieldType, said: Written, live: Value, path: Path, merging: Merging): Written {
  const { raw } = said;
  if (isMap(raw) && !isMap(said.value) && typeof raw.file === 'string') {
    if (holdsVariable(raw.file)) return refuse(said, path, merging);
    if (typeof live !== 'string') {
      return keep(said, path, ' lies in a file, and the server has no text there', merging);
    }
    if (isKnownOrSaid(live, merging.writing)) {
      return keep(said, path, ' has a credential in it on the server, which no file may hold', merging);
    }
    const trouble = merging.body(raw.file, live, typeof said.value === 'string' ? said.value : '');
    return trouble === undefined ? { raw, value: live } : keep(said, path, `: ${trouble}`, merging);
  }
  if (holdsVariable(raw)) return refuse(said, path, merging);
  if (live === null) return { raw: null, value: null };
  const written = write(type, live, path, merging);
  return written ?? keep(said, path, " can't stand in a manifest as the server has it", merging);
}

/** A value at a path, by the same rules as one that is written anew. */
function write(type: FieldType, live: Value, path: Path, merging: Merging): Written | undefined {
  const keys = path.slice(1).map(String);
  // Written within as many maps as it stands in, so that what they are called counts.
  const nested = keys.reduceRight<Value>((inner, key) => ({ [key]: inner }), live);
  let written = writeField(keys.length === 0 ? type : plain, merging.field, nested, merging.writing);
  for (const key of keys) written = written === undefined ? undefined : memberOf(written, key);
  return written;
}

function refuse(said: Written, path: Path, merging: Merging): Written {
  return keep(said, path, ' comes from a variable, which gives another value than the server has', merging);
}

function keep(said: Written, path: Path, why: string, { writing }: Merging): Written {
  writing.left.push(`${fieldPath(path)}${why}`);
  return said;
}

/** Whether a value that is written has a variable in it. */
function holdsVariable(raw: Json): boolean {
  if (typeof raw === 'string') {
    return raw.includes('${') && parseVariables(raw).some((part) => typeof part !== 'string');
  }
  if (Array.isArray(raw)) return raw.some(holdsVariable);
  return isMap(raw) && Object.values(raw).some((member) => holdsVariable(member as Json));
}

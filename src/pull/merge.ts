import { HashedSecret, isMap, type Json, reveal, same, UNKNOWN_TEXT, type Value } from '../base/values.js';
import { asElements, contrast, desired, type FieldType, value as plain } from '../kinds/fields.js';
import { parseVariables } from '../source/template.js';
import { fieldPath, isKnownOrSaid, type Writing, type Written, writeField } from './literal.js';

/** What a document says of a field, and how it is written. */
interface Said {
  readonly raw: Json;
  readonly value: Value;
}

type Path = readonly (string | number)[];

/** What merging takes beside the values. */
export interface Merging {
  readonly field: string;
  /** Whether the document declares its map whole. */
  readonly whole: boolean;
  readonly writing: Writing;
  /** The id that an element of a set stands for, where the server's lists tell it. */
  readonly idOf: (element: Value) => string | undefined;
  /** Takes the new text of a body that lies in a file, and the one that was read there; says why where it can't. */
  readonly body: (path: string, text: string, before: string) => string | undefined;
  /** What could not be changed in place, and why. */
  readonly kept: string[];
}

/**
 * What a document is to say of a field so that it says what the server has: what is so already stays as it is written, and
 * what can't be changed in place is kept, in words.
 */
export function mergeField(type: FieldType, said: Said, live: Value, merging: Merging): Written {
  return mergeTyped(type, said, live, [merging.field], merging);
}

function mergeTyped(type: FieldType, said: Said, live: Value, path: Path, merging: Merging): Written {
  if (type.type === 'set' && Array.isArray(said.raw) && Array.isArray(said.value)) {
    return mergeSet(type.nested, said.raw, said.value, live, path, merging);
  }
  const { whole } = merging;
  const wanted = desired(type, said.value, live, whole);
  if (wanted !== undefined && contrast(type, '', wanted, live).every(({ verdict }) => verdict === 'same')) {
    return said;
  }
  if (type.type === 'map' && isMap(said.raw) && isMap(said.value) && isMap(live)) {
    return mergeMap(said.raw, said.value, live, path, merging);
  }
  if (type.type === 'members' && isMap(said.raw) && isMap(said.value) && isMap(live)) {
    return mergeMembers(type.members, said.raw, said.value, live, path, merging);
  }
  return replace(type, said, live, path, merging);
}

function mergeSet(
  nested: { readonly [field: string]: FieldType },
  raws: readonly Json[],
  values: readonly Value[],
  live: Value,
  path: Path,
  merging: Merging,
): Written {
  const there = asElements(live);
  const left = new Set(there);
  const kept = raws.flatMap((raw, index): Written[] => {
    const value = values[index] ?? null;
    const id = merging.idOf(value);
    const name = isMap(value) ? value.name : value;
    const found = [...left].find((one) => (id === undefined ? one.name === name : one.id === id));
    if (found === undefined) return [];
    left.delete(found);
    if (!isMap(raw) || !isMap(value)) return [{ raw, value }];
    return [mergeElement(nested, raw, value, found, path, merging)];
  });
  const added = writeField({ type: 'set', nested }, merging.field, [...left], merging.writing);
  if (added === undefined) {
    merging.kept.push(`${fieldPath(path)} has an element on the server that no document can name`);
    return { raw: [...raws], value: [...values] };
  }
  const more = (one: Json | Value): readonly never[] => (Array.isArray(one) ? (one as never[]) : []);
  return {
    raw: [...kept.map((one) => one.raw), ...more(added.raw)],
    value: [...kept.map((one) => one.value), ...more(added.value)],
  };
}

/** A member of a map as a document has it. */
function memberOf(
  raw: { [key: string]: Json } | { [key: string]: Value },
  value: { [key: string]: Value },
  key: string,
): Written {
  return { raw: (raw[key] ?? null) as Json, value: value[key] ?? null };
}

/** An element with the server's name and with the sets that the document has of it. */
function mergeElement(
  nested: { readonly [field: string]: FieldType },
  raw: { [key: string]: Json } | { [key: string]: Value },
  value: { [key: string]: Value },
  live: { [key: string]: Value },
  path: Path,
  merging: Merging,
): Written {
  const members = Object.keys(value).map((key): readonly [string, Written] => {
    const said = memberOf(raw, value, key);
    const now = live[key];
    const type = nested[key];
    const at = [...path, key];
    if (type !== undefined && now !== undefined) return [key, mergeTyped(type, said, now, at, merging)];
    const isName = key === 'name' && typeof now === 'string' && !same(said.value, now);
    return [key, isName ? replace(plain, said, now, at, merging) : said];
  });
  return joined(members);
}

function mergeMap(
  raw: { [key: string]: Json } | { [key: string]: Value },
  value: { [key: string]: Value },
  live: { [key: string]: Value },
  path: Path,
  merging: Merging,
): Written {
  const members = Object.keys(value).flatMap((key): (readonly [string, Written])[] => {
    const said = memberOf(raw, value, key);
    const isThere = Object.hasOwn(live, key);
    // What a map that is declared whole doesn't mention isn't to be there.
    if (merging.whole && !isThere && said.value !== null && !holdsVariable(said.raw)) return [];
    return [[key, mergePlain(said, isThere ? (live[key] ?? null) : null, [...path, key], merging)]];
  });
  const more = Object.keys(live).filter((key) => merging.whole && !Object.hasOwn(value, key));
  const added = writeField(
    { type: 'map' },
    merging.field,
    Object.fromEntries(more.map((key) => [key, live[key] ?? null])),
    merging.writing,
  );
  if (!isMap(added?.raw) || !isMap(added.value)) return joined(members);
  const { raw: raws, value: values } = added;
  return joined([
    ...members,
    ...Object.keys(raws).map(
      (key) => [key, { raw: raws[key] as Json, value: (values as never)[key] }] as const,
    ),
  ]);
}

function mergeMembers(
  types: { readonly [field: string]: FieldType },
  raw: { [key: string]: Json } | { [key: string]: Value },
  value: { [key: string]: Value },
  live: { [key: string]: Value },
  path: Path,
  merging: Merging,
): Written {
  return joined(
    Object.keys(value).map((key): readonly [string, Written] => {
      const said = memberOf(raw, value, key);
      const now = Object.hasOwn(live, key) ? live[key] : undefined;
      const at = [...path, key];
      if (now !== undefined) return [key, mergeTyped(types[key] ?? plain, said, now, at, merging)];
      merging.kept.push(`${fieldPath(at)}: the server doesn't show it`);
      return [key, said];
    }),
  );
}

/** A value of whatever shape, member by member as far as there are maps on both sides. */
function mergePlain(said: Said, live: Value, path: Path, merging: Merging): Written {
  if (same(said.value, live)) return said;
  if (!isMap(said.raw) || !isMap(said.value) || !isMap(live)) {
    return replace(plain, said, live, path, merging);
  }
  const { raw, value } = said;
  const kept = Object.keys(value).filter((key) => Object.hasOwn(live, key));
  const members = kept.map((key): readonly [string, Written] => {
    const one = { raw: (raw[key] ?? null) as Json, value: value[key] ?? null };
    return [key, mergePlain(one, live[key] ?? null, [...path, key], merging)];
  });
  const gone = Object.keys(value).filter((key) => !Object.hasOwn(live, key));
  if (gone.some((key) => holdsVariable((raw[key] ?? null) as Json))) return refuse(said, path, merging);
  const added = Object.keys(live)
    .filter((key) => !Object.hasOwn(value, key))
    .flatMap((key): (readonly [string, Written])[] => {
      const written = write(live[key] ?? null, [...path, key], merging);
      return written === undefined ? [] : [[key, written]];
    });
  return joined([...members, ...added]);
}

/** The server's value in the place of the document's. */
function replace(type: FieldType, said: Said, live: Value, path: Path, merging: Merging): Written {
  const { raw } = said;
  if (isMap(raw) && !isMap(said.value) && typeof raw.file === 'string') {
    if (holdsVariable(raw.file)) return refuse(said, path, merging);
    if (typeof live !== 'string') {
      merging.kept.push(`${fieldPath(path)} lies in a file, and the server has no text there`);
      return said;
    }
    if (isKnownOrSaid(live, merging.writing)) {
      merging.kept.push(`${fieldPath(path)} has a credential in it on the server, which no file may hold`);
      return said;
    }
    const trouble = merging.body(raw.file, live, typeof said.value === 'string' ? said.value : '');
    if (trouble === undefined) return { raw, value: live };
    merging.kept.push(`${fieldPath(path)}: ${trouble}`);
    return said;
  }
  if (holdsVariable(raw)) return refuse(said, path, merging);
  if (live === null) return { raw: null, value: null };
  const written =
    path.length === 1 ? writeField(type, merging.field, live, merging.writing) : write(live, path, merging);
  if (written !== undefined) return written;
  merging.kept.push(`${fieldPath(path)} can't stand in a manifest as the server has it`);
  return said;
}

/** A value below a field, by the same rules as one that is written anew. */
function write(live: Value, path: Path, merging: Merging): Written | undefined {
  const [field = '', ...keys] = path;
  // Written within as many maps as it stands in, so that what they are called counts.
  const nested = keys.reduceRight<Value>((inner, key) => ({ [key]: inner }), live);
  let written: Json | Value | undefined;
  const whole = writeField(plain, String(field), nested, merging.writing);
  if (whole === undefined) return undefined;
  written = whole.raw;
  let value: Value = whole.value;
  for (const key of keys) {
    if (!isMap(written) || !isMap(value)) return undefined;
    written = (written as { [key: string]: Json })[String(key)];
    value = value[String(key)] ?? null;
  }
  return { raw: (written ?? null) as Json, value };
}

function refuse(said: Said, path: Path, merging: Merging): Written {
  const why = holdsUnknown(said.value)
    ? "comes from a variable that isn't set here, so it can't be compared with what the server has"
    : 'comes from a variable, and the server has another value';
  merging.kept.push(`${fieldPath(path)} ${why}`);
  return said;
}

function holdsUnknown(value: Value): boolean {
  if (Array.isArray(value)) return value.some(holdsUnknown);
  if (isMap(value)) return Object.values(value).some(holdsUnknown);
  return !(value instanceof HashedSecret) && reveal(value) === UNKNOWN_TEXT;
}

/** Whether a value that is written has a variable in it. */
export function holdsVariable(raw: Json): boolean {
  if (typeof raw === 'string') {
    return raw.includes('${') && parseVariables(raw).some((part) => typeof part !== 'string');
  }
  if (Array.isArray(raw)) return raw.some(holdsVariable);
  return isMap(raw) && Object.values(raw).some((member) => holdsVariable(member as Json));
}

function joined(members: readonly (readonly [string, Written])[]): Written {
  return {
    raw: Object.fromEntries(members.map(([key, { raw }]) => [key, raw])),
    value: Object.fromEntries(members.map(([key, { value }]) => [key, value])),
  };
}

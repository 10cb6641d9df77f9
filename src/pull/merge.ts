import { type Fields, isMap, type Json, same, type Value } from '../base/values.js';
import { desired } from '../kinds/desired.js';
import {
  asElements,
  type FieldType,
  type FieldTypes,
  type ListType,
  matches,
  pickMembers,
  value as plain,
  textOf,
} from '../kinds/fields.js';
import { parseVariables } from '../yaml/interpolation.js';
import {
  fieldPath,
  fromMembers,
  hasCredential,
  listOf,
  type WriteContext,
  type Written,
  writeAt,
} from './literal.js';

export interface MergeContext {
  /** Where the value is: the field, and keys in it. */
  readonly path: readonly [field: string, ...keys: string[]];
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
export function mergeField(type: FieldType, declared: Written, live: Value, merging: MergeContext): Written {
  if (type.type === 'set' && Array.isArray(declared.raw) && Array.isArray(declared.value))
    return mergeSet(type.nested, declared, live, merging);
  if (type.type === 'set' && isMap(declared.raw) && isMap(declared.value))
    return mergeParts(type.nested, declared, live, merging);
  if (type.type === 'list' && Array.isArray(declared.raw) && Array.isArray(declared.value))
    return mergeList(type, declared, live, merging);
  const wanted = desired(type, declared.value, live, merging.whole);
  const isSame = wanted !== undefined && matches(type, wanted, live);
  return isSame && merging.added.length === 0 ? declared : mergeDiffering(type, declared, live, merging);
}

function mergeExactly(declared: Written, live: Value, merging: MergeContext): Written {
  return same(declared.value, live) ? declared : mergeDiffering(plain, declared, live, merging);
}

function mergeDiffering(type: FieldType, declared: Written, live: Value, merging: MergeContext): Written {
  return isMap(declared.raw) && isMap(declared.value) && isMap(live)
    ? mergeMap(type, declared, live, merging)
    : replace(type, declared, live, merging);
}

function mergeSet(nested: FieldTypes, declared: Written, live: Value, merging: MergeContext): Written {
  const elements = elementsOf(declared);
  const left = new Set(asElements(live));
  const kept = elements.flatMap((element): Written[] => {
    const found = findElement(element.value, left, merging);
    if (found === undefined) return [];
    left.delete(found);
    return [mergeElement(nested, element, found, merging)];
  });
  for (const other of pickMembers([...left], merging.others)) left.delete(other);
  // New members are written like those beside them.
  const byId = elements.some(({ raw }) => isMap(raw) && raw.id !== undefined);
  const writing = byId ? { ...merging.writing, nameOf: () => undefined } : merging.writing;
  const added = writeAt([merging.path[0]], { type: 'set', nested }, [...left], writing);
  if (added === undefined)
    return keep(declared, ' has an element on the server that no document can name', merging);
  return listOf([...kept, ...elementsOf(added)]);
}

/** The elements of the server; of those that the document has, only the members that it mentions. */
function mergeList(type: ListType, declared: Written, live: Value, merging: MergeContext): Written {
  const left = new Map(asElements(live).map((one) => [textOf(one[type.by]), one]));
  const members: FieldType = { type: 'members', members: type.members };
  const kept = elementsOf(declared).flatMap((element): Written[] => {
    const key = isMap(element.value) ? textOf(element.value[type.by]) : '';
    const found = left.get(key);
    left.delete(key);
    return found === undefined ? [] : [mergeMap(members, element, found, merging)];
  });
  const added = writeAt([merging.path[0]], type, [...left.values()], merging.writing);
  return listOf([...kept, ...(added === undefined ? [] : elementsOf(added))]);
}

/** Of the members that a document adds those that the server has, and of those that it removes the others. */
function mergeParts(nested: FieldTypes, declared: Written, live: Value, merging: MergeContext): Written {
  const there = new Set(asElements(live));
  const parts = Object.keys(declared.value as Fields).map((part): [string, Written] => {
    const list = memberOf(declared, part);
    if (!Array.isArray(list.raw) || !Array.isArray(list.value)) return [part, list];
    const kept = elementsOf(list).flatMap((element): Written[] => {
      const found = findElement(element.value, there, merging);
      if (part === 'remove') return found === undefined ? [element] : [];
      return found === undefined ? [] : [mergeElement(nested, element, found, below(merging, part))];
    });
    return [part, listOf(kept)];
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
function mergeElement(nested: FieldTypes, declared: Written, live: Fields, merging: MergeContext): Written {
  if (!isMap(declared.raw) || !isMap(declared.value)) return declared;
  return fromMembers(
    Object.keys(declared.value).map((key) => {
      const member = memberOf(declared, key);
      const now = live[key];
      const type = nested[key];
      const at = below(merging, key);
      if (type !== undefined && now !== undefined) return [key, mergeField(type, member, now, at)];
      const isRenamed = key === 'name' && typeof now === 'string' && !same(member.value, now);
      return [key, isRenamed ? replace(plain, member, now, at) : member];
    }),
  );
}

function mergeMap(type: FieldType, declared: Written, live: Fields, merging: MergeContext): Written {
  const keys = Object.keys(declared.value as Fields);
  const isWhole = type.type === 'map' ? merging.whole : type.type !== 'members';
  const members = keys.flatMap((key): [string, Written][] => {
    const member = memberOf(declared, key);
    const at = below(merging, key);
    const now = Object.hasOwn(live, key) ? live[key] : undefined;
    if (type.type === 'members') {
      if (now !== undefined) return [[key, mergeField(type.members[key] ?? plain, member, now, at)]];
      return [[key, keep(member, ": the server doesn't show it", at)]];
    }
    if (now !== undefined) return [[key, mergeExactly(member, now, at)]];
    const isGone = isWhole && !(type.type === 'map' && member.value === null) && !holdsVariable(member.raw);
    return isGone ? [] : [[key, mergeExactly(member, null, at)]];
  });
  const added = Object.keys(live).flatMap((key): [string, Written][] => {
    const isAdded = type.type === 'map' && merging.added.includes(key);
    if ((!isWhole && !isAdded) || keys.includes(key)) return [];
    const written = write(type, { [key]: live[key] ?? null }, merging);
    return isMap(written?.raw) && Object.hasOwn(written.raw, key) ? [[key, memberOf(written, key)]] : [];
  });
  return fromMembers([...members, ...added]);
}

function below(merging: MergeContext, key: string): MergeContext {
  return { ...merging, path: [...merging.path, key] };
}

function memberOf({ raw, value }: Written, key: string): Written {
  return {
    raw: ((isMap(raw) ? raw[key] : undefined) ?? null) as Json,
    value: (isMap(value) ? value[key] : undefined) ?? null,
  };
}

function elementsOf({ raw, value }: Written): Written[] {
  const values = value as Value[];
  return (raw as Json[]).map((one, index) => ({ raw: one, value: values[index] ?? null }));
}

function replace(type: FieldType, declared: Written, live: Value, merging: MergeContext): Written {
  const { raw } = declared;
  if (isMap(raw) && !isMap(declared.value) && typeof raw.file === 'string') {
    if (holdsVariable(raw.file)) return keep(declared, FROM_VARIABLE, merging);
    if (typeof live !== 'string')
      return keep(declared, ' lies in a file, and the server has no text there', merging);
    if (hasCredential(live, merging.writing))
      return keep(declared, ' has a credential in it on the server, which no file may hold', merging);
    const trouble = merging.body(raw.file, live, typeof declared.value === 'string' ? declared.value : '');
    return trouble === undefined ? { raw, value: live } : keep(declared, `: ${trouble}`, merging);
  }
  if (holdsVariable(raw)) return keep(declared, FROM_VARIABLE, merging);
  if (live === null) return { raw: null, value: null };
  const written = write(type, live, merging);
  return written ?? keep(declared, " can't be declared with the server's value", merging);
}

const FROM_VARIABLE = ' comes from a variable whose value differs from what the server has';

/** A value at a path, by the same rules as a new one. */
function write(type: FieldType, live: Value, { path: [field, ...keys], writing }: MergeContext) {
  // Nested under its keys, since a key may say that a value is secret.
  const nested = keys.reduceRight<Value>((inner, key) => ({ [key]: inner }), live);
  let written = writeAt([field], keys.length === 0 ? type : plain, nested, writing);
  for (const key of keys) written = written === undefined ? undefined : memberOf(written, key);
  return written;
}

function keep(declared: Written, why: string, { path, writing }: MergeContext): Written {
  writing.left.push(`${fieldPath(path)}${why}`);
  return declared;
}

function holdsVariable(raw: Json): boolean {
  if (typeof raw === 'string')
    return raw.includes('${') && parseVariables(raw).some((part) => typeof part !== 'string');
  if (Array.isArray(raw)) return raw.some(holdsVariable);
  return isMap(raw) && Object.values(raw).some((member) => holdsVariable(member as Json));
}

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
  type WriteContext,
  type WrittenValue,
  writeValue,
  writtenList,
  writtenMap,
} from './write-value.js';

export interface MergeContext {
  /** The path of the value: the field, and keys in it. */
  readonly path: readonly [field: string, ...keys: string[]];
  /** Whether the document declares all keys of the map. */
  readonly whole: boolean;
  /** Keys that somebody added to the map on the server. */
  readonly added: readonly string[];
  readonly writing: WriteContext;
  /** Members that other documents declare or remove; they are not added to a whole set. */
  readonly membersElsewhere: readonly Fields[];
  /** The id of an element of a set, if known. */
  readonly idOf: (element: Value) => string | undefined;
  /** Called with the new and the previous text of a body file; returns why it can't be written. */
  readonly body: (path: string, text: string, before: string) => string | undefined;
}

/**
 * The field as a document must write it to declare the server's value. Parts that match or can't be edited stay as written; for
 * the latter, `writing.unwritable` gets the reasons.
 */
export function mergeField(
  type: FieldType,
  declared: WrittenValue,
  live: Value,
  context: MergeContext,
): WrittenValue {
  if (type.type === 'set' && Array.isArray(declared.raw) && Array.isArray(declared.value))
    return mergeSet(type.nested, declared, live, context);
  if (type.type === 'set' && isMap(declared.raw) && isMap(declared.value))
    return mergeAddRemove(type.nested, declared, live, context);
  if (type.type === 'list' && Array.isArray(declared.raw) && Array.isArray(declared.value))
    return mergeList(type, declared, live, context);
  const wanted = desired(type, declared.value, live, context.whole);
  const isSame = wanted !== undefined && matches(type, wanted, live);
  return isSame && context.added.length === 0 ? declared : mergeDiffering(type, declared, live, context);
}

function mergeExactly(declared: WrittenValue, live: Value, context: MergeContext): WrittenValue {
  return same(declared.value, live) ? declared : mergeDiffering(plain, declared, live, context);
}

function mergeDiffering(
  type: FieldType,
  declared: WrittenValue,
  live: Value,
  context: MergeContext,
): WrittenValue {
  return isMap(declared.raw) && isMap(declared.value) && isMap(live)
    ? mergeMap(type, declared, live, context)
    : replaceValue(type, declared, live, context);
}

function mergeSet(
  nested: FieldTypes,
  declared: WrittenValue,
  live: Value,
  context: MergeContext,
): WrittenValue {
  const elements = elementsOf(declared);
  const remaining = new Set(asElements(live));
  const kept = elements.flatMap((element): WrittenValue[] => {
    const found = findElement(element.value, remaining, context);
    if (found === undefined) return [];
    remaining.delete(found);
    return [mergeElement(nested, element, found, context)];
  });
  for (const other of pickMembers([...remaining], context.membersElsewhere)) remaining.delete(other);
  // New members are written like the present ones.
  const byId = elements.some(({ raw }) => isMap(raw) && raw.id !== undefined);
  const writing = byId ? { ...context.writing, nameOf: () => undefined } : context.writing;
  const added = writeValue([context.path[0]], { type: 'set', nested }, [...remaining], writing);
  if (added === undefined)
    return leaveUnchanged(declared, ' has an element on the server that no document can name', context);
  return writtenList([...kept, ...elementsOf(added)]);
}

/** The server's elements; of those that the document has, only the members that it mentions. */
function mergeList(type: ListType, declared: WrittenValue, live: Value, context: MergeContext): WrittenValue {
  const remaining = new Map(asElements(live).map((one) => [textOf(one[type.by]), one]));
  const members: FieldType = { type: 'members', members: type.members };
  const kept = elementsOf(declared).flatMap((element): WrittenValue[] => {
    const key = isMap(element.value) ? textOf(element.value[type.by]) : '';
    const found = remaining.get(key);
    remaining.delete(key);
    return found === undefined ? [] : [mergeMap(members, element, found, context)];
  });
  const added = writeValue([context.path[0]], type, [...remaining.values()], context.writing);
  return writtenList([...kept, ...(added === undefined ? [] : elementsOf(added))]);
}

/** Keeps the members under `add` that the server has, and those under `remove` that it doesn't have. */
function mergeAddRemove(
  nested: FieldTypes,
  declared: WrittenValue,
  live: Value,
  context: MergeContext,
): WrittenValue {
  const liveElements = new Set(asElements(live));
  const parts = Object.keys(declared.value as Fields).map((part): [string, WrittenValue] => {
    const list = memberOf(declared, part);
    if (!Array.isArray(list.raw) || !Array.isArray(list.value)) return [part, list];
    const kept = elementsOf(list).flatMap((element): WrittenValue[] => {
      const found = findElement(element.value, liveElements, context);
      if (part === 'remove') return found === undefined ? [element] : [];
      return found === undefined ? [] : [mergeElement(nested, element, found, atKey(context, part))];
    });
    return [part, writtenList(kept)];
  });
  return writtenMap(parts);
}

/** The live element that an element of a document identifies. */
function findElement(value: Value, among: Iterable<Fields>, { idOf }: MergeContext): Fields | undefined {
  const id = idOf(value);
  const name = isMap(value) ? value.name : value;
  return [...among].find((one) => (id === undefined ? one.name === name : one.id === id));
}

/** An element with the server's name, and with the sets that the document declares. */
function mergeElement(
  nested: FieldTypes,
  declared: WrittenValue,
  live: Fields,
  context: MergeContext,
): WrittenValue {
  if (!isMap(declared.raw) || !isMap(declared.value)) return declared;
  return writtenMap(
    Object.keys(declared.value).map((key) => {
      const member = memberOf(declared, key);
      const now = live[key];
      const type = nested[key];
      const at = atKey(context, key);
      if (type !== undefined && now !== undefined) return [key, mergeField(type, member, now, at)];
      const isRenamed = key === 'name' && typeof now === 'string' && !same(member.value, now);
      return [key, isRenamed ? replaceValue(plain, member, now, at) : member];
    }),
  );
}

function mergeMap(
  type: FieldType,
  declared: WrittenValue,
  live: Fields,
  context: MergeContext,
): WrittenValue {
  const keys = Object.keys(declared.value as Fields);
  const isWhole = type.type === 'map' ? context.whole : type.type !== 'members';
  const members = keys.flatMap((key): [string, WrittenValue][] => {
    const member = memberOf(declared, key);
    const at = atKey(context, key);
    const now = Object.hasOwn(live, key) ? live[key] : undefined;
    if (type.type === 'members') {
      if (now !== undefined) return [[key, mergeField(type.members[key] ?? plain, member, now, at)]];
      return [[key, leaveUnchanged(member, ": the server doesn't show it", at)]];
    }
    if (now !== undefined) return [[key, mergeExactly(member, now, at)]];
    const isGone = isWhole && !(type.type === 'map' && member.value === null) && !holdsVariable(member.raw);
    return isGone ? [] : [[key, mergeExactly(member, null, at)]];
  });
  const added = Object.keys(live).flatMap((key): [string, WrittenValue][] => {
    const isAdded = type.type === 'map' && context.added.includes(key);
    if ((!isWhole && !isAdded) || keys.includes(key)) return [];
    const written = writeAtPath(type, { [key]: live[key] ?? null }, context);
    return isMap(written?.raw) && Object.hasOwn(written.raw, key) ? [[key, memberOf(written, key)]] : [];
  });
  return writtenMap([...members, ...added]);
}

function atKey(context: MergeContext, key: string): MergeContext {
  return { ...context, path: [...context.path, key] };
}

function memberOf({ raw, value }: WrittenValue, key: string): WrittenValue {
  return {
    raw: ((isMap(raw) ? raw[key] : undefined) ?? null) as Json,
    value: (isMap(value) ? value[key] : undefined) ?? null,
  };
}

function elementsOf({ raw, value }: WrittenValue): WrittenValue[] {
  const values = value as Value[];
  return (raw as Json[]).map((one, index) => ({ raw: one, value: values[index] ?? null }));
}

function replaceValue(
  type: FieldType,
  declared: WrittenValue,
  live: Value,
  context: MergeContext,
): WrittenValue {
  const { raw } = declared;
  if (isMap(raw) && !isMap(declared.value) && typeof raw.file === 'string') {
    if (holdsVariable(raw.file)) return leaveUnchanged(declared, FROM_VARIABLE, context);
    if (typeof live !== 'string')
      return leaveUnchanged(declared, ' is in a file, and the server has no text there', context);
    if (context.writing.hasCredential(live))
      return leaveUnchanged(
        declared,
        ' contains a credential on the server, which must not be written to a file',
        context,
      );
    const trouble = context.body(raw.file, live, typeof declared.value === 'string' ? declared.value : '');
    return trouble === undefined ? { raw, value: live } : leaveUnchanged(declared, `: ${trouble}`, context);
  }
  if (holdsVariable(raw)) return leaveUnchanged(declared, FROM_VARIABLE, context);
  if (live === null) return { raw: null, value: null };
  const written = writeAtPath(type, live, context);
  return written ?? leaveUnchanged(declared, " can't be declared with the server's value", context);
}

const FROM_VARIABLE = " comes from a variable, and its value differs from the server's";

/** A value at the path of the context, written by the same rules as in a new document. */
function writeAtPath(type: FieldType, live: Value, { path: [field, ...keys], writing }: MergeContext) {
  // Nested under its keys, since a key can make a value secret.
  const nested = keys.reduceRight<Value>((inner, key) => ({ [key]: inner }), live);
  let written = writeValue([field], keys.length === 0 ? type : plain, nested, writing);
  for (const key of keys) written = written === undefined ? undefined : memberOf(written, key);
  return written;
}

function leaveUnchanged(declared: WrittenValue, why: string, { path, writing }: MergeContext): WrittenValue {
  writing.unwritable.push(`${fieldPath(path)}${why}`);
  return declared;
}

function holdsVariable(raw: Json): boolean {
  if (typeof raw === 'string')
    return raw.includes('${') && parseVariables(raw).some((part) => typeof part !== 'string');
  if (Array.isArray(raw)) return raw.some(holdsVariable);
  return isMap(raw) && Object.values(raw).some((member) => holdsVariable(member as Json));
}

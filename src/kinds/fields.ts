import { identifierKey, isUuid } from '../base/identifiers.js';
import {
  appendTo,
  compareText,
  type Fields,
  HashedSecret,
  holdsHashed,
  holdsSensitive,
  isMap,
  mapValues,
  reveal,
  revealReadable,
  Sensitive,
  same,
  type Value,
} from '../base/values.js';
import { isSecretField } from '../secrets/names.js';

/**
 * How a field is compared, merged and shown.
 * - `value`: one value.
 * - `instant`: a date-time; two spellings of one instant are equal.
 * - `body`: a long text, shown as a diff.
 * - `set`: a set of objects, compared without order by id, or by name if there is no id; `nested` are the sets in an element.
 * - `map`: an object under JSON Merge Patch (RFC 7396), one level deep.
 * - `members`: an object of which only mentioned members are managed.
 * - `list`: a whole list of objects without order, each with a unique member `by`; only mentioned members are compared.
 * - `reference`: another object as `{id, name}`; only its id is compared.
 */
export type FieldType =
  | { readonly type: 'value'; readonly secret?: true }
  | { readonly type: 'instant' }
  | { readonly type: 'body' }
  | { readonly type: 'set'; readonly nested: FieldTypes }
  | { readonly type: 'map' }
  | { readonly type: 'members'; readonly members: FieldTypes }
  | { readonly type: 'list'; readonly by: string; readonly members: FieldTypes }
  | { readonly type: 'reference' };

export type ListType = FieldType & { readonly type: 'list' };

export type FieldTypes = { readonly [field: string]: FieldType };

export const value: FieldType = { type: 'value' };
export const secret: FieldType = { type: 'value', secret: true };
/** The type of a single value, secret if its name says so. */
export function valueType(name: string): FieldType {
  return isSecretField(name) ? secret : value;
}

export const instant: FieldType = { type: 'instant' };
export const body: FieldType = { type: 'body' };
export const map: FieldType = { type: 'map' };
export const reference: FieldType = { type: 'reference' };

export function set(nested: FieldTypes = {}): FieldType {
  return { type: 'set', nested };
}

export function members(types: FieldTypes): FieldType {
  return { type: 'members', members: types };
}

export function listBy(by: string, types: FieldTypes): FieldType {
  return { type: 'list', by, members: types };
}

/** The comparison of a part of a field; `got` is undefined if unknown. */
export interface Comparison {
  readonly path: string;
  readonly type: FieldType;
  readonly verdict: 'same' | 'different' | 'unknown';
  readonly wanted: Value;
  readonly got: Value | undefined;
  /** The side of the comparison that doesn't have this key or element. */
  readonly absentFrom?: 'wanted' | 'got';
}

/**
 * Compares a desired value with a live one: a map key by key, `members` member by member, everything else as a whole. Plans and the
 * verification after a change both use it.
 */
export function compareField(
  type: FieldType,
  path: string,
  wanted: Value,
  got: Value | undefined,
): Comparison[] {
  const whole = (verdict: Comparison['verdict']): Comparison[] => [{ path, type, verdict, wanted, got }];
  if (got === undefined) {
    if (type.type === 'members' && isMap(wanted)) return compareMembers(type.members, path, wanted, {});
    return whole('unknown');
  }
  // A hashed secret can only be compared as a whole, in the form in which it was recorded.
  if (got instanceof HashedSecret) {
    if (wanted instanceof HashedSecret) return whole(same(wanted, got) ? 'same' : 'different');
    if (holdsHashed(wanted)) return whole('unknown');
    return whole(got.matches(reveal(normalForm(type, wanted))) ? 'same' : 'different');
  }
  switch (type.type) {
    case 'members':
      if (!isMap(wanted)) return whole(same(wanted, got) ? 'same' : 'different');
      return compareMembers(type.members, path, wanted, isMap(got) ? got : null);
    case 'map': {
      if (!isMap(wanted) || !isMap(got)) return whole(same(wanted ?? {}, got ?? {}) ? 'same' : 'different');
      const keys = [...new Set([...Object.keys(wanted), ...Object.keys(got)])];
      return keys.map((key) => {
        const [isWanted, isThere] = [Object.hasOwn(wanted, key), Object.hasOwn(got, key)];
        const there = isThere ? (got[key] ?? null) : null;
        const asked = isWanted ? (wanted[key] ?? null) : null;
        return {
          path: partPath(path, key),
          type,
          verdict: same(asked, there) && isWanted === isThere ? 'same' : 'different',
          wanted: asked,
          got: there,
          ...(isWanted ? (isThere ? {} : { absentFrom: 'got' as const }) : { absentFrom: 'wanted' as const }),
        };
      });
    }
    case 'list':
      return compareLists(type, path, asElements(wanted), asElements(got));
    case 'reference':
      return whole(same(idIn(wanted), idIn(got)) ? 'same' : 'different');
    case 'set':
      return whole(compareSets(type.nested, asElements(wanted), got));
    case 'instant':
      return whole(same(instantOf(wanted) ?? wanted, instantOf(got) ?? got) ? 'same' : 'different');
    default:
      return whole(same(wanted, got) || (isNullOrEmpty(wanted) && isNullOrEmpty(got)) ? 'same' : 'different');
  }
}

/** Whether a live value equals the desired one. */
export function matches(type: FieldType | undefined, wanted: Value, got: Value | undefined): boolean {
  return compareField(type ?? value, '', wanted, got).every(({ verdict }) => verdict === 'same');
}

export function absenceOf({ absentFrom }: Comparison): { was?: 'absent'; becomes?: 'removed' } {
  if (absentFrom === undefined) return {};
  return absentFrom === 'got' ? { was: 'absent' } : { becomes: 'removed' };
}

function compareMembers(types: FieldTypes, path: string, wanted: Fields, got: Fields | null): Comparison[] {
  return Object.entries(wanted).flatMap(([name, member]) => {
    const there = got === null ? null : Object.hasOwn(got, name) ? got[name] : undefined;
    return compareField(types[name] ?? value, partPath(path, name), member, there);
  });
}

/** Compares lists element by element. */
function compareLists({ by, members }: ListType, path: string, wanted: Fields[], got: Fields[]) {
  const keyed = (list: readonly Fields[]) => new Map(list.map((one) => [textOf(one[by]), one]));
  const [goals, there] = [keyed(wanted), keyed(got)];
  return [...new Set([...goals.keys(), ...there.keys()])].flatMap((key): Comparison[] => {
    const at = partPath(path, key);
    const [goal, live] = [goals.get(key), there.get(key)];
    if (goal === undefined)
      // Each member separately, so a secret member doesn't hide the others.
      return Object.entries(live ?? {}).map(([name, member]) => ({
        path: partPath(at, name),
        type: members[name] ?? value,
        verdict: 'different',
        wanted: null,
        got: member,
        absentFrom: 'wanted',
      }));
    return compareMembers(members, at, goal, live ?? null);
  });
}

/** Maps each element of a list together with the element of `other` that has the same key. */
export function mapWithCounterparts(
  by: string,
  list: Value,
  other: Value | undefined,
  change: (element: Value, other: Value | undefined) => Value,
): Value {
  const there = new Map(asElements(other).map((one) => [textOf(one[by]), one]));
  return asElements(list).map((one) => change(one, there.get(textOf(one[by]))));
}

function idIn(reference: Value): Value {
  return isMap(reference) ? (reference.id ?? null) : reference;
}

/** Whether a value is null, or an empty list or object, as which a server may show null. */
export function isNullOrEmpty(field: Value): boolean {
  if (Array.isArray(field)) return field.length === 0;
  return field === null || (isMap(field) && Object.keys(field).length === 0);
}

/** The elements of a set; null is the empty set. */
export function asElements(set: Value | readonly Value[] | undefined): Fields[] {
  return Array.isArray(set) ? set.filter(isMap) : [];
}

/** The ids of the elements that have one. */
export function idsIn(set: Value | readonly Value[] | undefined): string[] {
  return asElements(set).flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
}

/**
 * The parts of a declared set: the whole set, members to add and remove, or both if several documents declare it, and members that stay
 * if the object has them (`stay`). `whole` is undefined if other members aren't managed.
 */
export function setParts(declared: Value) {
  const part = (list: Value | undefined): readonly Value[] => (Array.isArray(list) ? list : []);
  if (!isMap(declared)) return { whole: declared, add: part([]), remove: part([]), stay: part([]) };
  const { whole, add, remove, stay } = declared;
  return { whole, add: part(add), remove: part(remove), stay: part(stay) };
}

/** The lists of a declared set, with their paths in it. */
export function listsOf(declared: Value | undefined): { path: readonly string[]; list: readonly Value[] }[] {
  if (Array.isArray(declared)) return [{ path: [], list: declared }];
  if (!isMap(declared)) return [];
  return Object.entries(declared).flatMap(([part, list]) =>
    Array.isArray(list) ? [{ path: [part], list }] : [],
  );
}

/** The members of all lists of a declared set. */
export function membersOf(declared: Value | undefined): Value[] {
  return listsOf(declared).flatMap(({ list }) => list);
}

/** The members of all lists of a declared set, with their paths in the document. */
export function membersWithPaths(field: string, declared: Value | undefined) {
  return listsOf(declared).flatMap(({ path, list }) =>
    list.map((member, index) => ({ member, at: [field, ...path, index] })),
  );
}

/** The id, otherwise the name, of a declared element. */
export function idOrName(element: Value): string | undefined {
  const key = isMap(element) ? (element.id ?? element.name) : element;
  return typeof key === 'string' ? key : undefined;
}

/** A text by which declared elements are compared; undefined for one without an id and a name. A name may look like an id. */
export function memberKey(element: Value): string | undefined {
  const key = idOrName(element);
  const isName = key !== undefined && isUuid(key) && asReference(element).id === undefined;
  return isName ? `name ${key}` : key && identifierKey(key);
}

/** The instant of a date-time, or 00:00 UTC of a day, as ISO 8601 in UTC; undefined for anything else. */
export function instantOf(until: Value | undefined): string | undefined {
  if (typeof until !== 'string') return undefined;
  const at = new Date(until);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** The instant at which the access of a declared member ends; undefined if it has no end. */
export function endOf(element: Value): string | undefined {
  return isMap(element) ? instantOf(element.until) : undefined;
}

/** A declared element as a map. A text is an id if it is a UUID, otherwise a name. */
export function asReference(element: Value): Fields {
  if (isMap(element)) return element;
  return isUuid(textOf(element)) ? { id: element } : { name: element };
}

/** Whether a declared value manages only the members of a set that it names. */
export function isByMember({ type }: FieldType, declared: Value | undefined): boolean {
  return type === 'set' && isMap(declared) && setParts(declared).whole === undefined;
}

/** The elements of a set that match one of the named elements. */
export function pickMembers(set: Value, named: readonly Fields[]): Fields[] {
  const { removed } = matchSets(named, asElements(set));
  const others = new Set(removed);
  return asElements(set).filter((element) => !others.has(element));
}

/**
 * Pairs the elements of two sets by id, or by name if the wanted one has no id. `decidable` is false if an unpaired element may equal one
 * that lacks an id or a name.
 */
export function matchSets(wanted: readonly Fields[], got: readonly Fields[]) {
  const left = new Set(got);
  const found = { id: elementsByKey('id', got), name: elementsByKey('name', got) };
  const keyless = {
    id: got.filter(({ id }) => typeof id !== 'string').length,
    name: got.filter(({ name }) => typeof name !== 'string').length,
  };
  const pairs: { wanted: Fields; got: Fields }[] = [];
  const added: Fields[] = [];
  let decidable = true;
  for (const element of wanted) {
    const key = typeof element.id === 'string' ? 'id' : 'name';
    const queue = found[key].get(element[key]);
    // Another wanted element may have taken it by its other key.
    let there = queue?.pop();
    while (there !== undefined && !left.has(there)) there = queue?.pop();
    if (there !== undefined) {
      left.delete(there);
      if (typeof there.id !== 'string') keyless.id -= 1;
      if (typeof there.name !== 'string') keyless.name -= 1;
      pairs.push({ wanted: element, got: there });
    } else {
      added.push(element);
      if (keyless[key] > 0) decidable = false;
    }
  }
  const removed = [...left];
  if (removed.some((element) => typeof element.id !== 'string' && typeof element.name !== 'string'))
    decidable = false;
  return { pairs, added, removed, decidable };
}

/** Elements by a key, in reverse order. */
function elementsByKey(key: 'id' | 'name', elements: readonly Fields[]): Map<Value | undefined, Fields[]> {
  const queues = new Map<Value | undefined, Fields[]>();
  for (const element of elements.toReversed()) appendTo(queues, element[key], element);
  return queues;
}

function compareSets(nested: FieldTypes, wanted: readonly Fields[], got: Value): Comparison['verdict'] {
  if (got !== null && !Array.isArray(got)) return 'different';
  const there = asElements(got);
  const match = matchSets(wanted, there);
  if (match.added.length > 0 || match.removed.length > 0)
    return match.decidable || wanted.length !== there.length ? 'different' : 'unknown';
  const inner = match.pairs.flatMap((pair) =>
    Object.entries(nested)
      .filter(([name]) => Object.hasOwn(pair.wanted, name))
      .flatMap(([name, type]) => compareField(type, name, pair.wanted[name] ?? null, pair.got[name])),
  );
  if (inner.some((part) => part.verdict === 'different')) return 'different';
  return inner.some((part) => part.verdict === 'unknown') ? 'unknown' : 'same';
}

/** A set without the members of its elements that belong to other objects and aren't compared. */
export function comparedMembers(type: FieldType, field: Value): Value {
  if (type.type !== 'set' || !Array.isArray(field)) return field;
  const { nested } = type;
  return field.map((element) => {
    if (!isMap(element)) return element;
    return Object.fromEntries(
      Object.entries(element).flatMap(([name, member]): [string, Value][] => {
        const inner = nested[name];
        if (inner !== undefined) return [[name, comparedMembers(inner, member)]];
        return name === 'id' || name === 'name' ? [[name, member]] : [];
      }),
    );
  });
}

/** Removes uncompared members if the set contains a secret: otherwise a secret of another object would hide the whole set. */
export function withoutForeignSecrets(type: FieldType, field: Value): Value {
  return holdsSensitive(field) ? comparedMembers(type, field) : field;
}

/** The named fields that are known and can be sent. A hashed secret can't. */
export function sendableFields(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(
    names.flatMap((name) => {
      const field = fields[name];
      return field === undefined || holdsHashed(field) ? [] : [[name, field]];
    }),
  );
}

/** A value with sorted sets, for digests. */
export function normalForm(type: FieldType, field: Value): Value {
  if (type.type === 'set' && Array.isArray(field)) {
    const elements = asElements(field).map((element) =>
      mapValues(element, (member, name) => {
        const inner = type.nested[name];
        return inner === undefined ? member : normalForm(inner, member);
      }),
    );
    return elements.sort((a, b) => compareText(sortKey(a), sortKey(b)));
  }
  if (type.type === 'reference' && isMap(field)) {
    const { id = null, name = null } = field;
    return { id, name };
  }
  if (type.type === 'list' && Array.isArray(field))
    return asElements(field).sort((a, b) => compareText(textOf(a[type.by]), textOf(b[type.by])));
  if (type.type === 'members' && isMap(field))
    return mapValues(field, (member, name) => normalForm(type.members[name] ?? value, member));
  return field;
}

function sortKey(element: Fields): string {
  return `${String(element.id ?? '')}\0${String(element.name ?? '')}`;
}

/** The key of an element of a set. */
export function elementKey({ id, name }: Fields): string {
  return typeof id === 'string' ? `id ${id}` : `name ${String(name)}`;
}

/** An element for messages, with a leading space. It shows the id unless a list confirmed the name. */
export function displayElement(element: Fields, confirmed: boolean): string {
  if (holdsSensitive(element)) return ' (sensitive)';
  const { id, name } = element;
  const beside = !confirmed && typeof name === 'string' && typeof id === 'string' && id !== name;
  return ` "${String(name ?? id)}"${beside ? ` (id ${id})` : ''}`;
}

/** The path of a part of a field. */
export function partPath(path: string, key: string): string {
  return /^[\w-]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

/** Whether every value of this type is secret. */
export function isSecret(type: FieldType): boolean {
  return type.type === 'value' && type.secret === true;
}

/** Fields of the server, with secret ones wrapped. */
export function markSecrets(types: FieldTypes, fields: Fields): Fields {
  return mapValues(fields, (field, name) => markSecret(types[name] ?? value, field));
}

function markSecret(type: FieldType, field: Value): Value {
  if (isSecret(type) && field !== null)
    return field instanceof Sensitive ? field : new Sensitive(reveal(field));
  // The server shows the whole referenced object, including its secrets.
  if (type.type === 'reference') return normalForm(type, field);
  if (type.type === 'list' && Array.isArray(field))
    return field.map((one) => (isMap(one) ? markSecrets(type.members, one) : one));
  return type.type === 'members' && isMap(field) ? markSecrets(type.members, field) : field;
}

/** Whether a value is a text that contains only white space. */
export function isBlank(value: Value | undefined): boolean {
  const text = revealReadable(value ?? null);
  return typeof text === 'string' && /^\p{White_Space}*$/u.test(text);
}

/** A value's text; empty if it isn't a text. */
export function textOf(value: Value | undefined): string {
  const text = revealReadable(value ?? null);
  return typeof text === 'string' ? text : '';
}

/** Whether a value is `true`, also from a process variable. */
export function isTrue(value: Value | undefined): boolean {
  return value !== undefined && revealReadable(value) === true;
}

/** The first value that is a non-blank text and not a secret. */
export function firstNonBlank(...values: readonly (Value | undefined)[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value.trim() !== '');
}

/** The length in code points, as databases count characters. */
export function characterCount(text: string): number {
  return [...text].length;
}

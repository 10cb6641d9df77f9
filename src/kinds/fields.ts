import {
  compareText,
  type Fields,
  HashedSecret,
  isMap,
  mapValues,
  reveal,
  Sensitive,
  same,
  type Value,
} from '../base/values.js';
import { isSecretField } from '../secrets/names.js';

/**
 * How a field is compared, merged and shown.
 * - `value`: one value, equal or not.
 * - `instant`: a date-time; two writings of one moment are equal.
 * - `body`: a long text, shown as a diff.
 * - `set`: a whole set of objects, compared without order by id (by name where there is no id);
 *   `nested` are the members of an element that are sets themselves.
 * - `map`: an object under JSON Merge Patch (RFC 7396), one level deep.
 * - `members`: an object of which only the mentioned members are managed.
 */
export type FieldType =
  | { readonly type: 'value'; readonly secret?: true }
  | { readonly type: 'instant' }
  | { readonly type: 'body' }
  | { readonly type: 'set'; readonly nested: FieldTypes }
  | { readonly type: 'map' }
  | { readonly type: 'members'; readonly members: FieldTypes };

export type FieldTypes = { readonly [field: string]: FieldType };

export const value: FieldType = { type: 'value' };
export const secret: FieldType = { type: 'value', secret: true };
/** The type of a field of one value: a secret one by its name. */
export function plain(name: string): FieldType {
  return isSecretField(name) ? secret : value;
}

export const instant: FieldType = { type: 'instant' };
export const body: FieldType = { type: 'body' };
export const map: FieldType = { type: 'map' };

export function set(nested: FieldTypes = {}): FieldType {
  return { type: 'set', nested };
}

export function members(types: FieldTypes): FieldType {
  return { type: 'members', members: types };
}

/** How one part of a field stands: `got` is undefined where the value isn't known. */
export interface Contrast {
  readonly path: string;
  readonly type: FieldType;
  readonly verdict: 'same' | 'different' | 'unknown';
  readonly wanted: Value;
  readonly got: Value | undefined;
  /** Of a key of a map: which side doesn't have it, where `wanted` or `got` is null for that. */
  readonly lacks?: 'wanted' | 'got';
}

/**
 * Compares what is wanted with what is there, part by part: a map by its keys, `members` by its members,
 * everything else as a whole. Serves planning (what is there before) and verifying (what is there after).
 */
export function contrast(type: FieldType, path: string, wanted: Value, got: Value | undefined): Contrast[] {
  const whole = (verdict: Contrast['verdict']): Contrast[] => [{ path, type, verdict, wanted, got }];
  if (got === undefined) {
    if (type.type === 'members' && isMap(wanted)) return memberContrasts(type.members, path, wanted, {});
    return whole('unknown');
  }
  // A secret that is known by its hash alone can be compared as a whole, in the form in which it was recorded.
  if (got instanceof HashedSecret) {
    if (wanted instanceof HashedSecret) return whole(same(wanted, got) ? 'same' : 'different');
    if (holdsHashed(wanted)) return whole('unknown');
    return whole(got.matches(reveal(normalForm(type, wanted))) ? 'same' : 'different');
  }
  switch (type.type) {
    case 'members':
      if (!isMap(wanted)) return whole(same(wanted, got) ? 'same' : 'different');
      return memberContrasts(type.members, path, wanted, isMap(got) ? got : null);
    case 'map': {
      if (!isMap(wanted) || !isMap(got)) {
        return whole(same(wanted ?? {}, got ?? {}) ? 'same' : 'different');
      }
      const keys = [...new Set([...Object.keys(wanted), ...Object.keys(got)])];
      return keys.map((key) => {
        const [isWanted, isThere] = [Object.hasOwn(wanted, key), Object.hasOwn(got, key)];
        const there = isThere ? (got[key] ?? null) : null;
        const asked = isWanted ? (wanted[key] ?? null) : null;
        return {
          path: join(path, key),
          type,
          verdict: same(asked, there) && isWanted === isThere ? 'same' : 'different',
          wanted: asked,
          got: there,
          ...(isWanted ? (isThere ? {} : { lacks: 'got' as const }) : { lacks: 'wanted' as const }),
        };
      });
    }
    case 'set':
      return whole(contrastSets(type.nested, asElements(wanted), got));
    case 'instant':
      return whole(same(wanted, got) || sameInstant(wanted, got) ? 'same' : 'different');
    default:
      return whole(same(wanted, got) || (isCleared(wanted) && isCleared(got)) ? 'same' : 'different');
  }
}

/** What is said of a key that one side doesn't have. */
export function lackOf({ lacks }: Contrast): { was?: 'absent'; becomes?: 'removed' } {
  if (lacks === undefined) return {};
  return lacks === 'got' ? { was: 'absent' } : { becomes: 'removed' };
}

function memberContrasts(types: FieldTypes, path: string, wanted: Fields, got: Fields | null): Contrast[] {
  return Object.entries(wanted).flatMap(([name, member]) => {
    const there = got === null ? null : Object.hasOwn(got, name) ? got[name] : undefined;
    return contrast(types[name] ?? value, join(path, name), member, there);
  });
}

/** A server may show a list or an object that was cleared with null as an empty one. */
function isCleared(field: Value): boolean {
  if (Array.isArray(field)) return field.length === 0;
  return field === null || (isMap(field) && Object.keys(field).length === 0);
}

function sameInstant(a: Value, b: Value): boolean {
  return typeof a === 'string' && typeof b === 'string' && Date.parse(a) === Date.parse(b);
}

/** The elements of a set; null, which clears it, is the empty set. */
export function asElements(set: Value): Fields[] {
  return Array.isArray(set) ? set.filter(isMap) : [];
}

export interface SetMatch {
  readonly pairs: readonly { readonly wanted: Fields; readonly got: Fields }[];
  readonly added: readonly Fields[];
  readonly removed: readonly Fields[];
  /** Whether every element carried what matching it takes. */
  readonly decidable: boolean;
}

/** Pairs the elements of two sets by id, or by name where the wanted one has no id. */
export function matchSets(wanted: readonly Fields[], got: readonly Fields[]): SetMatch {
  const left = new Set(got);
  const found = { id: queuesBy('id', got), name: queuesBy('name', got) };
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
    // One may have been found by its other key already.
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
  if (removed.some((element) => typeof element.id !== 'string' && typeof element.name !== 'string')) {
    decidable = false;
  }
  return { pairs, added, removed, decidable };
}

/** Elements by one of their members, the first of those that are alike at the end. */
function queuesBy(key: 'id' | 'name', elements: readonly Fields[]): Map<Value | undefined, Fields[]> {
  const queues = new Map<Value | undefined, Fields[]>();
  for (const element of elements.toReversed()) {
    const queue = queues.get(element[key]);
    if (queue === undefined) queues.set(element[key], [element]);
    else queue.push(element);
  }
  return queues;
}

function contrastSets(nested: FieldTypes, wanted: readonly Fields[], got: Value): Contrast['verdict'] {
  if (got !== null && !Array.isArray(got)) return 'different';
  const there = asElements(got);
  const match = matchSets(wanted, there);
  if (match.added.length > 0 || match.removed.length > 0) {
    return match.decidable || wanted.length !== there.length ? 'different' : 'unknown';
  }
  const inner = match.pairs.flatMap((pair) =>
    Object.entries(nested)
      .filter(([name]) => Object.hasOwn(pair.wanted, name))
      .flatMap(([name, type]) => contrast(type, name, pair.wanted[name] ?? null, pair.got[name])),
  );
  if (inner.some((part) => part.verdict === 'different')) return 'different';
  return inner.some((part) => part.verdict === 'unknown') ? 'unknown' : 'same';
}

/**
 * The whole value to ask for, given what a manifest declares and what is there now.
 * Undefined where that can't be said without knowing the present value (a map to be merged).
 */
export function desired(
  type: FieldType,
  declared: Value,
  present: Value | undefined,
  whole: boolean,
): Value | undefined {
  if (type.type === 'set') return desiredSet(declared, present);
  if (type.type !== 'map' || !isMap(declared)) return declared;
  const kept = Object.entries(declared).filter(([, member]) => member !== null);
  if (whole) return Object.fromEntries(kept);
  if (present === undefined || (present !== null && !isMap(present))) return undefined;
  const untouched = Object.entries(present ?? {}).filter(([key]) => !Object.hasOwn(declared, key));
  if (untouched.some(([, member]) => holdsHashed(member))) return undefined;
  return Object.fromEntries([...untouched, ...kept]);
}

/**
 * What is wanted, as it will be there: of an element of a set that is there already only the sets in it can change. All else, such
 * as the label of an organization or the name of a scope, is the server's own to say, whatever is sent beside the id.
 */
export function asItWillBe({ type, wanted, got }: Pick<Contrast, 'type' | 'wanted' | 'got'>): Value {
  if (type.type !== 'set' || !Array.isArray(wanted) || !Array.isArray(got)) return wanted;
  const { nested } = type;
  const there = new Map(
    matchSets(asElements(wanted), asElements(got)).pairs.map((pair) => [pair.wanted, pair.got]),
  );
  return asElements(wanted).map((element) => {
    const known = there.get(element);
    if (known === undefined) return element;
    const { id, name } = element;
    const sets = Object.entries(element).flatMap(([key, member]): [string, Value][] => {
      const inner = nested[key];
      return inner === undefined ? [] : [[key, asItWillBe({ type: inner, wanted: member, got: known[key] })]];
    });
    return {
      ...(id === undefined ? {} : { id }),
      ...(name === undefined ? {} : { name }),
      ...known,
      ...Object.fromEntries(sets),
    };
  });
}

/** Whether a value is, or holds anywhere, a secret that is known by its hash alone. */
export function holdsHashed(field: Value): boolean {
  if (field instanceof HashedSecret) return true;
  if (Array.isArray(field)) return field.some(holdsHashed);
  return isMap(field) && Object.values(field).some(holdsHashed);
}

/** Members of an element that the manifest leaves out keep the value that they have. */
function desiredSet(declared: Value, present: Value | undefined): Value {
  const wanted = asElements(declared);
  if (present === undefined) return wanted;
  const known = new Map(matchSets(wanted, asElements(present)).pairs.map((pair) => [pair.wanted, pair.got]));
  return wanted.map((element) => ({ ...known.get(element), ...element }));
}

/** Those of the named fields that are known and can be sent along: a secret known by its hash alone can't. */
export function carried(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(
    names.flatMap((name) => {
      const field = fields[name];
      return field === undefined || holdsHashed(field) ? [] : [[name, field]];
    }),
  );
}

/** A value with its sets in one order, so that equal wishes look equal; for digests. */
export function normalForm(type: FieldType, field: Value): Value {
  if (type.type === 'set' && Array.isArray(field)) {
    const elements = asElements(field).map((element) =>
      mapValues(element, (member, name) => {
        const inner = type.nested[name];
        return inner === undefined ? member : normalForm(inner, member);
      }),
    );
    return elements.sort((a, b) => compareText(elementKey(a), elementKey(b)));
  }
  if (type.type === 'members' && isMap(field)) {
    return mapValues(field, (member, name) => normalForm(type.members[name] ?? value, member));
  }
  return field;
}

function elementKey(element: Fields): string {
  return `${String(element.id ?? '')}\0${String(element.name ?? '')}`;
}

/** By which an element of a set is told from others. */
export function keyOf({ id, name }: Fields): string {
  return typeof id === 'string' ? `id ${id}` : `name ${String(name)}`;
}

function join(path: string, key: string): string {
  return /^[\w-]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

/** Whether a field of this type is a secret, whatever its source. */
export function isSecret(type: FieldType): boolean {
  return type.type === 'value' && type.secret === true;
}

/** Fields as a server gave them, with those parts made secret that are secrets whatever their source. */
export function markSecrets(types: FieldTypes, fields: Fields): Fields {
  return mapValues(fields, (field, name) => markSecret(types[name] ?? value, field));
}

function markSecret(type: FieldType, field: Value): Value {
  if (isSecret(type) && field !== null) {
    return field instanceof Sensitive ? field : new Sensitive(reveal(field));
  }
  return type.type === 'members' && isMap(field) ? markSecrets(type.members, field) : field;
}

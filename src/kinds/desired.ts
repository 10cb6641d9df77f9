import { holdsHashed, isMap, type Value } from '../base/values.js';
import {
  asElements,
  type Comparison,
  type FieldType,
  mapWithCounterparts,
  matchSets,
  pickMembers,
  sendableFields,
  setParts,
} from './fields.js';

/**
 * The whole value to ask for, given the declared and the present one. Undefined if a map or members of a set must be merged into an
 * unknown value.
 */
export function desired(type: FieldType, declared: Value, present: Value | undefined, whole: boolean) {
  if (type.type === 'set') return desiredSet(declared, present);
  if (type.type === 'list' && Array.isArray(declared)) {
    const merged = (element: Value, live: Value | undefined): Value =>
      isMap(element) && isMap(live) ? { ...live, ...element } : element;
    return mapWithCounterparts(type.by, declared, present, merged);
  }
  if (type.type !== 'map' || !isMap(declared)) return declared;
  const kept = Object.entries(declared).filter(([, member]) => member !== null);
  if (whole) return Object.fromEntries(kept);
  if (present === undefined || (present !== null && !isMap(present))) return undefined;
  const untouched = Object.entries(present ?? {}).filter(([key]) => !Object.hasOwn(declared, key));
  if (untouched.some(([, member]) => holdsHashed(member))) return undefined;
  return Object.fromEntries([...untouched, ...kept]);
}

/**
 * The wanted value as the server will show it: of an existing element of a set only its inner sets change, since the server decides
 * everything else by the id.
 */
export function expectedValue({ type, wanted, got }: Pick<Comparison, 'type' | 'wanted' | 'got'>): Value {
  if (type.type !== 'set' || !Array.isArray(wanted) || !Array.isArray(got)) return wanted;
  const { nested } = type;
  const there = new Map(
    matchSets(asElements(wanted), asElements(got)).pairs.map((pair) => [pair.wanted, pair.got]),
  );
  return asElements(wanted).map((element) => {
    const known = there.get(element);
    if (known === undefined) return element;
    const sets = Object.entries(element).flatMap(([key, member]): [string, Value][] => {
      const inner = nested[key];
      return inner === undefined
        ? []
        : [[key, expectedValue({ type: inner, wanted: member, got: known[key] })]];
    });
    return { ...sendableFields(element, ['id', 'name']), ...known, ...Object.fromEntries(sets) };
  });
}

/** Members of an element that the manifest omits keep their value. Undefined if members are named and the others are unknown. */
function desiredSet(declared: Value, present: Value | undefined): Value | undefined {
  const { whole, add, remove, stay } = setParts(declared);
  if (whole === undefined && present === undefined) return undefined;
  const kept = pickMembers(present ?? null, asElements(stay));
  const base = whole === undefined ? asElements(present) : [...asElements(whole), ...kept];
  const going = new Set(pickMembers(base, asElements(remove)));
  const staying = base.filter((element) => !going.has(element));
  const wanted = [...staying, ...matchSets(asElements(add), staying).added];
  if (present === undefined) return wanted;
  const known = new Map(matchSets(wanted, asElements(present)).pairs.map((pair) => [pair.wanted, pair.got]));
  return wanted.map((element) => ({ ...known.get(element), ...element }));
}

import { filterValues, holdsHashed, isMap, type Value } from '../base/values.js';
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
 * The complete value to send, from the declared and the present one. Undefined if the declared one must be merged into an unknown value.
 */
export function desired(type: FieldType, declared: Value, present: Value | undefined, whole: boolean) {
  if (type.type === 'set') return desiredSet(declared, present);
  if (type.type === 'list' && Array.isArray(declared)) {
    const merged = (element: Value, live: Value | undefined): Value =>
      isMap(element) && isMap(live) ? { ...live, ...element } : element;
    return mapWithCounterparts(type.by, declared, present, merged);
  }
  if (type.type !== 'map' || !isMap(declared)) return declared;
  const kept = filterValues(declared, (member) => member !== null);
  if (whole) return kept;
  if (present === undefined || (present !== null && !isMap(present))) return undefined;
  const untouched = filterValues(present ?? {}, (_, key) => !Object.hasOwn(declared, key));
  return holdsHashed(untouched) ? undefined : { ...untouched, ...kept };
}

/**
 * The desired value as the server will show it. In an existing element of a set only the nested sets change; the server takes
 * everything else from the object with that id.
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

/** The complete set. Undefined if only some members are declared and the others are unknown. */
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

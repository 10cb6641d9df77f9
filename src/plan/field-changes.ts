import { type Fields, HashedSecret, holdsSensitive, type Value } from '../base/values.js';
import { expectedValue } from '../kinds/desired.js';
import {
  absenceOf,
  asElements,
  type Comparison,
  isByMember,
  isSecret,
  membersOf,
  pickMembers,
  value,
  withoutForeignSecrets,
} from '../kinds/fields.js';
import type { Declared, Kind } from '../kinds/kind.js';
import type { FieldChange, PlanWarning } from './plan.js';

/** The elements that each `{add, remove}` names, and those that are restored to the set. */
export function namedMembers(kind: Kind, fields: Fields, lost: Fields) {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([field, declared]) => {
      if (!isByMember(kind.fields[field] ?? value, declared)) return [];
      return [[field, asElements([...membersOf(declared), ...asElements(lost[field])])]];
    }),
  );
}

/** Where a field is declared, if several documents declare the object. */
export function declaredPlaces(declared: Declared, { path }: Comparison): Pick<FieldChange, 'places'> {
  const places = declared.places.all?.(path) ?? [];
  if (places.length === 0) return {};
  return { places: places.map(({ length: _length, text: _text, column: _, ...place }) => place) };
}

/** The change of a field, from its comparison. `named` are the members of a set to show; all if undefined. */
export function fieldChange(part: Comparison, named: readonly Fields[] | undefined): FieldChange {
  const { path, type } = part;
  const own = (side: Value) => withoutForeignSecrets(type, side);
  const [wanted, after, got] = [own(part.wanted), own(expectedValue(part)), part.got && own(part.got)];
  if (named !== undefined) {
    const before = pickMembers(got ?? null, named);
    const members = pickMembers(after, named);
    const sensitive = holdsSensitive(before) || holdsSensitive(members);
    return { path, type: type.type, before, after: members, sensitive, byMember: true };
  }
  const sensitive =
    isSecret(type) ||
    holdsSensitive(wanted) ||
    (got !== undefined && (got instanceof HashedSecret || holdsSensitive(got)));
  return { path, type: type.type, before: got, after, sensitive, ...absenceOf(part) };
}

/** Warnings about sets whose present members are unknown. */
export function unknownSets(parts: readonly Comparison[]): PlanWarning[] {
  return parts
    .filter(
      ({ type, verdict, got }) =>
        type.type === 'set' &&
        (verdict === 'unknown' || (verdict === 'different' && got instanceof HashedSecret)),
    )
    .map(({ path }) => ({
      code: 'unknown-set',
      message: `the present ${path} are unknown: those that the manifest does not declare will be lost`,
    }));
}

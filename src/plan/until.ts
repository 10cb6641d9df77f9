import { type Problem, warning } from '../base/problems.js';
import { compareText, type Fields, groupBy, isMap, mapValues, type Value } from '../base/values.js';
import { firstFew } from '../base/words.js';
import type { FieldChange, PlanWarning } from '../kinds/change.js';
import {
  asElements,
  endOf,
  idOrName,
  listsOf,
  membersOf,
  membersWithPaths,
  setParts,
} from '../kinds/fields.js';
import { addressOf, kindOf, kinds } from '../kinds/index.js';
import type { Declared, Identity, Kind, KindName } from '../kinds/kind.js';
import { documentFor } from '../kinds/merge-documents.js';
import type { ResourceRecord, State } from '../state/state.js';
import type { Expanded } from './expand.js';
import type { Change, End, UntilChanges } from './plan.js';

/** The recorded ends of access, by field and member. */
export type Dates = NonNullable<ResourceRecord['until']>;

type RecordedDate = Dates[string][string];

/**
 * Finds a document that declares an end for a member of an object: a document about many objects, also if it no longer covers this one, or
 * the document about this object, which may name it by its last name. `single` are about single objects, `written` as in manifests.
 */
function datedDocuments(single: readonly Declared[], written: readonly Declared[]) {
  const places = new Map<string, Declared>();
  const add = (owner: string, document: Declared): void => {
    for (const [field, declared] of Object.entries(document.fields)) {
      for (const element of membersOf(declared)) {
        const [end, member] = [endOf(element), idOrName(element)];
        if (end !== undefined && member !== undefined) places.set(key(field, member, end, owner), document);
      }
    }
  };
  for (const document of written) if (document.selector !== undefined) add(document.kind, document);
  for (const document of single) add(addressOf(document.kind, document.identity), document);
  return (
    { kind, identity, left }: ResourceRecord,
    field: string,
    id: string,
    { at, name = '' }: RecordedDate,
  ): Declared | undefined => {
    const last = kindOf(kind).displayName?.(left?.fields ?? {}) ?? '';
    return [kind, addressOf(kind, identity), `${kind}/${last}`]
      .flatMap((owner) => [key(field, id, at, owner), key(field, name, at, owner)])
      .map((one) => places.get(one))
      .find((document) => document !== undefined);
  };
}

function key(field: string, member: string, end: string, owner = ''): string {
  return JSON.stringify([field, member.toLowerCase(), end, owner]);
}

/** Ids of members to remove, by field. */
type Removed = { [field: string]: string[] };

/**
 * Changes documents so that ended access is removed from users who received it. `documents` are about single objects; `written` are the
 * documents of the manifests. With `endedOnly`, the result has only these removals. Pure.
 */
export function removeEndedAccess(
  documents: readonly Declared[],
  written: readonly Declared[],
  {
    state: { resources },
    now,
    endedOnly,
  }: { readonly state: Pick<State, 'resources'>; readonly now: Date; readonly endedOnly: boolean },
): Expanded {
  const documentWith = datedDocuments(documents, written);
  const present = new Set<string>();
  const unmanaged: string[] = [];
  const undated: string[] = [];
  /**
   * Adds received members whose access has ended and that the object's document doesn't declare, if another document does. Returns such a
   * document.
   */
  const addLate = (
    removed: Removed,
    address: string,
    record: ResourceRecord | undefined,
    document?: Declared,
  ): Declared | undefined => {
    if (record === undefined || record.deleted !== undefined) return undefined;
    let source: Declared | undefined;
    for (const [field, members] of Object.entries(record.until ?? {})) {
      const names = membersOf(document?.fields[field]).map((element) => idOrName(element)?.toLowerCase());
      for (const [id, date] of Object.entries(members)) {
        if ([id, date.name ?? id].some((one) => names.includes(one.toLowerCase()))) continue;
        const other = documentWith(record, field, id, date);
        if (other === undefined) {
          const isGone = document?.absent === true || isDeleted(record.kind, field, id, resources);
          if (!isGone && isHeld(record.left?.fields[field], id))
            unmanaged.push(`${date.name ?? id} of ${address}`);
        } else if (date.received && Date.parse(date.at) <= now.getTime()) {
          source ??= other;
          removed[field] = [...(removed[field] ?? []), id];
        }
      }
    }
    return source;
  };
  const declared = documents.flatMap((document): Declared[] => {
    const address = addressOf(document.kind, document.identity);
    present.add(address);
    const record = Object.hasOwn(resources, address) ? resources[address] : undefined;
    const { fields, removed, kept } = withoutEnded(document, record, now);
    if (endedOnly)
      undated.push(...heldOf(kept, record?.left?.fields ?? {}).map((name) => `${name} of ${address}`));
    const source = addLate(removed, address, record, document);
    if (Object.keys(removed).length === 0) {
      if (endedOnly) return [];
      return [fields === document.fields ? document : { ...document, fields, kept }];
    }
    if (endedOnly) {
      const known = recordedWhole(document, removed, record);
      return [removalOf(document.identity, removed, source ?? document, known)];
    }
    return [{ ...document, fields: withRemoved(fields, removed), ended: removed, kept }];
  });
  for (const [address, record] of Object.entries(resources)) {
    if (record.until === undefined || present.has(address)) continue;
    const removed: Removed = {};
    const source = addLate(removed, address, record);
    if (source !== undefined) declared.push(removalOf(record.identity, removed, source));
  }
  return { declared, warnings: [...unmanagedEnds(unmanaged), ...notInForce(undated)] };
}

/** Whether idops deleted the object that is a member of a set. */
function isDeleted(kind: KindName, field: string, id: string, resources: State['resources']): boolean {
  const list = kindOf(kind).setLists?.[field];
  return kinds.some(
    ({ name, listedIn }) => listedIn === list && resources[addressOf(name, { id })]?.deleted !== undefined,
  );
}

/** Whether a set has a member. A set that the server never showed may have it. */
function isHeld(set: Value | undefined, id: string): boolean {
  return set === undefined || asElements(set).some((element) => element.id === id);
}

/**
 * Recorded sets without ended members, if a document declares the whole set and the server doesn't show it: such a set must be sent
 * whole.
 */
function recordedWhole({ fields }: Declared, removed: Removed, record: ResourceRecord | undefined): Fields {
  if (record === undefined || record.left !== undefined) return {};
  return Object.fromEntries(
    Object.entries(removed).flatMap(([field, ids]): [string, Value][] => {
      const { [field]: set } = record.fields;
      if (!Array.isArray(set) || !Array.isArray(setParts(fields[field] ?? null).whole)) return [];
      return [[field, asElements(set).filter(({ id }) => !ids.includes(String(id)))]];
    }),
  );
}

/** A document that only removes these members. `known` has the sets that can't be read. */
function removalOf(identity: Identity, removed: Removed, source: Declared, known: Fields = {}): Declared {
  const fields = withRemoved(known, removed);
  return { ...documentFor(source, identity, undefined), fields, ended: removed, whole: [] };
}

function withRemoved(fields: Fields, removed: Removed): Fields {
  const sets = Object.entries(removed).map(([field, ids]): [string, Value] => {
    const { [field]: declared } = fields;
    const { remove, ...parts } = declared === undefined || !isMap(declared) ? {} : declared;
    const whole = declared === undefined || isMap(declared) ? {} : { whole: declared };
    const going = [...(Array.isArray(remove) ? remove : []), ...ids.map((id) => ({ id }))];
    return [field, { ...whole, ...parts, remove: going }];
  });
  return { ...fields, ...Object.fromEntries(sets) };
}

/**
 * Splits ended access from a document: `fields` without it, `removed` with the members that the object received with an end, and `kept`
 * with the other ones.
 */
function withoutEnded(document: Declared, record: ResourceRecord | undefined, now: Date) {
  const { kind, fields: declaredFields } = document;
  const { fields: types } = kindOf(kind);
  const changed: Fields = {};
  const removed: Removed = {};
  const kept: { [field: string]: string[] } = {};
  const isEnded = (element: Value): boolean => {
    const end = endOf(element);
    return end !== undefined && Date.parse(end) <= now.getTime();
  };
  const current = (list: readonly Value[]): Value[] => list.filter((element) => !isEnded(element));
  for (const [field, declared] of Object.entries(declaredFields)) {
    if (types[field]?.type !== 'set') continue;
    const { whole, add, remove } = setParts(declared);
    const over = [...(Array.isArray(whole) ? whole : []), ...add].filter(isEnded);
    if (over.length === 0) continue;
    const ids = over.map((element) => receivedAs(element, field, record));
    const received = ids.filter((id) => id !== undefined);
    if (received.length > 0) removed[field] = received;
    const stay = over.filter((_, index) => ids[index] === undefined).map(withoutEnd);
    if (stay.length > 0) kept[field] = stay.flatMap((element) => idOrName(element) ?? []);
    changed[field] = {
      ...(whole === undefined ? {} : { whole: Array.isArray(whole) ? current(whole) : whole, stay }),
      add: current(add),
      remove: [...remove],
    };
  }
  const isSame = Object.keys(changed).length === 0;
  return { fields: isSame ? declaredFields : { ...declaredFields, ...changed }, removed, kept };
}

/** Those of the members that an object has. */
function heldOf(members: NonNullable<Declared['kept']>, fields: Fields): string[] {
  return Object.entries(members).flatMap(([field, names]) => {
    const held = asElements(fields[field] ?? null).flatMap(({ id, name }) => [id, name]);
    return names.filter((name) => held.includes(name));
  });
}

/** The fields of a document without removals of members that the object doesn't have, since the server may have deleted them. */
export function withoutMissingMembers({ fields, ended = {} }: Declared, live: Fields): Fields {
  const sets = Object.keys(ended).map((field): [string, Value] => {
    const { [field]: declared = null } = fields;
    const { [field]: held } = live;
    if (held === undefined || !isMap(declared) || !Array.isArray(declared.remove)) return [field, declared];
    const isGone = (element: Value): boolean =>
      ended[field]?.includes(idOrName(element) ?? '') === true && !isHeld(held, idOrName(element) ?? '');
    return [field, { ...declared, remove: declared.remove.filter((element) => !isGone(element)) }];
  });
  return sets.length === 0 ? fields : { ...fields, ...Object.fromEntries(sets) };
}

/** The recorded id of a member that idops added, with or without an end; undefined for any other. */
function receivedAs(element: Value, field: string, record: ResourceRecord | undefined): string | undefined {
  const member = idOrName(element)?.toLowerCase();
  const dates = Object.entries(record?.until?.[field] ?? {});
  const dated = dates.find(([id, { name }]) => id.toLowerCase() === member || name?.toLowerCase() === member);
  if (dated !== undefined) return dated[1].received ? dated[0] : undefined;
  const shown = asElements(record?.left?.fields[field] ?? record?.fields[field] ?? null);
  const named = shown.find(({ name }) => typeof name === 'string' && name.toLowerCase() === member);
  return record?.given?.[field]?.find((id) => id.toLowerCase() === member || id === named?.id);
}

/** Declared ends, by field: the resolved element and the instant. */
type Ends = { readonly [field: string]: readonly { readonly element: Fields; readonly at: string }[] };

/** Separates the ends from resolved sets. */
export function extractEnds(kind: Kind, fields: Fields): { readonly fields: Fields; readonly ends: Ends } {
  const ends: { [field: string]: { element: Fields; at: string }[] } = {};
  const plain = mapValues(fields, (declared, field) => {
    if (kind.fields[field]?.type !== 'set') return declared;
    const dated = asElements(membersOf(declared)).flatMap((element) => {
      const at = endOf(element);
      return at === undefined ? [] : [{ element, at }];
    });
    if (dated.length === 0) return declared;
    ends[field] = dated;
    const without = (list: Value): Value => (Array.isArray(list) ? list.map(withoutEnd) : list);
    return isMap(declared) ? mapValues(declared, without) : without(declared);
  });
  return { fields: plain, ends };
}

/**
 * Returns the ends to record (`until`): new and changed ones, and null for members that are now declared without one. `undated` are members
 * that idops didn't add, so their declared end has no effect. `ends` are the effective ones, earliest first. `given` are members that idops
 * added.
 */
export function untilChanges(
  declaredEnds: Ends,
  { until: recorded = {}, given = {} }: Pick<ResourceRecord, 'until' | 'given'>,
  resolved: Fields,
  present: Fields,
  kept: Declared['kept'] = {},
) {
  const changes: { [field: string]: { [id: string]: End | null } } = {};
  const ends: { field: string; at: string; name: string }[] = [];
  const undated = heldOf(kept, present);
  for (const [field, declared] of Object.entries(resolved)) {
    const { [field]: known = {} } = recorded;
    const { [field]: held } = present;
    const next: { [id: string]: End | null } = {};
    const isDated = ({ element }: Ends[string][number]): boolean => {
      const id = String(element.id);
      const isGiven = known[id]?.received === true || given[field]?.includes(id) === true;
      return isGiven || held === undefined || !isHeld(held, id);
    };
    const own = declaredEnds[field] ?? [];
    undated.push(...own.filter((one) => !isDated(one)).map(({ element }) => nameIn(element)));
    for (const { element, at } of own.filter(isDated)) {
      const { id, name } = element;
      ends.push({ field, at, name: nameIn(element) });
      if (known[String(id)]?.at === at) continue;
      next[String(id)] = { at, ...(typeof name === 'string' ? { name } : {}), received: true };
    }
    const dated = new Set(own.map(({ element }) => element.id));
    const permanent = listsOf(declared)
      .filter(({ path }) => !path.includes('remove') && !path.includes('stay'))
      .flatMap(({ list }) => asElements(list).map(({ id }) => String(id)));
    for (const id of permanent) if (known[id] !== undefined && !dated.has(id)) next[id] = null;
    if (Object.keys(next).length > 0) changes[field] = next;
  }
  return {
    until: Object.keys(changes).length === 0 ? undefined : changes,
    ends: ends.sort((a, b) => compareText(a.at, b.at)),
    undated,
  };
}

function nameIn({ id, name }: Fields): string {
  return String(name ?? id);
}

/** Changed ends as fields of a plan. */
export function endFields(changes: UntilChanges = {}, recorded: Dates = {}): FieldChange[] {
  return Object.entries(changes).flatMap(([field, members]) =>
    Object.entries(members).map(([id, end]): FieldChange => {
      const before = recorded[field]?.[id];
      const name = end?.name ?? before?.name ?? id;
      const path = `${field}[${JSON.stringify(name)}].until`;
      return { path, type: 'value', before: before?.at ?? null, after: end?.at ?? null, sensitive: false };
    }),
  );
}

/** Turns an unchanged object into an adoption if its ends must be recorded. */
export function withEnds(change: Change, recorded: Dates | undefined): Change {
  const fields = endFields(change.apply.until, recorded);
  return fields.length === 0 ? change : { ...change, action: 'adopt', fields };
}

/** Plans list access that ends within this time, in milliseconds. */
const SOON = 14 * 24 * 60 * 60 * 1000;

/** The first end of the declared access, and warnings about those within 14 days. */
export function endsOf(changes: readonly Change[], now: Date) {
  const ends = changes
    .flatMap(({ apply }) => apply.ends ?? [])
    .sort((a, b) => compareText(a.at, b.at) || compareText(a.name, b.name));
  const soon = ends.filter(({ at }) => Date.parse(at) <= now.getTime() + SOON);
  const groups = [...groupBy(soon, ({ field, name, at }) => key(field, name, at)).values()];
  const ending = groups.flatMap(([one, ...others]): PlanWarning[] => {
    if (one === undefined) return [];
    const objects = others.length === 0 ? '1 object' : `${others.length + 1} objects`;
    const message = `"${one.name}" in ${one.field} of ${objects} ends at ${one.at}`;
    return [{ code: 'access-ends-soon', message }];
  });
  const undated = changes.flatMap(({ address, apply }) =>
    (apply.undated ?? []).map((name) => `${name} of ${address}`),
  );
  return { holdsUntil: ends[0]?.at, warnings: [...ending, ...notInForce(undated)] };
}

function notInForce(names: readonly string[]): PlanWarning[] {
  const message = `access that idops did not give has an until, which doesn't remove it: ${firstFew(names)}; to let it end, remove it, apply, and add it again with until`;
  return names.length === 0 ? [] : [{ code: 'end-not-in-force', message }];
}

/** A declared element without its end. */
export function withoutEnd(element: Value): Value {
  if (!isMap(element)) return element;
  const { until: _, ...rest } = element;
  return rest;
}

function unmanagedEnds(names: readonly string[]): PlanWarning[] {
  const message = `access with a recorded end is declared by no document any more, so nothing will remove it: ${firstFew(names)}`;
  return names.length === 0 ? [] : [{ code: 'unmanaged-end', message }];
}

const REMOVE_ENDED = 'apply removes it from those who received it; then remove it here, or change its date';

/** Warnings about declared access that has ended. */
export function endedProblems(documents: readonly Declared[], now: Date): Problem[] {
  return documents.flatMap((document) =>
    Object.entries(document.fields).flatMap(([field, declared]) =>
      membersWithPaths(field, declared).flatMap(({ member, at: path }) => {
        const at = endOf(member);
        if (at === undefined || Date.parse(at) > now.getTime()) return [];
        const message = `"${idOrName(member) ?? ''}" in ${field} ended at ${at}`;
        return [warning('access-ended', message, [document.places.of(...path)], REMOVE_ENDED)];
      }),
    ),
  );
}

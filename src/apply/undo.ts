import { assign, type Fields, holdsSensitive, isMap, mapValues, type Value } from '../base/values.js';
import {
  asElements,
  compareField,
  type FieldType,
  isByMember,
  isTrue,
  markSecrets,
  matchSets,
  membersOf,
  value,
} from '../kinds/fields.js';
import { addressOf, kindOf } from '../kinds/index.js';
import type { Declared } from '../kinds/kind.js';
import type { Refusal } from '../plan/options.js';
import { placeholderDocument } from '../plan/subjects.js';
import { withoutEnd } from '../plan/until.js';
import { Hasher } from '../secrets/hash.js';
import type { JournalContent } from '../state/journal.js';
import type { ResourceRecord } from '../state/state.js';
import { type Entry, entriesOf, type RestoredEntry, restoreEntry } from './journal-entries.js';
import {
  type Adjusted,
  alreadyRecreated,
  isMaybeNotCreated,
  type Left,
  type LeftField,
  recreate,
  unknownCreator,
} from './undo-deletion.js';
import { CHANGED_SINCE, undoField, undoSet } from './undo-field.js';

export type { Left };

/** The changes that undo a run. */
export interface Undo {
  /** Documents that declare the values from before the run. */
  readonly declared: readonly Declared[];
  /** What can't be undone. */
  readonly left: readonly Left[];
  /** Removes values that were changed since the run or are refused. Call it for each document before it is compared. */
  adjust(document: Declared, now: Fields, refusal: Refusal): Adjusted;
}

/** Decides which ends of access an undo restores. */
export interface UndoEnds {
  readonly now: Date;
  /** The present records. */
  readonly resources: { readonly [key: string]: Pick<ResourceRecord, 'until'> };
}

/** Makes the undo of a run from its journal. Pure. */
export function undoRun(content: JournalContent, force: boolean, ends: UndoEnds): Undo {
  const hasher = new Hasher(content.run);
  const entries = entriesOf(content).map((entry) => restoreEntry(entry, hasher));
  const source = `run ${content.run.run}`;
  const left: Left[] = [];
  const undoneBy = new Map<Declared, Omit<Undone, 'document' | 'left'> & { left: readonly Left[] }>();
  const deleted = new Set(
    entries.flatMap(({ sending: { action, identity } }) =>
      action === 'delete' && identity.id !== undefined ? [identity.id] : [],
    ),
  );
  for (const entry of entries) {
    const { answered } = entry;
    const { address, action } = entry.sending;
    if (action === 'regenerate' && answered?.status !== 'failed') {
      const { noun = 'value' } = kindOf(entry.sending.kind).regeneration ?? {};
      left.push({ address, path: null, reason: `a regenerated ${noun} can't be restored` });
      continue;
    }
    if (!hasSomethingToUndo(entry)) continue;
    const undone = undoEntry(entry, source, { ...ends, force, deleted });
    // A refused change had no effect, so nothing is left.
    const isRefused = answered?.status === 'failed' && !answered.ambiguous && answered.after === null;
    const reasons = isRefused ? [] : undone.left.map((why) => ({ address, ...why }));
    const { document } = undone;
    if (document?.creates !== true) left.push(...reasons);
    // The run didn't create it, so an object with that name is somebody else's.
    if (document === undefined || (isRefused && isMaybeNotCreated(document))) continue;
    undoneBy.set(document, { ...undone, left: reasons });
  }
  for (const { former, field } of formerHolders(entries, source, [...undoneBy.keys()])) {
    undoneBy.set(former, { before: {}, after: { [field]: false }, left: [] });
  }
  return {
    declared: [...undoneBy.keys()],
    left,
    adjust(given, now, refusal) {
      const { before = {}, removal, left: unrestored = [], ...run } = undoneBy.get(given) ?? {};
      const isThere = Object.keys(now).length > 0;
      if (given.creates === true)
        return isThere ? alreadyRecreated(given, now) : { document: given, left: unrestored };
      if (isMaybeNotCreated(given)) return isThere ? unknownCreator(given) : { document: given, left: [] };
      const { deletion } = kindOf(given.kind);
      const wasBuiltIn = removal !== undefined && deletion?.isBuiltIn(before, now) === true;
      const { document: wished, after = {} } = wasBuiltIn ? removal : { document: given, ...run };
      const document = withoutLostMembers(wished, after, now);
      // Nobody wrote the fields of a built-in object.
      const written = deletion?.isBuiltIn(now, before) === true ? {} : now;
      const adjusted = force
        ? { document, left: [] }
        : (movedElsewhere(document, now, [...undoneBy.keys()]) ?? withoutConflicts(document, after, written));
      return withoutRefused(adjusted, refusal);
    },
  };
}

/** Documents for former holders: the server moved a value from them to the run's object. */
function formerHolders(
  entries: readonly RestoredEntry[],
  source: string,
  documents: readonly Declared[],
): readonly { readonly former: Declared; readonly field: string }[] {
  return entries.flatMap((entry) => {
    const { sending, before, asked } = entry;
    const { succession } = kindOf(sending.kind);
    if (succession === undefined || !hasSomethingToUndo(entry)) return [];
    const { field, holders } = succession;
    const [id, ...others] = holders(before) ?? [];
    const moved = isTrue(asked[field]) && !isTrue(before[field]);
    const known = documents.some(({ kind, identity }) => kind === sending.kind && identity.id === id);
    if (!moved || id === undefined || others.length > 0 || known) return [];
    return [
      { former: undoDocument({ ...sending, identity: { id } }, { [field]: true }, source, false), field },
    ];
  });
}

/** The undo of a succession if somebody has moved the value to a third object since: it isn't changed. */
function movedElsewhere(
  document: Declared,
  now: Fields,
  documents: readonly Declared[],
): Adjusted | undefined {
  const { kind, identity, fields } = document;
  const { succession } = kindOf(kind);
  if (succession === undefined || !isTrue(fields[succession.field])) return undefined;
  const holders = succession.holders(now);
  if (holders === undefined) return undefined;
  const isAsLeft = (id: string): boolean =>
    id === identity.id ||
    documents.some((other) => other.kind === kind && other.identity.id === id && other !== document);
  if (holders.length === 0 || holders.some(isAsLeft)) return undefined;
  return {
    document: { ...document, fields: {} },
    left: [{ address: addressOf(kind, identity), path: succession.field, reason: CHANGED_SINCE }],
  };
}

function hasSomethingToUndo({ sending, answered }: Entry): boolean {
  if (sending.action === 'adopt') return sending.until !== undefined;
  // A failed or unanswered change may have had an effect; if it had none, there is no difference to undo.
  return answered === undefined || answered.status !== 'skipped';
}

interface Undone {
  readonly document: Declared | undefined;
  /** The object before the run. */
  readonly before: Fields;
  /** The document's fields after the run. */
  readonly after: Fields;
  /** What to do instead if the object proves to have been the built-in one before the run. */
  readonly removal?: { readonly document: Declared; readonly after: Fields } | undefined;
  readonly left: readonly LeftField[];
}

function undoEntry(
  { sending, answered, before, asked, after: shown = {} }: RestoredEntry,
  source: string,
  context: UndoEnds & { readonly force: boolean; readonly deleted: ReadonlySet<string> },
): Undone {
  const kind = kindOf(sending.kind);
  const { creation, deletion } = kind;
  const id = sending.identity.id ?? shown.id;
  const identity = sending.action === 'create' && typeof id === 'string' ? { id } : sending.identity;
  const removal = deletion && {
    document: undoDocument({ ...sending, identity }, {}, source, true),
    after: deletion.fieldsToRestore(assign(asked, shown)),
  };
  if (removal !== undefined && (sending.existed === false || deletion?.isBuiltIn(before))) {
    if (sending.action === 'delete') return { document: undefined, before, after: {}, left: [] };
    return { ...removal, before, left: [] };
  }
  if (creation !== undefined && sending.action === 'delete' && answered?.status === 'applied')
    return { ...recreate(sending, kind, before, context.deleted, source), before, after: {} };
  const wished = sending.action === 'delete' ? (deletion?.fieldsToRestore(before) ?? {}) : asked;
  const fields: Fields = {};
  const after: Fields = {};
  const left: LeftField[] = [];
  const { until, until_before, ended } = sending;
  for (const [name, wish] of Object.entries(wished)) {
    if (sending.action === 'adopt' && until?.[name] === undefined) continue;
    const type = kind.fields[name] ?? value;
    const was = before[name];
    const became = sending.action === 'delete' ? null : ((name in shown ? shown : asked)[name] ?? null);
    const isByMember = sending.by_member?.includes(name) === true;
    const isSet = type.type === 'set' && was !== undefined && !holdsSensitive(was);
    const isDated = [until, until_before, ended].some((dates) => dates?.[name] !== undefined);
    const isSentAlong = isSet && !isByMember && isEqual(type, asked[name] ?? null, was);
    if (isSentAlong && !context.force && matchSets(asElements(was), asElements(became)).removed.length > 0) {
      // The run sent this set unchanged, and the answer has an element that was not in it.
      left.push({ path: name, reason: CHANGED_SINCE });
      continue;
    }
    const undone =
      isSet && (isByMember || isDated)
        ? undoSet(type, name, {
            ...context,
            was,
            became,
            isByMember,
            ended: ended?.[name] ?? [],
            former: until_before?.[name] ?? {},
            changed: until?.[name] ?? {},
            present: context.resources[sending.key]?.until?.[name] ?? {},
          })
        : undoField(type, name, wish, was, became);
    left.push(...undone.left);
    if (undone.value === undefined) continue;
    fields[name] = undone.value;
    after[name] = became;
  }
  const none = Object.keys(fields).length === 0;
  const document = none ? undefined : undoDocument(sending, fields, source, false);
  return { document, before, after, removal: sending.action === 'update' ? removal : undefined, left };
}

/** The document without ends and removals of members that the object no longer has: restoring an end must not grant access. */
function withoutLostMembers(document: Declared, after: Fields, now: Fields): Declared {
  if (!Object.values(document.fields).some((wished) => isMap(wished) && Array.isArray(wished.add)))
    return document;
  const idsIn = (set: Value | undefined) => new Set(asElements(set).map(({ id }) => id));
  const fields = mapValues(document.fields, (wished, name) => {
    const { [name]: live } = now;
    if (live === undefined || !isMap(wished) || !Array.isArray(wished.add)) return wished;
    const [had, has] = [idsIn(after[name]), idsIn(live)];
    return {
      add: asElements(wished.add).filter(({ id }) => !had.has(id) || has.has(id)),
      remove: asElements(wished.remove).filter(({ id }) => id === undefined || has.has(id)),
    };
  });
  return { ...document, fields };
}

/** The document without the parts that block it, if the rest can be restored. */
function withoutRefused(adjusted: Adjusted, refusal: Refusal): Adjusted {
  let { document } = adjusted;
  const address = addressOf(document.kind, document.identity);
  const left = [...adjusted.left];
  for (let reason = refusal(document); reason !== undefined; reason = refusal(document)) {
    const parts = partsOf(document);
    const refused =
      parts.find(({ rest }) => refusal(rest) === undefined) ??
      parts.find(({ own, rest }) => refusal(own) !== undefined && refusal(rest) !== reason);
    if (refused === undefined || Object.keys(refused.rest.fields).length === 0) return adjusted;
    left.push({ address, path: refused.path, reason: refusal(refused.own) ?? reason });
    document = refused.rest;
  }
  return { document, left };
}

/** A field of a document, or a member of a set that is managed by member: the document with only this part, and without it. */
interface Part {
  readonly path: string;
  readonly own: Declared;
  readonly rest: Declared;
}

function partsOf(document: Declared): Part[] {
  const withFields = (fields: Fields): Declared => ({ ...document, fields });
  return Object.entries(document.fields).flatMap(([field, wished]): Part[] => {
    const { [field]: _, ...others } = document.fields;
    if (!isByMember(kindOf(document.kind).fields[field] ?? value, wished) || !isMap(wished))
      return [{ path: field, own: withFields({ [field]: wished }), rest: withFields(others) }];
    return Object.entries(wished).flatMap(([list, elements]) =>
      asElements(elements).map((element) => {
        const members = { ...wished, [list]: asElements(elements).filter((one) => one !== element) };
        return {
          path: `${field}[${JSON.stringify(element.name ?? element.id)}]`,
          own: withFields({ [field]: { [list]: [element] } }),
          rest: withFields(
            membersOf(members).length === 0 ? others : { ...document.fields, [field]: members },
          ),
        };
      }),
    );
  });
}

function undoDocument(
  { kind, identity }: Entry['sending'],
  fields: Fields,
  source: string,
  absent: boolean,
): Declared {
  // The id identifies it, whatever its name is now.
  const deciding = kindOf(kind).identifyingParts?.((part) => identity[part] !== undefined);
  const parts = Object.entries(identity).filter(([part]) => deciding?.includes(part) ?? true);
  return placeholderDocument(kind, Object.fromEntries(parts), { fields, absent, remembered: true }, source);
}

/** Removes conflicts: values that differ from those after the run and from those before it. */
function withoutConflicts(document: Declared, after: Fields, now: Fields): Adjusted {
  const kind = kindOf(document.kind);
  const address = addressOf(document.kind, document.identity);
  const present = markSecrets(kind.fields, now);
  const conflicts: string[] = [];
  const fields: Fields = {};
  for (const [name, left] of Object.entries(after)) {
    const type = kind.fields[name] ?? value;
    const wished = document.absent ? left : (document.fields[name] ?? null);
    const parts = withoutConflict(type, name, wished, left, present[name]);
    conflicts.push(...parts.conflicts);
    if (parts.value !== undefined && !document.absent) fields[name] = parts.value;
  }
  if (!document.absent) {
    const left = conflicts.map((path) => ({ address, path, reason: CHANGED_SINCE }));
    return { document: { ...document, fields }, left };
  }
  if (conflicts.length === 0) return { document, left: [] };
  const reason = `it isn't deleted, since ${conflicts.join(', ')} changed since the run (--force deletes it anyway)`;
  return { document: { ...document, absent: false }, left: [{ address, path: null, reason }] };
}

/** The part of a field's old value to restore, and the paths that were changed since the run. */
function withoutConflict(
  type: FieldType,
  path: string,
  wished: Value,
  left: Value,
  present: Value | undefined,
): { value: Value | undefined; conflicts: string[] } {
  // An unknown or absent value can't be a conflict.
  if (present === undefined || isByMember(type, wished)) return { value: wished, conflicts: [] };
  const partwise = type.type === 'map' || type.type === 'members';
  if (partwise && isMap(wished) && isMap(left) && isMap(present)) {
    const conflicts: string[] = [];
    const kept = Object.entries(wished).filter(([key, was]) => {
      const inner = type.type === 'members' ? (type.members[key] ?? value) : value;
      const now = Object.hasOwn(present, key) ? present[key] : type.type === 'map' ? null : undefined;
      const part = withoutConflict(
        inner,
        `${path}.${key}`,
        was,
        Object.hasOwn(left, key) ? (left[key] ?? null) : null,
        now,
      );
      conflicts.push(...part.conflicts);
      return part.value !== undefined;
    });
    return { value: kept.length === 0 ? undefined : Object.fromEntries(kept), conflicts };
  }
  const plain = Array.isArray(wished) ? wished.map(withoutEnd) : wished;
  const untouched = isEqual(type, left, present) || isEqual(type, plain, present);
  return untouched ? { value: wished, conflicts: [] } : { value: undefined, conflicts: [path] };
}

function isEqual(type: FieldType, wanted: Value, present: Value): boolean {
  return compareField(type, '', wanted, present).every(({ verdict }) => verdict !== 'different');
}

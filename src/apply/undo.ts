import { type Fields, holdsSensitive, isMap, same, type Value } from '../base/values.js';
import { altered } from '../kinds/declared.js';
import {
  asElements,
  contrast,
  type FieldType,
  isByMember,
  markSecrets,
  matchSets,
  value,
} from '../kinds/fields.js';
import { addressOf, kindOf } from '../kinds/index.js';
import type { Declared } from '../kinds/kind.js';
import { undocumented } from '../plan/subjects.js';
import { Hasher, restoreFields } from '../secrets/hash.js';
import type { JournalContent } from '../state/journal.js';
import { type Entry, entriesOf } from './journal-entries.js';

/** Something that an undo leaves as it is, and why. */
export interface Left {
  /** What names the object, such as `Organization/acme`. */
  readonly address: string;
  /** Its name, if it is known and the address doesn't say it. */
  readonly label?: string;
  /** The field; null if it is about the whole object. */
  readonly path: string | null;
  /** Why it is left, in one sentence without a full stop. */
  readonly reason: string;
}

const UNKNOWN_BEFORE = 'the value before the run was not known';
const SECRET_BEFORE = 'the old value was a secret, which no journal holds';
const ENDED = 'access that has ended is not given back';
const CHANGED_SINCE = 'it was changed since the run (--force puts it back anyway)';

/** The undo of a run. */
export interface Undo {
  /** Documents that declare what the run changed as it was before. */
  readonly declared: readonly Declared[];
  /** What can't be undone. */
  readonly left: readonly Left[];
  /** Removes from a document what somebody changed since the run. Call it for each document before it is compared. */
  adjust(document: Declared, now: Fields): { document: Declared; left: readonly Left[] };
}

/** Makes the undo of a run from its journal. Pure. */
export function undoRun(content: JournalContent, force: boolean): Undo {
  const hasher = new Hasher(content.run);
  const left: Left[] = [];
  const kept = new Map<Declared, Fields>();
  for (const entry of entriesOf(content)) {
    const { answered } = entry;
    const { address, action } = entry.sending;
    if (action === 'regenerate' && answered?.status !== 'failed') {
      left.push({ address, path: null, reason: 'a regenerated DID can not be put back' });
      continue;
    }
    if (!wasDone(entry)) continue;
    const undone = undoEntry(entry, hasher, `run ${content.run.run}`);
    // If nothing was done, nothing is left either.
    const isRefused = answered?.status === 'failed' && !answered.ambiguous && answered.after === null;
    if (!isRefused) left.push(...undone.left.map((why) => ({ address, ...why })));
    if (undone.document !== undefined) kept.set(undone.document, undone.after);
  }
  for (const { former, field } of formerHolders(content, hasher, [...kept.keys()])) {
    kept.set(former, { [field]: false });
  }
  return {
    declared: [...kept.keys()],
    left,
    adjust: (document, now) =>
      force
        ? { document, left: [] }
        : (movedOn(document, now, [...kept.keys()]) ??
          withoutConflicts(document, kept.get(document) ?? {}, present(document, now))),
  };
}

/** Documents for objects that the server took something from, to give it to the run's object. */
function formerHolders(
  content: JournalContent,
  hasher: Hasher,
  documents: readonly Declared[],
): readonly { readonly former: Declared; readonly field: string }[] {
  return entriesOf(content).flatMap((entry) => {
    const { sending } = entry;
    const { succession } = kindOf(sending.kind);
    if (succession === undefined || !wasDone(entry)) return [];
    const { field, holders } = succession;
    const before = restoreFields(sending.before, hasher);
    const [id, ...others] = holders(before) ?? [];
    const moved = restoreFields(sending.expected, hasher)[field] === true && before[field] !== true;
    const known = documents.some(({ kind, identity }) => kind === sending.kind && identity.id === id);
    if (!moved || id === undefined || others.length > 0 || known) return [];
    const source = `run ${content.run.run}`;
    return [
      { former: documentOf({ ...sending, identity: { id } }, { [field]: true }, source, false), field },
    ];
  });
}

/** What is left if somebody has moved it to a third object since the run: it stays there. */
function movedOn(
  document: Declared,
  now: Fields,
  documents: readonly Declared[],
): { document: Declared; left: readonly Left[] } | undefined {
  const { kind, identity, fields } = document;
  const { succession } = kindOf(kind);
  if (succession === undefined || fields[succession.field] !== true) return undefined;
  const holders = succession.holders(now);
  if (holders === undefined) return undefined;
  const asLeft = (id: string): boolean =>
    id === identity.id ||
    documents.some((other) => other.kind === kind && other.identity.id === id && other !== document);
  if (holders.length === 0 || holders.some(asLeft)) return undefined;
  return {
    document: altered(document, { fields: {} }),
    left: [{ address: addressOf(kind, identity), path: succession.field, reason: CHANGED_SINCE }],
  };
}

/** The fields that somebody wrote: none of a built-in object. */
function present({ kind }: Declared, now: Fields): Fields {
  return kindOf(kind).deletion?.isBuiltIn(now) === true ? {} : now;
}

function wasDone({ sending, answered }: Entry): boolean {
  if (sending.action === 'adopt') return false;
  // A change that failed or has no answer may have been done; if it wasn't, there is no difference to undo.
  return answered === undefined || answered.status !== 'skipped';
}

interface Undone {
  readonly document: Declared | undefined;
  /** The document's fields after the run. */
  readonly after: Fields;
  readonly left: readonly LeftField[];
}

type LeftField = Omit<Left, 'address'>;

function undoEntry({ sending, answered }: Entry, hasher: Hasher, source: string): Undone {
  const kind = kindOf(sending.kind);
  const before = restoreFields(sending.before, hasher);
  const asked = restoreFields(sending.expected, hasher);
  const shown = answered?.after == null ? {} : restoreFields(answered.after, hasher);
  const { deletion } = kind;
  if (deletion !== undefined && (sending.existed === false || deletion.isBuiltIn(before))) {
    if (sending.action === 'delete') return { document: undefined, after: {}, left: [] };
    return { document: documentOf(sending, {}, source, true), after: deletion.restored(asked), left: [] };
  }
  const wished = sending.action === 'delete' ? (deletion?.restored(before) ?? {}) : asked;
  const fields: Fields = {};
  const after: Fields = {};
  const left: LeftField[] = [];
  for (const [name, wish] of Object.entries(wished)) {
    const type = kind.fields[name] ?? value;
    const was = before[name];
    const became = sending.action === 'delete' ? null : ((name in shown ? shown : asked)[name] ?? null);
    const undone =
      (sending.by_member?.includes(name) || sending.ended?.[name] !== undefined) &&
      was !== undefined &&
      !holdsSensitive(was)
        ? undoMembers(name, asElements(was), asElements(became), sending.ended?.[name])
        : undoField(type, name, wish, was, became);
    left.push(...undone.left);
    if (undone.value === undefined) continue;
    fields[name] = undone.value;
    after[name] = became;
  }
  const none = Object.keys(fields).length === 0;
  return { document: none ? undefined : documentOf(sending, fields, source, false), after, left };
}

/** Gives back the members that the run removed, and takes away those that it added; others are left alone. */
function undoMembers(
  path: string,
  was: readonly Fields[],
  became: readonly Fields[],
  ended: readonly string[] = [],
): ReturnType<typeof undoField> {
  const { added: remove, removed } = matchSets(became, was);
  const add = removed.filter(({ id }) => !ended.includes(String(id)));
  const left = add.length === removed.length ? [] : [{ path, reason: ENDED }];
  if (add.length + remove.length === 0) return { value: undefined, left };
  return { value: { add, remove: [...remove] }, left };
}

/** The value that puts a field back; undefined if there is none. */
function undoField(
  type: FieldType,
  path: string,
  asked: Value,
  was: Value | undefined,
  became: Value,
): { value: Value | undefined; left: readonly LeftField[] } {
  if (type.type === 'members' && isMap(asked) && isMap(became) && (was === undefined || isMap(was))) {
    // The answer shows other members, too, which the run didn't touch.
    const members = Object.entries(asked).map(([member, wish]) => {
      const inner = type.members[member] ?? value;
      return {
        member,
        ...undoField(inner, `${path}.${member}`, wish, was?.[member], became[member] ?? wish),
      };
    });
    const known = members.flatMap(({ member, value }) =>
      value === undefined ? [] : [[member, value] as const],
    );
    return {
      value: known.length === 0 ? undefined : Object.fromEntries(known),
      left: members.flatMap(({ left }) => left),
    };
  }
  const nothing = { value: undefined, left: [] };
  if (was === undefined) return { ...nothing, left: [{ path, reason: UNKNOWN_BEFORE }] };
  if (holdsSensitive(was))
    return same(was, became) ? nothing : { ...nothing, left: [{ path, reason: SECRET_BEFORE }] };
  if (contrast(type, path, was, became).every(({ verdict }) => verdict === 'same')) return nothing;
  if (type.type === 'map' && isMap(was) && isMap(became)) return { value: mapPatch(was, became), left: [] };
  return { value: type.type === 'set' ? asElements(was) : was, left: [] };
}

/** The merge patch that leads back: keys as they were, and null for added ones. */
function mapPatch(was: Fields, became: Fields): Value {
  const changed = Object.keys({ ...was, ...became }).filter(
    (key) =>
      Object.hasOwn(was, key) !== Object.hasOwn(became, key) || !same(was[key] ?? null, became[key] ?? null),
  );
  return Object.fromEntries(changed.map((key) => [key, Object.hasOwn(was, key) ? (was[key] ?? null) : null]));
}

function documentOf(
  { kind, identity }: Entry['sending'],
  fields: Fields,
  source: string,
  absent: boolean,
): Declared {
  // The id identifies it, whatever its name is now.
  const deciding = kindOf(kind).deciding?.((part) => identity[part] !== undefined);
  const parts = Object.entries(identity).filter(([part]) => deciding?.includes(part) ?? true);
  return undocumented(kind, Object.fromEntries(parts), { fields, absent, remembered: true }, source);
}

/** Removes conflicts: values that are neither those after the run nor those before it. */
function withoutConflicts(
  document: Declared,
  after: Fields,
  now: Fields,
): { document: Declared; left: Left[] } {
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
  const left = conflicts.map((path) => ({ address, path, reason: CHANGED_SINCE }));
  if (!document.absent) return { document: altered(document, { fields }), left };
  return { document: left.length > 0 ? altered(document, { absent: false }) : document, left };
}

/** The part of a field's old value to put back, and the paths that somebody changed since. */
function withoutConflict(
  type: FieldType,
  path: string,
  wished: Value,
  left: Value,
  present: Value | undefined,
): { value: Value | undefined; conflicts: string[] } {
  // Nobody can have changed what is unknown or absent.
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
  const untouched = agrees(type, left, present) || agrees(type, wished, present);
  return untouched ? { value: wished, conflicts: [] } : { value: undefined, conflicts: [path] };
}

function agrees(type: FieldType, wanted: Value, present: Value): boolean {
  return contrast(type, '', wanted, present).every(({ verdict }) => verdict !== 'different');
}

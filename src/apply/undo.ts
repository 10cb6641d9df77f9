import { asElements, contrast, type FieldType, markSecrets, value } from '../kinds/fields.js';
import { kindOf } from '../kinds/index.js';
import type { Declared } from '../kinds/kind.js';
import type { Place } from '../problems.js';
import { Hasher } from '../state/secrets.js';
import { type Fields, holdsSensitive, isMap, same, type Value } from '../values.js';
import { type Entry, entriesOf, fieldsOf } from './entries.js';
import type { JournalContent } from './journal.js';

/** Something that undoing leaves as it is, and why. */
export interface Left {
  readonly address: string;
  readonly reason: string;
}

/** What would put back what a run changed. */
export interface Undo {
  /** Documents that declare the objects as they were; only what the run changed is in them. */
  readonly declared: readonly Declared[];
  /** What can't be undone at all. */
  readonly left: readonly Left[];
  /**
   * Takes out of a document what somebody changed since the run, given what is there now; to be called for each
   * document before it is compared.
   */
  adjust(document: Declared, now: Fields): { document: Declared; left: readonly Left[] };
}

/** Works out from a run's journal what would put back what it changed. Pure. */
export function undoRun(content: JournalContent, force: boolean): Undo {
  const hasher = new Hasher(content.run.salt);
  const left: Left[] = [];
  const kept = new Map<Declared, Fields>();
  for (const entry of entriesOf(content)) {
    const reason = whyNot(entry);
    if (reason !== undefined) {
      left.push({ address: entry.sending.address, reason });
      continue;
    }
    if (!wasDone(entry)) continue;
    const undone = undoEntry(entry, hasher, `run ${content.run.run}`);
    left.push(...undone.left.map((why) => ({ address: entry.sending.address, reason: why })));
    if (undone.document !== undefined) kept.set(undone.document, undone.after);
  }
  return {
    declared: [...kept.keys()],
    left,
    adjust: (document, now) =>
      force
        ? { document, left: [] }
        : withoutConflicts(document, kept.get(document) ?? {}, present(document, now)),
  };
}

/** A template without an id is a built-in one, which nobody wrote. */
function present({ kind }: Declared, now: Fields): Fields {
  return kind === 'EmailTemplate' && now.id === null ? {} : now;
}

function wasDone({ sending, answered }: Entry): boolean {
  if (sending.action === 'adopt') return false;
  // What failed halfway or has no answer may have been done; what is as it was before gives no change anyway.
  return answered === undefined || answered.status !== 'skipped';
}

function whyNot({ sending, answered }: Entry): string | undefined {
  if (sending.action !== 'regenerate') return undefined;
  if (answered !== undefined && answered.status === 'failed') return undefined;
  return 'a regenerated DID can not be put back';
}

interface Undone {
  readonly document: Declared | undefined;
  /** How the run left the fields of the document. */
  readonly after: Fields;
  readonly left: readonly string[];
}

function undoEntry({ sending, answered }: Entry, hasher: Hasher, source: string): Undone {
  const kind = kindOf(sending.kind);
  const before = fieldsOf(sending.before, hasher);
  const asked = fieldsOf(sending.expected, hasher);
  const shown = answered?.after == null ? {} : fieldsOf(answered.after, hasher);
  if (sending.kind === 'EmailTemplate') {
    const absent = sending.existed === false || before.id === null;
    if (absent && sending.action === 'delete') return { document: undefined, after: {}, left: [] };
    if (absent) return { document: document(sending, {}, source, true), after: bodiesOf(asked), left: [] };
  }
  const wished = sending.action === 'delete' ? bodiesOf(before) : { ...asked };
  const fields: Fields = {};
  const after: Fields = {};
  const left: string[] = [];
  for (const name of Object.keys(wished)) {
    const type = kind.fields[name] ?? value;
    const was = before[name];
    const became = sending.action === 'delete' ? null : (shown[name] ?? asked[name] ?? null);
    const undone = undoField(type, name, was, became);
    left.push(...undone.left);
    if (undone.value === undefined) continue;
    fields[name] = undone.value;
    after[name] = became;
  }
  const none = Object.keys(fields).length === 0;
  return { document: none ? undefined : document(sending, fields, source, false), after, left };
}

/** The halves of a template. */
function bodiesOf(before: Fields): Fields {
  return Object.fromEntries(
    ['txt_content', 'html_content'].flatMap((half) =>
      typeof before[half] === 'string' ? [[half, before[half]]] : [],
    ),
  );
}

/** The value that puts a field back; undefined where there is nothing to put back, or where that can't be done. */
function undoField(
  type: FieldType,
  name: string,
  was: Value | undefined,
  became: Value,
): { value: Value | undefined; left: readonly string[] } {
  if (type.type === 'members' && isMap(became) && (was === undefined || isMap(was))) {
    const members = Object.entries(became).map(([member, now]) => {
      const inner = undoField(type.members[member] ?? value, `${name}.${member}`, was?.[member], now);
      return { member, ...inner };
    });
    const known = members.flatMap(({ member, value }) =>
      value === undefined ? [] : [[member, value] as const],
    );
    return {
      value: known.length === 0 ? undefined : Object.fromEntries(known),
      left: members.flatMap(({ left }) => left),
    };
  }
  if (was === undefined)
    return { value: undefined, left: [`${name}: its value before the run was not known`] };
  if (holdsSensitive(was)) {
    const changed = !same(was, became);
    return {
      value: undefined,
      left: changed ? [`${name}: its old value was a secret, which no journal holds`] : [],
    };
  }
  if (contrast(type, name, was, became).every(({ verdict }) => verdict === 'same'))
    return { value: undefined, left: [] };
  if (type.type === 'map' && isMap(was) && isMap(became)) return { value: mapPatch(was, became), left: [] };
  return { value: type.type === 'set' ? asElements(was) : was, left: [] };
}

/** The merge patch that leads back: keys as they were, and null for those that came. */
function mapPatch(was: Fields, became: Fields): Value {
  const changed = Object.keys({ ...was, ...became }).filter(
    (key) =>
      Object.hasOwn(was, key) !== Object.hasOwn(became, key) || !same(was[key] ?? null, became[key] ?? null),
  );
  return Object.fromEntries(changed.map((key) => [key, Object.hasOwn(was, key) ? (was[key] ?? null) : null]));
}

function document(
  { kind, identity }: Entry['sending'],
  fields: Fields,
  source: string,
  absent: boolean,
): Declared {
  const place: Place = { file: source, line: 1, column: 1, length: 1 };
  // An organization is put back under the id that it was written with, whatever its name is now.
  const id = kind === 'Organization' && identity.id !== undefined ? { id: identity.id } : identity;
  return { kind, identity: id, fields, absent, whole: [], place, placeOf: () => place };
}

/** What is there now and is neither what the run left nor what it found was changed by somebody since. */
function withoutConflicts(
  document: Declared,
  after: Fields,
  now: Fields,
): { document: Declared; left: Left[] } {
  const kind = kindOf(document.kind);
  const address = `${document.kind}/${kind.addressPart(document.identity)}`;
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
  const left = conflicts.map((path) => ({
    address,
    reason: `${path}: it was changed since the run (--force puts it back all the same)`,
  }));
  if (!document.absent) return { document: { ...document, fields }, left };
  return { document: left.length > 0 ? { ...document, absent: false } : document, left };
}

/** What of a field's old value may be put back, and the paths that somebody changed since. */
function withoutConflict(
  type: FieldType,
  path: string,
  wished: Value,
  left: Value,
  present: Value | undefined,
): { value: Value | undefined; conflicts: string[] } {
  // What isn't known, or isn't there at all, nobody can have changed.
  if (present === undefined) return { value: wished, conflicts: [] };
  const partwise = type.type === 'map' || type.type === 'members';
  if (partwise && isMap(wished) && isMap(left) && isMap(present)) {
    const conflicts: string[] = [];
    const kept = Object.entries(wished).filter(([key, was]) => {
      const inner = type.type === 'members' ? (type.members[key] ?? value) : value;
      const now = Object.hasOwn(present, key) ? present[key] : type.type === 'map' ? null : undefined;
      const part = withoutConflict(inner, `${path}.${key}`, was, left[key] ?? null, now);
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

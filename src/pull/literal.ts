import { createHash } from 'node:crypto';
import { type Fields, isMap, type Json, Sensitive, type Value } from '../base/values.js';
import { asElements, type FieldType, value as plain } from '../kinds/fields.js';
import { holdsCredential, looksLikeCredential, looksSecret } from '../secrets/names.js';
import type { VariableNames } from './names.js';

/** A value as a manifest says it, and as it is understood then. */
export interface Written {
  readonly raw: Json;
  readonly value: Value;
}

/** A process variable that stands in the place of a secret. */
export interface ToSet {
  /** Begins with `IDOPS_`, so that no `allow_env` is needed. */
  readonly name: string;
  /** The object that the secret belongs to. */
  readonly address: string;
  /** Where in it the secret stands. */
  readonly path: string;
}

/** What writing the values of one object takes, and what it comes to. */
export interface Writing {
  readonly address: string;
  readonly names: VariableNames;
  /** Whether a text is a credential that is known, or has one in it. */
  readonly holds: (text: string) => boolean;
  /** The members of elements that are no secret, whatever the element is called, by field. */
  readonly open: { readonly [field: string]: readonly string[] };
  readonly toSet: ToSet[];
  /** What could not be written down, a sentence each. */
  readonly left: string[];
  /** Set within an element that is a secret as a whole, since a text in it is one. */
  readonly secret?: true;
}

type Path = readonly (string | number)[];

/** A text of a server as a manifest writes it, so that nothing in it names a variable. */
export function escapeVariables(text: string): string {
  return text.replace(/\$(?=[${])/g, '$$$$');
}

/** A field of the server as a document says it; undefined where no document can. */
export function writeField(
  type: FieldType,
  field: string,
  value: Value,
  writing: Writing,
): Written | undefined {
  return writeTyped(type, value, [field], writing);
}

function writeTyped(type: FieldType, value: Value, path: Path, writing: Writing): Written | undefined {
  if (value === null) return { raw: null, value: null };
  if (type.type === 'set') {
    if (!Array.isArray(value)) return undefined;
    const elements = asElements(value).map((element) => writeElement(type.nested, element, path, writing));
    const written = elements.filter((element) => element !== undefined);
    // A part of a set is another set.
    if (written.length < value.length) {
      writing.left.push(`${fieldPath(path)} has an element without a name or an id`);
      return undefined;
    }
    return { raw: written.map(({ raw }) => raw), value: written.map((one) => one.value) };
  }
  if (type.type !== 'map' && type.type !== 'members') return writePlain(value, path, writing);
  if (!isMap(value)) return undefined;
  return fromMembers(
    writeMembers(value, path, writing, (key, member) => {
      const at = [...path, key];
      if (type.type === 'members') return writeTyped(type.members[key] ?? plain, member, at, writing);
      if (member === null) {
        writing.left.push(`${fieldPath(at)} is null, which in a manifest says that there is no such key`);
        return undefined;
      }
      return writePlain(member, at, someCredential(member, writing) ? { ...writing, secret: true } : writing);
    }),
  );
}

/** The members that a manifest can have, with a sentence for each of the others. */
function writeMembers(
  value: Fields,
  path: Path,
  writing: Writing,
  write: (key: string, member: Value) => Written | undefined,
): (readonly [string, Written])[] {
  return Object.entries(value).flatMap(([key, member]) => {
    const trouble = isKnownOrSaid(key, writing)
      ? 'a key with a credential in it, which no file may hold'
      : key === '__proto__'
        ? 'the key "__proto__", which no manifest can have'
        : undefined;
    if (trouble !== undefined) writing.left.push(`${fieldPath(path)} has ${trouble}`);
    const written = trouble === undefined ? write(key, member) : undefined;
    return written === undefined ? [] : [[key, written] as const];
  });
}

/** An element by its id and its name, and the sets in it: what else it has is the server's to say. */
function writeElement(
  nested: { readonly [field: string]: FieldType },
  element: Fields,
  path: Path,
  writing: Writing,
): Written | undefined {
  const named = ['id', 'name'].flatMap((member) => {
    const text = element[member];
    // What says which element is meant can't come from a variable.
    if (typeof text !== 'string' || isKnownOrSaid(text, writing)) return [];
    return [[member, { raw: escapeVariables(text), value: text }] as const];
  });
  if (named.length === 0) return undefined;
  const sets = Object.entries(nested).flatMap(([member, type]) => {
    const inner = element[member];
    const written = inner === undefined ? undefined : writeTyped(type, inner, [...path, member], writing);
    return written === undefined ? [] : [[member, written] as const];
  });
  return fromMembers([...named, ...sets]);
}

/** A value of whatever shape; its secrets become variables. Undefined where a part of it can be neither. */
function writePlain(value: Value, path: Path, writing: Writing): Written | undefined {
  if (value instanceof Sensitive) return writeSecret(value.reveal(), path, writing);
  if (typeof value === 'string') {
    const isSecret = isUnderSecret(path, value, writing) || isCredential(value, path, writing);
    return isSecret && value !== ''
      ? writeSecret(value, path, writing)
      : { raw: escapeVariables(value), value };
  }
  if (Array.isArray(value)) {
    const items = value.map((item, index) => writePlain(item, [...path, index], writing));
    const written = items.filter((item) => item !== undefined);
    if (written.length < items.length) return undefined;
    return { raw: written.map(({ raw }) => raw), value: written.map((item) => item.value) };
  }
  if (isMap(value)) {
    const members = writeMembers(value, path, writing, (key, member) =>
      writePlain(member, [...path, key], writing),
    );
    return members.length < Object.keys(value).length ? undefined : fromMembers(members);
  }
  if (value !== null && typeof value !== 'boolean' && isUnderSecret(path, value, writing)) {
    return writeSecret(value, path, writing);
  }
  return { raw: value, value };
}

function writeSecret(secret: Json, path: Path, writing: Writing): Written | undefined {
  const where = fieldPath(path);
  // A variable gives a text, and a process can't have a NUL in one.
  if (typeof secret !== 'string' || secret.includes('\0') || secret === '' || !secret.isWellFormed()) {
    writing.left.push(`${where} is a secret that no variable can give`);
    return undefined;
  }
  const shown = (text: string): string => (isKnownOrSaid(text, writing) ? hashOf(text) : text);
  const name = writing.names.of(
    shown(writing.address),
    path.map((step) => shown(String(step))),
  );
  writing.toSet.push({ name, address: writing.address, path: where });
  return { raw: `\${${name}}`, value: new Sensitive(secret) };
}

/** In the place of a text in names of variables, since it has a credential in it. */
function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** A word of the server's own, such as `valid`, which tells nothing of the secret that it is about. */
const plainWord = /^[a-z]{0,10}$/;

/** Whether a key on the way says that it is a secret, with all that stands beside it but a word of the server's own. */
function isUnderSecret([field = '', ...keys]: Path, value: Value, { open, secret }: Writing): boolean {
  if (keys.length === 0) return false;
  const isOpen =
    keys.length === 2 &&
    (open[String(field)] ?? []).some((member) => keys[1] === member) &&
    typeof value === 'string' &&
    plainWord.test(value);
  return !isOpen && (secret === true || keys.some((key) => typeof key === 'string' && looksSecret(key)));
}

/** Whether a text is a credential that is known, or looks like one: in what people read, it takes more to look so. */
function isCredential(text: string, path: Path, writing: Writing): boolean {
  return isKnownOrSaid(text, writing) || (path.length > 1 && looksLikeCredential(text));
}

/** Whether a text that people read has a credential in it, be it a known one: no file may hold it. */
export function isKnownOrSaid(text: string, { holds }: Pick<Writing, 'holds'>): boolean {
  return holds(text) || holdsCredential(text);
}

function someCredential(value: Value, writing: Pick<Writing, 'holds'>): boolean {
  if (typeof value === 'string') return isKnownOrSaid(value, writing) || looksLikeCredential(value);
  if (Array.isArray(value)) return value.some((item) => someCredential(item, writing));
  return isMap(value) && Object.values(value).some((item) => someCredential(item, writing));
}

/** A map of its members. */
export function fromMembers(members: readonly (readonly [string, Written])[]): Written {
  return {
    raw: Object.fromEntries(members.map(([key, { raw }]) => [key, raw])),
    value: Object.fromEntries(members.map(([key, { value }]) => [key, value])),
  };
}

/** A path as a sentence names it. */
export function fieldPath([field = '', ...rest]: Path): string {
  return rest.reduce<string>(
    (text, step) =>
      /^[A-Za-z_]\w*$/.test(String(step)) ? `${text}.${step}` : `${text}[${JSON.stringify(step)}]`,
    String(field),
  );
}

import { createHash } from 'node:crypto';
import { type Fields, isMap, type Json, Sensitive, type Value } from '../base/values.js';
import { asElements, type FieldType, type FieldTypes, isSecret, value as plain } from '../kinds/fields.js';
import { holdsCredential, looksLikeCredential, looksSecret } from '../secrets/names.js';

/** A value as written in a manifest, and as it is read. */
export interface Written {
  readonly raw: Json;
  readonly value: Value;
}

/** A process variable in place of a secret. */
export interface VariableToSet {
  /** Begins with `IDOPS_`, which needs no `allow_env`. */
  readonly name: string;
  readonly address: string;
  readonly path: string;
}

export interface WriteContext {
  readonly address: string;
  readonly names: VariableNames;
  /** Whether a text contains a known credential. */
  readonly holds: (text: string) => boolean;
  /** By field, members of its elements that are no secret, whatever the element's key. */
  readonly open: { readonly [field: string]: readonly string[] };
  /** The name that a document can have in place of an element's id. */
  readonly nameOf: (field: string, element: Fields) => string | undefined;
  readonly toSet: VariableToSet[];
  /** A sentence for each part that can't be written. */
  readonly left: string[];
  /** Set within an element that contains a credential: all of it is secret. */
  readonly secret?: true;
}

type Path = readonly (string | number)[];

/** A text of the server, escaped so that it names no variable. */
export function escapeVariables(text: string): string {
  return text.replace(/\$(?=[${])/g, '$$$$');
}

/** A value of the server, at a path of fields, as a document writes it; undefined if none can. */
export function writeAt(
  path: Path,
  type: FieldType,
  value: Value,
  writing: WriteContext,
): Written | undefined {
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
    return listOf(written);
  }
  if (type.type === 'list') {
    const elements = asElements(value).map((element, index) =>
      fromMembers(
        Object.entries(type.members).flatMap(([name, member]) => {
          const now = element[name] ?? null;
          // An update keeps what an element leaves out, so no secret is necessary.
          if (now === null || isSecret(member)) return [];
          const written = writeAt([...path, index, name], member, now, writing);
          return written === undefined ? [] : [[name, written] as const];
        }),
      ),
    );
    return listOf(elements);
  }
  if (type.type === 'reference' && isMap(value)) {
    const name = writing.nameOf(String(path[0]), value);
    const text = name ?? value.id ?? null;
    return { raw: typeof text === 'string' ? escapeVariables(text) : null, value: text };
  }
  if (type.type !== 'map' && type.type !== 'members') return writePlain(value, path, writing);
  if (!isMap(value)) return undefined;
  return fromMembers(
    writeMembers(value, path, writing, (key, member) => {
      const at = [...path, key];
      if (type.type === 'members') return writeAt(at, type.members[key] ?? plain, member, writing);
      if (member === null) {
        writing.left.push(`${fieldPath(at)} is null, which in a manifest removes the key`);
        return undefined;
      }
      return writePlain(member, at, someCredential(member, writing) ? { ...writing, secret: true } : writing);
    }),
  );
}

type WriteMember = (key: string, member: Value) => Written | undefined;

function writeMembers(value: Fields, path: Path, writing: WriteContext, write: WriteMember) {
  return Object.entries(value).flatMap(([key, member]) => {
    const trouble = hasCredential(key, writing)
      ? 'a key with a credential in it, which no file may hold'
      : key === '__proto__'
        ? 'the key "__proto__", which no manifest can have'
        : undefined;
    if (trouble !== undefined) writing.left.push(`${fieldPath(path)} has ${trouble}`);
    const written = trouble === undefined ? write(key, member) : undefined;
    return written === undefined ? [] : [[key, written] as const];
  });
}

/** An element's name or its id and name, and its sets; the server decides the rest. */
function writeElement(nested: FieldTypes, element: Fields, path: Path, writing: WriteContext) {
  const name = path.length === 1 ? writing.nameOf(String(path[0]), element) : undefined;
  const named = (name === undefined ? ['id', 'name'] : ['name']).flatMap((member) => {
    const text = element[member];
    // What identifies an element can't come from a variable.
    if (typeof text !== 'string' || hasCredential(text, writing)) return [];
    return [[member, { raw: escapeVariables(text), value: text }] as const];
  });
  if (named.length === 0) return undefined;
  const sets = Object.entries(nested).flatMap(([member, type]) => {
    const inner = element[member];
    const written = inner === undefined ? undefined : writeAt([...path, member], type, inner, writing);
    return written === undefined ? [] : [[member, written] as const];
  });
  if (name !== undefined && sets.length === 0) return { raw: escapeVariables(name), value: name };
  return fromMembers([...named, ...sets]);
}

/** Any value; its secrets become variables. Undefined if a part of it can't be written. */
function writePlain(value: Value, path: Path, writing: WriteContext): Written | undefined {
  if (value instanceof Sensitive) return writeSecret(value.reveal(), path, writing);
  if (typeof value === 'string') {
    const isSecret =
      isUnderSecret(path, value, writing) ||
      hasCredential(value, writing) ||
      (path.length > 1 && looksLikeCredential(value));
    return isSecret && value !== ''
      ? writeSecret(value, path, writing)
      : { raw: escapeVariables(value), value };
  }
  if (Array.isArray(value)) {
    const items = value.map((item, index) => writePlain(item, [...path, index], writing));
    const written = items.filter((item) => item !== undefined);
    if (written.length < items.length) return undefined;
    return listOf(written);
  }
  if (isMap(value)) {
    const members = writeMembers(value, path, writing, (key, member) =>
      writePlain(member, [...path, key], writing),
    );
    return members.length < Object.keys(value).length ? undefined : fromMembers(members);
  }
  if (value !== null && typeof value !== 'boolean' && isUnderSecret(path, value, writing))
    return writeSecret(value, path, writing);
  return { raw: value, value };
}

function writeSecret(secret: Json, path: Path, writing: WriteContext): Written | undefined {
  const where = fieldPath(path);
  // An environment variable is text without NUL.
  if (typeof secret !== 'string' || secret.includes('\0') || secret === '' || !secret.isWellFormed()) {
    writing.left.push(`${where} is a secret that no variable can hold`);
    return undefined;
  }
  const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);
  const shown = (text: string): string => (hasCredential(text, writing) ? hashOf(text) : text);
  const name = writing.names.of(
    shown(writing.address),
    path.map((step) => shown(String(step))),
  );
  writing.toSet.push({ name, address: writing.address, path: where });
  return { raw: `\${${name}}`, value: new Sensitive(secret) };
}

/** A word of the server, such as `valid`, which reveals nothing. */
const plainWord = /^[a-z]{0,10}$/;

/** Whether a key on the path makes the value secret. */
function isUnderSecret([field = '', ...keys]: Path, value: Value, { open, secret }: WriteContext): boolean {
  if (keys.length === 0) return false;
  const isOpen =
    keys.length === 2 &&
    (open[String(field)] ?? []).some((member) => keys[1] === member) &&
    typeof value === 'string' &&
    plainWord.test(value);
  return !isOpen && (secret === true || keys.some((key) => typeof key === 'string' && looksSecret(key)));
}

/** Whether a text contains a credential, which no file may hold. */
export function hasCredential(text: string, { holds }: Pick<WriteContext, 'holds'>): boolean {
  return holds(text) || holdsCredential(text);
}

function someCredential(value: Value, writing: Pick<WriteContext, 'holds'>): boolean {
  if (typeof value === 'string') return hasCredential(value, writing) || looksLikeCredential(value);
  if (Array.isArray(value)) return value.some((item) => someCredential(item, writing));
  return isMap(value) && Object.values(value).some((item) => someCredential(item, writing));
}

export function listOf(elements: readonly Written[]): Written {
  return { raw: elements.map(({ raw }) => raw), value: elements.map(({ value }) => value) };
}

export function fromMembers(members: readonly (readonly [string, Written])[]): Written {
  return {
    raw: Object.fromEntries(members.map(([key, { raw }]) => [key, raw])),
    value: Object.fromEntries(members.map(([key, { value }]) => [key, value])),
  };
}

/** A path for messages: `metadata.key[0]`. */
export function fieldPath([field = '', ...rest]: Path): string {
  return rest.reduce<string>(
    (text, step) =>
      /^[A-Za-z_]\w*$/.test(String(step)) ? `${text}.${step}` : `${text}[${JSON.stringify(step)}]`,
    String(field),
  );
}

/** Names of variables for secrets: each secret has its own, the same every time. */
export class VariableNames {
  readonly #owners = new Map<string, string>();

  of(address: string, path: readonly (string | number)[]): string {
    const owner = JSON.stringify([address, ...path]);
    const words = [...address.split('/'), ...path.map(String)].map((part) =>
      part
        .replace(/[^A-Za-z0-9]+/g, '_')
        .replace(/^_+|_+$/g, '')
        .toUpperCase(),
    );
    const long = ['IDOPS', ...words.filter((word) => word !== '')].join('_');
    const hash = createHash('sha256').update(owner).digest('hex').slice(0, 8).toUpperCase();
    const base = long.length <= 120 ? long : `${long.slice(0, 110)}_${hash}`;
    const name = (this.#owners.get(base) ?? owner) === owner ? base : `${base}_${hash}`;
    this.#owners.set(name, owner);
    return name;
  }
}

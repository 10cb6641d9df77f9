import { createHash } from 'node:crypto';
import { isPathParameter } from '../base/identifiers.js';
import { type Fields, isMap, type Json, Sensitive, type Value } from '../base/values.js';
import { asElements, type FieldType, type FieldTypes, isSecret, value as plain } from '../kinds/fields.js';
import { holdsCredential, looksLikeCredential, looksSecret } from '../secrets/names.js';

/** A value as a manifest writes it, and as idops reads it. */
export interface WrittenValue {
  readonly raw: Json;
  readonly value: Value;
}

/** A process variable that replaces a secret. */
export interface VariableToSet {
  /** Begins with `IDOPS_`, so it needs no `allow_env`. */
  readonly name: string;
  readonly address: string;
  readonly path: string;
}

export interface WriteContext {
  readonly address: string;
  readonly names: VariableNames;
  /** Whether a text contains a credential, which no file may contain. */
  readonly hasCredential: (text: string) => boolean;
  /** By field, members of its elements that are never secret. */
  readonly publicMembers: { readonly [field: string]: readonly string[] };
  /** The name that a document can use instead of an element's id; undefined if there is none. */
  readonly nameOf: (field: string, element: Fields) => string | undefined;
  readonly toSet: VariableToSet[];
  /** A sentence for each part that can't be written. */
  readonly unwritable: string[];
  /** Set inside an element that contains a credential, since all of it is secret then. */
  readonly secret?: true;
}

type Path = readonly (string | number)[];

/** A text of the server, escaped so that it contains no variable. */
export function escapeVariables(text: string): string {
  return text.replace(/\$(?=[${])/g, '$$$$');
}

/** The server's value of a field as a document writes it; undefined if no document can. */
export function writeValue(
  path: Path,
  type: FieldType,
  value: Value,
  context: WriteContext,
): WrittenValue | undefined {
  if (value === null) return { raw: null, value: null };
  if (type.type === 'set') {
    if (!Array.isArray(value)) return undefined;
    const elements = asElements(value).map((element) => writeElement(type.nested, element, path, context));
    const written = elements.filter((element) => element !== undefined);
    // A set without some of its elements would remove them.
    if (written.length < value.length) {
      context.unwritable.push(`${fieldPath(path)} has an element with neither a name nor an id`);
      return undefined;
    }
    return writtenList(written);
  }
  if (type.type === 'list') {
    const elements = asElements(value).map((element, index) =>
      writtenMap(
        Object.entries(type.members).flatMap(([name, member]) => {
          const now = element[name] ?? null;
          // An update keeps the members that an element omits, so secrets aren't needed.
          if (now === null || isSecret(member)) return [];
          const written = writeValue([...path, index, name], member, now, context);
          return written === undefined ? [] : [[name, written] as const];
        }),
      ),
    );
    return writtenList(elements);
  }
  if (type.type === 'reference' && isMap(value)) {
    const name = context.nameOf(String(path[0]), value);
    const text = name ?? value.id ?? null;
    return { raw: typeof text === 'string' ? escapeVariables(text) : null, value: text };
  }
  if (type.type !== 'map' && type.type !== 'members') return writePlain(value, path, context);
  if (!isMap(value)) return undefined;
  return writtenMap(
    writeMembers(value, path, context, (key, member) => {
      const at = [...path, key];
      if (type.type === 'members') return writeValue(at, type.members[key] ?? plain, member, context);
      if (member === null) {
        context.unwritable.push(`${fieldPath(at)} is null, which would remove the key in a manifest`);
        return undefined;
      }
      return writePlain(
        member,
        at,
        containsCredential(member, context) ? { ...context, secret: true } : context,
      );
    }),
  );
}

type WriteMember = (key: string, member: Value) => WrittenValue | undefined;

function writeMembers(value: Fields, path: Path, context: WriteContext, write: WriteMember) {
  return Object.entries(value).flatMap(([key, member]) => {
    const trouble = context.hasCredential(key)
      ? 'a key that contains a credential, which must not be written to a file'
      : key === '__proto__'
        ? 'the key "__proto__", which no manifest can have'
        : undefined;
    if (trouble !== undefined) context.unwritable.push(`${fieldPath(path)} has ${trouble}`);
    const written = trouble === undefined ? write(key, member) : undefined;
    return written === undefined ? [] : [[key, written] as const];
  });
}

/** An element with its name, or its id and name, and its sets; the server decides the rest. */
function writeElement(nested: FieldTypes, element: Fields, path: Path, context: WriteContext) {
  const name = path.length === 1 ? context.nameOf(String(path[0]), element) : undefined;
  const named = (name === undefined ? ['id', 'name'] : ['name']).flatMap((member) => {
    const text = element[member];
    // An identifier can't come from a variable.
    if (typeof text !== 'string' || !isPathParameter(text) || context.hasCredential(text)) return [];
    return [[member, { raw: escapeVariables(text), value: text }] as const];
  });
  if (named.length === 0) return undefined;
  const sets = Object.entries(nested).flatMap(([member, type]) => {
    const inner = element[member];
    const written = inner === undefined ? undefined : writeValue([...path, member], type, inner, context);
    return written === undefined ? [] : [[member, written] as const];
  });
  if (name !== undefined && sets.length === 0) return { raw: escapeVariables(name), value: name };
  return writtenMap([...named, ...sets]);
}

/** Any value, with variables that replace its secrets; undefined if a part of it can't be written. */
function writePlain(value: Value, path: Path, context: WriteContext): WrittenValue | undefined {
  if (value instanceof Sensitive) return writeSecret(value.reveal(), path, context);
  if (typeof value === 'string') {
    const isSecret =
      isBelowSecretKey(path, value, context) ||
      context.hasCredential(value) ||
      (path.length > 1 && looksLikeCredential(value));
    return isSecret && value !== ''
      ? writeSecret(value, path, context)
      : { raw: escapeVariables(value), value };
  }
  if (Array.isArray(value)) {
    const items = value.map((item, index) => writePlain(item, [...path, index], context));
    const written = items.filter((item) => item !== undefined);
    if (written.length < items.length) return undefined;
    return writtenList(written);
  }
  if (isMap(value)) {
    const members = writeMembers(value, path, context, (key, member) =>
      writePlain(member, [...path, key], context),
    );
    return members.length < Object.keys(value).length ? undefined : writtenMap(members);
  }
  if (value !== null && typeof value !== 'boolean' && isBelowSecretKey(path, value, context))
    return writeSecret(value, path, context);
  return { raw: value, value };
}

function writeSecret(secret: Json, path: Path, context: WriteContext): WrittenValue | undefined {
  const where = fieldPath(path);
  // An environment variable is a text without NUL.
  if (typeof secret !== 'string' || secret.includes('\0') || secret === '' || !secret.isWellFormed()) {
    context.unwritable.push(`${where} is a secret that can't be stored in a variable`);
    return undefined;
  }
  const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);
  const hashIfSecret = (text: string): string => (context.hasCredential(text) ? hashOf(text) : text);
  const name = context.names.nameFor(
    hashIfSecret(context.address),
    path.map((step) => hashIfSecret(String(step))),
  );
  context.toSet.push({ name, address: context.address, path: where });
  return { raw: `\${${name}}`, value: new Sensitive(secret) };
}

/** A word such as `valid`, which reveals nothing. */
const plainWord = /^[a-z]{0,10}$/;

/** Whether a key on the path makes the value secret. */
function isBelowSecretKey(
  [field = '', ...keys]: Path,
  value: Value,
  { publicMembers, secret }: WriteContext,
): boolean {
  if (keys.length === 0) return false;
  const isOpen =
    keys.length === 2 &&
    (publicMembers[String(field)] ?? []).some((member) => keys[1] === member) &&
    typeof value === 'string' &&
    plainWord.test(value);
  return !isOpen && (secret === true || keys.some((key) => typeof key === 'string' && looksSecret(key)));
}

/** Returns a function that finds credentials in a text: those that `isKnown` finds, and what looks like one. */
export function credentialTest(isKnown: (text: string) => boolean): (text: string) => boolean {
  return (text) => isKnown(text) || holdsCredential(text);
}

function containsCredential(value: Value, context: Pick<WriteContext, 'hasCredential'>): boolean {
  if (typeof value === 'string') return context.hasCredential(value) || looksLikeCredential(value);
  if (Array.isArray(value)) return value.some((item) => containsCredential(item, context));
  return isMap(value) && Object.values(value).some((item) => containsCredential(item, context));
}

export function writtenList(elements: readonly WrittenValue[]): WrittenValue {
  return { raw: elements.map(({ raw }) => raw), value: elements.map(({ value }) => value) };
}

export function writtenMap(members: readonly (readonly [string, WrittenValue])[]): WrittenValue {
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

/** Names of variables for secrets: unique for each secret, and the same in each run. */
export class VariableNames {
  readonly #owners = new Map<string, string>();

  nameFor(address: string, path: readonly (string | number)[]): string {
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

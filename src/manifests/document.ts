import { nearest } from '../base/nearest.js';
import { error, type Place, type Problem } from '../base/problems.js';
import {
  ExactNumber,
  type Fields,
  identifierKey,
  type Json,
  reveal,
  Sensitive,
  type Value,
} from '../base/values.js';
import { type FieldType, isSecret } from '../kinds/fields.js';
import { isKindName, kindOf, kinds } from '../kinds/index.js';
import type { Declared, Kind } from '../kinds/kind.js';
import { FileReference } from '../kinds/schema.js';
import type { Profile } from '../server/profiles.js';
import { check, pathText, startOf, valuePlace } from '../source/check.js';
import type { SourceFile } from '../source/file.js';
import type { ParsedDocument } from '../source/parsed.js';
import { type Note, pathKey } from '../source/resolve.js';
import { find, type MapNode, type Node, type Path, type Range } from '../source/tree.js';
import type { Variables } from '../source/variables.js';
import { gluedHint, typeOf } from '../source/wrong-type.js';
import type { Bodies, Body, BodyRequest } from './bodies.js';
import { forgottenFile } from './forgotten.js';
import { fieldHint } from './hints.js';
import { withKind } from './kind-key.js';
import { type Meant, meantBy } from './meant.js';
import { partOfText } from './written.js';

/** What reading a document takes. */
export interface Reading {
  readonly file: SourceFile;
  /** The manifest's absolute path, which body files are relative to. */
  readonly path: string;
  readonly variables: Variables;
  readonly profile: Profile;
  readonly bodies: Bodies;
  /** Gets every value of a secret field. */
  readonly onSecret: (secret: string) => void;
}

export interface ReadDocument {
  /** Undefined where something is wrong with the document. */
  readonly declared: Declared | undefined;
  /** Which object it is about; left out where that can't be told. */
  readonly meant?: Meant;
  readonly problems: readonly Problem[];
}

/**
 * Turns a document into a declared object, and finds everything that is wrong with it on its own. What can be
 * said without reading files is said before this returns, so that variables are resolved in the files' order.
 */
export function readDocument(document: ParsedDocument, reading: Reading): Promise<ReadDocument> {
  const { file, variables } = reading;
  if (document.root.type !== 'map') {
    const { root } = document;
    const problem = error(
      'wrong-type',
      `a manifest document must be a map, got ${typeOf(root)}`,
      [file.place(root.range)],
      gluedHint(root, file, ['kind']) ?? 'begin it with "kind:"',
    );
    return Promise.resolve({ declared: undefined, problems: [problem] });
  }
  const { root, problems: mistyped } = withKind(document.root, file);
  const rootAgain = mistyped.length > 0 ? kept(root) : builtAgain(document);
  const kind = readKind(root, reading);
  if (!('schema' in kind)) return Promise.resolve({ declared: undefined, problems: [...mistyped, ...kind] });
  const meant = meantBy(kind, root, () => file.place(startOf(rootAgain())));
  const { data, problems, notes } = check({
    schema: kind.schema,
    root,
    file,
    variables,
    name: kind.name,
    fieldHint: (field, path) => fieldHint(kind, field, path),
  });
  const sensitive = sensitiveIdentities(kind, root, file, notes);
  const found = [
    ...mistyped,
    ...problems.filter((problem) => !sensitive.some((other) => covers(other, problem))),
    ...sensitive,
  ];
  if (!isObject(data) || document.broken || found.some(({ severity }) => severity === 'error')) {
    return bodyProblems(kind, root, notes, reading).then((bodies) => ({
      declared: undefined,
      ...meant,
      problems: [...found, ...bodies],
    }));
  }
  return new Builder(kind, rootAgain, notes, reading)
    .build(data, found)
    .then((read) => ({ ...read, ...meant }));
}

function kept(root: MapNode): () => MapNode {
  return () => root;
}

/** Places are asked for later, if at all: no tree is kept for them, nor anything that keeps one. */
function builtAgain(document: ParsedDocument): () => MapNode {
  return () => document.root as MapNode;
}

/** Whether a problem says all that another one, about the value at the same place, would say. */
function covers(one: Problem, other: Problem): boolean {
  const [a] = one.places;
  const [b] = other.places;
  const about = other.code === 'wrong-value' || other.code === 'wrong-type';
  return about && a?.file === b?.file && a?.line === b?.line && a?.column === b?.column;
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  );
}

function readKind(root: MapNode, { file, variables }: Reading): Kind | readonly Problem[] {
  const entry = root.entries.get('kind');
  const names = kinds.map(({ name }) => name);
  if (entry === undefined) {
    const hint = `write one of ${names.join(', ')}`;
    return [
      error(
        'missing-field',
        'missing field "kind" in a manifest document',
        [file.place(startOf(root))],
        hint,
      ),
    ];
  }
  const { value: node } = entry;
  const places = () => [file.place(node.range.end > node.range.start ? node.range : entry.key)];
  if (node.type !== 'scalar' || typeof node.value !== 'string') {
    return [error('wrong-type', `"kind" must be one of ${names.join(', ')}, got ${typeOf(node)}`, places())];
  }
  let name = node.value;
  if (name.includes('$')) {
    const resolved = variables.resolve(name, node, file);
    if (resolved.tainted) return [sensitiveIdentity('kind', places()), ...variables.takeProblems()];
    if (resolved.unknown) return variables.takeProblems();
    name = resolved.text;
  }
  if (isKindName(name)) return kindOf(name);
  const similar = nearest(name, names);
  return [
    error(
      'unknown-kind',
      `unknown kind "${name}"${similar === undefined ? '' : `, did you mean "${similar}"?`}`,
      places(),
      `kinds: ${names.join(', ')}`,
    ),
  ];
}

/** What decides which object is meant can't be a secret: it is in addresses, paths and records. */
function sensitiveIdentities(
  kind: Kind,
  root: MapNode,
  file: SourceFile,
  notes: ReadonlyMap<string, Note>,
): Problem[] {
  return [...notes.values()]
    .filter(({ path, tainted }) => tainted && identifies(kind, root, path))
    .map(({ path }) => sensitiveIdentity(pathText(path), [valuePlace(file, root, path)]));
}

function sensitiveIdentity(what: string, places: readonly Place[]): Problem {
  return error(
    'sensitive-identity',
    `"${what}" can't come from a process variable, since it says which object is meant`,
    places,
    'put the value into vars of the configuration',
  );
}

function identifies(kind: Kind, root: MapNode, path: Path): boolean {
  const [field = '', ...rest] = path;
  const decisive = kind.deciding?.((part) => root.entries.has(part)) ?? kind.identity;
  if (decisive.includes(String(field))) return true;
  const type = kind.fields[field];
  if (type === undefined) return true;
  return decidesElement(type, rest);
}

/** Whether a path leads to the id or the name of a set's element, by which elements are matched. */
function decidesElement(type: FieldType, path: Path): boolean {
  if (type.type === 'members') {
    const [member = '', ...rest] = path;
    const inner = type.members[member];
    return inner !== undefined && decidesElement(inner, rest);
  }
  if (type.type !== 'set') return false;
  const [, member, ...rest] = path;
  if (member === undefined || member === 'id' || member === 'name') return true;
  const inner = type.nested[member];
  return inner !== undefined && decidesElement(inner, rest);
}

/** Missing and unreadable bodies of a document that has other problems too. */
async function bodyProblems(
  kind: Kind,
  root: MapNode,
  notes: ReadonlyMap<string, Note>,
  reading: Reading,
): Promise<Problem[]> {
  const requests: BodyRequest[] = [];
  const walk = (node: Node, path: Path): void => {
    if (node.type === 'list') node.items.forEach((item, index) => void walk(item, [...path, index]));
    if (node.type !== 'map') return;
    const file = node.entries.get('file')?.value;
    const note = notes.get(pathKey([...path, 'file']));
    if (node.entries.size === 1 && file?.type === 'scalar' && typeof file.value === 'string') {
      // What came of its variables isn't kept for a document that isn't right.
      if (note === undefined && file.value !== '') {
        requests.push(request(reading, root, [...path, 'file'], file.value, false));
      }
      return;
    }
    for (const [key, { value }] of node.entries) walk(value, [...path, key]);
  };
  for (const [field, { value }] of root.entries) {
    const type = kind.fields[field];
    if (type !== undefined && type.type !== 'map') walk(value, [field]);
  }
  const contents = await Promise.all(requests.map((wanted) => reading.bodies.read(wanted)));
  return contents.flatMap((content) => ('text' in content ? [] : [content]));
}

function request(reading: Reading, root: Node, path: Path, file: string, tainted: boolean): BodyRequest {
  return { manifest: reading.path, path: file, tainted, place: valuePlace(reading.file, root, path) };
}

/** Makes the declared object of a document that fits its schema. */
class Builder {
  readonly #kind: Kind;
  readonly #root: () => MapNode;
  readonly #notes: ReadonlyMap<string, Note>;
  readonly #reading: Reading;
  /** The bodies by the path of their field. */
  readonly #bodies = new Map<string, Body>();

  constructor(kind: Kind, root: () => MapNode, notes: ReadonlyMap<string, Note>, reading: Reading) {
    this.#kind = kind;
    this.#root = root;
    this.#notes = notes;
    this.#reading = reading;
  }

  async build(data: { readonly [key: string]: unknown }, found: readonly Problem[]): Promise<ReadDocument> {
    const references: { key: string; wanted: BodyRequest }[] = [];
    this.#collect(data, [], references);
    const contents = await Promise.all(references.map(({ wanted }) => this.#reading.bodies.read(wanted)));
    const problems = [...found];
    contents.forEach((content, index) => {
      if ('text' in content) this.#bodies.set(references[index]?.key ?? '', content);
      else problems.push(content);
    });
    for (const problem of await this.#forgotten(data)) problems.push(problem);
    const failed = problems.some(({ severity }) => severity === 'error');
    return { declared: failed ? undefined : this.#declared(data), problems };
  }

  /** The texts that stand where a body does, and name its file. */
  async #forgotten(data: { readonly [key: string]: unknown }): Promise<Problem[]> {
    const { file, bodies, path } = this.#reading;
    const texts = Object.keys(this.#kind.fields).filter(
      (field) => this.#kind.fields[field]?.type === 'body' && typeof data[field] === 'string',
    );
    if (texts.length === 0) return [];
    const found = texts.map((field) => {
      const text = data[field];
      if (typeof text !== 'string' || this.#note([field])?.tainted) return undefined;
      const place = valuePlace(file, this.#root(), [field]);
      return forgottenFile({ field, text, place, exists: (name) => bodies.has(path, name) });
    });
    return (await Promise.all(found)).flatMap((problem) => problem ?? []);
  }

  #collect(value: unknown, path: Path, references: { key: string; wanted: BodyRequest }[]): void {
    if (value instanceof FileReference) {
      const note = this.#note([...path, 'file']);
      if (note?.unknown === true) return;
      const wanted = request(
        this.#reading,
        this.#root(),
        [...path, 'file'],
        value.file,
        note?.tainted ?? false,
      );
      references.push({ key: pathKey(path), wanted });
    } else if (Array.isArray(value)) {
      value.forEach((item, index) => void this.#collect(item, [...path, index], references));
    } else if (isObject(value)) {
      for (const key of Object.keys(value)) this.#collect(value[key], [...path, key], references);
    }
  }

  #declared(data: { readonly [key: string]: unknown }): Declared {
    const kind = this.#kind;
    const root = this.#root;
    const { file } = this.#reading;
    const identity: { [part: string]: string } = {};
    for (const part of kind.identity) {
      // What came from a process variable must not get into an address.
      const value = this.#value(data[part] ?? null, [part]);
      if (typeof value === 'string') identity[part] = this.#identifier(part, value);
    }
    const fields: Fields = {};
    for (const [name, type] of Object.entries(kind.fields)) {
      if (data[name] !== undefined) fields[name] = this.#field(type, data[name], [name]);
    }
    let place: Place | undefined;
    return {
      kind: kind.name,
      identity,
      fields,
      absent: data.state === 'absent',
      whole: Array.isArray(data.whole) ? data.whole.filter((name) => typeof name === 'string') : [],
      ...(typeof data.did_generation === 'number' ? { generation: data.did_generation } : {}),
      get place() {
        place ??= file.place(startOf(root()));
        return place;
      },
      placeOf(...path) {
        return placeOf(file, root(), path);
      },
      placeWithin: (field, part) => this.#placeWithin(field, part, fields[field]),
    };
  }

  #placeWithin(field: string, part: Range | undefined, value: Value | undefined): Place {
    const body = this.#bodies.get(pathKey([field]));
    if (body !== undefined && typeof value === 'string') return body.place(part);
    const { file } = this.#reading;
    const root = this.#root();
    const { node } = find(root, [field]);
    const written =
      part === undefined || node.type !== 'scalar' || typeof value !== 'string'
        ? undefined
        : partOfText(file.text, node.range, value, part);
    return written === undefined ? placeOf(file, root, [field]) : file.place(written);
  }

  /** An id in the one spelling by which objects are told apart; servers that take no other are left to refuse it. */
  #identifier(part: string, value: string): string {
    return part === 'name' || this.#reading.profile.limits?.uuids === true ? value : identifierKey(value);
  }

  #field(type: FieldType, value: unknown, path: Path): Value {
    if (type.type === 'members' && isObject(value)) {
      return Object.fromEntries(
        Object.entries(value)
          .filter(([, member]) => member !== undefined)
          .map(([name, member]) => [
            name,
            this.#field(type.members[name] ?? { type: 'value' }, member, [...path, name]),
          ]),
      );
    }
    const plain = this.#value(value, path);
    if (!isSecret(type) || plain === null) return plain;
    const secret = reveal(plain);
    this.#remember(secret);
    return new Sensitive(secret);
  }

  #remember(secret: Json): void {
    if (typeof secret === 'string') this.#reading.onSecret(secret);
    else if (typeof secret === 'object' && secret !== null && !(secret instanceof ExactNumber))
      Object.values(secret).forEach((part) => void this.#remember(part));
  }

  #value(value: unknown, path: Path): Value {
    if (value instanceof FileReference) {
      const text = this.#bodies.get(pathKey(path))?.text ?? '';
      return this.#note([...path, 'file'])?.tainted === true ? new Sensitive(text) : text;
    }
    if (Array.isArray(value)) return value.map((item, index) => this.#value(item, [...path, index]));
    if (isObject(value)) {
      return Object.fromEntries(
        Object.entries(value)
          .filter(([, member]) => member !== undefined)
          .map(([key, member]) => [key, this.#value(member, [...path, key])]),
      );
    }
    const leaf =
      typeof value === 'string' ||
      typeof value === 'number' ||
      typeof value === 'boolean' ||
      value instanceof ExactNumber
        ? value
        : null;
    return this.#note(path)?.tainted === true ? new Sensitive(leaf) : leaf;
  }

  #note(path: Path): Note | undefined {
    return this.#notes.size === 0 ? undefined : this.#notes.get(pathKey(path));
  }
}

/** A field's key, or a list's element; where that isn't written, what is around it. */
function placeOf(file: SourceFile, root: MapNode, path: Path): Place {
  const { node, key } = find(root, path);
  return file.place(key ?? (node === root ? startOf(root) : node.range));
}

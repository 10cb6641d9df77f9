import { identifierKey } from '../base/identifiers.js';
import { type Place, type Problem, warning } from '../base/problems.js';
import {
  ExactNumber,
  type Fields,
  isMap,
  type Json,
  reveal,
  Sensitive,
  setMember,
  type Value,
} from '../base/values.js';
import { type FieldType, isSecret } from '../kinds/fields.js';
import type { Bulk, Declared, Kind, KindName } from '../kinds/kind.js';
import { FileReference } from '../kinds/schema.js';
import type { Profile } from '../server/profiles.js';
import { valuePlace } from '../yaml/check.js';
import { type Note, pathKey } from '../yaml/resolve.js';
import type { SourceFile } from '../yaml/source-file.js';
import type { Node, Path } from '../yaml/tree.js';
import type { Variables } from '../yaml/variables.js';
import type { Body, BodyReader, BodyRequest } from './bodies.js';
import { WrittenPlaces } from './declared.js';

function names(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string') : [];
}

/** The request for a body file that a manifest names at a path. */
export function bodyRequest(
  at: Path,
  file: string,
  tainted: boolean,
  context: DocumentContext,
  root: Node,
): BodyRequest {
  return { manifest: context.path, path: file, tainted, place: valuePlace(context.file, root, at) };
}

/** Builds the declared object of a valid document. */
export class DocumentBuilder {
  readonly #kind: Kind;
  readonly #many: Bulk | undefined;
  readonly #root: Node;
  readonly #notes: ReadonlyMap<string, Note>;
  readonly #context: DocumentContext;
  /** The bodies by the path of their field. */
  #bodies: Map<string, Body> | undefined;

  constructor(
    { kind, many }: DocumentKind,
    root: Node,
    notes: ReadonlyMap<string, Note>,
    context: DocumentContext,
  ) {
    this.#kind = kind;
    this.#many = many;
    this.#root = root;
    this.#notes = notes;
    this.#context = context;
  }

  async build(data: { readonly [key: string]: unknown }, found: readonly Problem[]): Promise<ReadDocument> {
    const references: { key: string; wanted: BodyRequest }[] = [];
    this.#collectBodies(data, [], references);
    const contents = await Promise.all(references.map(({ wanted }) => this.#context.bodies.read(wanted)));
    const problems = [...found];
    contents.forEach((content, index) => {
      if (!('text' in content)) problems.push(content);
      else {
        this.#bodies ??= new Map();
        this.#bodies.set(references[index]?.key ?? '', content);
      }
    });
    problems.push(...this.#missingFileHints(data));
    const failed = problems.some(({ severity }) => severity === 'error');
    return { declared: failed ? undefined : this.#declared(data), problems };
  }

  /** Warnings about bodies that look like paths of files. */
  #missingFileHints(data: { readonly [key: string]: unknown }): Problem[] {
    return Object.entries(this.#kind.fields).flatMap(([field, { type }]) => {
      const text = data[field];
      if (type !== 'body' || typeof text !== 'string' || this.#note([field])?.tainted) return [];
      return missingFileHint(field, text, valuePlace(this.#context.file, this.#root, [field])) ?? [];
    });
  }

  #collectBodies(value: unknown, path: Path, references: { key: string; wanted: BodyRequest }[]): void {
    if (value instanceof FileReference) {
      const at = [...path, 'file'];
      const { unknown = false, tainted = false } = this.#note(at) ?? {};
      if (unknown) return;
      const wanted = bodyRequest(at, value.file, tainted, this.#context, this.#root);
      references.push({ key: pathKey(path), wanted });
    } else if (Array.isArray(value)) {
      value.forEach((item, index) => void this.#collectBodies(item, [...path, index], references));
    } else if (isMap(value)) {
      for (const key of Object.keys(value)) this.#collectBodies(value[key], [...path, key], references);
    }
  }

  #declared(data: { readonly [key: string]: unknown }): Declared {
    const kind = this.#kind;
    const { file } = this.#context;
    const identity: { [part: string]: string } = {};
    // Names that replace an id aren't fields; with an id they are.
    const { byName } = kind;
    const isNamed = byName !== undefined && data[byName.id] === undefined && this.#many === undefined;
    const isOnlyField = (part: string): boolean =>
      !isNamed && byName?.names.includes(part) === true && kind.fields[part] !== undefined;
    for (const part of this.#many === undefined ? kind.identity : []) {
      if (isOnlyField(part)) continue;
      // A value of a process variable is sensitive, so it must not be in an address.
      const value = this.#value(data[part] ?? null, [part]);
      const text = isNamed && isMap(value) ? (value.id ?? value.name) : value;
      if (typeof text === 'string') identity[part] = this.#identifier(part, text);
    }
    const fields: Fields = {};
    for (const [name, type] of Object.entries(kind.fields)) {
      if (data[name] === undefined || (isNamed && byName.names.includes(name))) continue;
      fields[name] = this.#field(type, data[name], [name]);
    }
    const { [kind.regeneration?.counter ?? '']: number } = data;
    const own = this.#many?.fields(fields, data) ?? fields;
    return {
      kind: kind.name,
      identity,
      fields: own,
      absent: data.state === 'absent',
      ...(this.#creates(data) ? { creates: true } : {}),
      whole: names(data.whole),
      ignored: names(data.ignored),
      ...(typeof number === 'number' ? { generation: number } : {}),
      ...(this.#many === undefined ? {} : { selector: this.#many.selector(data) }),
      places: new WrittenPlaces({ root: this.#root, file, bodies: this.#bodies, fields: own }),
    };
  }

  /** Whether the object is created if it doesn't exist. */
  #creates({ create, state }: { readonly [key: string]: unknown }): boolean {
    const { creation, name } = this.#kind;
    if (creation === undefined || state === 'absent' || this.#many !== undefined) return false;
    return typeof create === 'boolean' ? create : this.#context.creates(name);
  }

  /** An id in its normal form; unchanged if the server accepts only UUIDs, so that it can refuse it. */
  #identifier(part: string, value: string): string {
    const isId = part.endsWith('id') || part === 'type';
    return !isId || this.#context.profile.limits?.uuids === true ? value : identifierKey(value);
  }

  #field(type: FieldType, value: unknown, path: Path): Value {
    if (type.type === 'list' && Array.isArray(value)) {
      const inner: FieldType = { type: 'members', members: type.members };
      return value.map((element, index) => this.#field(inner, element, [...path, index]));
    }
    if (type.type === 'members' && isMap(value)) {
      const { members } = type;
      return mapDefined(value, (one, name) =>
        this.#field(members[name] ?? { type: 'value' }, one, [...path, name]),
      );
    }
    const plain = this.#value(value, path);
    if (!isSecret(type) || plain === null) return plain;
    const secret = reveal(plain);
    this.#reportSecret(secret);
    return new Sensitive(secret);
  }

  #reportSecret(secret: Json): void {
    if (typeof secret === 'string') this.#context.onSecret(secret);
    else if (typeof secret === 'object' && secret !== null && !(secret instanceof ExactNumber))
      Object.values(secret).forEach((part) => void this.#reportSecret(part));
  }

  #value(value: unknown, path: Path): Value {
    if (value instanceof FileReference) {
      const text = this.#bodies?.get(pathKey(path))?.text ?? '';
      return this.#note([...path, 'file'])?.tainted === true ? new Sensitive(text) : text;
    }
    if (Array.isArray(value)) return value.map((item, index) => this.#value(item, [...path, index]));
    if (isMap(value)) return mapDefined(value, (one, key) => this.#value(one, [...path, key]));
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

/** `mapValues` that omits undefined members. */
function mapDefined(map: Fields, change: (value: Value, key: string) => Value): Fields {
  const members: Fields = {};
  for (const [key, value] of Object.entries(map))
    if (value !== undefined) setMember(members, key, change(value, key));
  return members;
}

/** A warning if the text of a field looks like the path of a file. */
export function missingFileHint(field: string, text: string, place: Place): Problem | undefined {
  const path = text.trim().replace(/^file:\s*/, '');
  if (text.length > 300 || !/^[^\s{}<>:|?*"]+\.(?:te?xt|html?|mustache)$/i.test(path)) return undefined;
  return warning(
    'forgotten-file',
    `"${field}" is the text "${path}", which looks like the path of a file; recipients would see the path`,
    [place],
    `to send the content of the file, write ${field}: {file: ${path}}`,
  );
}

/** The kind of a document, which is about one object or several. */
export interface DocumentKind {
  readonly kind: Kind;
  readonly many?: Bulk;
}

/** The context of a document. */
export interface DocumentContext {
  readonly file: SourceFile;
  /** The manifest's absolute path, to which body files are relative. */
  readonly path: string;
  readonly variables: Variables;
  readonly profile: Profile;
  readonly bodies: BodyReader;
  /** Whether the configuration creates missing objects of a kind. */
  readonly creates: (kind: KindName) => boolean;
  /** Called with each value of a secret field. */
  readonly onSecret: (secret: string) => void;
}

export interface ReadDocument {
  /** Undefined if the document has errors. */
  readonly declared: Declared | undefined;
  readonly problems: readonly Problem[];
}

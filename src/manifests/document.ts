import { nearest } from '../base/nearest.js';
import { error, type Place, type Problem } from '../base/problems.js';
import { isMap } from '../base/values.js';
import type { FieldType } from '../kinds/fields.js';
import { isKindName, kindOf, kinds } from '../kinds/index.js';
import type { Kind } from '../kinds/kind.js';
import { check, pathText, valuePlace } from '../yaml/check.js';
import type { ParsedDocument } from '../yaml/parse.js';
import { type Note, pathKey } from '../yaml/resolve.js';
import type { SourceFile } from '../yaml/source-file.js';
import { type MapNode, type Node, type Path, startOf } from '../yaml/tree.js';
import { typeOf } from '../yaml/types.js';
import type { BodyRequest } from './bodies.js';
import type { DocumentContext, DocumentKind, ReadDocument } from './builder.js';
import { bodyRequest, DocumentBuilder } from './builder.js';

/**
 * Converts a document to a declared object, with all its problems. Only body files are read after this returns, so that
 * variables are resolved in the order of the files.
 */
export function readDocument(document: ParsedDocument, context: DocumentContext): Promise<ReadDocument> {
  const { file, variables } = context;
  const { root } = document;
  if (root.type !== 'map') {
    const problem = error(
      'wrong-type',
      `a manifest document must be a map, got ${typeOf(root)}`,
      [file.place(root.range)],
      'begin it with "kind: ", and write each field as "key: value"',
    );
    return Promise.resolve({ declared: undefined, problems: [problem] });
  }
  const read = readKind(root, context);
  if (!('kind' in read)) return Promise.resolve({ declared: undefined, problems: read });
  const { kind, many } = read;
  const { schema, name } = many ?? kind;
  const { data, problems, notes } = check({ schema: schema(), root, file, variables, name });
  const sensitive = sensitiveIdentities(kind, root, file, notes);
  const found = [
    ...problems.filter((problem) => !sensitive.some((other) => makesRedundant(other, problem))),
    ...sensitive,
  ];
  if (!isMap(data) || document.broken || found.some(({ severity }) => severity === 'error')) {
    return bodyProblems(kind, root, notes, context).then((bodies) => ({
      declared: undefined,
      problems: [...found, ...bodies],
    }));
  }
  return new DocumentBuilder(read, root, notes, context).build(data, found);
}

/** Whether a problem makes another problem of the same value redundant. */
function makesRedundant(one: Problem, other: Problem): boolean {
  const [a] = one.places;
  const [b] = other.places;
  const about = other.code === 'wrong-value' || other.code === 'wrong-type';
  return about && a?.file === b?.file && a?.line === b?.line && a?.column === b?.column;
}

function readKind(root: MapNode, { file, variables }: DocumentContext): DocumentKind | readonly Problem[] {
  const entry = root.entries.get('kind');
  const names = kinds.flatMap(({ name, bulk }) => (bulk === undefined ? [name] : [name, bulk.name]));
  if (entry === undefined) {
    const message = 'missing field "kind" in a manifest document';
    return [error('missing-field', message, [file.place(startOf(root))], `write one of ${names.join(', ')}`)];
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
  if (isKindName(name)) return { kind: kindOf(name) };
  const ofMany = kinds.find(({ bulk }) => bulk?.name === name);
  if (ofMany?.bulk !== undefined) return { kind: ofMany, many: ofMany.bulk };
  const similar = nearest(name, names);
  const message = `unknown kind "${name}"${similar === undefined ? '' : `, did you mean "${similar}"?`}`;
  return [error('unknown-kind', message, places(), `kinds: ${names.join(', ')}`)];
}

/** Problems of identifiers and ends from process variables: they can't be secret, since addresses, plans and records contain them. */
function sensitiveIdentities(
  kind: Kind,
  root: MapNode,
  file: SourceFile,
  notes: ReadonlyMap<string, Note>,
): Problem[] {
  return [...notes.values()]
    .filter(({ path, tainted }) => tainted && identifiesObject(kind, root, path))
    .map(({ path }) => sensitiveIdentity(pathText(path), [valuePlace(file, root, path)]));
}

function sensitiveIdentity(what: string, places: readonly Place[]): Problem {
  return error(
    'sensitive-identity',
    `"${what}" can't come from a process variable, since plans and records show it`,
    places,
    'put the value into "vars" of the configuration',
  );
}

function identifiesObject(kind: Kind, root: MapNode, path: Path): boolean {
  const [field = '', ...rest] = path;
  const identifying = kind.identifyingParts?.((part) => root.entries.has(part)) ?? kind.identity;
  if (identifying.includes(String(field))) return true;
  const type = kind.fields[field];
  if (type === undefined) return true;
  return identifiesElement(type, rest);
}

/** Whether a path is the id, the name or the end of a set's element, or a reference to another object. */
function identifiesElement(type: FieldType, path: Path): boolean {
  if (type.type === 'members') {
    const [member = '', ...rest] = path;
    const inner = type.members[member];
    return inner !== undefined && identifiesElement(inner, rest);
  }
  if (type.type === 'reference') return true;
  if (type.type === 'list') return path[1] === type.by;
  if (type.type !== 'set') return false;
  // The elements may be within `add` or `remove`.
  const [, member, ...rest] = typeof path[0] === 'string' ? path.slice(1) : path;
  if (member === undefined || ['id', 'name', 'until'].includes(String(member))) return true;
  const inner = type.nested[member];
  return inner !== undefined && identifiesElement(inner, rest);
}

/** Problems of body files of a document that has other problems. */
async function bodyProblems(
  kind: Kind,
  root: MapNode,
  notes: ReadonlyMap<string, Note>,
  reading: DocumentContext,
): Promise<Problem[]> {
  const requests: BodyRequest[] = [];
  const walk = (node: Node, path: Path): void => {
    if (node.type === 'list') node.items.forEach((item, index) => void walk(item, [...path, index]));
    if (node.type !== 'map') return;
    const file = node.entries.get('file')?.value;
    const at = [...path, 'file'];
    if (node.entries.size === 1 && file?.type === 'scalar' && typeof file.value === 'string') {
      // An invalid document doesn't keep the values of variables.
      if (!notes.has(pathKey(at)) && file.value !== '')
        requests.push(bodyRequest(at, file.value, false, reading, root));
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

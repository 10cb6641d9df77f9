import * as z from 'zod';
import { nearest } from '../base/nearest.js';
import { error, type Place, type Problem } from '../base/problems.js';
import type { Json } from '../base/values.js';
import { isSecretField, looksSecret, shownKey } from '../secrets/names.js';
import { coerce } from './coerce.js';
import { type Note, pathKey, resolve } from './resolve.js';
import type { SourceFile } from './source-file.js';
import { find, type Member, type Node, type Path, startOf } from './tree.js';
import { describeNode, typeHint, typeName } from './types.js';
import type { Variables } from './variables.js';

/** A node to check, and its schema. */
export interface CheckInput<T> {
  readonly schema: z.ZodType<T>;
  readonly root: Node;
  readonly file: SourceFile;
  /** Null to check only the structure, if the values aren't needed. */
  readonly variables: Variables | null;
  /** The name in messages, such as `Organization`. */
  readonly name: string;
  /** The path of the node in its document, for messages. */
  readonly basePath?: Path;
}

export interface Checked<T> {
  /** The parsed value; undefined if it is invalid or unknown. */
  readonly data: T | undefined;
  readonly problems: readonly Problem[];
  /** The scalars with variables, by `pathKey`. */
  readonly notes: ReadonlyMap<string, Note>;
}

/** Resolves the variables of a node and checks it against a schema; each problem has a place. */
export function check<T>(subject: CheckInput<T>): Checked<T> {
  const { schema, root, file, variables } = subject;
  const { value, notes } = resolve(root, file, variables, subject.basePath);
  const variableProblems = variables?.takeProblems() ?? [];
  let result = schema.safeParse(value, { error: withoutMessage });
  const attempted = new Set<string>();
  while (!result.success) {
    if (!coerce(value, flatten(result.error.issues, value), notes, attempted)) break;
    result = schema.safeParse(value, { error: withoutMessage });
  }
  if (result.success) {
    const failed = variableProblems.some(({ severity }) => severity === 'error');
    return { data: failed ? undefined : result.data, problems: variableProblems, notes };
  }
  const issues = flatten(result.error.issues, value).filter(
    ({ path }) => notes.get(pathKey(path))?.unknown !== true,
  );
  return {
    data: undefined,
    problems: [...variableProblems, ...issues.flatMap((issue) => issueProblems(issue, subject))],
    notes,
  };
}

/** Removes zod's messages of issues that get a message here. */
function withoutMessage({ code }: { readonly code: string }): string | undefined {
  return ['too_big', 'too_small', 'invalid_type', 'invalid_union'].includes(code) ? '' : undefined;
}

/** The needed parts of zod's issues; for a union, those of the intended branch. */
interface Issue {
  readonly code: string;
  readonly path: Path;
  readonly message: string;
  readonly expected?: string;
  readonly keys?: readonly string[];
  readonly values?: readonly unknown[];
}

function flatten(issues: readonly z.core.$ZodIssue[], value: Json, base: Path = []): Issue[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path.map((step) => (typeof step === 'number' ? step : String(step)))];
    if (issue.code === 'invalid_union') {
      const inner = memberAt(value, issue.path);
      const branch = intendedBranch(issue.errors, inner);
      if (branch !== undefined) return flatten(branch, inner ?? null, path);
    }
    const { code } = issue;
    // The message of an invalid key describes a valid key.
    const message = (issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined) ?? issue.message;
    return [
      {
        code,
        path,
        message,
        ...(issue.code === 'invalid_type' ? { expected: issue.expected } : {}),
        // A text instead of a list gets the hint of a list.
        ...(issue.code === 'invalid_union' && issue.errors.some(expectsList) ? { expected: 'array' } : {}),
        ...(issue.code === 'unrecognized_keys' ? { keys: issue.keys } : {}),
        ...(issue.code === 'invalid_value' ? { values: issue.values } : {}),
      },
    ];
  });
}

function expectsList([issue]: readonly z.core.$ZodIssue[]): boolean {
  return issue?.code === 'invalid_type' && issue.path.length === 0 && issue.expected === 'array';
}

function memberAt(value: Json | undefined, path: readonly PropertyKey[]): Json | undefined {
  let member = value;
  for (const step of path) {
    if (typeof member !== 'object' || member === null) return undefined;
    member = (member as { readonly [key: PropertyKey]: Json })[step];
  }
  return member;
}

/** The only branch with the right type; undefined if the value lacks one of its members and has an unknown one. */
function intendedBranch(
  errors: readonly (readonly z.core.$ZodIssue[])[],
  value: Json | undefined,
): readonly z.core.$ZodIssue[] | undefined {
  const fitting = errors.filter(
    (branch) =>
      !branch.some(
        ({ code, path }) => path.length === 0 && (code === 'invalid_type' || code === 'invalid_union'),
      ),
  );
  const [branch] = fitting;
  if (fitting.length !== 1 || branch === undefined) return undefined;
  const hasUnknownKeys = branch.some(({ code }) => code === 'unrecognized_keys');
  return hasUnknownKeys &&
    branch.some(
      ({ code, path }) => code === 'invalid_type' && path.length === 1 && memberAt(value, path) === undefined,
    )
    ? undefined
    : branch;
}

function issueProblems(issue: Issue, subject: CheckInput<unknown>): Problem[] {
  const { root, file, name, basePath = [] } = subject;
  const found = find(root, issue.path);
  if (issue.code === 'unrecognized_keys') return unknownFields(issue, subject);
  if (!found.complete) {
    const field = String(issue.path.at(-1));
    const parent = issue.path.slice(0, -1);
    return [
      error('missing-field', `missing field "${field}" in ${describePath(name, [...basePath, ...parent])}`, [
        placeIn(file, root, parent),
      ]),
    ];
  }
  hideField(found.node, file);
  const place = valuePlace(file, root, issue.path);
  const whole = [...basePath, ...issue.path];
  const what = whole.length === 0 ? `the ${name}` : `"${pathText(whole)}" in ${name}`;
  if (issue.code === 'invalid_key') {
    const key = found.key === undefined ? place : file.place(found.key);
    return [error('wrong-value', `${what}: the name is not usable`, [key], issue.message)];
  }
  if (issue.code === 'invalid_type' || issue.code === 'invalid_union') {
    const { node } = found;
    const { expected } = issue;
    return [
      error(
        'wrong-type',
        `${what}: ${issue.message || `expected ${typeName(expected)}`}, got ${describeNode(node, file)}`,
        [place],
        typeHint(expected, node),
      ),
    ];
  }
  if (issue.code === 'invalid_value' && issue.values !== undefined) {
    const names = issue.values.map((value) => JSON.stringify(value));
    const must = names.length === 1 ? `must be ${names[0]}` : `must be one of ${names.join(', ')}`;
    const near =
      found.node.type === 'scalar' && names.length > 1
        ? nearest(String(found.node.value), issue.values.map(String))
        : undefined;
    const suggestion = near === undefined ? '' : `, did you mean "${near}"?`;
    return [error('wrong-value', `${what} ${must}${suggestion}`, [place])];
  }
  if (issue.code === 'too_small' && found.node.type === 'scalar' && found.node.value === '') {
    return [error('wrong-value', `${what} must not be empty`, [place])];
  }
  if (issue.message === '') {
    return [error('wrong-value', `${what} is too ${issue.code === 'too_big' ? 'large' : 'small'}`, [place])];
  }
  return [
    error('wrong-value', `${what}${/^(must|is|needs) /.test(issue.message) ? ' ' : ': '}${issue.message}`, [
      place,
    ]),
  ];
}

/** Hides a secret field that became a text, since its colon or the space after it is missing. */
function hideField(node: Node, file: SourceFile): void {
  if (node.type === 'scalar' && typeof node.value === 'string' && shownKey(node.value) !== node.value)
    file.hide(node.range);
}

/** Whether a key has no value. */
function hasNoValue({ value }: Member): boolean {
  return value.type === 'scalar' && value.value === null && value.source === '';
}

/** The part of an unknown key that may be shown; undefined if the key may be a secret. `bare` are names of secrets without values in the same map. */
function visibleKey(
  key: string,
  entry: Member | undefined,
  bare: readonly string[],
  file: SourceFile,
): string | undefined {
  const shown = shownKey(key);
  if (entry === undefined || shown !== key) return shown;
  const lacksValue = hasNoValue(entry);
  // With a comma instead of the colon, a secret and its name become two keys.
  const isBare = lacksValue && bare.some((name) => name !== key);
  const mayShow = file.hides(entry.key)
    ? !lacksValue && /^[A-Za-z_][\w-]{0,40}$/.test(key)
    : !lacksValue || !looksSecret(key) || !/\d/.test(key);
  if (mayShow && !isBare) return key;
  file.hide(entry.key);
  return undefined;
}

function unknownFields(issue: Issue, subject: CheckInput<unknown>): Problem[] {
  const { root, file, name, schema, basePath = [] } = subject;
  const { node } = find(root, issue.path);
  const known = knownFields(schema, issue.path);
  const entries: ReadonlyMap<string, Member> = node.type === 'map' ? node.entries : new Map();
  const bare = [...entries].flatMap(([key, entry]) => (isSecretField(key) && hasNoValue(entry) ? [key] : []));
  // Hides all secrets before the first place is built, since a place shows its line.
  const keys = (issue.keys ?? []).map((key) => {
    const entry = entries.get(key);
    return { key, entry, visible: visibleKey(key, entry, bare, file) };
  });
  const free = known.filter((field) => !entries.has(field));
  const where = describePath(name, [...basePath, ...issue.path]);
  return keys.map(({ key, entry, visible }) => {
    const place = entry === undefined ? placeIn(file, root, issue.path) : file.place(entry.key);
    if (visible !== key) return missingSeparator(key, visible, where, place);
    // An existing key is suggested only if it is closer than all missing ones.
    const near = nearest(key, free) === undefined ? undefined : nearest(key, [...free, ...known]);
    const similar = near ?? nearest(key, known);
    const message = `unknown field "${key}" in ${where}`;
    if (similar !== undefined) {
      return error('unknown-field', `${message}, did you mean "${similar}"?`, [place]);
    }
    const hint = known.length > 0 ? `fields here: ${known.join(', ')}` : undefined;
    return error('unknown-field', message, [place], hint);
  });
}

/** The problem of a field without a colon or a space between its name and its value. */
function missingSeparator(key: string, visible: string | undefined, where: string, place: Place): Problem {
  if (visible === undefined)
    return error(
      'unknown-field',
      `unknown field in ${where}; its name is hidden, since it may be a secret`,
      [place],
      'write it as "key: value"',
    );
  const hasColon = /^["']?\s*:/.test(key.slice(visible.length));
  const missing = hasColon
    ? 'a space is missing after the colon of'
    : 'a colon and a space are missing after';
  return error(
    'unknown-field',
    `${missing} "${visible}" in ${where}`,
    [place],
    `write it as "${visible}: …"`,
  );
}

/** A path for messages: `organizations[0].roles`. */
export function pathText(path: Path): string {
  return path.reduce<string>(
    (text, step) =>
      typeof step === 'number'
        ? `${text}[${step}]`
        : /^[\w-]+$/.test(step)
          ? `${text}${text === '' ? '' : '.'}${step}`
          : `${text}[${JSON.stringify(shownKey(step))}]`,
    '',
  );
}

function describePath(name: string, path: Path): string {
  return path.length === 0 ? name : `${pathText(path)} of ${name}`;
}

/** The place of a value, or of its key if it has none. */
export function valuePlace(file: SourceFile, root: Node, path: Path): Place {
  const { node, key } = find(root, path);
  return file.place(node.range.end > node.range.start || key === undefined ? node.range : key);
}

/** The place of a problem about a missing member: the map's key, or its first member. */
function placeIn(file: SourceFile, root: Node, path: Path): Place {
  const { node, key } = find(root, path);
  return file.place(key ?? startOf(node));
}

/** The schemas at a path, including the alternatives of unions. */
function schemasAt(schema: unknown, path: Path): readonly unknown[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => schemasAt(option, path));
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return schemasAt(schema.unwrap(), path);
  if (schema instanceof z.ZodPipe) return schemasAt(schema.in, path);
  const [step, ...rest] = path;
  if (step === undefined) return [schema];
  if (schema instanceof z.ZodObject) {
    const { shape } = schema;
    return Object.hasOwn(shape, step) ? schemasAt(shape[String(step)], rest) : [];
  }
  if (schema instanceof z.ZodArray) return schemasAt(schema.element, rest);
  if (schema instanceof z.ZodRecord) return schemasAt(schema.valueType, rest);
  return [];
}

/** The names of the fields that a schema has at a path. */
function knownFields(schema: unknown, path: Path): readonly string[] {
  const fields = schemasAt(schema, path).flatMap((one) =>
    one instanceof z.ZodObject ? Object.keys(one.shape) : [],
  );
  return [...new Set(fields)];
}

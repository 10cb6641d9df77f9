import { kindNames } from '../../src/base/kind-names.js';
import { checkDescriptions } from '../../src/mail/settings.js';
import { jsonSchema } from '../../src/session/json-schema.js';
import { code, type Makers, plain, table } from './blocks.js';

/** The parts of a JSON Schema that the pages tell of. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly pattern?: string;
  readonly format?: string;
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

/** The tables of fields, from the schemas that idops checks with. */
export function fieldMakers(): Makers {
  return {
    kind: (name) => {
      const [kind = '', field] = name.split(' ');
      const found = documentOf(kind);
      if (kind === 'Users') return likeOthers(found, documentOf('User'), '[User](#user)');
      if (field === undefined) return fieldsOf(withoutCommon(found));
      return likeOthers(mapOf(found, field), documentOf('Backend'), '[Backend](#backend)');
    },
    config: () => fieldsOf(jsonSchema('config')),
    checks: () =>
      table(
        ['check', 'finds'],
        Object.entries(checkDescriptions).map(([check, finds]) => [code(check), plain(finds)]),
      ),
    plan: () => fieldsOf(jsonSchema('plan')),
    result: () => fieldsOf(resultOf(jsonSchema('run'))),
  };
}

function documentOf(kind: string): Schema {
  const { anyOf = [] } = jsonSchema('manifest') as Schema;
  const found = anyOf.find(({ properties }) => properties?.kind?.const === kind);
  if (found === undefined) throw new Error(`there is no kind "${kind}"`);
  return found;
}

/** The map that a field of a document may be. */
function mapOf(document: Schema, name: string): Schema {
  const found = shapes(document.properties?.[name] ?? {}).find(({ properties }) => properties !== undefined);
  if (found === undefined) throw new Error(`"${name}" is no map`);
  return found;
}

/** The schema of runs is one of a result, or of a line of a journal. */
function resultOf({ anyOf = [] }: Schema): Schema {
  const [result] = anyOf;
  if (result === undefined) throw new Error('the schema of runs has another shape');
  return result;
}

/** The fields of a kind but those that many kinds have, which the page explains once. */
function withoutCommon(document: Schema): Schema {
  const { id, name, create, state, ...own } = document.properties ?? {};
  const isNamed = id !== undefined && name !== undefined && document.required?.includes('id') !== true;
  return { ...document, properties: isNamed ? own : { ...(id && { id }), ...(name && { name }), ...own } };
}

/** A table of fields; those that mean the same in another one are only named. */
function likeOthers(schema: Schema, other: Schema, where: string): string {
  const { kind, ...fields } = schema.properties ?? {};
  const isSame = (name: string) => other.properties?.[name]?.description === fields[name]?.description;
  const [same, own] = [true, false].map((wanted) =>
    Object.keys(fields).filter((name) => isSame(name) === wanted),
  );
  const properties = Object.fromEntries((own ?? []).map((name) => [name, fields[name] ?? {}]));
  return `${fieldsOf({ ...schema, properties })}\n\nAlso, as in ${where}: ${(same ?? []).map(code).join(', ')}.`;
}

function sentence(text: string): string {
  return plain(`${text.slice(0, 1).toUpperCase()}${text.slice(1)}`);
}

function fieldsOf(schema: object): string {
  return table(['field', 'type', 'meaning'], rowsOf(schema as Schema, ''));
}

function rowsOf(schema: Schema, above: string): string[][] {
  return Object.entries(schema.properties ?? {})
    .filter(([name, { const: only }]) => name !== 'format_version' && (name !== 'kind' || only === undefined))
    .flatMap(([name, field]) => {
      const path = `${above}${name}`;
      const required = schema.required?.includes(name) === true;
      const shown = required ? `**${code(path)}**` : code(path);
      const within = below(field, path);
      return [[shown, typeOf(field, path), meaningOf(field, within.length === 0)], ...within];
    });
}

/** Fields whose members have no rows: the page explains them elsewhere, or their type names them all. */
const folded =
  /^(environments|checks|backend|plan|result|users|roles|key_pair_type|identity_provider|match\..*|except|shard|summary|.*\.(scopes|requests|before|after|recorded|places?|declared_at|warnings)|warnings)$/;

/** Those of them whose type names their members. */
const members =
  /^(users|roles|key_pair_type|identity_provider|match\..*|except|shard|summary|.*\.(scopes|requests|places?|declared_at)|(.*\.)?warnings)$/;

/** The fields within a field. */
function below(field: Schema, path: string): string[][] {
  if (folded.test(path) || setOf(field) !== undefined) return [];
  for (const shape of shapes(field)) {
    if (shape.properties !== undefined && !isFile(shape)) return rowsOf(shape, `${path}.`);
    const element =
      shape.items ?? (typeof shape.additionalProperties === 'object' ? shape.additionalProperties : {});
    const found = shapes(element).find(({ properties }) => properties !== undefined);
    if (found !== undefined && !isFile(found))
      return rowsOf(found, `${path}${shape.items === undefined ? '.NAME.' : '[].'}`);
  }
  return [];
}

/** All that a field may be. */
function shapes(schema: Schema): readonly Schema[] {
  const several = schema.anyOf ?? schema.oneOf;
  return several === undefined || schema.properties !== undefined ? [schema] : several.flatMap(shapes);
}

function typeOf(schema: Schema, path: string, between = ', '): string {
  const set = setOf(schema);
  if (set !== undefined) return set;
  const all = shapes(schema);
  if (all.some(isAnything)) return 'anything';
  const names = all.map((shape) => nameOf(shape, path));
  return [...new Set(names.filter((name) => name !== ''))].join(between);
}

/** The type of a set: a list, or which members to add and to remove. */
function setOf(schema: Schema): string | undefined {
  const all = shapes(schema);
  if (!all.some(({ properties = {} }) => Object.keys(properties).join() === 'add,remove')) return undefined;
  const elements = all.flatMap(({ items }) => (items === undefined ? [] : shapes(items)));
  const { properties: names = {} } = elements.find(({ properties }) => properties !== undefined) ?? {};
  const more =
    Object.keys(names).join() === 'id,name' ? '' : ` of ${code(`{${Object.keys(names).join(', ')}}`)}`;
  return `[set](#sets)${more}`;
}

function isAnything({ description, examples, ...rest }: Schema): boolean {
  return Object.keys(rest).length === 0;
}

function nameOf(schema: Schema, path: string): string {
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum?.join() === kindNames.join()) return '[kind](manifests.md#kinds)';
  if (schema.enum !== undefined) return schema.enum.map((value) => code(JSON.stringify(value))).join(', ');
  // A variable may stand wherever something narrower than text is expected; the page says so once.
  if (schema.pattern === '\\$\\{') return '';
  // So may {file: PATH}.
  if (isFile(schema)) return '';
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {}, path, ' or ')}`;
  if (schema.format === 'date-time') return 'date-time';
  if (Array.isArray(schema.type)) return schema.type.map(word).join(', ');
  if (schema.properties !== undefined && members.test(path))
    return code(`{${Object.keys(schema.properties).join(', ')}}`);
  return word(String(schema.type ?? ''));
}

function word(type: string): string {
  return { object: 'map', integer: 'whole number', string: 'text' }[type] ?? type;
}

function isFile({ properties }: Schema): boolean {
  return properties !== undefined && Object.keys(properties).join() === 'file';
}

function meaningOf(schema: Schema, isAlone: boolean): string {
  const more = [
    ...(schema.default === undefined || String(schema.default) === ''
      ? []
      : [`Default: ${code(JSON.stringify(schema.default))}.`]),
    ...(isAlone && schema.default === undefined && setOf(schema) === undefined ? exampleOf(schema) : []),
  ];
  // The type of a set says this.
  const said = sentence((schema.description ?? '').replace(': a list of all, or {add, remove}', ''));
  const stop = more.length > 0 && !/(^|[.!?])$/.test(said) ? '.' : '';
  return [`${said}${stop}`, ...more].filter((part) => part !== '').join(' ');
}

/** An example of a list or a map, if it fits into a cell. */
function exampleOf({ examples: [example] = [] }: Schema): string[] {
  if (typeof example !== 'object' || example === null || 'file' in example) return [];
  const text = JSON.stringify(example);
  return text.length > 60 || /[0-9a-f]{8}-/.test(text) ? [] : [`Example: ${code(text)}.`];
}

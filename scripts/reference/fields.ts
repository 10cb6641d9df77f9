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
      return kind === 'Users' ? usersOf(found) : fieldsOf(field === undefined ? found : mapOf(found, field));
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

/** The fields of a document about many users; those that one about a single user has too are only named. */
function usersOf(users: Schema): string {
  const { properties: single = {} } = documentOf('User');
  const { properties: many = {} } = users;
  const [shared, own] = [true, false].map((isShared) =>
    Object.keys(many).filter((name) => name !== 'kind' && name in single === isShared),
  );
  const properties = Object.fromEntries((own ?? []).map((name) => [name, many[name] ?? {}]));
  return `${fieldsOf({ ...users, properties })}\n\nAlso, as in [User](#user): ${(shared ?? []).map(code).join(', ')}.`;
}

function sentence(text: string): string {
  return plain(`${text.slice(0, 1).toUpperCase()}${text.slice(1)}`);
}

function fieldsOf(schema: object): string {
  return table(['field', 'type', 'meaning'], rowsOf(schema as Schema, ''));
}

function rowsOf(schema: Schema, above: string): string[][] {
  return Object.entries(schema.properties ?? {})
    .filter(([name, { const: only }]) => name !== 'kind' || only === undefined)
    .flatMap(([name, field]) => {
      const path = `${above}${name}`;
      const required = schema.required?.includes(name) === true;
      const shown = required ? `**${code(path)}**` : code(path);
      return [[shown, typeOf(field, path), meaningOf(field)], ...below(field, path)];
    });
}

/** Fields whose members have no rows: the page explains them elsewhere, or their type names them all. */
const folded =
  /^(environments|checks|backend|plan|result|users|key_pair_type|identity_provider|match\..*|except|shard|summary|organizations\[\]\.roles|.*\.(scopes|requests|before|after|recorded|places?|declared_at)|warnings)$/;

/** Those of them whose type names their members. */
const members =
  /^(users|key_pair_type|identity_provider|match\..*|except|shard|summary|organizations\[\]\.roles|.*\.(scopes|requests|places?|declared_at))$/;

/** The fields within a field. */
function below(field: Schema, path: string): string[][] {
  if (folded.test(path)) return [];
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
  const all = shapes(schema);
  if (all.some(isAnything)) return 'anything';
  const names = all.map((shape) => nameOf(shape, path));
  return [...new Set(names.filter((name) => name !== ''))].join(between);
}

function isAnything({ description, examples, ...rest }: Schema): boolean {
  return Object.keys(rest).length === 0;
}

function nameOf(schema: Schema, path: string): string {
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
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

function meaningOf(schema: Schema): string {
  const more = [
    ...(schema.default === undefined ? [] : [`Default: ${code(JSON.stringify(schema.default))}.`]),
    ...exampleOf(schema),
  ];
  const said = sentence(schema.description ?? '');
  const stop = more.length > 0 && !/(^|[.!?])$/.test(said) ? '.' : '';
  return [`${said}${stop}`, ...more].filter((part) => part !== '').join(' ');
}

/** An example that fits into a cell; ids are all alike. */
function exampleOf({ examples = [] }: Schema): string[] {
  const [example] = examples;
  const text = example === undefined ? '' : JSON.stringify(example);
  return text === '' || text.length > 60 || /[0-9a-f]{8}-/.test(text) ? [] : [`Example: ${code(text)}.`];
}

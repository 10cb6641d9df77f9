import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { jsonSchema } from '../src/session/json-schema.js';
import { type SchemaName, schemaNames } from '../src/session/schema-names.js';

function schema(name: SchemaName): object {
  return JSON.parse(readFileSync(`schemas/${name}.schema.json`, 'utf8'));
}

function validator(name: SchemaName): ValidateFunction {
  const ajv = new Ajv2020({ allErrors: true, strict: false });
  addFormats.default(ajv);
  return ajv.compile(schema(name));
}

function expectToFit(name: SchemaName, value: unknown, fits = true): void {
  const validate = validator(name);
  const valid = validate(value);
  expect(valid ? [] : validate.errors).toEqual(fits ? [] : expect.arrayContaining([expect.anything()]));
}

describe('schemas/', () => {
  it.each(schemaNames)('holds the schema of a %s as idops checks it', (name) => {
    expect(schema(name)).toEqual(JSON.parse(JSON.stringify(jsonSchema(name))));
  });

  it('holds no other file', () => {
    expect(readdirSync('schemas').sort()).toEqual(schemaNames.map((name) => `${name}.schema.json`).sort());
  });

  it.each(schemaNames)('says of the schema of a %s which draft it is', (name) => {
    expect(schema(name)).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
  });
});

describe('examples/', () => {
  const files = readdirSync('examples', { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.ya?ml$/.test(path) && !path.includes('.idops'))
    // Workflows and the like are checked in test/action.
    .filter((path) => !/^(github|gitlab|kubernetes)[\\/]/.test(path))
    .sort();

  it.each(files)('%s names its schema in the first line, and fits it', (path) => {
    const text = readFileSync(join('examples', path), 'utf8');
    const [, reference = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text) ?? [];
    const name = schemaNames.find((it) => reference.endsWith(`schemas/${it}.schema.json`));
    if (name === undefined) throw new Error(`${path} does not begin with the line of its schema`);
    expect(readFileSync(join('examples', path, '..', reference), 'utf8')).not.toBe('');
    const documents = parseAllDocuments(text);
    expect(documents.length).toBeGreaterThan(0);
    for (const document of documents) expectToFit(name, document.toJS());
  });
});

/** A part of a schema, by the way that leads to it. */
interface Part {
  readonly path: string;
  readonly schema: { readonly [keyword: string]: unknown };
}

function isSchema(value: unknown): value is Part['schema'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every property that an editor may come upon, however deep. */
function propertiesOf(schema: unknown, path = ''): Part[] {
  if (!isSchema(schema)) return [];
  const { properties, items, additionalProperties } = schema;
  const own = isSchema(properties) ? Object.entries(properties) : [];
  const kind = isSchema(properties) && isSchema(properties.kind) ? String(properties.kind.const) : path;
  return [
    ...own.flatMap(([name, part]) => [
      ...(isSchema(part) ? [{ path: `${kind}.${name}`, schema: part }] : []),
      ...propertiesOf(part, `${kind}.${name}`),
    ]),
    ...propertiesOf(items, `${path}[]`),
    ...propertiesOf(additionalProperties, `${path}.NAME`),
    ...['anyOf', 'oneOf', 'allOf'].flatMap((word) => {
      const parts = schema[word];
      return Array.isArray(parts) ? parts.flatMap((part) => propertiesOf(part, path)) : [];
    }),
  ];
}

describe.each(['manifest', 'config'] as const)('in an editor, every property of a %s', (name) => {
  const properties = propertiesOf(schema(name));
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);

  it('says what it is', () => {
    expect(properties.length).toBeGreaterThan(50);
    const silent = properties.filter(
      ({ schema: { description } }) => !/^[A-Z\da-z].+\.$/.test(String(description)),
    );
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it('has an example, or can only be one thing', () => {
    const without = properties.filter(
      ({ schema: part }) =>
        part.const === undefined && !(Array.isArray(part.examples) && part.examples.length > 0),
    );
    expect(without.map(({ path }) => path)).toEqual([]);
  });

  it('fits its own examples and its default', () => {
    const wrong = properties.flatMap(({ path, schema: part }) => {
      const { examples = [], default: usual, ...plain } = part;
      const fits = ajv.compile(plain);
      const given = [...(examples as unknown[]), ...(usual === undefined ? [] : [usual])];
      return given.filter((one) => !fits(one)).map((one) => `${path}: ${JSON.stringify(one)}`);
    });
    expect(wrong).toEqual([]);
  });
});

test('what an environment leaves out has no default of its own', () => {
  const inner = propertiesOf(schema('config')).filter(({ path }) => path.startsWith('.environments.'));
  expect(inner.length).toBeGreaterThan(20);
  expect(inner.filter(({ schema: part }) => part.default !== undefined)).toEqual([]);
  expect(propertiesOf(schema('config')).some(({ schema: part }) => part.default === 'documented')).toBe(true);
});

describe('the schema of a manifest', () => {
  it.each<[string, unknown]>([
    [
      'a variable where a number is expected',
      { kind: 'User', id: 'u', backend: { smtp_port: `\${SMTP_PORT}` } },
    ],
    ['a variable where a boolean is expected', { kind: 'KeyPair', id: 'k', is_default: `\${IS_DEFAULT}` }],
    [
      'a body in a file',
      { kind: 'EmailTemplate', backend_id: 'b', type: 't', txt_content: { file: 'a.txt' } },
    ],
    [
      'an organization by its name',
      { kind: 'User', id: 'u', organizations: ['acme', { id: '1', roles: [] }] },
    ],
    ['a cleared field', { kind: 'Organization', name: 'acme', label: null }],
  ])('takes %s', (_, document) => {
    expectToFit('manifest', document);
  });

  it.each<[string, unknown]>([
    ['an unknown kind', { kind: 'Group', id: 'g' }],
    ['an unknown field', { kind: 'Organization', name: 'acme', lable: 'x' }],
    ['a client field that can not be declared', { kind: 'Client', id: 'c', secret: 'x' }],
    ['a wrong type', { kind: 'User', id: 'u', blocked: 'yes' }],
    ['a document without its id', { kind: 'User' }],
  ])('refuses %s', (_, document) => {
    expectToFit('manifest', document, false);
  });
});

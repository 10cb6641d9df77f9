import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
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

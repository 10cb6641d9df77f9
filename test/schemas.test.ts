import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadManifests } from '../src/manifests/load.js';
import { loadProject } from '../src/project/index.js';
import { jsonSchema } from '../src/session/json-schema.js';
import { schemaNames } from '../src/session/schema-names.js';
import { temporaryFolder } from './cleanups.js';
import { compile, expectToMatchSchema, schemaOf, validator } from './e2e/schemas.js';

describe('schemas/', () => {
  it.each(schemaNames)('holds the schema of a %s as idops checks it', (name) => {
    expect(schemaOf(name)).toEqual(JSON.parse(JSON.stringify(jsonSchema(name))));
  });

  it('holds no other file', () => {
    expect(readdirSync('schemas').sort()).toEqual(schemaNames.map((name) => `${name}.schema.json`).sort());
  });
});

describe('examples/', () => {
  const files = readdirSync('examples', { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.ya?ml$/.test(path) && !path.includes('.idops'))
    // test/action checks workflows and similar files.
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
    for (const document of documents) expectToMatchSchema(name, document.toJS());
  });
});

/** A part of a schema, with its path. */
interface Part {
  readonly path: string;
  readonly schema: { readonly [keyword: string]: unknown };
}

function isSchema(value: unknown): value is Part['schema'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every property that an editor can show, at any depth. */
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
  const properties = propertiesOf(schemaOf(name));

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
      const fits = compile(plain);
      const given = [...(examples as unknown[]), ...(usual === undefined ? [] : [usual])];
      return given.filter((one) => !fits(one)).map((one) => `${path}: ${JSON.stringify(one)}`);
    });
    expect(wrong).toEqual([]);
  });
});

/** Whether a part needs no example, because it has few values or its members have examples. */
function isPlain(part: unknown): boolean {
  if (!isSchema(part)) return false;
  const { const: only, enum: few, examples, type, properties, items, additionalProperties: values } = part;
  const types = [type].flat();
  return (
    [part.anyOf, part.oneOf].some((parts) => Array.isArray(parts) && parts.every(isPlain)) ||
    [only, few, examples, properties].some((one) => one !== undefined) ||
    (isSchema(items) && isPlain(items)) ||
    (isSchema(values) && isPlain(values)) ||
    types.every((one) => one === 'boolean' || one === 'null')
  );
}

describe.each(['plan', 'run'] as const)('for a program, every property of a %s', (name) => {
  const properties = propertiesOf(schemaOf(name));

  it('says what it is, with an example', () => {
    expect(properties.length).toBeGreaterThan(40);
    const silent = properties.filter(
      ({ schema: part }) => !/^\w/.test(String(part.description ?? '')) || !isPlain(part),
    );
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it('fits its own examples', () => {
    const wrong = properties.filter(({ schema: { examples = [], ...plain } }) =>
      (examples as unknown[]).some((one) => !compile(plain)(one)),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });
});

test('what an environment leaves out has no default of its own', () => {
  const inner = propertiesOf(schemaOf('config')).filter(({ path }) => path.startsWith('.environments.'));
  expect(inner.length).toBeGreaterThan(20);
  expect(inner.filter(({ schema: part }) => part.default !== undefined)).toEqual([]);
  expect(propertiesOf(schemaOf('config')).some(({ schema: part }) => part.default === 'documented')).toBe(
    true,
  );
});

test('a manifest is refused by its schema where what is in it alone makes validate refuse it', async () => {
  const word = fc.constantFrom('a', 'b');
  const some = <T>(shape: { [name: string]: fc.Arbitrary<T> }) => fc.record(shape, { requiredKeys: [] });
  // Only one form of each value, because a schema can't tell that two forms are equal.
  const roles = fc.array(
    fc.constantFrom({ id: 'r1' }, { name: 'r2' }, { id: 'r3', name: 'r3' }, { scopes: [] }),
    { maxLength: 3 },
  );
  const memberships = fc.array(fc.oneof(word, fc.constantFrom({ id: 'c' }, { name: 'd' }, { label: 'e' })), {
    maxLength: 3,
  });
  const scope = fc.constantFrom(
    { id: 's', name: 's', label: 's' },
    { id: 't', name: 't', label: 't' },
    { id: 'u' },
  );
  const body = fc.constantFrom('text', null);
  const documents = fc.oneof(
    some({ id: word, name: word, label: word }).map((fields) => ({ kind: 'Organization', ...fields })),
    some({
      id: word,
      txt_content: body,
      html_content: body,
      state: fc.constantFrom('present', 'absent'),
    }).map((fields) => ({ kind: 'EmailTemplate', backend_id: 'b', type: 'tx_code', ...fields })),
    some<unknown>({
      organizations: memberships,
      authorized_scopes: fc.array(scope, { maxLength: 3 }),
      roles,
    }).map((fields) => ({ kind: 'User', id: 'u', ...fields })),
  );
  const cwd = await temporaryFolder('schemas');
  await writeFile(join(cwd, 'idops.yaml'), 'version: 1\nserver: {profile: boruta}\nmanifests: [one.yaml]\n');
  const fits = validator('manifest');
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(documents, async (made) => {
      const text = JSON.stringify(made);
      const document = JSON.parse(text);
      await writeFile(join(cwd, 'one.yaml'), text);
      const project = await loadProject({ cwd, variables: {} });
      const { problems } = await loadManifests(project, {
        lenient: false,
        profile: { ...project.profile, limits: null },
      });
      const errors = problems.filter(({ severity }) => severity === 'error');
      if (errors.length > 0) refused += 1;
      expect([fits(document), errors.map(({ message }) => message)]).toEqual(
        errors.length > 0 ? [false, expect.anything()] : [true, []],
      );
    }),
    { numRuns: 150 },
  );
  expect(refused).toBeGreaterThan(20);
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
    expectToMatchSchema('manifest', document);
  });
});

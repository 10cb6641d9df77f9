import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import type { SchemaName } from '../../src/session/schema-names.js';

/** The validator of a schema. */
export function compile(schema: object): ValidateFunction {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  return ajv.compile(schema);
}

/** A schema in schemas/. */
export function schemaOf(name: SchemaName): object {
  return JSON.parse(readFileSync(`schemas/${name}.schema.json`, 'utf8'));
}

const validators = new Map<SchemaName, ValidateFunction>();

/** The validator of a schema in schemas/. */
export function validator(name: SchemaName): ValidateFunction {
  const made = validators.get(name) ?? compile(schemaOf(name));
  validators.set(name, made);
  return made;
}

/** Checks output of a command against a schema in schemas/. */
export function expectToMatchSchema(name: SchemaName, value: unknown): void {
  const validate = validator(name);
  validate(value);
  expect(validate.errors ?? []).toEqual([]);
}

/** Checks output of a command against the table below a heading of docs/reference/json.md: each field is in the table, and fields that are always present exist. */
export function expectDocumented(heading: string, value: object): void {
  const [, page = ''] = readFileSync('docs/reference/json.md', 'utf8').split(`\n## ${heading}\n`);
  const [section = ''] = page.split('\n## ');
  const rows = [...section.matchAll(/^\| ?(\**)`([^`]+)`/gm)].map(([, bold, path = '']) => ({ bold, path }));
  // The page documents it once for all.
  rows.push({ bold: '**', path: 'format_version' });
  const paths = rows.map(({ path }) => path);
  const isAbove = (path: string) =>
    paths.some((one) => one.startsWith(`${path}.`) || one.startsWith(`${path}[]`));
  const pathsOf = (part: unknown, path: string): string[] => {
    if (Array.isArray(part)) return part.flatMap((item) => pathsOf(item, `${path}[]`));
    if (typeof part !== 'object' || part === null) return [];
    return Object.entries(part).flatMap(([name, member]) => {
      const inner = path === '' ? name : `${path}.${name}`;
      return [inner, ...(isAbove(inner) ? pathsOf(member, inner) : [])];
    });
  };
  const found = new Set(pathsOf(value, ''));
  expect([...found].filter((path) => !paths.includes(path))).toEqual([]);
  const always = rows.filter(({ bold, path }) => bold !== '' && !/[.[]/.test(path));
  expect(always.filter(({ path }) => !found.has(path))).toEqual([]);
}

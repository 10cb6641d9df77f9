import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import type { SchemaName } from '../../src/session/schema-names.js';

/** Checks what a command printed against the schema that lies in schemas/. */
export function expectToFit(name: SchemaName, value: unknown): void {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const validate = ajv.compile(JSON.parse(readFileSync(`schemas/${name}.schema.json`, 'utf8')));
  validate(value);
  expect(validate.errors ?? []).toEqual([]);
}

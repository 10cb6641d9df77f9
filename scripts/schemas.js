// Writes schemas/ from the schemas with which idops validates; a test compares them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { jsonSchema } from '../dist/session/json-schema.js';
import { schemaNames } from '../dist/session/schema-names.js';

mkdirSync('schemas', { recursive: true });
for (const name of schemaNames) {
  writeFileSync(`schemas/${name}.schema.json`, `${JSON.stringify(jsonSchema(name), null, 2)}\n`);
}

// Writes schemas/ anew from the schemas that idops checks with; a test holds the two equal.
import { mkdirSync, writeFileSync } from 'node:fs';
import { jsonSchema } from '../dist/session/json-schema.js';
import { schemaNames } from '../dist/session/schema-names.js';

mkdirSync('schemas', { recursive: true });
for (const name of schemaNames) {
  writeFileSync(`schemas/${name}.schema.json`, `${JSON.stringify(jsonSchema(name), null, 2)}\n`);
}

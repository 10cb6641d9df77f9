import * as z from 'zod';
import { kinds } from '../kinds/index.js';
import { configSchema } from '../project/index.js';
import { planSchema, resultSchema } from '../report/schemas.js';
import { journalLineSchema } from '../state/journal.js';
import type { SchemaName } from './schema-names.js';

const sources: { readonly [name in SchemaName]: readonly [title: string, schema: () => z.ZodType] } = {
  manifest: [
    'One document of an idops manifest',
    () =>
      z.union(
        kinds.flatMap(({ schema, bulk }) => [schema(), ...(bulk === undefined ? [] : [bulk.schema()])]),
      ),
  ],
  config: ['The configuration of an idops project, idops.yaml', () => configSchema],
  plan: ['A plan, as idops plan prints it with --format json, or stores it', () => planSchema],
  run: [
    'A run: the result that idops apply --format json prints, or a line of its journal',
    () => z.union([resultSchema, journalLineSchema]),
  ],
};

/** A JSON Schema (draft 2020-12), generated from the schema that idops itself uses. */
export function jsonSchema(name: SchemaName): object {
  const [title, schemaOf] = sources[name];
  const { $schema, ...schema } = z.toJSONSchema(schemaOf(), {
    io: name === 'manifest' || name === 'config' ? 'input' : 'output',
    override: ({ zodSchema, jsonSchema: part }) => {
      if (name !== 'manifest' && name !== 'config') return;
      allowVariables(part);
      // zod drops these annotations from a transformed value, such as a file reference.
      const { examples, default: defaultValue } = z.globalRegistry.get(zodSchema) ?? {};
      if (Array.isArray(examples)) part.examples = examples;
      if (defaultValue !== undefined) part.default = defaultValue as typeof part.default;
    },
  });
  if (name === 'config') withoutDefaults(schema.properties?.environments);
  return { $schema, title, ...schema };
}

/** An environment inherits what it leaves out, so it has no defaults. */
function withoutDefaults(part: unknown): void {
  if (typeof part !== 'object' || part === null) return;
  for (const [key, inner] of Object.entries(part)) {
    const isSchema = 'description' in part || 'type' in part || 'anyOf' in part;
    if (key === 'default' && isSchema) Reflect.deleteProperty(part, key);
    else if (key !== 'examples') withoutDefaults(inner);
  }
}

/** Allows `${NAME}` instead of any value that is not a free string. */
function allowVariables(part: z.core.JSONSchema.BaseSchema): void {
  const isRestricted =
    part.type === 'boolean' ||
    part.type === 'integer' ||
    part.type === 'number' ||
    (part.type === 'string' &&
      (part.format !== undefined || part.pattern !== undefined || part.enum !== undefined));
  if (!isRestricted || part.const !== undefined) return;
  const { description, examples, default: usual, ...rest } = part;
  const annotations = { description, examples, default: usual };
  for (const key of Object.keys(part)) delete part[key];
  for (const [key, value] of Object.entries(annotations)) if (value !== undefined) part[key] = value;
  part.anyOf = [rest, { type: 'string', pattern: '\\$\\{' }];
}

import { jsonSchema } from '../../session/json-schema.js';
import type { SchemaName } from '../../session/schema-names.js';
import type { Context } from '../context.js';
import { type ExitCode, exit } from '../exit.js';

export async function schema({ output }: Context, _options: object, name: SchemaName): Promise<ExitCode> {
  output.json(jsonSchema(name));
  return exit.done;
}

import { error, ProblemsError } from '../../base/problems.js';
import { jsonSchema } from '../../session/json-schema.js';
import { schemaNames } from '../../session/schema-names.js';
import type { Context } from '../context.js';
import { type ExitCode, exit } from '../exit.js';

/** `idops schema`: a JSON Schema on standard output. */
export async function schema({ output }: Context, _options: object, name: string): Promise<ExitCode> {
  const known = schemaNames.find((one) => one === name);
  if (known === undefined) {
    throw new ProblemsError([
      error('wrong-option', `there is no schema "${name}"`, [], `the schemas are ${schemaNames.join(', ')}`),
    ]);
  }
  output.json(jsonSchema(known));
  return exit.done;
}

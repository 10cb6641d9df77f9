import type * as z from 'zod';

/** A schema with its description. */
export function described<S extends z.ZodType>(schema: S, description: string, ...examples: unknown[]) {
  return schema.meta({ description, examples });
}

/** An optional member, with its description. */
export function optional<S extends z.ZodType>(schema: S, description: string, ...examples: unknown[]) {
  return described(schema.optional(), description, ...examples);
}

/** An optional member with a default, which only its description says. */
export function defaulted<S extends z.ZodType>(
  schema: S,
  value: unknown,
  description: string,
  ...examples: unknown[]
) {
  return schema.optional().meta({ description, examples, default: value });
}

/** An optional member that may be null. */
export function nullish<S extends z.ZodType>(schema: S, description: string, ...examples: unknown[]) {
  return schema.nullable().optional().meta({ description, examples });
}

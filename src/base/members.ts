import type * as z from 'zod';

/** An optional member, with its description. */
export function optional<S extends z.ZodType>(schema: S, description: string, ...examples: unknown[]) {
  return schema.optional().meta({ description, examples });
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

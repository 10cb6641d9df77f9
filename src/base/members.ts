import type * as z from 'zod';

/** An optional member, with its description. */
export function optional<S extends z.ZodType>(schema: S, description: string, ...examples: unknown[]) {
  return schema.optional().meta({ description, examples });
}

/** An optional member that may be null. */
export function nullish<S extends z.ZodType>(schema: S, description: string, ...examples: unknown[]) {
  return schema.nullable().optional().meta({ description, examples });
}

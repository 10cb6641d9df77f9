import type * as z from 'zod';

/** A member that may be left out, with what people and editors read about it. */
export function optional<S extends z.ZodType>(schema: S, description: string, ...examples: unknown[]) {
  return schema.optional().meta({ description, examples });
}

/** A member that may be left out, or null. */
export function nullish<S extends z.ZodType>(schema: S, description: string, ...examples: unknown[]) {
  return schema.nullable().optional().meta({ description, examples });
}

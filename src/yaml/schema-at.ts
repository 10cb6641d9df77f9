import * as z from 'zod';
import type { Path } from './tree.js';

/** The schemas that a value at a path may fit, the alternatives of a union each for itself. */
export function schemasAt(schema: unknown, path: Path): readonly unknown[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => schemasAt(option, path));
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return schemasAt(schema.unwrap(), path);
  if (schema instanceof z.ZodPipe) return schemasAt(schema.in, path);
  const [step, ...rest] = path;
  if (step === undefined) return [schema];
  if (schema instanceof z.ZodObject) {
    const { shape } = schema;
    return Object.hasOwn(shape, step) ? schemasAt(shape[String(step)], rest) : [];
  }
  if (schema instanceof z.ZodArray) return schemasAt(schema.element, rest);
  if (schema instanceof z.ZodRecord) return schemasAt(schema.valueType, rest);
  return [];
}

/** The names that an object of the schema may have at a path. */
export function knownFields(schema: unknown, path: Path): readonly string[] {
  const fields = schemasAt(schema, path).flatMap((one) =>
    one instanceof z.ZodObject ? Object.keys(one.shape) : [],
  );
  return [...new Set(fields)];
}

import * as z from 'zod';
import { isMap, type Json } from '../base/values.js';

/**
 * A map of JSON in a file, handed on as it is: copying it member by member would lose one that is named `__proto__`,
 * and a number as it is written.
 */
export function jsonFields() {
  const fields = z.unknown().refine(isMap, 'expected a map').meta({ type: 'object' });
  return fields as unknown as z.ZodType<{ [field: string]: Json }>;
}

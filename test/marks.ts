import { createHash } from 'node:crypto';
import { seed } from './often.js';

/** Unique bytes for a name, reproducible by the seed. */
export function bytesOf(name: string, size: number): Buffer {
  return createHash('shake256', { outputLength: size }).update(`${seed} ${name}`).digest();
}

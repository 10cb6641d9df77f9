import { createHash } from 'node:crypto';
import { seed } from './often.js';

/** Bytes that nothing else has, the same for each seed. */
export function bytesOf(name: string, size: number): Buffer {
  return createHash('shake256', { outputLength: size }).update(`${seed} ${name}`).digest();
}

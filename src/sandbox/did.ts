import { createHash, randomUUID } from 'node:crypto';

/** The DID that belongs to a public key: the same key, the same DID. */
export function didOfKey(publicKey: string): string {
  return `did:key:z${createHash('sha256').update(publicKey).digest('hex')}`;
}

/** A DID nobody has had before. */
export function freshDid(): string {
  return didOfKey(randomUUID());
}

import { createHash } from 'node:crypto';

/** The DID of a public key. */
export function didOfKey(publicKey: string): string {
  return `did:key:z${createHash('sha256').update(publicKey).digest('hex')}`;
}

import { generateKeyPairSync, randomBytes } from 'node:crypto';

/** A new public key of an RSA pair: a random number in place of the product of two primes, which takes long to find. */
export function newRsaKey(): string {
  const head = Buffer.from('3082010a0282010100', 'hex');
  const modulus = randomBytes(256);
  modulus[0] = (modulus[0] ?? 0) | 0x80;
  modulus[255] = (modulus[255] ?? 0) | 1;
  const der = Buffer.concat([head, modulus, Buffer.from('0203010001', 'hex')]);
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN RSA PUBLIC KEY-----\n${lines.join('\n')}\n-----END RSA PUBLIC KEY-----\n\n`;
}

/** A new public key of such a type; undefined if the server crashes with it. */
export function newKey({ type, curve }: { type?: unknown; curve?: unknown }): string | undefined {
  if (type === 'rsa') return newRsaKey();
  if (curve !== 'P-256' && curve !== 'P-384') return undefined;
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: curve });
  return `${publicKey.export({ type: 'spki', format: 'pem' }).toString()}\n`;
}

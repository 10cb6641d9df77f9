import { createPrivateKey, X509Certificate } from 'node:crypto';

const certificate = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** Throws if a PEM text holds no certificate, or an invalid one. */
export function checkCertificates(pem: string): void {
  const found = pem.match(certificate) ?? [];
  if (found.length === 0) throw new Error('no certificate');
  for (const text of found) new X509Certificate(text);
}

/** Whether a private key belongs to the first certificate: the client's own comes before its chain. */
export function isKeyOf(cert: string, key: string): boolean {
  const [first] = cert.match(certificate) ?? [];
  return first !== undefined && new X509Certificate(first).checkPrivateKey(createPrivateKey(key));
}

import { createPrivateKey, X509Certificate } from 'node:crypto';

const certificate = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** Throws if a PEM text holds no certificate, or an invalid one. */
export function checkCertificates(pem: string): void {
  const found = pem.match(certificate) ?? [];
  if (found.length === 0) throw new Error('no certificate');
  for (const one of found) new X509Certificate(one);
}

/** Whether a private key belongs to the first certificate, which is the client's own. */
export function isKeyOf(cert: string, key: string): boolean {
  const [first] = cert.match(certificate) ?? [];
  return first !== undefined && new X509Certificate(first).checkPrivateKey(createPrivateKey(key));
}

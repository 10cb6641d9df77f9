import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';

/** A certificate and its key, as PEM texts. */
export interface Issued {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateOptions {
  /** The issuer; default: the certificate itself. */
  readonly issuer?: Authority;
  readonly hosts?: readonly string[];
  /** Days from now. */
  readonly from?: number;
  readonly to?: number;
}

/** A certificate whose key can sign others. */
export interface Authority extends Issued {
  readonly name: string;
  readonly privateKey: KeyObject;
}

/** Issues a certificate with a new key, by default for the loopback interface. */
export function issue(name: string, options: CertificateOptions = {}): Authority {
  const { issuer, hosts = ['localhost', '127.0.0.1'], from = -1, to = 30 } = options;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const signature = sequence(oid('2a8648ce3d040302'));
  const content = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    signature,
    distinguished(issuer?.name ?? name),
    sequence(time(from), time(to)),
    distinguished(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(authority(issuer === undefined), alternatives(hosts))),
  );
  const signed = createSign('sha256')
    .update(content)
    .sign(issuer?.privateKey ?? privateKey);
  const der = sequence(content, signature, tagged(0x03, Buffer.concat([Buffer.from([0]), signed])));
  const lines = der.toString('base64').replace(/.{1,64}/g, '$&\n');
  return {
    name,
    privateKey,
    cert: `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function tagged(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, ...parts);
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes);
}

function oid(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'));
}

function distinguished(name: string): Buffer {
  return sequence(tagged(0x31, sequence(oid('550403'), tagged(0x0c, Buffer.from(name)))));
}

function time(days: number): Buffer {
  const at = new Date(Date.now() + days * 86_400_000).toISOString().replace(/[-:T]|\.\d+/g, '');
  return tagged(0x18, Buffer.from(at));
}

function authority(isOne: boolean): Buffer {
  const yes = tagged(0x01, Buffer.from([255]));
  return sequence(oid('551d13'), yes, tagged(0x04, isOne ? sequence(yes) : sequence()));
}

function alternatives(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) =>
    /^[\d.]+$/.test(host)
      ? tagged(0x87, Buffer.from(host.split('.').map(Number)))
      : tagged(0x82, Buffer.from(host)),
  );
  return sequence(oid('551d11'), tagged(0x04, sequence(...names)));
}

import { createServer, type ServerOptions } from 'node:https';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Sensitive } from '../../src/base/values.js';
import type { TlsSettings } from '../../src/server/connections.js';
import { issue } from './certificates.js';
import { failureOf, json, listening, regenerate, rename, use } from './serving.js';

const authority = issue('test authority');
const server = issue('server', { issuer: authority });
const client = issue('client', { issuer: authority });

async function serving(options: ServerOptions = {}): Promise<{ origin: string; served: () => number }> {
  let served = 0;
  const https = createServer({ cert: server.cert, key: server.key, ...options }, (_, response) => {
    served += 1;
    json(response, 200, { data: { id: 'o1' } });
  });
  https.on('tlsClientError', () => {});
  return { origin: await listening(https, 'https'), served: () => served };
}

const trusted: TlsSettings = { ca: authority.cert };

describe('a server with a certificate of a private authority', () => {
  test('is trusted if the authority is configured, for PATCH and POST', async () => {
    const { origin } = await serving();
    const { writer } = use(origin, { tls: trusted });
    expect(await writer.send(rename)).toMatchObject({ status: 200 });
    expect(await writer.send(regenerate)).toMatchObject({ status: 200 });
  });

  test('is not trusted otherwise, and the error names the setting', async () => {
    const { origin, served } = await serving();
    const { writer } = use(origin);
    for (const request of [rename, regenerate]) {
      const failure = await failureOf(writer.send(request));
      expect(failure).toMatchObject({ kind: 'unreachable', attempts: 1, sent: false });
      expect(failure.message).toMatch(/authority that this machine does not know.*server\.tls\.ca_file/);
    }
    expect(served()).toBe(0);
  });

  test.each(['direct', 'by a POST'])(
    'is not trusted though Node is told to trust everybody: %s',
    async (way) => {
      vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
      onTestFinished(() => void vi.unstubAllEnvs());
      const { origin, served } = await serving();
      const { writer } = use(origin);
      const failure = await failureOf(writer.send(way === 'direct' ? rename : regenerate));
      expect(failure).toMatchObject({ kind: 'unreachable', sent: false });
      expect(served()).toBe(0);
    },
  );

  test('is not trusted if another authority is configured, which replaces the known ones', async () => {
    const { origin } = await serving();
    const failure = await failureOf(use(origin, { tls: { ca: issue('other').cert } }).writer.send(rename));
    expect(failure).toMatchObject({ kind: 'unreachable', attempts: 1, sent: false });
  });

  test.each([
    ['has expired', { from: -3, to: -1 }, 'its certificate has expired (CERT_HAS_EXPIRED)'],
    ['is not valid yet', { from: 1, to: 3 }, 'its certificate is not valid yet (CERT_NOT_YET_VALID)'],
    ['is for another host', { hosts: ['id.example.com'] }, 'its certificate is for another host name'],
  ])('that %s is refused with its own message, and nothing is sent', async (_, options, sentence) => {
    const bad = issue('server', { issuer: authority, ...options });
    const { origin, served } = await serving({ cert: bad.cert, key: bad.key });
    for (const request of [rename, regenerate]) {
      const failure = await failureOf(use(origin, { tls: trusted }).writer.send(request));
      expect(failure).toMatchObject({ kind: 'unreachable', attempts: 1, sent: false });
      expect(failure.message).toContain(sentence);
    }
    expect(served()).toBe(0);
  });
});

describe('a server that wants a client certificate', () => {
  const wanting = { requestCert: true, rejectUnauthorized: true, ca: authority.cert };

  test('gets it', async () => {
    const { origin } = await serving(wanting);
    const tls = { ...trusted, clientCert: client.cert, clientKey: new Sensitive(client.key) };
    expect(await use(origin, { tls }).writer.send(rename)).toMatchObject({ status: 200 });
  });

  test('is reported if there is none', async () => {
    const { origin, served } = await serving({ ...wanting, maxVersion: 'TLSv1.2' });
    const failure = await failureOf(use(origin, { tls: trusted }).writer.send(rename));
    expect(failure.message).toContain('server.tls.client_cert_file names one');
    expect(served()).toBe(0);
  });

  test('refuses only after the request was sent in TLS 1.3, so a POST is not repeated', async () => {
    const { origin, served } = await serving({ ...wanting, minVersion: 'TLSv1.3' });
    const failure = await failureOf(use(origin, { tls: trusted }).writer.send(regenerate));
    expect(failure).toMatchObject({ kind: 'lost', attempts: 1 });
    expect(served()).toBe(0);
  });
});

describe('an old TLS', () => {
  test('is refused', async () => {
    const { origin, served } = await serving({
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    const failure = await failureOf(use(origin, { tls: trusted }).writer.send(rename));
    expect(failure).toMatchObject({ kind: 'unreachable', sent: false });
    expect(failure.message).toContain('it does not support TLS 1.2 or later');
    expect(served()).toBe(0);
  });
});

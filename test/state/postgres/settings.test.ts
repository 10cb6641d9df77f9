import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { type PostgresTls, postgresBackend, secretsOf } from '../../../src/state/postgres/index.js';
import { targetOf } from '../../../src/state/postgres/settings.js';
import { afterwards } from '../../cleanups.js';
import { problemOf, secret } from './failing.js';

describe('the URL of a database', () => {
  const ssl = (url: string, tls?: PostgresTls) =>
    targetOf({ url, name: 'a', ...(tls && { tls }) }).config.ssl;

  it('says where the state is, and nothing secret', () => {
    const { place, config } = targetOf({
      url: `postgresql://ada:${secret}@db.example.com/identity`,
      name: 'production',
    });
    expect(place).toBe('production in PostgreSQL db.example.com:5432/identity');
    expect(config).toMatchObject({ host: 'db.example.com', port: 5432, database: 'identity', user: 'ada' });
    expect(targetOf({ url: 'postgres://[::1]:5433/x', name: 'a' }).place).toBe(
      'a in PostgreSQL [::1]:5433/x',
    );
    expect(targetOf({ url: 'postgres://u:p@/x?host=/run/pg', name: 'a' }).place).toBe(
      'a in PostgreSQL /run/pg:5432/x',
    );
    expect(targetOf({ url: 'postgres://:5433/x?host=/run/pg', name: 'a' }).config.port).toBe(5433);
    expect(targetOf({ url: `postgres://:${secret}@h/x`, name: 'a' }).config.host).toBe('h');
    expect(targetOf({ url: 'postgres://%2Frun%2Fpg/x', name: 'a' }).config.host).toBe('/run/pg');
  });

  it.each([
    ['mysql://u:s3cr3t-w0rd@h/d'],
    ['s3cr3t-w0rd'],
    [''],
    ['postgres://u:s3cr3t-w0rd@h'],
    ['postgres://u:s3cr3t-w0rd@h/'],
    ['postgres://u:s3cr3t-w0rd/x@h/d'],
    ['postgres://u:12/s3cr3t-w0rd@h/d'],
    ['postgres://u:12?s3cr3t-w0rd@h/d'],
    ['postgres://u:12#s3cr3t-w0rd@h/d'],
    ['postgres://u:s3cr3t-w0rd%@h/d'],
    ['postgres://u:s3cr3t-w0rd@h:port/d'],
    ['postgres://u:s3cr3t-w0rd@h:99999/d'],
    ['postgres://u:s3cr3t-w0rd@h/d?port=x'],
    ['postgres://u:s3cr3t-w0rd@one,two/d'],
    ['postgres://u:s3cr3t-w0rd@h/a%00b'],
    ['postgres://u:s3cr3t-w0rd@h%1b/a'],
    ['postgres://u:s3cr3t-w0rd@h/a?options=%00'],
    ['postgres://u:s3cr3t-w0rd@h/d?sslmode=no-verify'],
    ['postgres://u:s3cr3t-w0rd@h/d?sslmode=disabled'],
  ])('that is none is refused without being shown: %s', async (url) => {
    const { code, hint } = await problemOf(() => postgresBackend({ url, name: 'a' }));
    expect(code).toBe('wrong-value');
    expect(hint).toBeDefined();
  });

  it('tells what of it is secret', () => {
    const url = 'postgres://u:a%40b@h/d?password=c%20d';
    expect(secretsOf(url)).toEqual(['a%40b', 'c d', 'a@b']);
    expect(secretsOf('postgres://u:a/b@h/d')).toEqual(['postgres://u:a/b@h/d']);
    expect(secretsOf('postgres://h/d')).toEqual([]);
  });

  it.each(['', 'a\nb', 'x'.repeat(201)])('needs a name for the state beside it', async (name) => {
    const { code } = await problemOf(() => postgresBackend({ url: 'postgres://h/d', name }));
    expect(code).toBe('wrong-value');
  });

  it('asks for TLS and a certificate that is right, unless it says otherwise', async () => {
    const verified = { rejectUnauthorized: true };
    expect(ssl('postgres://db.example.com/d')).toEqual(verified);
    for (const mode of ['allow', 'prefer', 'require', 'verify-ca', 'verify-full'])
      expect(ssl(`postgres://localhost/d?sslmode=${mode}`)).toEqual(verified);
    expect(ssl('postgres://db.example.com/d?sslmode=disable')).toBe(false);
    for (const host of ['localhost', '127.0.0.1', '[::1]', '%2Frun'])
      expect(ssl(`postgres://${host}/d`)).toBe(false);
    expect(ssl('postgres://localhost/d', { ca: 'A' })).toEqual({ ...verified, ca: 'A' });
    expect(ssl('postgres://h/d?sslmode=verify-ca', { ca: 'A' })).toMatchObject({
      checkServerIdentity: expect.any(Function),
    });
    expect((await problemOf(() => ssl('postgres://h/d?sslmode=disable', { ca: 'A' }))).code).toBe(
      'wrong-value',
    );
    expect((await problemOf(() => ssl('postgres://h/d?sslrootcert=/nowhere'))).code).toBe('bad-certificate');
  });

  it('is taken as it is, whatever the variables of other programs say', () => {
    const before = { ...process.env };
    afterwards(() => {
      process.env = before;
    });
    Object.assign(process.env, { PGSSLMODE: 'disable', PGHOST: 'elsewhere', PGUSER: 'x', PGPASSWORD: 'x' });
    const client = new Client(targetOf({ url: 'postgres://ada@db.example.com/d', name: 'a' }).config);
    expect(client).toMatchObject({ host: 'db.example.com', user: 'ada', ssl: { rejectUnauthorized: true } });
  });
});

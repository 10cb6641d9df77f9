import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { type PostgresTls, postgresBackend, secretsOf } from '../../../src/state/postgres/index.js';
import { targetOf } from '../../../src/state/postgres/settings.js';
import { afterwards } from '../../cleanups.js';
import { issue } from '../../server/certificates.js';
import { problemOf, secret } from './failing.js';

const authority = issue('an authority');
const ca = authority.cert;

describe('the URL of a database', () => {
  const ssl = (url: string, tls?: PostgresTls) =>
    targetOf({ url, name: 'a', ...(tls && { tls }) }).config.ssl;

  it('names the place of the state without a secret', () => {
    const { place, config } = targetOf({
      url: `postgresql://ada:${secret}@db.example.com/identity`,
      name: 'production',
    });
    expect(place).toBe('production in PostgreSQL db.example.com:5432/identity');
    expect(config).toMatchObject({ host: 'db.example.com', port: 5432, database: 'identity', user: 'ada' });
    expect(targetOf({ url: 'postgres://[::1]:5433/x', name: 'a' }).place).toBe(
      'a in PostgreSQL [::1]:5433/x',
    );
    expect(targetOf({ url: 'postgres://u:p@%2Frun%2Fpg:5433/x', name: 'a' }).place).toBe(
      'a in PostgreSQL /run/pg:5433/x',
    );
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
    ['postgres://u:s3cr3t-w0rd@h/d?port=5433'],
    ['postgres://u:s3cr3t-w0rd@/d'],
    ['postgres://u:s3cr3t-w0rd@one,two/d'],
    ['postgres://u:s3cr3t-w0rd@h/a%00b'],
    ['postgres://u:s3cr3t-w0rd@h%1b/a'],
    ['postgres://u:s3cr3t-w0rd@h/a?application_name=%00'],
    ['postgres://u:s3cr3t-w0rd@h/d?sslmode=no-verify'],
    ['postgres://u:s3cr3t-w0rd@h/d?sslmode=disabled'],
    ['postgres://u:s3cr3t-w0rd@h/d?ssl=no-verify'],
    ['postgres://u:s3cr3t-w0rd@h/d?ssl='],
    ['postgres://u:s3cr3t-w0rd@h/d?ssl=true&sslmode=disable'],
    ['postgres://u:s3cr3t-w0rd@h/d?ssl=false&sslmode=require'],
    ['postgres://u@h/d?password=s3cr3t-w0rd'],
    ['postgres://u@h/d?s3cr3t-w0rd'],
    ['postgres://u:s3cr3t-w0rd@h/d?sslrootcert=/nowhere'],
  ])('is refused and not shown if it is invalid: %s', async (url) => {
    const { code, hint } = await problemOf(() => postgresBackend({ url, name: 'a' }));
    expect(code).toBe('wrong-value');
    expect(hint).toBeDefined();
  });

  it.each(['sslmode=disable&sslmode=require', 'sslmode=require&ssl=true&sslmode=verify-full'])(
    'is refused if it has different values for one setting: %s',
    async (query) => {
      expect(await problemOf(() => ssl(`postgres://h/d?${query}`))).toMatchObject({
        code: 'wrong-value',
        message: 'the URL of the database has sslmode twice, with different values',
      });
      expect(ssl('postgres://h/d?sslmode=require&sslmode=require')).toEqual({ rejectUnauthorized: true });
    },
  );

  it('lists its secrets', () => {
    expect(secretsOf('postgres://u:a%40b@h/d')).toEqual(['a%40b', 'a@b']);
    expect(secretsOf('postgres://h/d?password=one')).toEqual(['postgres://h/d?password=one']);
    expect(secretsOf('postgres://u:a/b@h/d')).toEqual(['postgres://u:a/b@h/d']);
    expect(secretsOf('postgres://h/d')).toEqual([]);
  });

  it.each(['', 'a\nb', 'x'.repeat(201)])('is refused if the name of the state is invalid', async (name) => {
    const { code } = await problemOf(() => postgresBackend({ url: 'postgres://h/d', name }));
    expect(code).toBe('wrong-value');
  });

  it('requires TLS and a valid certificate, unless it turns them off', async () => {
    const verified = { rejectUnauthorized: true };
    expect(ssl('postgres://db.example.com/d')).toEqual(verified);
    for (const mode of ['allow', 'prefer', 'require', 'verify-ca', 'verify-full'])
      expect(ssl(`postgres://localhost/d?sslmode=${mode}`)).toEqual(verified);
    expect(ssl('postgres://db.example.com/d?sslmode=disable')).toBe(false);
    for (const host of ['localhost', '127.0.0.1', '[::1]', '%2Frun'])
      expect(ssl(`postgres://${host}/d`)).toBe(false);
    expect(ssl('postgres://localhost/d', { ca })).toEqual({ ...verified, ca });
    expect(ssl('postgres://h/d?sslmode=verify-ca', { ca })).toMatchObject({
      checkServerIdentity: expect.any(Function),
    });
    expect((await problemOf(() => ssl('postgres://h/d?sslmode=disable', { ca }))).code).toBe('wrong-value');
  });

  it('turns TLS on or off with ssl, as in other programs', async () => {
    for (const query of ['ssl=true', 'ssl=1', 'ssl=true&sslmode=verify-full'])
      expect(ssl(`postgres://localhost/d?${query}`)).toEqual({ rejectUnauthorized: true });
    for (const query of ['ssl=false', 'ssl=0', 'ssl=false&sslmode=disable'])
      expect(ssl(`postgres://db.example.com/d?${query}`)).toBe(false);
    expect(await problemOf(() => ssl('postgres://h/d?ssl=false', { ca }))).toMatchObject({
      code: 'wrong-value',
      message: expect.stringContaining('turns TLS off, but certificates are configured'),
    });
  });

  it('accepts only valid certificates and keys', async () => {
    const { cert, key } = authority;
    expect(ssl('postgres://h/d', { ca, cert, key })).toEqual({ rejectUnauthorized: true, ca, cert, key });
    const passwd = 'root:x:0:0:root:/root:/bin/bash\n';
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    const no = (what: string): string => `the file that ${what} in PEM format`;
    const wrong: readonly [PostgresTls, string][] = [
      [{ ca: passwd }, no('ca_file of state.postgres names does not contain certificates')],
      [{ ca: key }, no('ca_file of state.postgres names does not contain certificates')],
      [{ ca: `${ca}${broken}` }, no('ca_file of state.postgres names does not contain certificates')],
      [{ cert: key, key }, no('client_cert_file of state.postgres names does not contain certificates')],
      [
        { cert, key: cert },
        no('client_key_file of state.postgres names does not contain a private key without a passphrase'),
      ],
      [
        { cert, key: issue('other').key },
        'client_key_file of state.postgres is not the key of the client certificate',
      ],
    ];
    for (const [tls, message] of wrong)
      expect(await problemOf(() => ssl('postgres://h/d', tls))).toMatchObject({
        code: 'bad-certificate',
        message,
      });
  });

  it('is not changed by the environment variables of other programs', () => {
    const before = { ...process.env };
    afterwards(() => {
      process.env = before;
    });
    Object.assign(process.env, { PGSSLMODE: 'disable', PGHOST: 'elsewhere', PGUSER: 'x', PGPASSWORD: 'x' });
    const client = new Client(targetOf({ url: 'postgres://ada@db.example.com/d', name: 'a' }).config);
    expect(client).toMatchObject({ host: 'db.example.com', user: 'ada', ssl: { rejectUnauthorized: true } });
  });
});

import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../src/base/values.js';
import { type FieldTypes, isSecret, markSecrets } from '../../src/kinds/fields.js';
import { kinds } from '../../src/kinds/index.js';
import {
  holdsCredential,
  isSecretField,
  isSecretMember,
  looksLikeCredential,
  looksSecret,
  secretFields,
} from '../../src/secrets/names.js';
import { answers, secretTextsIn } from '../../src/server/answers.js';

/** The paths of a kind's secret fields. */
function secretsOf(types: FieldTypes, path = ''): string[] {
  return Object.entries(types).flatMap(([name, type]) => {
    if (type.type === 'members') return secretsOf(type.members, `${path}${name}.`);
    return isSecret(type) ? [`${path}${name}`] : [];
  });
}

const secrets = kinds.flatMap(({ fields }) => secretsOf(fields));
const nameOf = (path: string): string => path.replace(/.*\./, '');

describe('the secret fields of the API', () => {
  it('are known to the kinds by name, and no kind has others', () => {
    // Secrets that only Boruta accepts.
    const borutas = ['password', 'secret'];
    expect(new Set(secrets.map(nameOf))).toEqual(new Set([...secretFields, ...borutas]));
    for (const path of secrets)
      expect(isSecretField(nameOf(path)) || borutas.includes(nameOf(path))).toBe(true);
    expect(isSecretField('smtp_username')).toBe(false);
  });

  it.each(secretFields)('%s is hidden in a response before anything can show it', (field) => {
    const document = { id: 'u', backend: { [field]: 'hush', smtp_username: 'ada' } };
    const parsed = answers.user({ data: document });
    expect(JSON.stringify(parsed)).toContain('"smtp_username":"ada"');
    expect(JSON.stringify(parsed)).not.toContain('hush');
    expect(secretTextsIn(document)).toEqual(['hush']);
  });

  it.each(secretFields)('%s is a secret in any type that the server sends', (field) => {
    const [user] = kinds.filter(({ fields }) => secretsOf(fields).includes(`backend.${field}`));
    const marked = markSecrets(user?.fields ?? {}, { backend: { [field]: 'hush', smtp_username: 'ada' } });
    expect(marked.backend).toEqual({ [field]: expect.any(Sensitive), smtp_username: 'ada' });
  });

  it.each(secretFields)('%s is masked in the lines of a file that are shown', (field) => {
    expect(looksSecret(field)).toBe(true);
  });
});

it('a credential is a secret member of a response at any depth', () => {
  for (const name of ['client_secret', 'secret', 'access_token', 'refresh_token', 'id_token']) {
    expect(isSecretMember(name)).toBe(true);
    expect(secretTextsIn([{ federated_servers: [{ [name]: 'hush', client_id: 'idops' }] }])).toEqual([
      'hush',
    ]);
  }
  expect(isSecretMember('client_id')).toBe(false);
});

it.each([
  '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n',
  '-----BEGIN\nabc\n',
  'Bearer xyz',
  'Authorization: Bearer a.b-c_d=',
  'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.',
  'AKIAABCDEFGHIJKLMNOP',
  'postgres://ada:hush@db.example/app',
])('%s looks like a credential under any key', (text) => {
  expect(looksLikeCredential(text)).toBe(true);
});

it.each([
  '-----BEGIN CERTIFICATE-----\nMIIE\n',
  '-----BEGIN RSA PUBLIC KEY-----\nMIIE\n',
  'the bearer of this may enter',
  'https://example.com:8080/a@b',
  'ada@acme.example',
  '',
])('%s does not look like a credential', (text) => {
  expect(looksLikeCredential(text)).toBe(false);
});

describe('a text for people', () => {
  it.each([
    'Bearer abcdefABCDEF1234567890zz1',
    'Hello {{ name }},\nAuthorization: Bearer 0123456789abcdef0123\nBye',
    'see postgres://ada:hush@db.example/app.',
    '-----BEGIN PRIVATE KEY-----\nMIIE\n',
  ])('%j has a credential in it', (text) => expect(holdsCredential(text)).toBe(true));

  it.each([
    'This letter entitles the bearer below',
    'bearer of good news',
    'Bearer authenticationtoken',
    'Mail help@example.com or see https://example.com/a:b',
    '',
  ])('%j has none', (text) => expect(holdsCredential(text)).toBe(false));
});

import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type Fields, HashedSecret, holdsSensitive, Sensitive, same } from '../../src/base/values.js';
import { Hasher, hideSecrets, restoreFields, storeFields } from '../../src/secrets/hash.js';

const server = 'https://id.example.com';

describe('a hash', () => {
  it('is the same for equal values in any key order, and differs with another salt', () => {
    const hasher = new Hasher({ server, salt: 'salt' });
    expect(hasher.hash({ a: 1, b: ['x'] })).toBe(
      new Hasher({ server, salt: 'salt' }).hash({ b: ['x'], a: 1 }),
    );
    expect(hasher.hash('hush')).not.toBe(hasher.hash('Hush'));
    expect(hasher.hash('1')).not.toBe(hasher.hash(1));
    expect(hasher.hash('hush')).not.toBe(new Hasher({ server, salt: 'pepper' }).hash('hush'));
    const other = { server: 'https://other.example.com', salt: 'salt' };
    expect(hasher.hash('hush')).not.toBe(new Hasher(other).hash('hush'));
    expect(hasher.hash('hush')).toMatch(/^scrypt:[\w-]{43}$/);
  });

  it('only tells whether a value is the hashed one', () => {
    const hasher = new Hasher({ server, salt: 'salt' });
    const secret = hasher.hashedSecret(hasher.hash('hush'));
    expect(secret.matches('hush')).toBe(true);
    expect(secret.matches('other')).toBe(false);
    expect(() => secret.reveal()).toThrow();
    expect(same(secret, new Sensitive('hush'))).toBe(true);
    expect(same('hush', secret)).toBe(true);
    expect(same(secret, hasher.hashedSecret(hasher.hash('hush')))).toBe(true);
  });
});

describe('fields for the disk', () => {
  const hasher = new Hasher({ server, salt: 'salt' });
  const fields: Fields = {
    group: 'staff',
    'a/b~c': new Sensitive('hush 1'),
    backend: { smtp_password: new Sensitive('hush 2'), features: ['a', new Sensitive('hush 3')] },
    nothing: null,
  };

  it('contain no secret, but its hash by JSON pointer', () => {
    const stored = storeFields(fields, hasher);
    expect(stored.fields).toEqual({
      group: 'staff',
      'a/b~c': null,
      backend: { smtp_password: null, features: ['a', null] },
      nothing: null,
    });
    expect(Object.keys(stored.hashes)).toEqual(['/a~1b~0c', '/backend/smtp_password', '/backend/features/1']);
    expect(JSON.stringify(stored)).not.toContain('hush');
  });

  it('are loaded unchanged, with secrets as comparable hashes', () => {
    const restored = restoreFields(storeFields(fields, hasher), hasher);
    expect(same(restored, fields)).toBe(true);
    expect(restored['a/b~c']).toBeInstanceOf(HashedSecret);
    expect(restored.nothing).toBeNull();
  });

  it('can be stored again without knowing the secret', () => {
    const once = storeFields(fields, hasher);
    expect(storeFields(restoreFields(once, hasher), hasher)).toEqual(once);
  });
});

describe('a text that contains a known secret', () => {
  const known = new Hasher({ server, salt: 'salt' }, (text) => text.includes('hush'));

  it('is stored as a hash', () => {
    const stored = storeFields({ label: 'a hush', backend: { smtp_from: 'hush', smtp_port: 1 } }, known);
    expect(stored.fields).toEqual({ label: null, backend: { smtp_from: null, smtp_port: 1 } });
    expect(Object.keys(stored.hashes)).toEqual(['/label', '/backend/smtp_from']);
    expect(restoreFields(stored, known).label).toBeInstanceOf(HashedSecret);
  });

  it('stays if it is an id, which identifies the object', () => {
    const ided: Fields = {
      id: 'hush',
      backend: { id: 'hush' },
      roles: [{ id: 'hush', name: 'a', roles: [{ id: 'hush' }] }],
    };
    expect(storeFields(ided, known)).toEqual({ fields: ided, hashes: {} });
  });

  it('is left out of an element of a list, and hashed if it is an element', () => {
    const listed: Fields = { roles: [{ id: '1', name: 'hush', label: 'b' }], features: ['a', 'hush'] };
    const stored = storeFields(listed, known);
    expect(stored.fields).toEqual({ roles: [{ id: '1', label: 'b' }], features: ['a', null] });
    expect(Object.keys(stored.hashes)).toEqual(['/features/1']);
  });
});

describe("the server's value", () => {
  it('is secret if the sent value is', () => {
    const asked = { value: new Sensitive('hush'), list: ['a', new Sensitive('hush')], other: 1 };
    const got = { value: 'hush', list: ['hush', 'a'], other: 2, more: 3 };
    const concealed = hideSecrets(got, asked);
    expect(JSON.stringify(concealed)).toBe(
      '{"value":{"sensitive":true},"list":{"sensitive":true},"other":2,"more":3}',
    );
  });

  it('is unchanged if nothing secret was sent', () => {
    const got = { a: [1, { b: 2 }] };
    expect(hideSecrets(got, { a: [1, { b: 2 }] })).toEqual(got);
    expect(hideSecrets(got, undefined)).toBe(got);
    expect(holdsSensitive(hideSecrets('other', new Sensitive('hush')))).toBe(true);
  });
});

it('a secret is hidden if it is printed, joined or serialised', () => {
  const secret = new Sensitive('hush');
  const shown = [inspect(secret), inspect({ deep: [{ secret }] }, { depth: 9 }), String(secret), `${secret}`];
  shown.push(JSON.stringify({ secret }), [secret].join(), JSON.stringify(structuredCloneable(secret)));
  expect(shown.join('\n')).not.toContain('hush');
});

function structuredCloneable(secret: Sensitive): object {
  return { ...secret };
}

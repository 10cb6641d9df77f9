import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parseJson, stringifyJson } from '../../src/base/json.js';
import { type Fields, parseNumber, Sensitive } from '../../src/base/values.js';
import { answers, pages } from '../../src/server/answers.js';

function read<T>(parsed: { value: T } | { wrong: string }): T {
  if ('value' in parsed) return parsed.value;
  throw new Error(parsed.wrong);
}

describe('an answer', () => {
  test('has only the fields that were present: absent is not null', () => {
    const value = read(answers.organization({ data: { id: 'o1', label: null, hidden: true } }));
    expect(value).toEqual({ id: 'o1', label: null });
    expect(Object.keys(value)).toEqual(['id', 'label']);
  });

  test.each([
    ['no data', {}],
    ['data that is null', { data: null }],
    ['data that is a list', { data: [] }],
    ['a list', []],
    ['null', null],
    ['text', 'fine'],
  ])('with %s is wrong', (_, document) => {
    const { keyPairs: __, ...ofOne } = answers;
    for (const parse of Object.values(ofOne)) expect(parse(document)).toHaveProperty('wrong');
  });

  test('with a wrong type is reported with the place, not the value', () => {
    const document = { data: { id: 7, name: 'acme', label: { secret: 'hunter2' } } };
    expect(answers.organization(document)).toEqual({
      wrong: 'data.id: expected string, received number; data.label: expected string, received object',
    });
  });

  test('with many wrong places is reported with a few of them', () => {
    const document = { data: Array.from({ length: 9 }, () => ({ id: 7 })) };
    expect(answers.keyPairs(document)).toEqual({ wrong: expect.stringMatching(/; and 6 more$/) });
  });

  test('keeps a map unchanged, even a member named __proto__', () => {
    const data = JSON.parse('{"metadata":{"__proto__":{"a":[1,null]},"b":{}},"__proto__":{"id":"x"}}');
    const value = read(answers.user({ data }));
    expect(Object.keys(value)).toEqual(['metadata']);
    expect(JSON.stringify(value.metadata)).toBe('{"__proto__":{"a":[1,null]},"b":{}}');
  });

  test('keeps every digit of numbers, and accepts 587.0 as an integer', () => {
    const data = parseJson(
      '{"metadata":{"a":10.0},"federated_metadata":{"b":[9007199254740993]},"backend":{"smtp_port":587.0,"password_hashing_opts":{"c":1e3}}}',
    );
    expect(stringifyJson(read(answers.user({ data })))).toBe(
      '{"metadata":{"a":10.0},"federated_metadata":{"b":[9007199254740993]},"backend":{"password_hashing_opts":{"c":1e3},"smtp_port":587}}',
    );
    for (const port of ['587.5', '587.0000000000000000001', '1E400', '9007199254740993']) {
      const wrong = answers.user({ data: { backend: { smtp_port: parseNumber(port) } } });
      expect(wrong, port).toEqual({ wrong: expect.stringMatching(/^data\.backend\.smtp_port: /) });
    }
    const wrong = 'data.id: expected string, received number';
    expect(answers.organization({ data: { id: parseNumber('1.0') } })).toEqual({ wrong });
    expect(read(pages.organization(parseJson('{"data":[],"total_pages":2.0}'))).totalPages).toBe(2);
  });

  test.each([[[]], ['text'], [3], [parseNumber('3.0')]])('with metadata that is %j is wrong', (metadata) => {
    expect(answers.user({ data: { metadata } })).toHaveProperty('wrong');
  });

  test('nested too deeply is wrong', () => {
    const metadata = JSON.parse(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`);
    expect(answers.user({ data: { metadata } })).toEqual({ wrong: expect.stringContaining('data.metadata') });
  });

  test('about a user has the documented scopes, organizations, backend and roles', () => {
    const data = {
      id: 'u1',
      totp_registered_at: '2026-01-31T12:00:00.123456Z',
      blocked: false,
      authorized_scopes: [{ id: 's1', name: 'a', public: true }],
      organizations: [{ id: 'o1', roles: [{ id: 'r1', scopes: [{ id: 's1', name: 'a', public: null }] }] }],
      backend: { id: 'b1', metadata_fields: [{ any: { thing: 1 } }], smtp_port: 25, features: ['a'] },
      roles: [{ id: 'r1', name: 'admin', scopes: [] }],
    };
    expect(read(answers.user({ data }))).toEqual(data);
  });

  test.each([
    { smtp_port: '25' },
    { smtp_port: 2 ** 31 },
    { smtp_ssl: 'yes' },
    { features: [1] },
    { roles: [null] },
    { verifiable_credentials: ['a'] },
  ])('about a user with a backend of %j is wrong', (backend) => {
    expect(answers.user({ data: { backend } })).toHaveProperty('wrong');
  });

  test('wraps the secrets of a backend', () => {
    const data = { backend: { smtp_password: 'hunter2', ldap_master_password: null } };
    const value = read(answers.user({ data }));
    expect(value.backend?.smtp_password).toBeInstanceOf(Sensitive);
    expect(value.backend?.ldap_master_password).toBeNull();
    expect(JSON.stringify(value) + inspect(value, { depth: 9 })).not.toContain('hunter2');
  });

  test('about a client never contains its secret or its keys', () => {
    const data = { id: 'c1', secret: 'hunter2', did: 'did:key:z6M', key_pair_type: { type: 'ec' } };
    expect(read(answers.client({ data }))).toEqual({ id: 'c1', did: 'did:key:z6M' });
  });

  test('about each resource is a map of fields', () => {
    const all: Fields[] = [
      read(answers.template({ data: { id: null, txt_content: '', type: 'tx_code' } })),
      read(answers.keyPair({ data: { id: 'k1', is_default: null } })),
    ];
    expect(all).toEqual([
      { id: null, txt_content: '', type: 'tx_code' },
      { id: 'k1', is_default: null },
    ]);
  });
});

describe('a page of organizations', () => {
  test('keeps its rows unchanged, even without an id', () => {
    const data = [{ id: 'o1', name: 'a' }, { name: 'b' }, {}];
    const page = { data, page_number: 1, page_size: 500, total_pages: 1, total_entries: 3 };
    expect(pages.organization(page)).toEqual({
      value: { rows: data, pageSize: 500, totalPages: 1, totalEntries: 3 },
    });
  });

  test('may lack pagination members', () => {
    expect(pages.organization({ data: [], total_pages: null })).toEqual({ value: { rows: [] } });
  });

  test.each([{ total_pages: -1 }, { total_pages: 1.5 }, { page_number: '1' }, { total_entries: 2 ** 31 }])(
    'with %j is wrong',
    (members) => {
      expect(pages.organization({ data: [], ...members })).toHaveProperty('wrong');
    },
  );

  test.each([{}, { data: null }, { data: {} }, { data: [null] }, { data: [{ id: 1 }] }])(
    'that is %j is wrong',
    (document) => {
      expect(pages.organization(document)).toHaveProperty('wrong');
    },
  );
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Json, parseNumber, Sensitive } from '../../src/base/values.js';
import { map, members, set, value, valueType } from '../../src/kinds/fields.js';
import { readsBack } from '../../src/pull/new-documents.js';
import {
  credentialTest,
  escapeVariables,
  VariableNames,
  type WriteContext,
  writeValue,
} from '../../src/pull/write-value.js';
import { parseVariables } from '../../src/yaml/interpolation.js';

function contextWith(isKnown: (text: string) => boolean = () => false): WriteContext {
  return {
    address: 'User/1',
    names: new VariableNames(),
    hasCredential: credentialTest(isKnown),
    publicMembers: { metadata: ['status', 'display'] },
    nameOf: () => undefined,
    toSet: [],
    unwritable: [],
  };
}

it('no part of a text becomes a variable', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('$', '{', '}', 'A', ':', '-', '?') }), (text) => {
      const parts = parseVariables(escapeVariables(text));
      expect(parts.join('')).toBe(text);
      expect(parts.filter((part) => typeof part !== 'string')).toEqual([]);
    }),
  );
});

it('the YAML of any value is read back as that value', () => {
  const json = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.string({ unit: 'binary', maxLength: 6 }),
      fc.constantFrom(...'\ud800|- a|? b|#c|null|0x1f|1_000|<<|a\nb\n| a\n|---\nb: c\n'.split('|')),
      fc.constant(null),
      fc.boolean(),
      fc.constantFrom(
        parseNumber('9007199254740993'),
        parseNumber('10.0'),
        parseNumber('-0'),
        parseNumber('1e400'),
        0.1,
        -3,
      ),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 4 }), tie('value'), {
        maxKeys: 3,
        noNullPrototype: true,
      }),
    ),
  })).value;
  fc.assert(
    fc.property(json, (made) => {
      fc.pre(!/__proto__|\\u0000/.test(JSON.stringify(made)));
      expect(readsBack({ kind: 'x', made })).toBe(true);
    }),
    { numRuns: 100 },
  );
});

it('keys of a map that no manifest can have are left out, each with a note', () => {
  const made = contextWith();
  const metadata = JSON.parse(
    '{"a": {"value": 1}, "gone": null, "__proto__": {"value": 2}, "in": {"__proto__": 3}}',
  );
  expect(writeValue(['metadata'], map, metadata, made)?.raw).toEqual({ a: { value: 1 } });
  expect(made.unwritable).toEqual([
    'metadata.gone is null, which would remove the key in a manifest',
    'metadata has the key "__proto__", which no manifest can have',
    'metadata.in has the key "__proto__", which no manifest can have',
  ]);
});

it('secrets become variables, found by field name, by key or as known values', () => {
  const made = contextWith((text) => text.includes('known'));
  const backend = members({ smtp_password: valueType('smtp_password'), smtp_from: value });
  const written = writeValue(
    ['backend'],
    backend,
    { smtp_password: new Sensitive('p'), smtp_from: 'x' },
    made,
  );
  expect(written?.raw).toEqual({ smtp_password: '${IDOPS_USER_1_BACKEND_SMTP_PASSWORD}', smtp_from: 'x' });
  const metadata = {
    'Api Secret': { value: ['a', 'b'], status: 'valid' },
    note: { value: 'it is known', status: '' },
  };
  expect(writeValue(['metadata'], map, metadata, made)?.raw).toEqual({
    'Api Secret': {
      value: ['${IDOPS_USER_1_METADATA_API_SECRET_VALUE_0}', '${IDOPS_USER_1_METADATA_API_SECRET_VALUE_1}'],
      status: 'valid',
    },
    note: { value: '${IDOPS_USER_1_METADATA_NOTE_VALUE}', status: '' },
  });
  expect(made.toSet).toHaveLength(4);
  expect(JSON.stringify(made.toSet)).not.toContain('known');
  // Variables are strings, so a secret of another type is left out.
  expect(writeValue(['metadata'], map, { pin_token: { value: 1234, status: 'x' } }, made)?.raw).toEqual({});
  expect(made.unwritable.at(-1)).toBe(
    "metadata.pin_token.value is a secret that can't be stored in a variable",
  );
});

it('a credential becomes a variable in labels too, and under keys in any case; a boolean is no secret', () => {
  const made = contextWith();
  const bearer = 'Bearer 0123456789abcdef0123';
  expect(writeValue(['label'], value, bearer, made)?.raw).toBe('${IDOPS_USER_1_LABEL}');
  expect(writeValue(['label'], value, 'the bearer below', made)?.raw).toBe('the bearer below');
  expect(writeValue(['roles'], set(), [{ id: 'r', name: bearer }], made)?.raw).toEqual([{ id: 'r' }]);
  const metadata = {
    passwörd: { value: 'hush', status: 'valid' },
    recovery_codes: { value: ['q2'], status: 'valid' },
    password_set: { value: true, status: 'valid' },
    [bearer]: { value: 'x', status: 'valid' },
  };
  expect(writeValue(['metadata'], map, metadata, made)?.raw).toEqual({
    passwörd: { value: '${IDOPS_USER_1_METADATA_PASSW_RD_VALUE}', status: 'valid' },
    recovery_codes: { value: ['${IDOPS_USER_1_METADATA_RECOVERY_CODES_VALUE_0}'], status: 'valid' },
    password_set: { value: true, status: 'valid' },
  });
  expect(made.unwritable).toEqual([
    'metadata has a key that contains a credential, which must not be written to a file',
  ]);
});

it('other values of an element with a secret are secret too, except words of the server', () => {
  const made = contextWith();
  const metadata = {
    password_hint: { value: 'the dog', status: 'valid', display: ['the dog', 'dog'] },
    auth: { value: 'Bearer xyz', status: 'Bearer xyz', display: ['xyz'] },
    note: { value: 'plain', status: 'Valid until noon', display: ['plain'] },
  };
  expect(writeValue(['metadata'], map, metadata, made)?.raw).toEqual({
    password_hint: {
      value: '${IDOPS_USER_1_METADATA_PASSWORD_HINT_VALUE}',
      status: 'valid',
      display: [
        '${IDOPS_USER_1_METADATA_PASSWORD_HINT_DISPLAY_0}',
        '${IDOPS_USER_1_METADATA_PASSWORD_HINT_DISPLAY_1}',
      ],
    },
    auth: {
      value: '${IDOPS_USER_1_METADATA_AUTH_VALUE}',
      status: '${IDOPS_USER_1_METADATA_AUTH_STATUS}',
      display: ['${IDOPS_USER_1_METADATA_AUTH_DISPLAY_0}'],
    },
    note: { value: 'plain', status: 'Valid until noon', display: ['plain'] },
  });
});

it('a known credential is in no key and in no name of a variable', () => {
  const made = { ...contextWith((text) => text.includes('tok-known')), address: 'User/tok-known' };
  const metadata = {
    'tok-known': { value: 'x', status: '' },
    deep: { value: { 'a tok-known': 1 }, status: '' },
    token: { value: 'y', status: '' },
  };
  const written = writeValue(['metadata'], map, metadata, made);
  expect(Object.keys(Object(written?.raw))).toEqual(['token']);
  expect(JSON.stringify([written?.raw, made.unwritable])).not.toMatch(/tok.known/i);
  expect(made.unwritable).toHaveLength(2);
});

it('elements of a set are written by id and name, and left out without either', () => {
  const roles = [{ id: 'r', name: 'member', scopes: [{ id: 's' }] }];
  const organizations = [{ id: 'o', name: null, label: 'x', roles }];
  const type = set({ roles: set() });
  expect(writeValue(['organizations'], type, organizations, contextWith())?.raw).toEqual([
    { id: 'o', roles: [{ id: 'r', name: 'member' }] },
  ]);
  expect(writeValue(['organizations'], type, [{ id: 'o' }, { label: 'x' }], contextWith())).toBeUndefined();
});

it('each secret has its own variable, the same each time', () => {
  const names = new VariableNames();
  const all = [['a b'], ['a-b'], ['a.b'], ['ä'], ['x'.repeat(300)], ['x'.repeat(301)]].map((path) =>
    names.nameFor('User/1', path),
  );
  expect(new Set(all).size).toBe(all.length);
  for (const name of all) expect(name).toMatch(/^IDOPS_USER_1(?:_[A-Z0-9_]+)?$/);
  expect(names.nameFor('User/1', ['a-b'])).toBe(all[1]);
});

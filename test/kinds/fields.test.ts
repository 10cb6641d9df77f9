import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ExactNumber,
  type Fields,
  isMap,
  parseNumber,
  Sensitive,
  same,
  sameWithoutSecrets,
  type Value,
} from '../../src/base/values.js';
import { desired } from '../../src/kinds/desired.js';
import {
  body,
  compareField,
  type FieldType,
  instant,
  map,
  markSecrets,
  matchSets,
  members,
  normalForm,
  secret,
  sendableFields,
  set,
  value,
} from '../../src/kinds/fields.js';
import { Hasher } from '../../src/secrets/hash.js';

function verdict(type: FieldType, wanted: Value, got: Value | undefined): string {
  const verdicts = compareField(type, 'field', wanted, got).map((part) => part.verdict);
  if (verdicts.includes('different')) return 'different';
  return verdicts.includes('unknown') ? 'unknown' : 'same';
}

function paths(type: FieldType, wanted: Value, got: Value | undefined): { [path: string]: string } {
  return Object.fromEntries(
    compareField(type, 'field', wanted, got).map((part) => [part.path, part.verdict] as const),
  );
}

describe('a single value', () => {
  it.each<[string, Value, Value | undefined, string]>([
    ['equals itself', 'a', 'a', 'same'],
    ['differs from another', 'a', 'b', 'different'],
    ['differs from null', 'a', null, 'different'],
    ['differs from an empty text when it is to be cleared', null, '', 'different'],
    ['is cleared already where the server has null', null, null, 'same'],
    ['is unknown where the answer left it out, even if it is to be cleared', null, undefined, 'unknown'],
    ['does not take false for null', false, null, 'different'],
    ['does not take a number for its text', 1, '1', 'different'],
    ['is compared to the byte', 'e\u0301', '\u00e9', 'different'],
    ['regards the order of a list', ['a', 'b'], ['b', 'a'], 'different'],
    ['disregards the order of keys', { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }, 'same'],
    ['is cleared already where the server has an empty list', null, [], 'same'],
    ['is cleared already where the server has an empty object', null, {}, 'same'],
    ['is empty already where the server has null', [], null, 'same'],
    ['is not cleared where the server has a list', null, ['a'], 'different'],
    ['does not take an absent key for null', { a: null }, {}, 'different'],
  ])('%s', (_, wanted, got, expected) => {
    expect(verdict(value, wanted, got)).toBe(expected);
  });

  it('is compared by content if it is a secret', () => {
    expect(verdict(secret, new Sensitive('hush'), new Sensitive('hush'))).toBe('same');
    expect(verdict(secret, new Sensitive('hush'), new Sensitive('other'))).toBe('different');
    expect(verdict(secret, new Sensitive('hush'), undefined)).toBe('unknown');
  });
});

describe('a secret that is known by its hash', () => {
  const hasher = new Hasher({ server: 'https://id.example.com', salt: 'salt' });
  const recorded = hasher.hashedSecret(hasher.hash('hush'));

  it('is the same if the declared secret has that hash', () => {
    expect(verdict(secret, new Sensitive('hush'), recorded)).toBe('same');
  });

  it('differs if the declared secret has another hash', () => {
    expect(verdict(secret, new Sensitive('Hush'), recorded)).toBe('different');
  });

  it('is cleared by null', () => {
    expect(verdict(secret, null, recorded)).toBe('different');
  });

  it('can be of a whole set, in any order of its elements', () => {
    const scopes = [
      { id: '2', name: 'b', label: 'hush' },
      { id: '1', name: 'a', label: 'hush' },
    ];
    const whole = hasher.hashedSecret(hasher.hash([...scopes].reverse()));
    const wanted = scopes.map((scope) => ({ ...scope, label: new Sensitive(scope.label) }));
    expect(verdict(set(), wanted, whole)).toBe('same');
    expect(verdict(set(), wanted.slice(1), whole)).toBe('different');
  });

  it('says nothing about a value that contains another one', () => {
    const whole = hasher.hashedSecret(hasher.hash([{ id: '1', label: 'hush' }]));
    expect(verdict(set(), [{ id: '1', label: recorded }], whole)).toBe('unknown');
  });

  it('is not sent as an undeclared value', () => {
    expect(
      sendableFields({ a: recorded, b: { deep: [recorded] }, c: 1, d: null }, ['a', 'b', 'c', 'd', 'e']),
    ).toEqual({ c: 1, d: null });
  });

  it('is never compared by revealing it', () => {
    expect(() => recorded.reveal()).toThrow('no readable value');
  });
});

describe('an instant', () => {
  it.each<[string, Value, Value | undefined, string]>([
    ['is the same in another zone', '2026-01-31T12:00:00Z', '2026-01-31T13:00:00+01:00', 'same'],
    ['is the same with fractions written out', '2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000000Z', 'same'],
    ['differs a second later', '2026-01-31T12:00:00Z', '2026-01-31T12:00:01Z', 'different'],
    ['differs from null', null, '2026-01-31T12:00:00Z', 'different'],
    ['differs from what is no moment', '2026-01-31T12:00:00Z', 'soon', 'different'],
  ])('%s', (_, wanted, got, expected) => {
    expect(verdict(instant, wanted, got)).toBe(expected);
  });
});

it('a body differs by a line ending and by a final newline', () => {
  expect(verdict(body, 'a\nb\n', 'a\r\nb\r\n')).toBe('different');
  expect(verdict(body, 'a\n', 'a')).toBe('different');
  expect(verdict(body, 'a\n', 'a\n')).toBe('same');
});

describe('a set', () => {
  const a = { id: '1', name: 'a' };
  const b = { id: '2', name: 'b' };

  it.each<[string, Value, Value | undefined, string]>([
    ['has no order', [a, b], [b, a], 'same'],
    ['is matched by id, whatever the names are', [a], [{ id: '1', name: 'renamed' }], 'same'],
    ['is matched by name where the manifest gives no id', [{ name: 'a' }], [a], 'same'],
    ['differs where an element is missing', [a, b], [a], 'different'],
    ['differs where there is one too many', [a], [a, b], 'different'],
    ['differs where an element is another', [a], [b], 'different'],
    ['is emptied by an empty list', [], [a], 'different'],
    ['is emptied by null', null, [a], 'different'],
    ['is empty where the server has null', [], null, 'same'],
    ['is unknown where the answer left it out', [], undefined, 'unknown'],
    ['is unknown where the elements came without ids and names', [a], [{}], 'unknown'],
    ['is unknown where an element came without its id', [{ id: '1' }], [{ name: 'a' }], 'unknown'],
    ['is unknown where an element came without its name', [{ name: 'a' }], [{ id: '1' }], 'unknown'],
    ['differs in number whatever the elements are', [a, b], [{}], 'different'],
    ['differs from what is no list', [a], 'a', 'different'],
    ['does not let one element stand for two', [{ name: 'a' }, { name: 'b' }], [a, a], 'different'],
  ])('%s', (_, wanted, got, expected) => {
    expect(verdict(set(), wanted, got)).toBe(expected);
  });

  it('compares the sets inside its elements if the manifest mentions them', () => {
    const memberships = set({ roles: set() });
    const member = { id: '1', roles: [{ id: 'r1' }, { id: 'r2' }] };
    expect(verdict(memberships, [{ id: '1', roles: [{ id: 'r2' }, { id: 'r1' }] }], [member])).toBe('same');
    expect(verdict(memberships, [{ id: '1', roles: [{ id: 'r1' }] }], [member])).toBe('different');
    expect(verdict(memberships, [{ id: '1', roles: [] }], [{ id: '1' }])).toBe('unknown');
    expect(verdict(memberships, [{ id: '1' }], [member])).toBe('same');
  });

  it('returns the matched, added and removed elements', () => {
    const match = matchSets([a, { name: 'c' }], [b, a]);
    expect(match.pairs).toEqual([{ wanted: a, got: a }]);
    expect(match.added).toEqual([{ name: 'c' }]);
    expect(match.removed).toEqual([b]);
    expect(match.decidable).toBe(true);
  });

  it('matches each element with the first remaining one, by any of its keys', () => {
    const key = fc.constantFrom('1', '2', '3');
    const element = fc.record({ id: fc.option(key, { nil: null }), name: key }, { requiredKeys: [] });
    const elements = fc.array(element, { maxLength: 6 });
    const beside = elements.map((wanted) => [wanted, wanted.map((one, at) => ({ ...one, at }))] as const);
    fc.assert(
      fc.property(fc.oneof(fc.tuple(elements, elements), beside), ([wanted, got]) => {
        const left = [...got];
        const pairs = wanted.flatMap((one) => {
          const by = typeof one.id === 'string' ? 'id' : 'name';
          const at = left.findIndex((other) => other[by] === one[by]);
          return at < 0 ? [] : [{ wanted: one, got: left.splice(at, 1)[0] }];
        });
        const match = matchSets(wanted, got);
        expect(match.pairs).toEqual(pairs);
        expect(match.removed).toEqual(left);
      }),
    );
  });

  it('matches a hundred thousand elements', () => {
    const many = Array.from({ length: 100_000 }, (_, id) => ({ id: String(id) }));
    expect(matchSets(many, many.toReversed()).pairs).toHaveLength(100_000);
  });
});

describe('two equal values', () => {
  const types = [value, instant, body, map, set({ roles: set() }), members({ a: map, b: set(), c: instant })];
  // A copy with its keys in another order.
  const again = (one: Value): Value => {
    if (Array.isArray(one)) return one.map(again);
    if (!isMap(one)) return one;
    return Object.fromEntries(
      Object.entries(one)
        .toReversed()
        .map(([key, member]) => [key, again(member)]),
    );
  };
  const holdsExact = (one: Value): boolean =>
    one instanceof ExactNumber ||
    (typeof one === 'object' && one !== null && Object.values(one).some(holdsExact));
  const key = fc.constantFrom('a', 'b', 'c', 'id', 'name', 'roles', '__proto__');
  const { any } = fc.letrec<{ any: Value }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('1', '2', null, 1, true, '2026-01-31T12:00:00Z', parseNumber('1.0')),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(key, tie('any'), { maxKeys: 4 }),
    ),
  }));

  /** Declares sets as lists only, as the schemas do. */
  const withLists = (one: Value, isSet: boolean): Value => {
    if (Array.isArray(one)) return one.map((item) => withLists(item, false));
    if (isSet) return null;
    if (!isMap(one)) return one;
    const members = Object.entries(one).map(([name, member]) => [
      name,
      withLists(member, name === 'roles' || name === 'b'),
    ]);
    return Object.fromEntries(members);
  };

  it('are equal in each of their parts, for any type', () => {
    fc.assert(
      fc.property(fc.constantFrom(...types), any, (type, given) => {
        const one = withLists(given, type.type === 'set');
        const other = again(one);
        if (sameWithoutSecrets(one, other)) expect(verdict(type, one, other)).toBe('same');
        expect(sameWithoutSecrets(one, other)).toBe(!holdsExact(one));
      }),
    );
  });

  it('differ from any other value', () => {
    fc.assert(
      fc.property(any, any, (one, other) => {
        if (sameWithoutSecrets(one, other)) expect(same(one, other)).toBe(true);
      }),
    );
    expect(sameWithoutSecrets(null, undefined)).toBe(false);
    expect(sameWithoutSecrets([], {})).toBe(false);
    expect(sameWithoutSecrets({ a: 1 }, { b: 1 })).toBe(false);
    const hidden = new Sensitive('x');
    expect(sameWithoutSecrets({ a: hidden }, { a: hidden })).toBe(false);
  });
});

describe('a map', () => {
  it('is compared key by key', () => {
    expect(paths(map, { a: 1, b: 2, d: 4 }, { a: 1, b: 3, c: 3 })).toEqual({
      'field.a': 'same',
      'field.b': 'different',
      'field.c': 'different',
      'field.d': 'different',
    });
  });

  it('quotes keys that are not plain words', () => {
    expect(Object.keys(paths(map, { 'a.b': 1, '': 2, 'ü"': 3 }, {}))).toEqual([
      'field["a.b"]',
      'field[""]',
      'field["ü\\""]',
    ]);
  });

  it('distinguishes a null key from a missing key', () => {
    expect(paths(map, { a: null }, {})).toEqual({ 'field.a': 'different' });
  });

  it('may have a key that is special in JavaScript', () => {
    const odd: Value = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}');
    expect(verdict(map, odd, JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}'))).toBe('same');
    expect(verdict(map, odd, {})).toBe('different');
    expect(verdict(map, {}, odd)).toBe('different');
  });

  it('treats null as an empty map', () => {
    expect(verdict(map, null, {})).toBe('same');
    expect(verdict(map, {}, null)).toBe('same');
    expect(verdict(map, null, { a: 1 })).toBe('different');
  });
});

describe('an object whose mentioned members are managed', () => {
  const type = members({ roles: set(), password: secret });

  it('compares only the mentioned members', () => {
    expect(paths(type, { host: 'a', roles: [] }, { host: 'b', roles: [], port: 1 })).toEqual({
      'field.host': 'different',
      'field.roles': 'same',
    });
  });

  it('is unknown in a member that the response left out', () => {
    expect(paths(type, { host: 'a', port: 1 }, { port: 1 })).toEqual({
      'field.host': 'unknown',
      'field.port': 'same',
    });
    expect(paths(type, { host: 'a' }, undefined)).toEqual({ 'field.host': 'unknown' });
  });

  it('has no members if the server has null', () => {
    expect(paths(type, { host: 'a', port: null }, null)).toEqual({
      'field.host': 'different',
      'field.port': 'same',
    });
  });
});

describe('the new value of a map', () => {
  it('keeps unmentioned keys, and removes null ones', () => {
    expect(desired(map, { a: 2, b: null, d: 4 }, { a: 1, b: 2, c: 3 }, false)).toEqual({ a: 2, c: 3, d: 4 });
  });

  it('merges one level deep, and replaces deeper values', () => {
    expect(desired(map, { a: { x: 1 } }, { a: { y: 2, z: null } }, false)).toEqual({ a: { x: 1 } });
    expect(desired(map, { a: { x: null } }, {}, false)).toEqual({ a: { x: null } });
  });

  it('starts empty if the server has null', () => {
    expect(desired(map, { a: 1 }, null, false)).toEqual({ a: 1 });
  });

  it('is unknown if the present value is unknown', () => {
    expect(desired(map, { a: 1 }, undefined, false)).toBeUndefined();
    expect(desired(map, { a: null }, undefined, false)).toBeUndefined();
  });

  it('is the declared value if it is declared whole', () => {
    expect(desired(map, { a: 1, b: null }, { c: 3 }, true)).toEqual({ a: 1 });
    expect(desired(map, { a: 1 }, undefined, true)).toEqual({ a: 1 });
  });

  it('is null if declared so, even if the present value is unknown', () => {
    expect(desired(map, null, undefined, false)).toBeNull();
    expect(desired(map, null, { a: 1 }, false)).toBeNull();
  });

  it('is unknown if a remaining key is known only by its hash', () => {
    const hasher = new Hasher({ server: 'https://id.example.com', salt: 'salt' });
    const hashed = hasher.hashedSecret(hasher.hash('hush'));
    expect(desired(map, { a: 1 }, { b: { value: hashed } }, false)).toBeUndefined();
    expect(desired(map, { a: 1, b: null }, { b: hashed }, false)).toEqual({ a: 1 });
  });

  it('keeps a key that is special in JavaScript', () => {
    const merged = desired(map, { a: 1 }, JSON.parse('{"__proto__": 2}'), false);
    expect(JSON.stringify(merged)).toBe('{"__proto__":2,"a":1}');
  });
});

describe('the new value of a set', () => {
  it('is the declared elements, each with the members it already has', () => {
    const present = [{ id: '1', name: 'a', label: 'A', public: true }, { id: '2' }];
    expect(desired(set(), [{ id: '1', label: 'new' }], present, false)).toEqual([
      { id: '1', name: 'a', label: 'new', public: true },
    ]);
  });

  it('is empty if it is declared null', () => {
    expect(desired(set(), null, [{ id: '1' }], false)).toEqual([]);
    expect(desired(set(), null, undefined, false)).toEqual([]);
  });
});

it('equal declared values have one normal form', () => {
  const type = set({ roles: set() });
  const a = { id: '1', roles: [{ id: 'x' }, { id: 'y' }] };
  const b = { id: '2' };
  expect(normalForm(type, [b, { id: '1', roles: [{ id: 'y' }, { id: 'x' }] }])).toEqual(
    normalForm(type, [a, b]),
  );
  expect(normalForm(value, ['b', 'a'])).toEqual(['b', 'a']);
  const backend = members({ roles: set() });
  expect(
    normalForm(backend, { roles: [b, { id: '1' }], features: ['b', 'a'], unheardOf: ['b', 'a'] }),
  ).toEqual({ roles: [{ id: '1' }, b], features: ['b', 'a'], unheardOf: ['b', 'a'] });
});

it('a secret field is marked as sensitive, except null', () => {
  const marked = markSecrets(
    { backend: members({ password: secret, host: value }) },
    { backend: { password: 'hush', host: 'h' } },
  );
  expect(JSON.stringify(marked)).toBe('{"backend":{"password":{"sensitive":true},"host":"h"}}');
  expect(markSecrets({ password: secret }, { password: null })).toEqual({ password: null });
});

it('an unknown field is no secret, at any depth', () => {
  const fields: Fields = {
    nickname: 'a',
    backend: { password: null, nickname: 'b', deep: { password: 'c' } },
  };
  expect(markSecrets({ backend: members({ password: secret }) }, fields)).toEqual(fields);
  expect(markSecrets({}, { password: 'a' })).toEqual({ password: 'a' });
});

import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson, plainNumber, stringifyJson } from '../../src/base/json.js';
import {
  canonical,
  ExactNumber,
  type Fields,
  isMap,
  parseNumber,
  reveal,
  Sensitive,
  same,
} from '../../src/base/values.js';
import { normalForm, value } from '../../src/kinds/fields.js';
import { Hasher, restoreFields, storeFields } from '../../src/secrets/hash.js';

/** Numbers that JavaScript would write differently. */
const exact = [
  ...'1234567890123456789 9007199254740993 10.0 -0 -0.0 1e3 1E400 -1e-400 0.10'.split(' '),
  ...'0.1000000000000000055511151231257827 1.7976931348623157e+309'.split(' '),
];

/** Any number according to the grammar of JSON. */
const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9]\d{0,25}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\.\d{1,25}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^[eE][-+]?\d{1,4}$/)),
  )
  .map((parts) => parts.join(''));

describe('JSON', () => {
  test.each(exact)('%s is read and written unchanged', (text) => {
    for (const document of [text, `[${text}]`, `{"a":${text}}`, `{"a":[{"b":${text},"c":1}]}`]) {
      expect(stringifyJson(parseJson(document))).toBe(document);
    }
    expect(stringifyJson(parseJson(` { "a" :\n${text} } `), 2)).toBe(`{\n  "a": ${text}\n}`);
  });

  test('a number that JavaScript writes the same way is a plain one', () => {
    expect(parseJson('[0, 1, -1, 1.5, 9007199254740991, 1e+21, 5e-324, 10.0]')).toEqual([
      0,
      1,
      -1,
      1.5,
      9007199254740991,
      1e21,
      5e-324,
      new ExactNumber('10.0'),
    ]);
  });

  test('texts that look like numbers stay texts', () => {
    const document = '{"10.0":"10.0","at":"2026-01-31T12:00:00.0Z","e":": 1.0, -0","n":1.50}';
    expect(parseJson(document)).toEqual({
      '10.0': '10.0',
      at: '2026-01-31T12:00:00.0Z',
      e: ': 1.0, -0',
      n: new ExactNumber('1.50'),
    });
    expect(stringifyJson(parseJson(document))).toBe(document);
  });

  test('numbers are found at every place that JSON allows', () => {
    const space = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
    const places = fc.constantFrom(
      ['', ''],
      ['[', ']'],
      ['{"a"', '}'],
      ['[1', ']'],
      ['["10:32",{"b":[', ']}]'],
      ['{"at":"12:00:32.442Z","n"', '}'],
    );
    fc.assert(
      fc.property(
        places,
        fc.tuple(space, space, space),
        numberText,
        ([before = '', after], spaces, number) => {
          const [one, two, three] = spaces;
          const mark = before.endsWith('"a"') || before.endsWith('"n"') ? ':' : before === '[1' ? ',' : '';
          const text = `${before}${one}${mark}${two}${number}${three}${after}`;
          const bare = `${before}${mark}${number}${after}`;
          expect(stringifyJson(parseJson(text))).toBe(stringifyJson(parseJson(bare)));
          expect(stringifyJson(parseJson(bare))).toBe(bare.replace(number, String(parseNumber(number))));
        },
      ),
    );
  });

  test('a document with digits only in texts is read by JSON.parse', () => {
    const text = fc.oneof(fc.string(), numberText, fc.constantFrom(...exact), fc.constant(': 1.0, -0'));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.constantFrom(null, true, false),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(text, tie('tree'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (document) => {
        const written = JSON.stringify(document);
        expect(parseJson(written)).toEqual(JSON.parse(written));
      }),
    );
    // Nested deeper than the stack allows, and with a key that a naive copy would lose.
    const deep = `${'['.repeat(50_000)}"1.0"${']'.repeat(50_000)}`;
    expect(() => parseJson(deep)).not.toThrow();
    expect(Object.keys(parseJson('{"__proto__":"1.0"}') as object)).toEqual(['__proto__']);
  });

  test('invalid JSON is refused as by JSON.parse, whatever numbers it contains', () => {
    for (const text of ['', '01.0', '1.', '.5', '+1.0', '[1.0,]', '{"a":1.0', '-', '1e', 'NaN', '1.0 1']) {
      expect(() => parseJson(text), text).toThrow(SyntaxError);
    }
  });

  test('the last of two equal keys counts, and "__proto__" is a key', () => {
    expect(parseJson('{"a":1.0,"a":2.0}')).toEqual({ a: new ExactNumber('2.0') });
    expect(parseJson('{"a":2.0,"a":1}')).toEqual({ a: 1 });
    const text = '{"__proto__":{"x":1.0},"y":2}';
    const parsed = parseJson(text) as object;
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(stringifyJson(parsed)).toBe(text);
  });

  test('endless nesting is read if no number needs care, otherwise it is an error that can be caught', () => {
    const nested = (inner: string) => `${'['.repeat(100_000)}${inner}${']'.repeat(100_000)}`;
    expect(Array.isArray(parseJson(nested('1')))).toBe(true);
    expect(() => parseJson(nested('1.0'))).toThrow(RangeError);
  });

  test('is the same as JSON.parse and JSON.stringify if no number needs care', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (given) => {
        const text = JSON.stringify(given);
        const plain = JSON.parse(text) as unknown;
        expect(stringifyJson(plain)).toBe(text);
        expect(stringifyJson(parseJson(text))).toBe(text);
        expect(stringifyJson([plain, new ExactNumber('1.0')], 2)).toBe(
          JSON.stringify([plain, 0.125], null, 2).replace(/0\.125\n\]$/, '1.0\n]'),
        );
      }),
    );
  });

  test('writes a secret as a placeholder, next to an exact number too', () => {
    const text = stringifyJson({ a: new Sensitive('hunter2'), b: new ExactNumber('1.0'), c: undefined });
    expect(text).toBe('{"a":{"sensitive":true},"b":1.0}');
  });

  test('any number survives reading, storing, restoring, planning and sending', () => {
    const hasher = new Hasher({ server: 'https://id.example.com', salt: 'salt' });
    fc.assert(
      fc.property(fc.array(numberText, { minLength: 1, maxLength: 5 }), (texts) => {
        const received = `{"metadata":{"a":[${texts.join(',')}],"b":{"value":${texts[0]}}}}`;
        const fields = parseJson(received) as Fields;
        const stored = stringifyJson(storeFields(fields, hasher));
        const restored = restoreFields(parseJson(stored) as ReturnType<typeof storeFields>, hasher);
        expect(same(fields, restored)).toBe(true);
        expect(stringifyJson(reveal(restored))).toBe(received);
        expect(canonical(reveal(restored))).toBe(received);
        expect(stringifyJson(reveal(normalForm(value, restored)))).toBe(received);
      }),
    );
  });
});

describe('an exact number', () => {
  test('is not a map, and equals only the spellings that servers keep', () => {
    const ten = new ExactNumber('10.0');
    expect(isMap(ten)).toBe(false);
    expect(same(ten, parseNumber('10.0'))).toBe(true);
    // Equal values in different notations are the same.
    expect(same(ten, 10)).toBe(true);
    expect(same(10, ten)).toBe(true);
    expect(same(ten, 11)).toBe(false);
    expect(same(ten, parseNumber('10.00'))).toBe(true);
    expect(same(ten, '10.0')).toBe(false);
    expect(same({ a: [ten] }, { a: [new ExactNumber('10.0')] })).toBe(true);
    expect(same(new Sensitive(ten), new Sensitive(10))).toBe(true);
    expect(same(new Sensitive(ten), new Sensitive(11))).toBe(false);
  });

  test('is printed with its digits', () => {
    const number = new ExactNumber('9007199254740993');
    expect([String(number), inspect(number), `${number}`]).toEqual(Array(3).fill('9007199254740993'));
  });

  test('is always a number of JSON', () => {
    for (const text of ['', '1]', '"1"', '01', '.5', '1.', 'Infinity', '0x1F', ' 1']) {
      expect(() => new ExactNumber(text), text).toThrow(TypeError);
    }
  });

  test.each([
    ['1.0', 1],
    ['1e3', 1000],
    ['-0', 0],
    ['0e999999999', 0],
    ['1.50', 1.5],
    ['9007199254740993', 9007199254740992],
    ['2147483647.00000000000000001', undefined],
    ['1e-400', undefined],
    ['1E400', undefined],
  ])('%s is the plain %s if only plain numbers are allowed', (text, plain) => {
    expect(plainNumber(text)).toBe(plain);
  });
});

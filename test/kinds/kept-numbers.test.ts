import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseNumber, same, serverSpelling } from '../../src/base/values.js';
import { normalizeNumbers, parseJson, writeJson } from '../../src/sandbox/json.js';

/** What a real Boruta returned for numbers in metadata. */
const seen: readonly (readonly [sent: string, kept: string])[] = [
  ['10.50', '10.5'],
  ['1e3', '1000'],
  ['-0.0', '0.0'],
  ['10.0', '10.0'],
  ['100.0', '100.0'],
  ['1000.0', '1000'],
  ['123456.0', '123456.0'],
  ['0.0001', '0.0001'],
  ['0.00001', '1.0e-5'],
  ['1.5e-7', '1.5e-7'],
  ['123.456', '123.456'],
  ['1e16', '10000000000000000'],
  ['1.0E+2', '100.0'],
  ['12345678901234567890', '12345678901234567890'],
  ['0.1234567890123456789', '0.12345678901234568'],
  ['-1e3', '-1000'],
  ['-0', '0'],
  ['231988433140330815.73', '231988433140330800'],
  ['9007199254740993.0', '9007199254740992'],
  ['9007199254740991.0', '9007199254740991.0'],
  ['-9007199254740993.0', '-9007199254740992'],
  ['1200.0', '1200'],
  ['12e1', '120.0'],
  ['5e-324', '5.0e-324'],
];

describe('a number that Boruta keeps', () => {
  it.each(seen)('%s is %s, in validate and in the sandbox, and compares as equal', (sent, kept) => {
    expect(serverSpelling(sent)).toBe(kept);
    expect(writeJson(normalizeNumbers(parseJson(sent)))).toBe(kept);
    expect(same(parseNumber(sent), parseNumber(kept))).toBe(true);
  });

  it('is the same value, whatever its spelling', () => {
    const digits = fc.stringMatching(/^[0-9]{1,25}$/);
    const whole = digits.map((text) => String(BigInt(text)));
    fc.assert(
      fc.property(
        whole,
        digits,
        fc.integer({ min: -40, max: 40 }),
        fc.boolean(),
        (int, rest, power, minus) => {
          const text = `${minus ? '-' : ''}${int}.${rest}e${power}`;
          const kept = serverSpelling(text);
          expect(kept).toBeDefined();
          expect(same(parseNumber(text), parseNumber(kept ?? ''))).toBe(true);
        },
      ),
    );
  });

  it('is one value with and without a zero fraction', () => {
    for (const [one, other] of [
      ['10', '10.0'],
      ['0', '-0.0'],
      ['-3', '-3.00'],
    ] as const)
      expect(same(parseNumber(one), parseNumber(other))).toBe(true);
  });

  it.each([
    ['1', '2'],
    ['10.5', '10.51'],
    ['9007199254740993', '9007199254740992'],
    ['1e3', '1001'],
    ['-1.5', '1.5'],
    ['1', 'true'],
  ])('%s is not %s', (one, other) => {
    expect(same(parseNumber(one), other === 'true' ? true : parseNumber(other))).toBe(false);
  });
});

import { expect, it } from 'vitest';
import { formatNumber } from '../../src/mail/limits.js';

it.each([0, 7, 99, 100, 1000, 12_345, 999_999, 1_000_000, 32_000_000, 1_234_567_890])(
  '%d is written as people do',
  (number) => {
    expect(formatNumber(number)).toBe(number.toLocaleString('en'));
  },
);

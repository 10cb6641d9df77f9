import { expect, test } from 'vitest';
import { faultNames, readFaults, withSeed } from '../../src/cli/faults.js';

test('a list with commas, and several lists, are one', () => {
  const first = readFaults('pool=2, cut=0.1,stale-scopes', {});
  expect(readFaults('500=.5,503=1,reset=0,restart=0.25,seed=7', first)).toEqual({
    pool: 2,
    cut: 0.1,
    staleScopes: true,
    500: 0.5,
    503: 1,
    reset: 0,
    restart: 0.25,
    seed: 7,
  });
});

test('what the help shows can be read', () => {
  expect(Object.keys(readFaults(faultNames, {}))).toHaveLength(8);
});

test.each([
  ['pol=2', 'There is no fault "pol"; did you mean pool?'],
  ['stalescopes', 'There is no fault "stalescopes"; did you mean stale-scopes?'],
  ['toString', `There is no fault "toString"; the faults are ${faultNames}.`],
  ['', `There is no fault ""; the faults are ${faultNames}.`],
  ['pool', 'pool takes a whole number of 1 or more, such as pool=2.'],
  ['pool=0', 'pool takes a whole number of 1 or more, such as pool=2.'],
  ['pool=1.5', 'pool takes a whole number of 1 or more, such as pool=2.'],
  ['seed=-1', 'seed takes a whole number of 0 or more, such as seed=1.'],
  ['cut=1.1', 'cut takes a probability from 0 to 1, such as cut=0.1.'],
  ['cut=10%', 'cut takes a probability from 0 to 1, such as cut=0.1.'],
  ['503', '503 takes a probability from 0 to 1, such as 503=0.1.'],
  ['stale-scopes=1', 'stale-scopes takes no value.'],
])('%s is refused: %s', (list, message) => {
  expect(() => readFaults(list, {})).toThrow(message);
});

test('faults by chance get a seed, unless they have one', () => {
  expect(withSeed({ cut: 0.1 })).toEqual({ cut: 0.1, seed: expect.any(Number) });
  expect(withSeed({ 503: 0.1, seed: 0 })).toEqual({ 503: 0.1, seed: 0 });
  expect(withSeed({ pool: 2, staleScopes: true })).toEqual({ pool: 2, staleScopes: true });
});

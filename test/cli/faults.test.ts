import { expect, test } from 'vitest';
import { faultNames, readFaults, withSeed } from '../../src/cli/faults.js';

test('a list with commas, and several lists, are one', () => {
  const first = readFaults('pool=2, cut=0.1,stale-scopes,pause=250', {});
  expect(readFaults('500=.5,503=1,reset=0,restart=0.25,seed=7', first)).toEqual({
    pool: 2,
    cut: 0.1,
    staleScopes: true,
    pause: 250,
    500: 0.5,
    503: 1,
    reset: 0,
    restart: 0.25,
    seed: 7,
  });
});

test('what the help shows can be read', () => {
  expect(Object.keys(readFaults(faultNames, {}))).toHaveLength(9);
});

test.each([
  'pol=2',
  'toString',
  '',
  'pool',
  'pool=0',
  'pool=1.5',
  'seed=-1',
  'cut=1.1',
  'cut=10%',
  '503',
  'stale-scopes=1',
])('%s is refused', (list) => {
  expect(() => readFaults(list, {})).toThrow(`${JSON.stringify(list)} is no fault`);
});

test('faults by chance get a seed, unless they have one', () => {
  expect(withSeed({ cut: 0.1 })).toEqual({ cut: 0.1, seed: expect.any(Number) });
  expect(withSeed({ 503: 0.1, seed: 0 })).toEqual({ 503: 0.1, seed: 0 });
  expect(withSeed({ pool: 2, staleScopes: true })).toEqual({ pool: 2, staleScopes: true });
});

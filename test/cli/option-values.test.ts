import { describe, expect, it, test } from 'vitest';
import { withSeed } from '../../src/cli/commands/sandbox.js';
import {
  age,
  faultNames,
  interval,
  listenAddress,
  milliseconds,
  readFaults,
} from '../../src/cli/option-values.js';

describe('an interval', () => {
  it.each([
    ['1s', 1],
    ['30s', 30],
    ['5m', 300],
    ['90m', 5400],
    ['1h', 3600],
    ['24h', 86_400],
    ['86400s', 86_400],
    ['05m', 300],
  ])('of %s has %i seconds', (text, seconds) => {
    expect(interval(text)).toBe(seconds);
  });

  it.each([
    '',
    ...'0s|0|5|-5m|1.5m|5M|5 m| 5m|5m\n|1m30s|500ms|1d|25h|86401s|999999s|1e3s|Infinity|m|٣s'.split('|'),
    'PT5M',
  ])("can't be %j", (text) => {
    expect(() => interval(text)).toThrow(
      'It must be a time from 1s to 24h: a whole number with s, m or h, such as 5m.',
    );
  });
});

it('an age and a latency are parsed', () => {
  expect([age('12h'), age('90d'), age('8w')]).toEqual([43_200_000, 7_776_000_000, 4_838_400_000]);
  expect([milliseconds('50ms'), milliseconds('1s'), milliseconds('7')]).toEqual([50, 1000, 7]);
  expect(() => age('5m')).toThrow('It must be an age');
  expect(() => milliseconds('11m')).toThrow('It must be a time of at most 10 minutes');
});

describe('an address to listen on', () => {
  it.each([
    ['127.0.0.1:9464', { host: '127.0.0.1', port: 9464 }],
    ['0.0.0.0:1', { host: '0.0.0.0', port: 1 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    ['[::1]:65535', { host: '::1', port: 65_535 }],
    ['[::]:9464', { host: '::', port: 9464 }],
    ['a-b.example:80', { host: 'a-b.example', port: 80 }],
  ])('may be %s', (text, address) => {
    expect(listenAddress(text)).toEqual(address);
  });

  it.each([
    '',
    ...'9464|:9464|127.0.0.1|127.0.0.1:|127.0.0.1:65536|127.0.0.1:-1|::1:9464|[::1]'.split('|'),
    ...'http://localhost:9464|localhost:9464/metrics|a b:1|-a:1|localhost:1\n'.split('|'),
  ])("can't be %j", (text) => {
    expect(() => listenAddress(text)).toThrow('It must be HOST:PORT');
  });
});

test('faults in several lists are merged', () => {
  const first = readFaults('pool=2, cut=0.1,stale-scopes,pause=250', {});
  expect(first).toEqual({ pool: 2, cut: 0.1, staleScopes: true, pause: 250 });
  const second = { 500: 0.5, 503: 1, reset: 0, restart: 0.25, seed: 7 };
  expect(readFaults('500=.5,503=1,reset=0,restart=0.25,seed=7', first)).toEqual({ ...first, ...second });
});

test('the faults in the help can be parsed', () => {
  expect(Object.keys(readFaults(faultNames, {}))).toHaveLength(9);
});

test.each([
  '',
  ...'pol=2 toString pool pool=0 pool=1.5 seed=-1 cut=1.1 cut=10% 503 stale-scopes=1'.split(' '),
])('%s is refused as a fault', (list) => {
  expect(() => readFaults(list, {})).toThrow(`${JSON.stringify(list)} is not a fault`);
});

test('random faults get a seed, unless they have one', () => {
  expect(withSeed({ cut: 0.1 })).toEqual({ cut: 0.1, seed: expect.any(Number) });
  expect(withSeed({ 503: 0.1, seed: 0 })).toEqual({ 503: 0.1, seed: 0 });
  expect(withSeed({ pool: 2, staleScopes: true })).toEqual({ pool: 2, staleScopes: true });
});

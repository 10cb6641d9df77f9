import { describe, expect, it } from 'vitest';
import { age, interval, milliseconds } from '../../src/cli/times.js';
import { listenAddress } from '../../src/cli/watch/address.js';

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
  ])('of %s is %i seconds', (text, seconds) => {
    expect(interval(text)).toBe(seconds);
  });

  it.each([
    '',
    ...'0s|0|5|-5m|1.5m|5M|5 m| 5m|5m\n|1m30s|500ms|1d|25h|86401s|999999s|1e3s|Infinity|m|٣s'.split('|'),
    'PT5M',
  ])('is not %j', (text) => {
    expect(() => interval(text)).toThrow(
      'It must be a time from 1s to 24h: a whole number with s, m or h, such as 5m.',
    );
  });
});

it('an age and a latency are as they were', () => {
  expect([age('12h'), age('90d'), age('8w')]).toEqual([43_200_000, 7_776_000_000, 4_838_400_000]);
  expect([milliseconds('50ms'), milliseconds('1s'), milliseconds('7')]).toEqual([50, 1000, 7]);
  expect(() => age('5m')).toThrow('It is an age');
  expect(() => milliseconds('11m')).toThrow('It must be a time of 10 minutes at most');
});

describe('where something listens', () => {
  it.each([
    ['127.0.0.1:9464', { host: '127.0.0.1', port: 9464 }],
    ['0.0.0.0:1', { host: '0.0.0.0', port: 1 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    ['[::1]:65535', { host: '::1', port: 65_535 }],
    ['[::]:9464', { host: '::', port: 9464 }],
    ['a-b.example:80', { host: 'a-b.example', port: 80 }],
  ])('is %s', (text, address) => {
    expect(listenAddress(text)).toEqual(address);
  });

  it.each([
    '',
    ...'9464|:9464|127.0.0.1|127.0.0.1:|127.0.0.1:65536|127.0.0.1:-1|::1:9464|[::1]'.split('|'),
    ...'http://localhost:9464|localhost:9464/metrics|a b:1|-a:1|localhost:1\n'.split('|'),
  ])('is not %j', (text) => {
    expect(() => listenAddress(text)).toThrow('It must be HOST:PORT');
  });
});

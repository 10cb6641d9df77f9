import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { figures, figuresFile, worse } from '../../bench/figures.js';

const committed = JSON.parse(readFileSync(figuresFile, 'utf8'));

// The requests are those of a quick run of the whole suite, so this shows besides that it works.
test('commands cost what bench/figures.json says; npm run figures writes what they cost now', async () => {
  expect(worse(await figures(), committed)).toEqual([]);
});

describe('what is worse', () => {
  const before = { exact: { requests: 10 }, size: { bytes: 1000, modules: 20 } };
  const told = (now: typeof before) => worse(now, before);

  it('is another number of what is counted, more or less', () => {
    expect(told({ ...before, exact: { requests: 11 } })).toEqual(['requests: 11, committed 10']);
    expect(told({ ...before, exact: { requests: 9 } })).toEqual(['requests: 9, committed 10']);
  });

  it('is a size that changed by more than its margin: one that shrank would grow again unseen', () => {
    expect(told({ ...before, size: { bytes: 1020, modules: 20 } })).toEqual([]);
    expect(told({ ...before, size: { bytes: 980, modules: 19 } })).toEqual([
      'modules: 19, committed 20: npm run figures keeps it from growing again',
    ]);
    expect(told({ ...before, size: { bytes: 1021, modules: 21 } })).toEqual([
      'bytes: 1021, committed 1000, which may grow by 2 %',
      'modules: 21, committed 20, which may grow by 2 %',
    ]);
  });

  it('is a figure that is new or gone', () => {
    expect(worse({ exact: { reads: 1 }, size: { bytes: 1000 } }, before)).toEqual([
      'requests: no longer there, committed 10',
      'reads: 1, committed is none',
      'modules: no longer there, committed 20',
    ]);
  });
});

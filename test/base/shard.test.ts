import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  MAX_SHARDS,
  parsePartName,
  parseShard,
  parseShardName,
  partName,
  runOf,
  shardIndex,
  shardName,
  shardText,
} from '../../src/base/shard.js';

const shard = fc
  .integer({ min: 1, max: MAX_SHARDS })
  .chain((count) => fc.record({ index: fc.integer({ min: 1, max: count }), count: fc.constant(count) }));

describe('a shard', () => {
  test('is read as it is written', () => {
    fc.assert(
      fc.property(shard, (one) => {
        expect(parseShard(shardText(one))).toEqual(one);
        expect(parseShardName(shardName(one))).toEqual(one);
      }),
    );
  });

  test.each(['', ...'1|0/1|2/1|1/0|01/2|1/02|1/2/3| 1/2|1/2 |-1/2|1.5/2|a/b|1/1001|1/9999'.split('|')])(
    'is none: %j',
    (text) => {
      expect(parseShard(text)).toBeUndefined();
      expect(parseShardName(text.replace('/', '-of-'))).toBeUndefined();
    },
  );

  test('contains each address exactly once', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.integer({ min: 1, max: MAX_SHARDS }),
        (address, count) => {
          const index = shardIndex(address, count);
          expect(index).toBe(shardIndex(address, count));
          expect(parseShard(`${index}/${count}`)).toEqual({ index, count });
        },
      ),
    );
  });

  test('has about as many addresses as any other', () => {
    const counts = [0, 0, 0, 0];
    for (let number = 0; number < 10_000; number += 1) {
      const at = shardIndex(`User/00000000-0000-4000-8000-${String(number).padStart(12, '0')}`, 4) - 1;
      counts[at] = (counts[at] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 2500)).toBeLessThan(250);
  });

  // Runners with different versions may share a run.
  test.each([
    ['User/40000000-0000-4000-8000-000000000002', 4, 1],
    ['Organization/acme', 1000, 125],
    ['Organization/Straße', 100, 68],
    ['EmailTemplate/20000000-0000-4000-8000-000000000001/tx_code', 1000, 411],
  ] as const)('of %s is the same for ever', (address, count, index) => {
    expect(shardIndex(address, count)).toBe(index);
  });

  test('is the same for a UUID in capitals', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.integer({ min: 1, max: 50 }), (id, count) => {
        expect(shardIndex(`User/${id.toUpperCase()}`, count)).toBe(shardIndex(`User/${id}`, count));
      }),
    );
  });
});

describe('the name of a part of a run', () => {
  const run = '20260131T120000Z-4f2a1c';

  test('contains the run, the part and the attempt', () => {
    fc.assert(
      fc.property(shard, fc.integer({ min: 1, max: 99 }), (one, attempt) => {
        const name = partName(run, one, attempt);
        expect(parsePartName(name)).toEqual({ run, shard: one, attempt });
        expect(runOf(name)).toBe(run);
      }),
    );
  });

  test('sorts later for each attempt', () => {
    const names = [1, 2, 9, 10, 99].map((attempt) => partName(run, { index: 2, count: 4 }, attempt));
    expect(names.toSorted()).toEqual(names);
  });

  test.each([run, `${run}.2`, `${run}.5-of-4`, `${run}.2-of-4.2`, `.2-of-4`])('is not: %s', (name) => {
    expect(parsePartName(name)).toBeUndefined();
    expect(runOf(name)).toBe(name);
  });
});

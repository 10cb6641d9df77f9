import { describe, expect, it } from 'vitest';
import { entriesOf, mergeJournals } from '../../src/apply/journal-entries.js';
import type { AnsweredLine, JournalContent, JournalLine, SendingLine } from '../../src/state/journal.js';
import { splitState, withPart, withSettled } from '../../src/state/shards.js';
import { emptyState } from '../../src/state/state.js';
import { answer, at, runLine, sending } from '../state/journal-lines.js';

const R = '20260131T120000Z-4f2a1c';

type Json = SendingLine['before']['fields'];

interface EntryParts {
  readonly key?: string;
  readonly before: Json;
  readonly expected: Json;
  readonly status: AnsweredLine['status'] | null;
  readonly after?: Json;
}

function journal(
  run: string,
  changes: readonly EntryParts[],
  end?: { interrupted: boolean },
): JournalContent {
  const lines = changes.flatMap(
    ({ key = 'User/u', before, expected, status, after }, index): JournalLine[] => {
      const seq = index + 1;
      const begun: SendingLine = {
        ...sending,
        seq,
        address: key,
        key,
        identity: { id: key.slice(5) },
        before: { fields: before, hashes: {} },
        expected: { fields: expected, hashes: {} },
      };
      if (status === null) return [begun];
      return [
        begun,
        { ...answer, seq, status, after: after === undefined ? null : { fields: after, hashes: {} } },
      ];
    },
  );
  return {
    run: runLine(run, { lineage: 'lineage', salt: 'salt' }, 'state.json'),
    lines: [...lines, ...(end === undefined ? [] : [{ type: 'end' as const, at, ...end }])],
    bytes: 0,
    ended: end !== undefined,
  };
}

function mergedEntries(...contents: JournalContent[]) {
  return entriesOf(mergeJournals(contents, R)).map(({ sending, answered }) => [
    sending.key,
    sending.before.fields,
    sending.expected.fields,
    answered?.status ?? null,
  ]);
}

const [first, second] = [`${R}.1-of-2`, `${R}.1-of-2.02`];
const done = { interrupted: false };
const cut = { interrupted: true };

describe('journals of one run, merged', () => {
  it('contain each change once, even if line numbers are the same', () => {
    const one = { before: { a: 1 }, expected: { a: 2 }, status: 'applied' } as const;
    expect(
      mergedEntries(
        journal(first, [{ ...one, key: 'User/x' }], done),
        journal(`${R}.2-of-2`, [{ ...one, key: 'User/y' }], done),
      ),
    ).toEqual([
      ['User/x', { a: 1 }, { a: 2 }, 'applied'],
      ['User/y', { a: 1 }, { a: 2 }, 'applied'],
    ]);
  });

  it('start from the values before the first attempt that changed something', () => {
    const again = { before: { a: 2 }, expected: { a: 3 }, status: 'applied' } as const;
    const before = { before: { a: 1 }, expected: { a: 2, b: 1 } };
    expect(
      mergedEntries(
        journal(first, [{ ...before, status: 'not_converged' }], cut),
        journal(second, [again], done),
      ),
    ).toEqual([['User/u', { a: 1 }, { a: 3, b: 1 }, 'applied']]);
    for (const status of ['failed', 'skipped'] as const) {
      expect(
        mergedEntries(journal(first, [{ ...before, status }], cut), journal(second, [again], done)),
      ).toEqual([['User/u', { a: 2 }, { a: 3 }, 'applied']]);
    }
  });

  it("keep the first attempt's change if the second changed nothing", () => {
    const one = { before: { a: 1 }, expected: { a: 2 }, status: 'applied' } as const;
    const none = { before: { a: 2 }, expected: { a: 2 }, status: 'skipped' } as const;
    expect(mergedEntries(journal(first, [one], cut), journal(second, [none], done))).toEqual([
      ['User/u', { a: 1 }, { a: 2 }, 'applied'],
    ]);
  });

  it('are the same as a single journal', () => {
    const expired = { before: { a: 1 }, expected: { a: 2 }, status: null };
    const anew = { before: { a: 5 }, expected: { a: 2 }, status: 'applied' } as const;
    const one = journal(first, [expired, anew], done);
    expect(mergedEntries(one)).toEqual([['User/u', { a: 5 }, { a: 2 }, 'applied']]);
    expect(mergedEntries(one)).toEqual(
      entriesOf(one).map(({ sending, answered }) => [
        sending.key,
        sending.before.fields,
        sending.expected.fields,
        answered?.status ?? null,
      ]),
    );
  });

  it('have ended if all have, and were interrupted if one was and no other continued it', () => {
    const endOf = (...contents: JournalContent[]) => {
      const { ended, lines } = mergeJournals(contents, R);
      const last = lines.at(-1);
      return ended && last?.type === 'end' ? last.interrupted : 'open';
    };
    expect(endOf(journal(first, [], cut), journal(second, [], done))).toBe(false);
    expect(endOf(journal(first, [], cut), journal(`${R}.2-of-2`, [], done))).toBe(true);
    expect(endOf(journal(first, []), journal(`${R}.2-of-2`, [], done))).toBe('open');
  });
});

describe('the last run of a shard', () => {
  const shard = { index: 1, count: 2 };
  const later = '20260201T120000Z-4f2a1c.1-of-2';
  const known = withPart(splitState(emptyState('https://id.example.com'), shard), shard, { last_run: later });

  it('is not replaced by an older run', () => {
    expect(withSettled(known, first).shards?.parts).toEqual({ 1: { last_run: later } });
  });

  it('is marked as cut off only if it had not ended', () => {
    const newest = '20260202T120000Z-4f2a1c.1-of-2';
    expect(withSettled(known, newest).shards?.parts).toEqual({ 1: { last_run: newest } });
  });
});

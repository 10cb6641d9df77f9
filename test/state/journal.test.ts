import { expect, it } from 'vitest';
import { batchedJournal, type JournalLine } from '../../src/state/journal.js';

it('writes the lines of one turn in one batch: an answer, and the next request', async () => {
  const batches: number[] = [];
  const journal = batchedJournal(async (lines) => {
    batches.push(lines.length);
  });
  const line: JournalLine = { type: 'end', at: '2026-01-31T12:00:00.000Z', interrupted: false };
  const answer = journal.write(line);
  for (let turns = 20; turns > 0; turns -= 1) await Promise.resolve();
  await Promise.all([answer, journal.write(line)]);
  await journal.write(line);
  expect(batches).toEqual([2, 1]);
});

import { randomUUID } from 'node:crypto';
import { stringifyJson } from '../../base/json.js';
import { error, ProblemsError } from '../../base/problems.js';
import type { RunStore } from '../backend.js';
import { isUnderWay, type JournalContent, type RunLine, underWay } from '../journal.js';
import { journalOf, unusableJournal } from '../journal-text.js';
import { MOST, tooLarge } from '../state-text.js';
import { transaction } from './connection.js';
import type { Database } from './database.js';
import { postgresJournal } from './journal.js';
import type { StateLock } from './lock.js';

interface Line {
  readonly number: number;
  readonly line: string;
}

/** The journals of all states in a database, a row for each line. */
export function runRows(database: Database, lock: StateLock, state: string): RunStore {
  const shown = (run: string): string => `${run} of ${database.target.place}`;

  const read = async (run: string): Promise<JournalContent | null> => {
    const lines = await database.read(undefined, async (statements) => {
      // The line of a run is as old as the run.
      const { rows } = await statements.run<Line>(
        'SELECT number, line::text FROM idops.lines WHERE run = $1 ORDER BY number',
        [run],
      );
      return rows;
    });
    if (lines === undefined || lines.length === 0) throw unusableJournal(shown(run), 'it is not there');
    const gap = lines.findIndex(({ number }, index) => number !== index);
    if (gap >= 0) throw unusableJournal(shown(run), `line ${gap + 1} is missing`);
    const size = lines.reduce((sum, { line }) => sum + line.length, 0);
    if (size > MOST) throw unusableJournal(shown(run), `it ${tooLarge()}`);
    return journalOf(lines.map(({ line }) => `${line}\n`).join(''), run, shown(run));
  };

  return {
    async list() {
      const runs = await database.read([], async (statements) => {
        const { rows } = await statements.run<{ run: string }>('SELECT run FROM idops.runs');
        return rows;
      });
      return runs.map(({ run }) => run).sort();
    },
    read,
    async hasEnd(run) {
      const lines = await database.read([], async (statements) => {
        const { rows } = await statements.run<{ line: string }>(
          'SELECT line::text FROM idops.lines WHERE run = $1 ORDER BY number DESC LIMIT 1',
          [run],
        );
        return rows;
      });
      if (lines.length === 0) throw unusableJournal(shown(run), 'it is not there');
      return lines[0]?.line.startsWith('{"type":"end"') === true;
    },
    strangers: async () => [],
    kept: async () => [],
    async create(first: RunLine) {
      const { run } = first;
      const writer = randomUUID();
      await database.write((statements) =>
        transaction(statements, async () => {
          await lock.fence(statements);
          await statements.run(
            `WITH begun AS (
               INSERT INTO idops.runs (run, state, writer) VALUES ($1, $2, $3) ON CONFLICT (run) DO NOTHING RETURNING run
             )
             INSERT INTO idops.lines (run, number, line) SELECT run, 0, $4 FROM begun`,
            [run, state, writer, stringifyJson(first)],
          );
          // It may have been put there by a former try, whose answer was cut off.
          const own = await statements.run('SELECT FROM idops.runs WHERE run = $1 AND writer = $2', [
            run,
            writer,
          ]);
          if (own.count === 0) throw taken(run, database.target.place);
        }),
      );
      return postgresJournal(database, lock, { run, writer, next: 1 });
    },
    async reopen(content) {
      if (isUnderWay(content)) throw underWay(content.run);
      const { run } = content.run;
      const writer = randomUUID();
      await database.write((statements) =>
        transaction(statements, async () => {
          await lock.fence(statements);
          // Whoever wrote it until now can't from here on.
          const { count } = await statements.run('UPDATE idops.runs SET writer = $2 WHERE run = $1', [
            run,
            writer,
          ]);
          if (count === 0) throw unusableJournal(shown(run), 'it is not there');
          const { rows } = await statements.run<{ last: number }>(
            'SELECT pg_catalog.max(number) AS last FROM idops.lines WHERE run = $1',
            [run],
          );
          if (rows[0]?.last !== content.lines.length) throw underWay(content.run);
        }),
      );
      return postgresJournal(database, lock, { run, writer, next: content.lines.length + 1 });
    },
    async assign(runs) {
      if (runs.length === 0) return;
      await database.write((statements) =>
        transaction(statements, async () => {
          await lock.fence(statements);
          await statements.run('UPDATE idops.runs SET state = $2 WHERE run = ANY ($1::text[])', [
            [...runs],
            state,
          ]);
        }),
      );
    },
    async remove(runs) {
      if (runs.length === 0) return;
      await database.write((statements) =>
        transaction(statements, async () => {
          await lock.fence(statements);
          await statements.run('DELETE FROM idops.runs WHERE run = ANY ($1::text[])', [[...runs]]);
        }),
      );
    },
  };
}

function taken(run: string, place: string): ProblemsError {
  return new ProblemsError([
    error('not-writable', `there is a journal of ${run} already (${place})`, [], 'run it again'),
  ]);
}

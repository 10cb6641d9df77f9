import { randomUUID } from 'node:crypto';
import { stringifyJson } from '../../base/json.js';
import { type ProblemsError, problemError } from '../../base/problems.js';
import type { RunStore } from '../backend.js';
import {
  batchedJournal,
  isRunning,
  type Journal,
  type JournalContent,
  journalError,
  parseJournal,
  type RunLine,
  runningError,
} from '../journal.js';
import { MAX_STATE_BYTES, tooLargeText } from '../state-text.js';
import { type Statements, transaction } from './connection.js';
import type { Database } from './database.js';
import type { StateLock } from './lock.js';

/** The journals of all states in a database, one row for each line. */
export function postgresRuns(database: Database, lock: StateLock, state: string): RunStore {
  const shown = (run: string): string => `${run} of ${database.target.place}`;

  const read = async (run: string): Promise<JournalContent | null> => {
    const lines = await database.read(undefined, async (statements) => {
      // A run and its first line are written together.
      const { rows } = await statements.run<{ number: number; line: string }>(
        'SELECT number, line::text FROM idops.lines WHERE run = $1 ORDER BY number',
        [run],
      );
      return rows;
    });
    if (lines === undefined || lines.length === 0) throw journalError(shown(run), 'it is not there');
    const gap = lines.findIndex(({ number }, index) => number !== index);
    if (gap >= 0) throw journalError(shown(run), `line ${gap + 1} is missing`);
    const size = lines.reduce((sum, { line }) => sum + line.length, 0);
    if (size > MAX_STATE_BYTES) throw journalError(shown(run), `it ${tooLargeText()}`);
    return parseJournal(lines.map(({ line }) => `${line}\n`).join(''), run, shown(run));
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
      if (lines.length === 0) throw journalError(shown(run), 'it is not there');
      return lines[0]?.line.startsWith('{"type":"end"') === true;
    },
    otherFiles: async () => [],
    buffered: async () => [],
    async create(first: RunLine) {
      const { run } = first;
      const writer = randomUUID();
      await lock.write(async (statements) => {
        await statements.run(
          `WITH begun AS (
               INSERT INTO idops.runs (run, state, writer) VALUES ($1, $2, $3) ON CONFLICT (run) DO NOTHING RETURNING run
             )
             INSERT INTO idops.lines (run, number, line) SELECT run, 0, $4 FROM begun`,
          [run, state, writer, stringifyJson(first)],
        );
        // An earlier attempt may have inserted it, but its answer was lost.
        const own = await statements.run('SELECT FROM idops.runs WHERE run = $1 AND writer = $2', [
          run,
          writer,
        ]);
        if (own.count === 0)
          throw problemError(
            'not-writable',
            `there is a journal of ${run} already (${database.target.place})`,
            'run it again',
          );
      });
      return postgresJournal(database, lock, run, writer, 1);
    },
    async reopen(content) {
      if (isRunning(content)) throw runningError(content.run);
      const { run } = content.run;
      const writer = randomUUID();
      await lock.write(async (statements) => {
        // The former writer can't write from here on.
        const { count } = await statements.run('UPDATE idops.runs SET writer = $2 WHERE run = $1', [
          run,
          writer,
        ]);
        if (count === 0) throw journalError(shown(run), 'it is not there');
        const { rows } = await statements.run<{ last: number }>(
          'SELECT pg_catalog.max(number) AS last FROM idops.lines WHERE run = $1',
          [run],
        );
        if (rows[0]?.last !== content.lines.length) throw runningError(content.run);
      });
      return postgresJournal(database, lock, run, writer, content.lines.length + 1);
    },
    async assign(runs) {
      if (runs.length === 0) return;
      await lock.write(async (statements) => {
        await statements.run('UPDATE idops.runs SET state = $2 WHERE run = ANY ($1::text[])', [
          [...runs],
          state,
        ]);
      });
    },
    async remove(runs) {
      if (runs.length === 0) return;
      await lock.write(async (statements) => {
        await statements.run('DELETE FROM idops.runs WHERE run = ANY ($1::text[])', [[...runs]]);
      });
    },
  };
}

/** Writes a journal from the line `first` on. A process with another id than `writer` can't write it. */
function postgresJournal(
  database: Database,
  lock: StateLock,
  run: string,
  writer: string,
  first: number,
): Journal {
  let next = first;
  /** The writer ids that the row may have: the last one, and those of updates that were cut off. */
  let writers = [writer];
  /** Whether lines that failed may have been written. */
  let isUnsure = false;

  const takenOver = (): ProblemsError =>
    problemError(
      'locked',
      `the journal of run ${run} was taken over or removed by somebody else (${database.target.place})`,
      'find out who uses this state, and run it again when no other run is in progress',
    );

  /** Appends lines, if this process holds the lock and is the writer. */
  const send = async (statements: Statements, lines: readonly string[]): Promise<void> => {
    const { state, shard, session } = lock;
    const { count } = await statements.run(
      `WITH held AS (
         UPDATE idops.locks SET seen_at = pg_catalog.clock_timestamp() WHERE state = $5 AND shard = $6 AND session = $7::uuid RETURNING state
       ), mine AS (
         SELECT run FROM idops.runs WHERE run = $1 AND writer = $2 FOR SHARE
       )
       INSERT INTO idops.lines (run, number, line)
       SELECT mine.run, $3 + place - 1, line::json
       FROM mine, pg_catalog.unnest($4::text[]) WITH ORDINALITY AS batch (line, place)
       WHERE $7::uuid IS NULL OR EXISTS (SELECT FROM held)`,
      [run, writers.at(-1), next, lines, state, shard, session],
    );
    if (count === lines.length) return;
    if (count > 0) {
      const message = `the database kept ${count} of ${lines.length} lines of the journal of run ${run} (${database.target.place})`;
      const hint = 'look for a trigger or a rule on the table idops.lines, and remove it';
      throw problemError('not-writable', message, hint);
    }
    if (session !== null) await lock.confirm(statements);
    throw takenOver();
  };

  /**
   * Whether lines without an answer were written. If not, removes any part of them, and prevents a late write. Throws a ProblemsError
   * (`locked`) if another process is the writer.
   */
  const settle = async (statements: Statements, lines: readonly string[]): Promise<boolean> => {
    const writer = randomUUID();
    writers.push(writer);
    const arrived = await transaction(statements, async () => {
      await lock.fence(statements);
      // Waits for a statement that is still running on the former connection.
      const { count } = await statements.run(
        'UPDATE idops.runs SET writer = $3 WHERE run = $1 AND writer = ANY ($2::uuid[])',
        [run, writers, writer],
      );
      if (count === 0) throw takenOver();
      const { rows } = await statements.run<{ line: string }>(
        'SELECT line::text FROM idops.lines WHERE run = $1 AND number >= $2 ORDER BY number',
        [run, next],
      );
      if (rows.length === lines.length && rows.every(({ line }, index) => line === lines[index])) return true;
      await statements.run('DELETE FROM idops.lines WHERE run = $1 AND number >= $2', [run, next]);
      return false;
    });
    writers = [writer];
    return arrived;
  };

  return batchedJournal(async (lines) => {
    try {
      await database.write(async (statements, again) => {
        const arrived = again || isUnsure ? await settle(statements, lines) : false;
        if (!arrived) await send(statements, lines);
      });
      isUnsure = false;
      next += lines.length;
    } catch (failure) {
      isUnsure = true;
      throw failure;
    }
  });
}

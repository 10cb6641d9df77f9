import { randomUUID } from 'node:crypto';
import { error, ProblemsError } from '../../base/problems.js';
import { batched } from '../batched.js';
import type { Journal } from '../journal.js';
import { type Statements, transaction } from './connection.js';
import type { Database } from './database.js';
import type { StateLock } from './lock.js';

/** Whose turn it is to write a journal, and where the next line goes. */
interface Turn {
  readonly run: string;
  /** Nobody with another one writes it any more. */
  readonly writer: string;
  readonly next: number;
}

/** A journal whose lines are rows. */
export function postgresJournal(database: Database, lock: StateLock, turn: Turn): Journal {
  const { run } = turn;
  let { next } = turn;
  /** What a journal of this process may be told by: the last one, and those whose change was cut off. */
  let writers = [turn.writer];
  /** Whether lines that were given up may be there all the same. */
  let isUnsure = false;

  const takenOver = (): ProblemsError =>
    new ProblemsError([
      error(
        'locked',
        `the journal of run ${run} was taken over or removed by somebody else (${database.target.place})`,
        [],
        'find out who works with this state, and run it again once no other run is under way',
      ),
    ]);

  /** Puts lines behind the others, as long as the lock and the journal are this process's. */
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
      throw new ProblemsError([error('not-writable', message, [], hint)]);
    }
    if (session !== null) await lock.confirm(statements);
    throw takenOver();
  };

  /**
   * Whether these lines are there, whose answer was cut off. Otherwise nothing is there after those that surely are, and nothing that was on
   * its way comes any more. Throws a ProblemsError (`locked`) where the journal is somebody else's.
   */
  const settle = async (statements: Statements, lines: readonly string[]): Promise<boolean> => {
    const writer = randomUUID();
    writers.push(writer);
    const arrived = await transaction(statements, async () => {
      await lock.fence(statements);
      // This waits for a statement that is still being done on the former connection.
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

  return batched(async (lines) => {
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

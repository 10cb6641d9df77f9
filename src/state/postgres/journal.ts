import { randomUUID } from 'node:crypto';
import { stringifyJson } from '../../base/json.js';
import { error, ProblemsError } from '../../base/problems.js';
import type { Journal, JournalLine } from '../journal.js';
import { type Statements, transaction } from './connection.js';
import type { Database } from './database.js';
import type { StateLock } from './lock.js';

interface Waiting {
  readonly text: string;
  readonly done: () => void;
  readonly failed: (reason: unknown) => void;
}

/** How many characters go in one statement, where one line alone isn't longer. */
const CHARACTERS = 4_000_000;

/** Whose turn it is to write a journal, and where the next line goes. */
interface Turn {
  readonly run: string;
  /** Nobody with another one writes it any more. */
  readonly writer: string;
  readonly next: number;
}

/** Lines that come while others are on their way go together with the next, so that one commit serves many requests. */
export class PostgresJournal implements Journal {
  readonly kept = null;
  readonly #database: Database;
  readonly #lock: StateLock;
  readonly #run: string;
  /** What a journal of this process may be told by: the last one, and those whose change was cut off. */
  #writers: string[];
  #next: number;
  /** Whether lines that were given up may be there all the same. */
  #isUnsure = false;
  #waiting: Waiting[] = [];
  #inserting: Promise<void> | undefined;

  constructor(database: Database, lock: StateLock, { run, writer, next }: Turn) {
    this.#database = database;
    this.#lock = lock;
    this.#run = run;
    this.#writers = [writer];
    this.#next = next;
  }

  write(line: JournalLine): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiting.push({ text: stringifyJson(line), done, failed });
      this.#inserting ??= this.#insert();
    });
  }

  async close(): Promise<void> {
    await this.#inserting;
  }

  async #insert(): Promise<void> {
    // The lines of one turn of the event loop go together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, countOf(this.#waiting));
      const lines = batch.map(({ text }) => text);
      try {
        await this.#database.write(async (statements, again) => {
          const arrived = again || this.#isUnsure ? await this.#settle(statements, lines) : false;
          if (!arrived) await this.#send(statements, lines);
        });
        this.#isUnsure = false;
        this.#next += batch.length;
        for (const { done } of batch) done();
      } catch (failure) {
        this.#isUnsure = true;
        for (const { failed } of batch) failed(failure);
      }
    }
    this.#inserting = undefined;
  }

  /** Puts lines behind the others, as long as the lock and the journal are this process's. */
  async #send(statements: Statements, lines: readonly string[]): Promise<void> {
    const { state, shard, session } = this.#lock;
    const { count } = await statements.run(
      `WITH held AS (
         UPDATE idops.locks SET seen_at = clock_timestamp() WHERE state = $5 AND shard = $6 AND session = $7::uuid RETURNING state
       ), mine AS (
         SELECT run FROM idops.runs WHERE run = $1 AND writer = $2 FOR SHARE
       )
       INSERT INTO idops.lines (run, number, line)
       SELECT mine.run, $3 + place - 1, line::json
       FROM mine, unnest($4::text[]) WITH ORDINALITY AS batch (line, place)
       WHERE $7::uuid IS NULL OR EXISTS (SELECT FROM held)`,
      [this.#run, this.#writers.at(-1), this.#next, lines, state, shard, session],
    );
    if (count > 0) return;
    if (session !== null) await this.#lock.confirm(statements);
    throw this.#takenOver();
  }

  /**
   * Whether these lines are there, whose answer was cut off. Otherwise nothing is there after those that surely are, and nothing that was on
   * its way comes any more. Throws a ProblemsError (`locked`) where the journal is somebody else's.
   */
  async #settle(statements: Statements, lines: readonly string[]): Promise<boolean> {
    const writer = randomUUID();
    this.#writers.push(writer);
    const arrived = await transaction(statements, async () => {
      await this.#lock.fence(statements);
      // This waits for a statement that is still being done on the former connection.
      const { count } = await statements.run(
        'UPDATE idops.runs SET writer = $3 WHERE run = $1 AND writer = ANY ($2::uuid[])',
        [this.#run, this.#writers, writer],
      );
      if (count === 0) throw this.#takenOver();
      const { rows } = await statements.run<{ line: string }>(
        'SELECT line::text FROM idops.lines WHERE run = $1 AND number >= $2 ORDER BY number',
        [this.#run, this.#next],
      );
      if (rows.length === lines.length && rows.every(({ line }, index) => line === lines[index])) return true;
      await statements.run('DELETE FROM idops.lines WHERE run = $1 AND number >= $2', [
        this.#run,
        this.#next,
      ]);
      return false;
    });
    this.#writers = [writer];
    return arrived;
  }

  #takenOver(): ProblemsError {
    return new ProblemsError([
      error(
        'locked',
        `the journal of run ${this.#run} was taken over or removed by somebody else (${this.#database.target.place})`,
        [],
        'find out who works with this state, and run it again once no other run is under way',
      ),
    ]);
  }
}

/** How many lines go in one statement. */
function countOf(waiting: readonly Waiting[]): number {
  let characters = 0;
  const end = waiting.findIndex(({ text }) => {
    characters += text.length;
    return characters > CHARACTERS;
  });
  return end < 0 ? waiting.length : Math.max(1, end);
}

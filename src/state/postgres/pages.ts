import { randomUUID } from 'node:crypto';
import type { Shard } from '../../base/shard.js';
import { LEFT, READS_FOR, type SharedPages, type SharedReading } from '../pages.js';
import type { Statements } from './connection.js';
import type { Database } from './database.js';

/** Whether a time is so many milliseconds ago, in SQL. */
const older = (time: string, milliseconds: string): string =>
  `${time} < clock_timestamp() - ${milliseconds} * interval '1 millisecond'`;

/** The pages that shards share in tables of a database, whose clock tells which were asked for when. */
export function pageRows(database: Database, state: string): SharedPages {
  return {
    async join(list, { index, count }: Shard) {
      const own = [state, `${list}, ${count}`];
      const reader = randomUUID();
      const since = await database.read(null, async (statements) => {
        const { rows } = await statements.run<{ since: string }>(
          `INSERT INTO idops.readers (state, list, shard, reader) VALUES ($1, $2, $3, $4)
           ON CONFLICT (state, list, shard) DO UPDATE SET reader = excluded.reader, since = clock_timestamp()
           RETURNING since::text`,
          [...own, index, reader],
        );
        return rows[0]?.since ?? null;
      });
      if (since === null) return null;
      const run = async <Row extends object>(text: string, ...values: unknown[]): Promise<readonly Row[]> =>
        await database.read([], async (statements: Statements) => {
          const { rows } = await statements.run<Row>(text, [...own, ...values]);
          return rows;
        });
      const reading: SharedReading = {
        async readers() {
          const rows = await run<{ shard: number }>(
            `SELECT shard FROM idops.readers
             WHERE state = $1 AND list = $2 AND since > clock_timestamp() - $3 * interval '1 millisecond' ORDER BY shard`,
            READS_FOR,
          );
          return rows.map(({ shard }) => shard);
        },
        async claim(pages) {
          const rows = await run<{ page: number }>(
            `INSERT INTO idops.pages (state, list, page, reader)
             SELECT $1, $2, page, $4 FROM unnest($5::integer[]) AS wanted (page) ORDER BY page
             ON CONFLICT (state, list, page) DO UPDATE SET reader = excluded.reader, asked_at = clock_timestamp(), text = NULL
             WHERE pages.asked_at < $3::timestamptz OR pages.reader = excluded.reader
             RETURNING page`,
            since,
            reader,
            pages,
          );
          return rows.map(({ page }) => page);
        },
        async put(page, text) {
          await run(
            'UPDATE idops.pages SET text = $5 WHERE state = $1 AND list = $2 AND page = $3 AND reader = $4',
            page,
            reader,
            text,
          );
        },
        async found(pages) {
          const rows = await run<{ page: number; text: string }>(
            `SELECT page, text FROM idops.pages
             WHERE state = $1 AND list = $2 AND page = ANY ($4::integer[]) AND asked_at >= $3::timestamptz AND text IS NOT NULL`,
            since,
            pages,
          );
          return new Map(rows.map(({ page, text }) => [page, text]));
        },
        async leave() {
          await run(
            `DELETE FROM idops.readers WHERE state = $1 AND (list = $2 AND (reader = $3 OR ${older('since', '$4')}) OR ${older('since', '$5')})`,
            reader,
            READS_FOR,
            LEFT,
          );
          await run(
            `DELETE FROM idops.pages WHERE state = $1 AND (${older('asked_at', '$3')} OR list = $2
             AND NOT EXISTS (SELECT FROM idops.readers WHERE readers.state = $1 AND readers.list = $2))`,
            LEFT,
          );
        },
      };
      return reading;
    },
  };
}

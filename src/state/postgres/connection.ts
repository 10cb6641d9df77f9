import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Client } from 'pg';
import { problemError } from '../../base/problems.js';
import { NoAnswer, unparsableAnswer } from './failures.js';
import type { Target } from './settings.js';

/** Time limits, in milliseconds. */
export interface Times {
  /** For a connection until the first statement. */
  readonly connect: number;
  /** For a statement, enforced by the server. */
  readonly statement: number;
  /** For a lock that another session holds. */
  readonly contended: number;
  /** For the answer to a statement if the network may be down: longer than `statement`, and within the lease. */
  readonly answer: number;
  /** For retries, since the first failure. */
  readonly patience: number;
  /** Between two attempts: the first pause, which doubles, and the longest. */
  readonly pause: number;
  readonly longestPause: number;
  /** After which an unused connection is closed. */
  readonly idle: number;
  /** Between two renewals of a lock. */
  readonly renewal: number;
  /** After the last renewal: then anybody may take over a lock without a connection. */
  readonly lease: number;
}

export const defaultTimes: Times = {
  connect: 10_000,
  statement: 30_000,
  contended: 10_000,
  answer: 40_000,
  patience: 30_000,
  pause: 100,
  longestPause: 2_000,
  idle: 5_000,
  renewal: 10_000,
  lease: 60_000,
};

export interface Answer<Row> {
  readonly rows: readonly Row[];
  /** The number of rows that it affected. */
  readonly count: number;
}

/** Runs statements, one after the other. */
export interface Statements {
  /** Lists are passed as arrays. Throws what the driver throws. */
  run<Row extends object>(text: string, values?: readonly unknown[]): Promise<Answer<Row>>;
}

export class Connection implements Statements {
  readonly #client: Client;
  readonly #times: Times;
  #isClosed = false;

  private constructor(client: Client, place: string, times: Times) {
    this.#client = client;
    this.#times = times;
    guardParser(client, place);
    // An `error` event without a listener would end the process.
    client.on('error', () => {
      this.#isClosed = true;
    });
    client.on('end', () => {
      this.#isClosed = true;
    });
  }

  /** Throws the errors of the driver, and a ProblemsError if the database can't store states. */
  static async open({ config, place }: Target, times: Times): Promise<Connection> {
    const client = new Client({ ...config, keepAlive: true, keepAliveInitialDelayMillis: 10_000 });
    const connection = new Connection(client, place, times);
    const silence = Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' });
    const late = setTimeout(() => connection.destroy(silence), times.connect);
    try {
      await client.connect().finally(() => clearTimeout(late));
      await connection.#prepare(place);
      return connection;
    } catch (failure) {
      connection.destroy();
      throw failure;
    }
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async run<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Answer<Row>> {
    const late = setTimeout(() => this.destroy(new NoAnswer()), this.#times.answer);
    try {
      const { rows, rowCount } = await this.#client.query<Row>(text, [...values]);
      return { rows, count: rowCount ?? 0 };
    } finally {
      clearTimeout(late);
    }
  }

  /** Whether the connection keeps the process running. */
  hold(isNeeded: boolean): void {
    if (isNeeded) this.#socket.ref();
    else this.#socket.unref();
  }

  /** Closes without waiting. */
  close(): void {
    this.#isClosed = true;
    void this.#client.end().catch(() => {});
    this.#socket.unref();
  }

  destroy(why?: Error): void {
    this.#isClosed = true;
    this.#socket.destroy(why);
  }

  /** TLS replaces the first socket. */
  get #socket(): Socket {
    return this.#client.connection.stream as Socket;
  }

  async #prepare(place: string): Promise<void> {
    const { statement, contended } = this.#times;
    // PgBouncer refuses these as connection parameters. A function or operator of another role must not run as this role: this statement
    // uses none, and all others name the schema of their functions, since a pooler may lose the setting.
    await this.run('SET search_path = pg_catalog');
    // Settings that the server doesn't know are left out.
    const settings = {
      client_encoding: 'UTF8',
      datestyle: 'ISO',
      default_transaction_isolation: 'read committed',
      statement_timeout: `${statement}ms`,
      lock_timeout: `${contended}ms`,
      // A suspended process must not keep others waiting.
      idle_in_transaction_session_timeout: `${2 * statement}ms`,
      // The server soon notices a lost connection, and frees its advisory lock.
      tcp_keepalives_idle: '10s',
      tcp_keepalives_interval: '5s',
      tcp_keepalives_count: '3',
      tcp_user_timeout: '30s',
    };
    const { rows } = await this.run<{ encoding: string; commits: string }>(
      `SELECT pg_catalog.current_setting('server_encoding') AS encoding, pg_catalog.current_setting('synchronous_commit') AS commits,
         (SELECT pg_catalog.count(pg_catalog.set_config(name, wanted.setting, false))
          FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) AS wanted (name, setting) JOIN pg_catalog.pg_settings USING (name))`,
      [Object.keys(settings), Object.values(settings)],
    );
    const [found] = rows;
    if (found?.encoding !== 'UTF8') {
      throw problemError(
        'not-writable',
        `the database of the state ${place} can't store all characters: its encoding is ${found?.encoding}`,
        "create one with ENCODING 'UTF8' TEMPLATE template0",
      );
    }
    // A journal line must be on disk; `remote_apply` waits for even more.
    if (found.commits !== 'remote_apply') await this.run("SET synchronous_commit = 'on'");
  }
}

/** The driver parses in a stream listener, where an exception would end the process. This lets it end only the connection. */
function guardParser({ connection }: Client, place: string): void {
  const parsing = connection as unknown as { attachListeners(stream: Duplex): void };
  const attach = parsing.attachListeners.bind(parsing);
  parsing.attachListeners = (stream) => {
    attach(stream);
    for (const parse of stream.rawListeners('data') as ((part: Buffer) => void)[]) {
      stream.off('data', parse);
      stream.on('data', (part: Buffer) => {
        try {
          parse(part);
        } catch (failure) {
          stream.destroy(unparsableAnswer(part, place, failure));
        }
      });
    }
  };
}

/** Works in one transaction, which is rolled back if the work throws. */
export async function transaction<T>(statements: Statements, work: () => Promise<T>, mode = ''): Promise<T> {
  await statements.run(`BEGIN ${mode}`);
  try {
    const done = await work();
    await statements.run('COMMIT');
    return done;
  } catch (failure) {
    // Without a connection the server rolls back anyway.
    await statements.run('ROLLBACK').catch(() => {});
    throw failure;
  }
}

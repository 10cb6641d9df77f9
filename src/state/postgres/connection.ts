import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Client } from 'pg';
import { error, ProblemsError } from '../../base/problems.js';
import { NoAnswer, notUnderstood } from './failures.js';
import type { Target } from './settings.js';

/** Milliseconds; tests have others. */
export interface Times {
  /** For a connection, with all that is agreed on before the first statement. */
  readonly connect: number;
  /** For a statement, as the server counts. */
  readonly statement: number;
  /** For what another one holds. */
  readonly contended: number;
  /** For the answer to a statement, where the network may be gone: more than the server takes, and time is left of the lease. */
  readonly answer: number;
  /** For which it is tried again, from the first failure on. */
  readonly patience: number;
  /** Between two tries: the first pause, which doubles, and the longest. */
  readonly pause: number;
  readonly longestPause: number;
  /** After which a connection is closed that nobody needs. */
  readonly idle: number;
  /** Between two signs of life of who holds the lock. */
  readonly renewal: number;
  /** After the last of which a lock is anybody's whose connection is gone. */
  readonly lease: number;
}

export const usualTimes: Times = {
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

/** What a statement gave. */
export interface Answer<Row> {
  readonly rows: readonly Row[];
  /** How many rows it touched. */
  readonly count: number;
}

/** What can be asked of a database, one statement after the other. */
export interface Statements {
  /** Runs a statement with its values; lists go as arrays. Throws what the driver throws. */
  run<Row extends object>(text: string, values?: readonly unknown[]): Promise<Answer<Row>>;
}

/** A session with the database. */
export class Connection implements Statements {
  readonly #client: Client;
  readonly #times: Times;
  #gone = false;

  private constructor(client: Client, place: string, times: Times) {
    this.#client = client;
    this.#times = times;
    guard(client, place);
    // An event of this name that nobody listens to would end the process.
    client.on('error', () => {
      this.#gone = true;
    });
    client.on('end', () => {
      this.#gone = true;
    });
  }

  /** Connects. Throws what the driver throws, and a ProblemsError where the database can't keep states. */
  static async open({ config, place }: Target, times: Times): Promise<Connection> {
    const client = new Client({
      ...config,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
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

  /** Whether it was cut. */
  get gone(): boolean {
    return this.#gone;
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

  /** Whether it keeps the process from ending: it does while something is under way. */
  hold(isNeeded: boolean): void {
    if (isNeeded) this.#socket.ref();
    else this.#socket.unref();
  }

  /** Says goodbye, and waits for nothing. */
  close(): void {
    this.#gone = true;
    void this.#client.end().catch(() => {});
    this.#socket.unref();
  }

  /** Drops it as it is, whatever is under way. */
  destroy(why?: Error): void {
    this.#gone = true;
    this.#socket.destroy(why);
  }

  /** One with TLS takes the place of the first. */
  get #socket(): Socket {
    return this.#client.connection.stream as Socket;
  }

  async #prepare(place: string): Promise<void> {
    const { statement, contended } = this.#times;
    // Not as parameters of the connection, which PgBouncer refuses. A function or operator of somebody else must not run as this role: this
    // statement looks nothing up, and all others name the schema of their functions, since a pooler may lose the setting.
    await this.run('SET search_path = pg_catalog');
    // What a server doesn't know is left out.
    const wanted = {
      client_encoding: 'UTF8',
      datestyle: 'ISO',
      default_transaction_isolation: 'read committed',
      statement_timeout: `${statement}ms`,
      lock_timeout: `${contended}ms`,
      // A process that stands still must not keep others waiting.
      idle_in_transaction_session_timeout: `${2 * statement}ms`,
      // So that the server notices soon that nobody is there any more, and gives the lock of the session up.
      tcp_keepalives_idle: '10s',
      tcp_keepalives_interval: '5s',
      tcp_keepalives_count: '3',
      tcp_user_timeout: '30s',
    };
    const { rows } = await this.run<{ encoding: string; commits: string }>(
      `SELECT pg_catalog.current_setting('server_encoding') AS encoding, pg_catalog.current_setting('synchronous_commit') AS commits,
         (SELECT pg_catalog.count(pg_catalog.set_config(name, wanted.setting, false))
          FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) AS wanted (name, setting) JOIN pg_catalog.pg_settings USING (name))`,
      [Object.keys(wanted), Object.values(wanted)],
    );
    const [found] = rows;
    if (found?.encoding !== 'UTF8') {
      throw new ProblemsError([
        error(
          'not-writable',
          `the database of the state ${place} can't hold all characters: its encoding is ${found?.encoding}`,
          [],
          "make one with ENCODING 'UTF8' TEMPLATE template0",
        ),
      ]);
    }
    // What was journalled has to be on a disk; what waits for standbys to apply it waits for more.
    if (found.commits !== 'remote_apply') await this.run("SET synchronous_commit = 'on'");
  }
}

/** The driver parses in a listener of its stream, where what it throws would end the process: that ends the connection. */
function guard({ connection }: Client, place: string): void {
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
          stream.destroy(notUnderstood(part, place, failure));
        }
      });
    }
  };
}

/** Does work in one transaction, which is as if it had never begun where the work throws. */
export async function transaction<T>(statements: Statements, work: () => Promise<T>, mode = ''): Promise<T> {
  await statements.run(`BEGIN ${mode}`);
  try {
    const done = await work();
    await statements.run('COMMIT');
    return done;
  } catch (failure) {
    // Where that can't be said any more, the server does it by itself.
    await statements.run('ROLLBACK').catch(() => {});
    throw failure;
  }
}

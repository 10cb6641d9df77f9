import type { StateBackend } from '../backend.js';
import { excluding } from '../locks.js';
import { type Times, usualTimes } from './connection.js';
import { Database } from './database.js';
import { StateLock } from './lock.js';
import { runRows } from './runs.js';
import { type PostgresSettings, targetOf } from './settings.js';
import { stateRows } from './store.js';

export { type PostgresSettings, type PostgresTls, secretsOf } from './settings.js';

/**
 * The backend that keeps states and runs in tables of a PostgreSQL database, in its schema `idops`, for runs on any machine. It connects when
 * it is first asked for something, and its connection neither keeps the process from ending nor needs to be closed. The lock is held by a
 * session, so a pooler on the way has to give each connection a session of its own, as PgBouncer does with `pool_mode = session`: with
 * transaction pooling a run is refused as soon as that shows. `times` are for tests. Throws a ProblemsError (`wrong-value`,
 * `bad-certificate`) where the settings can't be used; all that the backend throws itself is a ProblemsError too.
 */
export function postgresBackend(settings: PostgresSettings, times: Partial<Times> = {}): StateBackend {
  const { name } = settings;
  const database = new Database(targetOf(settings), { ...usualTimes, ...times });
  const lock = new StateLock(database, name);
  return {
    place: database.target.place,
    name,
    runs: runRows(database, lock, name),
    ...stateRows(database, lock, name),
    ...excluding(lock),
    // No commit brings a database along.
    check: async () => {},
  };
}

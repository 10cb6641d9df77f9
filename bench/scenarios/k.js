import { resolve } from 'node:path';
import { postgres } from '../postgres.js';
import { users } from '../projects.js';

export const title = 'shards: users under boruta, 20 ms latency, over one PostgreSQL';

/** Starts one idops for each shard, and ends when the last of them has. */
const shards = resolve('bench/shards.js');

export async function measure(bench) {
  const number = bench.size(2000, 12);
  const { files, seed } = users(number, 'boruta');
  const changed = Object.entries(files).map(([path, text]) => [
    path,
    text.replaceAll('group: staff', 'group: others'),
  ]);
  const state = 'state: {postgres: {url: "${IDOPS_STATE_URL}"}}\n';
  const cwd = bench.project({
    ...Object.fromEntries(changed),
    'idops.yaml': `${files['idops.yaml']}${state}`,
  });
  const server = await bench.server({ seed, profile: 'boruta', latency: 20 });
  const database = await postgres(bench.project({}));
  const inDatabase = (program) => ({
    ...program,
    env: { ...program.env, IDOPS_STATE_URL: database.url },
    before: () => database.empty(),
  });
  try {
    for (const count of bench.quick ? [2] : [1, 2, 4]) {
      const whole = bench.idops(['apply', '--yes', '--concurrency', String(10 * count)], { cwd, server });
      const split = bench.idops([], { cwd, server });
      await bench.compare({
        name: `apply by ${count === 1 ? '1 shard' : `${count} shards`}, 10 in flight each`,
        program: inDatabase({ ...split, args: [shards, String(count)] }),
        server,
        // Each user is read and written; each shard needs the lists of what its users refer to.
        necessary: 2 * number + 3 * count,
        floors: { [`one process, ${10 * count} in flight`]: inDatabase(whole) },
        repeats: 3,
      });
    }
  } finally {
    await database.stop();
  }
}

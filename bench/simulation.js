// `npm run simulation`: shards in several processes with one PostgreSQL and one sandbox. One of them is killed midway and restarted.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { shardIndex } from '../dist/base/shard.js';
import { postgres } from './postgres.js';
import { idOf, users, write } from './projects.js';
import { serve } from './serving.js';

const usage = `npm run simulation -- [--users N] [--shards N] [--json]

  --users N   how many there are, each of which is changed (100000)
  --shards N  how many processes do it (4)
  --json      prints what was counted as JSON`;

const cli = resolve('dist/cli/main.js');
const { values } = parseArgs({
  options: {
    users: { type: 'string', default: '100000' },
    shards: { type: 'string', default: '4' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit();
}
const [number, shards] = [Number(values.users), Number(values.shards)];
if (!(Number.isInteger(number) && number > 0 && Number.isInteger(shards) && shards > 1)) {
  console.error(usage);
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), 'idops-simulation-'));
const children = new Set();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const say = (text) => {
  if (!values.json) console.log(text);
};

/** Starts idops. */
function idops(args, env) {
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: join(folder, 'project'),
    env: { PATH: process.env.PATH, HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  const said = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr']) {
    child[stream].setEncoding('utf8').on('data', (part) => {
      said[stream] += part;
    });
  }
  const ended = new Promise((done) =>
    child.once('close', (code) => {
      children.delete(child);
      done({ code, ...said });
    }),
  );
  return { child, ended };
}

/** A project that changes every user, and its server. */
function project() {
  const { files, seed } = users(number, 'boruta');
  const changed = Object.entries(files).map(([path, text]) => [
    path,
    text.replaceAll('group: staff', 'group: others'),
  ]);
  const state = 'state: {postgres: {url: "${IDOPS_STATE_URL}"}}\n';
  mkdirSync(join(folder, 'project'));
  write(join(folder, 'project'), {
    ...Object.fromEntries(changed),
    'idops.yaml': `${files['idops.yaml']}${state}`,
  });
  return seed;
}

async function simulate() {
  const began = performance.now();
  const seed = project();
  mkdirSync(join(folder, 'database'));
  const database = await postgres(join(folder, 'database'));
  const server = await serve(folder, { seed, profile: 'boruta' });
  try {
    await database.empty();
    const env = {
      IDOPS_BASE_URL: server.url,
      IDOPS_TOKEN: server.token,
      IDOPS_STATE_URL: database.url,
      IDOPS_SHARD_RUN: 'simulation',
    };
    const apply = (index) =>
      idops(['apply', '--yes', '--quiet', '--shard', `${index}/${shards}`, '--format', 'json'], env);
    // The server holds the second half of its writes, so it is killed after exactly half.
    const all = Array.from({ length: number }, (_, index) => idOf(4, index));
    const part = all.filter((id) => shardIndex(`User/${id}`, shards) === 2).map((id) => `/api/users/${id}`);
    const held = server.holds(part, Math.floor(part.length / 2));
    const runs = Array.from({ length: shards }, (_, index) => apply(index + 1));
    const [, killed] = runs;
    const early = await Promise.race([held, killed.ended]);
    if (early) throw new Error(`the shard that was to be killed ended with ${early.code}: ${early.stderr}`);
    killed.child.kill('SIGKILL');
    await killed.ended;
    await server.goOn();
    const after = await server.count();
    say(`shard 2/${shards} was killed when the server had ${after} requests`);
    await wait(200);
    runs[1] = apply(2);
    const results = await Promise.all(runs.map(({ ended }) => ended));
    for (const { code, stderr } of results)
      if (code !== 0) throw new Error(`a shard ended with ${code}: ${stderr}`);
    const applied = results.map(({ stdout }) => JSON.parse(stdout));
    const seconds = (performance.now() - began) / 1000;

    const sent = new Map();
    for (const { method, path } of await server.requests()) {
      if (method !== 'GET') sent.set(path, (sent.get(path) ?? 0) + 1);
    }
    const of = (id) => sent.get(`/api/users/${id}`) ?? 0;
    // Writes that were in flight at the kill, and weren't executed, are repeated.
    const undone = new Set(await server.undone());
    const expected = (id) => (undone.has(`/api/users/${id}`) ? 2 : 1);
    const groups = await server.groups();
    const plan = await idops(['plan', '--format', 'json', '--quiet'], env).ended;
    const shown = await idops(['runs', '--format', 'json'], env).ended;
    const runsTold = JSON.parse(shown.stdout).runs;
    const planned = JSON.parse(plan.stdout).summary;
    return {
      users: number,
      shards,
      killed_after: after,
      seconds: Math.round(seconds),
      left_out: all.filter((id) => of(id) === 0).length,
      sent_twice: all.filter((id) => of(id) > expected(id)).length,
      sent_again_since_cut_off: all.filter((id) => of(id) === 2 && expected(id) === 2).length,
      sent_to_others: [...sent.keys()].filter((path) => !path.startsWith('/api/users/')).length,
      changed: groups.others ?? 0,
      runs: new Set(applied.map(({ run }) => run)).size,
      runs_listed: runsTold.length,
      ended: runsTold[0]?.ended,
      applied: runsTold[0]?.summary.applied,
      journals: runsTold[0]?.shards.length,
      next_plan: planned,
    };
  } finally {
    await server.close();
    await database.stop();
  }
}

const told = await simulate();
const { update, delete: deleted, regenerate, adopt, blocked } = told.next_plan;
const isRight =
  told.left_out + told.sent_twice + told.sent_to_others + update + deleted + regenerate + adopt + blocked ===
    0 &&
  told.changed === number &&
  told.runs === 1 &&
  told.runs_listed === 1 &&
  told.ended === 'finished' &&
  told.applied === number;
console.log(JSON.stringify({ right: isRight, ...told }, null, 2));
process.exit(isRight ? 0 : 1);

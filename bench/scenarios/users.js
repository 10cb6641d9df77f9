import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { idOf, users, write } from '../projects.js';

export async function measure(bench) {
  for (const number of bench.quick ? [20] : [10_000, 100_000]) await validate(bench, number);
  const number = bench.size(10_000, 20);
  await planRecorded(bench, number);
  await planLive(bench, number);
}

async function validate(bench, number) {
  const cwd = bench.project(users(number, 'boruta').files);
  await bench.compare({
    name: `validate ${told(number)} users`,
    against: 'YAML',
    program: bench.idops(['validate'], { cwd }),
    floor: () => bench.floor({ folder: join(cwd, 'manifests') }),
    repeats: number > 10_000 ? 1 : 3,
  });
}

async function planRecorded(bench, number) {
  const { files, seed } = users(number, 'documented');
  const server = await bench.server({ seed });
  const cwd = bench.project(files);
  await record(bench, cwd, { server, number, document: files['manifests/0000.yaml'].split('---\n')[0] });
  await bench.compare({
    name: `plan ${told(number)} unchanged users against a record`,
    against: 'requests, YAML and record',
    program: bench.idops(['plan'], { cwd, server }),
    floor: (requests) =>
      bench.floor({
        server,
        requests,
        folder: join(cwd, 'manifests'),
        texts: [join(cwd, '.idops/state.json')],
      }),
    repeats: 3,
  });
  await server.close();
}

/** Applies the first user, and copies its record for the others, because applying all would take long. */
async function record(bench, cwd, { server, number, document }) {
  const alone = bench.project({ 'idops.yaml': readFileSync(join(cwd, 'idops.yaml'), 'utf8') });
  write(alone, { 'manifests/0000.yaml': `${document}whole: [metadata]\n` });
  await bench.taken(bench.idops(['apply', '--yes'], { cwd: alone, server }));
  const state = JSON.parse(readFileSync(join(alone, '.idops/state.json'), 'utf8'));
  const [first] = Object.entries(state.resources);
  const text = JSON.stringify(first);
  state.resources = Object.fromEntries(
    Array.from({ length: number }, (_, index) =>
      JSON.parse(
        text
          .replaceAll(idOf(4, 0), idOf(4, index))
          .replaceAll('"E0"', `"E${index}"`)
          .replaceAll(/user-0\b/g, `user-${index}`),
      ),
    ),
  );
  write(cwd, { '.idops/state.json': `${JSON.stringify(state, null, 2)}\n` });
}

async function planLive(bench, number) {
  const { files, seed } = users(number, 'boruta');
  const server = await bench.server({ seed, profile: 'boruta' });
  const cwd = bench.project(files);
  await bench.compare({
    name: `plan ${told(number)} unchanged users, live`,
    against: 'requests and YAML',
    program: bench.idops(['plan'], { cwd, server }),
    floor: (requests) => bench.floor({ server, requests, folder: join(cwd, 'manifests') }),
    repeats: 3,
  });
  await server.close();
}

const told = (number) => number.toLocaleString('en');

import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { concurrency } from '../bench.js';
import { organizations } from '../projects.js';

export const title = 'resume after a kill in the middle of 10,000 changes';

export async function measure(bench) {
  const number = bench.size(10_000, 60);
  const { files, seed } = organizations(number, number);
  const done = number / 2;
  const server = await bench.server({ seed, answersWrites: done });
  const cwd = bench.project(files);
  const program = bench.idops(['apply', '--yes'], { cwd, server });

  const child = bench.start(program);
  const ended = new Promise((done) => child.once('exit', (code, signal) => done(signal ?? code)));
  await Promise.race([server.reaches(done + concurrency), ended]);
  child.kill('SIGKILL');
  if ((await ended) !== 'SIGKILL') throw new Error('the apply ended before it was killed');
  await server.keep();

  const own = join(cwd, '.idops');
  const killed = join(bench.project({}), 'killed');
  cpSync(own, killed, { recursive: true });
  age(join(killed, 'runs'));
  await bench.compare({
    name: 'apply what is left',
    program: {
      ...program,
      before: () => {
        rmSync(own, { recursive: true, force: true });
        cpSync(killed, own, { recursive: true });
      },
    },
    server,
    necessary: Math.ceil(number / 500) + number - done,
    floors: {
      requests: { sends: true },
      'requests and YAML': { sends: true, folder: join(cwd, 'manifests') },
    },
    repeats: 3,
    most: { beyond: 1.15 },
  });
}

/** Makes journals old: of what was sent just now, a server may still be at work, so that it would be looked at twice. */
function age(folder) {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.jsonl'))) {
    const file = join(folder, name);
    const text = readFileSync(file, 'utf8').replace(/"at":"[^"]+"/g, '"at":"2026-01-31T12:00:00.000Z"');
    writeFileSync(file, text);
  }
}

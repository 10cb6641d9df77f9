import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { postgres } from '../postgres.js';
import { organizations } from '../projects.js';

export const title = 'what a state elsewhere costs: 100 of 1,000 organizations, 20 ms latency';

export async function measure(bench) {
  const [number, changed] = [bench.size(1000, 40), bench.size(100, 4)];
  const { files, seed } = organizations(number, changed);
  const server = await bench.server({ seed, latency: 20 });
  const inFile = bench.project(files);
  const apply = ['apply', '--yes'];
  const file = bench.idops(apply, {
    cwd: inFile,
    server,
    before: () => rmSync(join(inFile, '.idops'), { recursive: true, force: true }),
  });
  const necessary = Math.ceil(number / 500) + changed;

  const inGit = bench.project(files);
  const bare = join(bench.project({}), 'remote.git');
  const git = (cwd, ...args) => execFileSync('git', args, { cwd, stdio: 'ignore' });
  git(inGit, 'init');
  git(inGit, 'remote', 'add', 'origin', bare);
  writeFileSync(join(inGit, 'idops.yaml'), `${files['idops.yaml']}state: {git: {}}\n`);
  await bench.compare({
    name: 'apply, in git',
    program: bench.idops(apply, {
      cwd: inGit,
      server,
      before: () => {
        rmSync(bare, { recursive: true, force: true });
        git(inGit, 'init', '--bare', bare);
      },
    }),
    server,
    necessary,
    floors: { 'a state in a file': file },
    repeats: 3,
  });

  const inDatabase = bench.project({
    ...files,
    'idops.yaml': `${files['idops.yaml']}state: {postgres: {url: "\${IDOPS_STATE_URL}"}}\n`,
  });
  const database = await postgres(bench.project({}));
  try {
    const program = bench.idops(apply, { cwd: inDatabase, server, before: () => database.empty() });
    await bench.compare({
      name: 'apply, in PostgreSQL',
      program: { ...program, env: { ...program.env, IDOPS_STATE_URL: database.url } },
      server,
      necessary,
      floors: { 'a state in a file': file },
      repeats: 3,
    });
  } finally {
    await database.stop();
  }
}

import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { postgres } from '../postgres.js';
import { organizations } from '../projects.js';

/** The cost of a remote state, at a latency of 20 ms. */
export async function measure(bench) {
  const [number, changed] = [bench.size(1000, 40), bench.size(100, 4)];
  const { files, seed } = organizations(number, changed);
  const server = await bench.server({ seed, latency: 20 });
  const apply = ['apply', '--yes'];
  const inFile = bench.project(files);
  const file = bench.idops(apply, {
    cwd: inFile,
    server,
    before: () => rmSync(join(inFile, '.idops'), { recursive: true, force: true }),
  });
  const compare = (place, program) =>
    bench.compare({
      name: `apply ${changed} changes, 20 ms latency, state in ${place}`,
      against: 'a state in a file',
      program,
      floor: () => file,
      repeats: 3,
    });

  const inGit = bench.project(files);
  const bare = join(bench.project({}), 'remote.git');
  const git = (cwd, ...args) => execFileSync('git', args, { cwd, stdio: 'ignore' });
  git(inGit, 'init');
  git(inGit, 'remote', 'add', 'origin', bare);
  writeFileSync(join(inGit, 'idops.yaml'), `${files['idops.yaml']}state: {git: {}}\n`);
  const renew = () => {
    rmSync(bare, { recursive: true, force: true });
    git(inGit, 'init', '--bare', bare);
    // Otherwise idops notices that the branch is gone.
    git(inGit, 'update-ref', '-d', 'refs/idops/seen/idops-state');
  };
  await compare('git', bench.idops(apply, { cwd: inGit, server, before: renew }));

  const inDatabase = bench.project({
    ...files,
    'idops.yaml': `${files['idops.yaml']}state: {postgres: {url: "\${IDOPS_STATE_URL}"}}\n`,
  });
  const database = await postgres(bench.project({}));
  try {
    const program = bench.idops(apply, { cwd: inDatabase, server, before: () => database.empty() });
    await compare('PostgreSQL', { ...program, env: { ...program.env, IDOPS_STATE_URL: database.url } });
  } finally {
    await database.stop();
  }
}

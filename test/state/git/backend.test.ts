import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gitBackend } from '../../../src/state/git/index.js';
import { conforms } from '../backends.js';

conforms('on a branch of a git remote', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'idops-git-'));
  const [bare, root] = [join(folder, 'remote.git'), join(folder, 'clone')];
  execFileSync('git', ['init', '--quiet', '--bare', bare]);
  execFileSync('git', ['clone', '--quiet', bare, root], { stdio: 'ignore' });
  return {
    open: async (name) => gitBackend({ root, remote: 'origin', branch: 'idops-state', path: `${name}.json` }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
});

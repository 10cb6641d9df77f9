import { execFileSync } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterwards } from '../cleanups.js';
import { project, sure } from './running.js';
import { copyOf, sharded } from './shards.js';

async function folderOf(name: string): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), `idops-${name}-`)));
  afterwards(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

sharded('git', async (files, options) => {
  const made = await project({ 'idops.yaml': `${sure}state: {git: {}}\n`, ...files }, options);
  const bare = await folderOf('remote.git');
  const git = (cwd: string, ...args: string[]): string =>
    execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  git(bare, 'init', '--quiet', '--bare', '--initial-branch=main');
  const cloned = async (folder: string): Promise<string> => {
    git(folder, 'init', '--quiet', '--initial-branch=main');
    git(folder, 'remote', 'add', 'origin', bare);
    return folder;
  };
  await cloned(made.folder);
  return {
    ...made,
    async runner() {
      const folder = await cloned(await folderOf('runner'));
      await copyOf(made, folder);
      return folder;
    },
  };
});

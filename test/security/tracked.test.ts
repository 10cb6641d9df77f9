import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { config, project, type TestProject } from '../e2e/running.js';

const acme = (label: string): string => `kind: Organization\nname: acme\nlabel: ${label}\n`;

function git(folder: string, ...args: string[]): void {
  const who = ['-c', 'user.name=ada', '-c', 'user.email=ada@example.com'];
  execFileSync('git', [...who, ...args], { cwd: folder, stdio: 'pipe' });
}

/** A project in a repository, with a state and a journal. */
async function repository(files: { readonly [path: string]: string } = {}): Promise<TestProject> {
  const at = await project({ 'manifests/all.yaml': acme('First'), ...files });
  git(at.folder, 'init', '-q');
  expect((await at.idops('apply --yes')).code).toBe(0);
  await at.write({ 'manifests/all.yaml': acme('Second') });
  return at;
}

/** Adds a file to the git index. */
async function track(at: TestProject, path: string): Promise<void> {
  if (!existsSync(join(at.folder, path))) await at.write({ [path]: '{}' });
  git(at.folder, 'add', '-f', '--', path);
}

describe('a file of the state that git tracks is refused', () => {
  it.each([
    ['state', '.idops/state.json'],
    ['lock', '.idops/state.json.lock'],
    ['journal', '.idops/runs/20260101T000000Z-abcdef.jsonl'],
  ])('a %s, and nothing is sent', async (_, path) => {
    const at = await repository();
    await track(at, path);
    const sent = at.sandbox.requests.length;
    for (const args of ['plan', 'apply --yes', 'undo --last --yes']) {
      await at.refused(args, ['error[state-tracked]', path], {
        env: { GIT_DIR: '/nowhere', GIT_INDEX_FILE: '/nowhere' },
      });
    }
    expect(at.sandbox.requests).toHaveLength(sent);
    expect((await at.idops('validate')).code).toBe(0);
    const before = await at.files();
    for (const args of ['runs settle 2026 Client/x --done --yes', 'runs prune --keep-last 0 --yes']) {
      await at.refused(args, ['error[state-tracked]', path]);
    }
    expect(await at.files()).toEqual(before);
    git(at.folder, 'rm', '-q', '--cached', path);
    if (path !== '.idops/state.json') await rm(join(at.folder, path));
    expect((await at.idops('apply --yes')).code).toBe(0);
  });

  it('but not by runs settle and runs prune if state.allow_tracked is true', async () => {
    const at = await repository({ 'idops.yaml': `${config}state: {allow_tracked: true}\n` });
    await track(at, '.idops/state.json');
    const settled = await at.idops('runs settle nothing Client/x --done --yes');
    expect(settled.stderr).toContain('error[no-such-run]');
    expect((await at.idops('runs prune --keep-last 0 --yes')).stderr).not.toContain('state-tracked');
  });

  it('a lock, by runs unlock, because a commit may name another holder', async () => {
    const at = await repository();
    const lock = '.idops/state.json.lock';
    await at.write({ [lock]: 'anything' });
    await track(at, '.idops/state.json');
    await track(at, lock);
    await at.refused('runs unlock --yes', [
      'error[state-tracked]',
      'git tracks .idops/state.json and 1 more of the state,',
    ]);
    expect(await at.read(lock)).toBe('anything');
    await at.write({ 'idops.yaml': `${config}state: {allow_tracked: true}\n` });
    expect((await at.idops('runs unlock --yes')).code).toBe(0);
    await at.write({ 'idops.yaml': config, [lock]: 'anything' });
    git(at.folder, 'rm', '-q', '--cached', '.idops/state.json', lock);
    expect((await at.idops('runs unlock --yes')).code).toBe(0);
    expect(existsSync(join(at.folder, lock))).toBe(false);
  });

  it('but not with allow_tracked, if it is not tracked, or without git', async () => {
    const at = await repository({ 'runs/notes.txt': 'of somebody else' });
    expect((await at.idops('plan')).code).toBe(0);
    await track(at, '.idops/state.json');
    await mkdir(join(at.folder, 'no-git'));
    expect((await at.idops('plan', { env: { PATH: join(at.folder, 'no-git') } })).code).toBe(0);
    await at.write({ 'idops.yaml': `${config}state: {allow_tracked: true}\n` });
    expect((await at.idops('apply --yes')).code).toBe(0);
  });
});

describe('if git fails', () => {
  it('an existing state is refused, unless allow_tracked is true or git is not installed', async () => {
    const at = await repository();
    await track(at, '.idops/state.json');
    await at.write({ '.git/config': `${await at.read('.git/config')}\n[core\n` });
    const sent = at.sandbox.requests.length;
    for (const args of ['plan', 'apply --yes', 'undo --last --yes', 'runs prune --keep-last 0 --yes']) {
      await at.refused(args, ['error[state-tracked]', 'bad config line', 'allow_tracked']);
    }
    expect(at.sandbox.requests).toHaveLength(sent);
    await mkdir(join(at.folder, 'no-git'));
    expect((await at.idops('plan', { env: { PATH: join(at.folder, 'no-git') } })).code).toBe(0);
    await at.write({ 'idops.yaml': `${config}state: {allow_tracked: true}\n` });
    expect((await at.idops('plan')).code).toBe(0);
  });

  it('a state is accepted without a repository', async () => {
    const at = await project({ 'manifests/all.yaml': acme('First') });
    await mkdir(join(at.folder, '.git'));
    expect((await at.idops('apply --yes')).code).toBe(0);
    await rm(join(at.folder, '.git'), { recursive: true });
    await at.write({ '.git': 'gitdir: /nowhere/at/all\n' });
    expect((await at.idops('plan')).code).toBe(0);
  });

  it('a state in a linked work tree is refused', async () => {
    const main = await project({ 'idops.yaml': config });
    git(main.folder, 'init', '-q');
    git(main.folder, 'commit', '-q', '--allow-empty', '-m', 'first');
    const at = await project({ 'manifests/all.yaml': acme('First') });
    git(main.folder, 'worktree', 'add', '-q', join(main.folder, 'other'));
    await at.write({ '.git': await main.read('other/.git') });
    expect((await at.idops('apply --yes')).code).toBe(0);
    await main.write({ '.git/config': '[core\n' });
    await at.refused('plan', 'error[state-tracked]');
  });
});

it('git runs no program that the settings of the repository name', async () => {
  const at = await repository();
  await at.write({ 'evil.sh': '#!/bin/sh\ntouch "$(dirname "$0")/ran"\n' });
  const evil = join(at.folder, 'evil.sh');
  await chmod(evil, 0o755);
  for (const name of ['core.fsmonitor', 'core.pager', 'pager.ls-files', 'core.sshCommand', 'core.editor']) {
    git(at.folder, 'config', name, evil);
  }
  await track(at, 'idops.yaml');
  await rm(join(at.folder, 'ran'), { force: true });
  expect((await at.idops('apply --yes')).code).toBe(0);
  expect(existsSync(join(at.folder, 'ran'))).toBe(false);
  await track(at, '.idops/state.json');
  await rm(join(at.folder, 'ran'), { force: true });
  expect((await at.idops('plan')).stderr).toContain('error[state-tracked]');
  expect(existsSync(join(at.folder, 'ran'))).toBe(false);
});

import { execFile, execFileSync } from 'node:child_process';
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/index.js';
import { gitBackend } from '../../src/state/git/index.js';
import { afterwards, temporaryFolder } from '../cleanups.js';
import { ids } from '../demo-ids.js';
import { serveGit } from '../state/git/http-remote.js';
import { gate, losesNothing, onUserWrite, whileUserIsWritten } from './gate.js';
import { failed, filesIn, project, succeeded, type TestProject, trustedConfig } from './running.js';
import { withoutPauses } from './without-pauses.js';

const inGit = `${trustedConfig}state: {git: {}}\n`;
const ada = (group: string): string => `kind: User\nid: ${ids.ada}\ngroup: ${group}\n`;
const manifests = {
  'manifests/ada.yaml': ada('staff'),
  'manifests/acme.yaml': 'kind: Organization\nname: acme\nlabel: New\n',
};

function git(cwd: string, ...args: string[]): string {
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'protocol.file.allow=always'];
  return execFileSync('git', [...who, ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

interface Shared extends TestProject {
  readonly bare: string;
  /** The folder of a new clone, as another runner has it. */
  clone(): Promise<string>;
}

/** A project in a clone of a new repository. */
async function shared(options: SandboxOptions = {}): Promise<Shared> {
  const made = await project({ 'idops.yaml': inGit, ...manifests }, options);
  const bare = await temporaryFolder('remote.git');
  const init = ['init', '--quiet', '--template=', '--initial-branch=main'];
  git(bare, ...init, '--bare');
  git(made.folder, ...init);
  git(made.folder, 'add', '.');
  git(made.folder, 'commit', '--quiet', '--message=manifests');
  git(made.folder, 'remote', 'add', 'origin', bare);
  git(made.folder, 'push', '--quiet', 'origin', 'main');
  const clone = async (): Promise<string> => {
    const folder = await temporaryFolder('clone');
    git(folder, 'clone', '--quiet', '--depth=1', `file://${bare}`, '.');
    return folder;
  };
  return { ...made, bare, clone };
}

/** Makes the remote refuse every push with a message. */
async function refusing(bare: string, words = 'only Grace may push'): Promise<void> {
  await mkdir(join(bare, 'hooks'), { recursive: true });
  await writeFile(join(bare, 'hooks/pre-receive'), `#!/bin/sh\necho "${words}" >&2\nexit 1\n`);
  await chmod(join(bare, 'hooks/pre-receive'), 0o755);
}

/** The arguments with which `git update-ref` resets the branch to its current commit, or deletes it. */
function backOf(bare: string, how: string): string[] {
  const branch = 'refs/heads/idops-state';
  return how === 'deleted' ? ['-d', branch] : [branch, git(bare, 'rev-parse', branch).trim()];
}

describe('a state in git', () => {
  beforeEach(withoutPauses);

  it('shows no git credential that a remote repeats', async () => {
    const { idops, folder, bare } = await shared();
    const word = Buffer.from('x-access-token:ghs_SECRET123').toString('base64');
    git(folder, 'config', 'http.https://forge.example/.extraheader', `AUTHORIZATION: basic ${word}`);
    await refusing(bare, `bad: ${word} ghs_SECRET123`);
    const { stdout, stderr } = await failed(idops('apply --yes'), 'bad: (sensitive)');
    expect(stdout + stderr).not.toContain('ghs_SECRET123');
    expect(stdout + stderr).not.toContain(word);
  });

  it('is shared by runs in other clones, and changes no work tree', async () => {
    const { idops, folder, clone, bare, writes } = await shared();
    await succeeded(idops('apply --yes'));
    expect(git(folder, 'status', '--porcelain')).toBe('');
    expect(git(folder, 'branch', '--all').trim()).toBe(
      '* main\n  remotes/origin/idops-state\n  remotes/origin/main',
    );
    expect(git(bare, 'ls-tree', '--name-only', 'idops-state')).toBe('README.md\nruns\nstate.json\n');
    const sent = writes().length;
    const elsewhere = { cwd: await clone() };
    await succeeded(idops('plan --detailed-exitcode', elsewhere));
    expect((await idops('runs', elsewhere)).stdout).toContain('apply');
    const { stdout } = await idops('state show', elsewhere);
    expect(stdout).toContain('state.json on the branch idops-state of origin');
    await writeFile(join(elsewhere.cwd, 'manifests/ada.yaml'), ada('others'));
    expect((await idops('apply --yes', elsewhere)).code).toBe(0);
    await succeeded(idops('undo --last --yes', elsewhere));
    expect(writes().length).toBeGreaterThan(sent);
    expect((await idops('runs')).stdout.match(/undo|apply/g)?.sort()).toEqual(['apply', 'apply', 'undo']);
    expect(git(bare, 'for-each-ref', 'refs/idops')).toBe('');
  });

  it('has a file for each environment, below the folder of the project', async () => {
    const { folder, idops, bare, write } = await shared();
    const environments = `${inGit}environments:\n  staging: {state: {git: {branch: other}}}\n  local: {state: {path: .idops/local.json}}\n  production: {}\n`;
    await write({ 'below/idops.yaml': environments, 'below/manifests/ada.yaml': ada('staff') });
    const cwd = join(folder, 'below');
    for (const name of ['production', 'staging', 'local']) {
      await succeeded(idops(`apply --yes --env ${name}`, { cwd }));
    }
    expect(git(bare, 'ls-tree', '-r', '--name-only', 'idops-state')).toContain('below/production.json');
    expect(git(bare, 'ls-tree', '-r', '--name-only', 'other')).toContain('below/staging.json');
    expect(Object.keys(await filesIn(join(cwd, '.idops')))).toContain('local.json');
    expect((await idops('runs --env production', { cwd })).stderr).toBe('');
  });

  it('works in a checkout of actions/checkout, with the token that it leaves', async () => {
    const { folder, bare, idops, clone } = await shared();
    const server = await serveGit(join(bare, '..'), { authorization: 'basic b3BlbjpzZXNhbWU=' });
    afterwards(() => server.close());
    const address = `${server.url}/${bare.split('/').at(-1)}`;
    const head = git(folder, 'rev-parse', 'main').trim();
    const runner = await temporaryFolder('runner');
    git(runner, 'init', '--quiet', '.');
    git(runner, 'remote', 'add', 'origin', address);
    git(runner, 'config', '--local', 'gc.auto', '0');
    const header = 'AUTHORIZATION: basic b3BlbjpzZXNhbWU=';
    git(runner, 'config', '--local', `http.${server.url}/.extraheader`, header);
    const fetching = '-c protocol.version=2 fetch --no-tags --prune --no-recurse-submodules --depth=1 origin';
    // The server is in this process.
    const branch = `+${head}:refs/remotes/origin/main`;
    await promisify(execFile)('git', [...fetching.split(' '), branch], { cwd: runner });
    git(runner, 'checkout', '--quiet', '--force', '-B', 'main', 'refs/remotes/origin/main');
    await succeeded(idops('apply --yes', { cwd: runner }));
    expect(git(runner, 'rev-parse', '--is-shallow-repository').trim()).toBe('true');
    await succeeded(idops('plan --detailed-exitcode', { cwd: await clone() }));
    await writeFile(join(runner, 'manifests/ada.yaml'), ada('others'));
    await succeeded(idops('apply --yes', { cwd: runner }));
    expect((await idops('runs')).stdout.match(/apply/g)).toHaveLength(2);
  });

  it('is settled after a killed run by the next run, in any clone', async () => {
    const held = gate();
    const { begin, idops, clone, sandbox, bare } = await shared({ intercept: onUserWrite(held.intercept) });
    const first = begin(['apply', '--yes']);
    await held.arrived;
    first.child.kill('SIGKILL');
    await first.ended;
    held.open();
    const cwd = await clone();
    const tip = git(bare, 'rev-parse', 'idops-state');
    const planned = await succeeded(idops('plan --out plan.json', { cwd }));
    expect(planned.stderr).toMatch(
      /run \S+ had not ended: \d of its answers (?:was|were) taken into the plan; the next apply saves them/,
    );
    expect(git(bare, 'rev-parse', 'idops-state')).toBe(tip);
    const applied = await succeeded(idops('apply plan.json', { cwd }));
    expect(applied.stderr).toMatch(/had not ended: \d of its answers (?:was|were) taken into the state/);
    await succeeded(idops('plan --detailed-exitcode'));
    expect(sandbox.snapshot().users.find(({ id }) => id === ids.ada)?.group).toBe('staff');
  });

  it("is refused before anything is sent if the remote refuses pushes, with the remote's message", async () => {
    const { idops, bare, writes } = await shared();
    await refusing(bare);
    const message = 'error[not-writable]: the remote does not accept the state';
    await failed(idops('apply --yes'), message, 'only Grace may push', 'contents: write');
    expect(writes()).toEqual([]);
    expect((await idops('plan')).code).toBe(0);
  });

  it('loses nothing if the remote disappears during a run', async () => {
    const { intercept, during } = whileUserIsWritten();
    const at = await shared({ intercept });
    await losesNothing(at, {
      during,
      away: () => rename(at.bare, `${at.bare}.away`),
      async back() {
        await rename(`${at.bare}.away`, at.bare);
        // The run is in this process, which still lives, so its lock stays.
        await at.idops('runs unlock --yes');
      },
      why: "can't be reached",
    });
  });

  it.each(['forced back', 'deleted'])('is refused until its branch is restored (%s)', async (how) => {
    const { idops, folder, bare, write, sandbox } = await shared();
    const client = (generation: number) => ({
      'manifests/client.yaml': `kind: Client\nid: ${ids.portal}\ndid_generation: ${generation}\n`,
    });
    await write(client(1));
    expect((await idops('apply --yes')).code).toBe(0);
    const back = backOf(bare, how);
    await write(client(2));
    expect((await idops('apply --yes')).code).toBe(0);
    const newest = git(bare, 'rev-parse', 'idops-state').trim();
    git(bare, 'update-ref', ...back);
    // A fetch by a person changes nothing.
    git(folder, 'fetch', '--quiet', '--prune');
    let printed = '';
    for (const command of ['plan', 'apply --yes', 'undo --last --yes', 'runs', 'state show', 'doctor']) {
      const { stdout, stderr } = await failed(idops(command));
      printed = stdout + stderr;
      expect(printed, command).toContain('went back:');
    }
    expect(sandbox.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    const [command = ''] = /git push \S+ \S+/.exec(printed) ?? [];
    git(folder, ...command.split(' ').slice(1), '--quiet');
    expect(git(bare, 'rev-parse', 'idops-state').trim()).toBe(newest);
    expect((await idops('plan --detailed-exitcode')).code).toBe(0);
    git(bare, 'update-ref', ...back);
    git(folder, 'update-ref', '-d', 'refs/idops/seen/idops-state');
    expect((await idops('plan')).code).toBe(0);
  });

  it.each(['forced back', 'deleted'])('loses nothing if its branch is %s during a run', async (how) => {
    const { intercept, during } = whileUserIsWritten();
    const at = await shared({ intercept });
    const { idops, folder, bare } = at;
    await succeeded(idops('apply --yes'));
    const back = backOf(bare, how);
    await losesNothing(at, {
      during,
      away: async () => git(bare, 'update-ref', ...back),
      async back() {
        for (const command of ['plan', 'runs', 'undo --last --yes', 'runs prune --keep-last 0 --yes'])
          expect((await idops(command)).stderr, command).toContain('error[state-went-back]');
        git(folder, 'push', '--quiet', 'origin', 'refs/idops/seen/idops-state:refs/heads/idops-state');
      },
      why: 'went back',
    });
    expect((await idops('runs')).stdout.match(/apply/g)).toHaveLength(4);
    expect((await idops('undo --last --yes')).stderr).toContain('regenerat');
  });

  it("reports a missing repository, a missing git, a missing remote, or another's branch", async () => {
    const { idops, folder, bare } = await shared();
    const outside = await project({ 'idops.yaml': inGit, ...manifests });
    await failed(outside.idops('plan'), 'idops.yaml is not in a git work tree');
    await failed(idops('plan', { env: { PATH: '/nowhere' } }), "can't be reached: git is not installed");
    git(folder, 'push', '--quiet', 'origin', 'main:idops-state');
    const other = await idops('apply --yes');
    expect(other.stderr).toContain('idops did not create that branch');
    expect(git(bare, 'rev-parse', 'idops-state')).toBe(git(bare, 'rev-parse', 'main'));
    git(folder, 'remote', 'remove', 'origin');
    await failed(
      idops('plan'),
      'error[state-unreachable]',
      "'origin' does not appear to be a git repository",
    );
  });

  it('is refused if it is misconfigured', async () => {
    const wrong = {
      'state: {git: {}, path: .idops/state.json}': 'a state is kept in one place',
      'state: {git: {}, allow_tracked: true}': '"allow_tracked" is only allowed with a state file',
      'state: {git: {remote: --upload-pack=touch}}': 'must be the name or the URL of a remote',
      'state: {git: {remote: "ext::sh -c touch"}}': 'must be the name or the URL of a remote',
      'state: {git: {branch: a..b}}': 'must be the name of a branch',
      'state: {git: {branch: x.lock}}': 'must be the name of a branch',
      'state: {git: {path: ../state.json}}': 'must be a path on the branch',
      'state: {git: {path: runs/state.json}}': 'must be a path on the branch',
      'state: {git: {branches: x}}': 'unknown',
    };
    const made = await project(manifests);
    for (const [line, message] of Object.entries(wrong)) {
      await made.write({ 'idops.yaml': `${trustedConfig}${line}\n` });
      await failed(made.idops('plan'), message);
    }
  });

  it("hides the credentials in the remote's address, also from manifests", async () => {
    const { idops, write, bare } = await shared();
    const secret = 'a-token-of-somebody';
    const server = await serveGit(join(bare, '..'), { authorization: 'never' });
    afterwards(() => server.close());
    const address = `${server.url.replace('//', '//ada:${IDOPS_STATE_TOKEN}@')}/${bare.split('/').at(-1)}`;
    await write({
      'idops.yaml': `${trustedConfig}state: {git: {remote: "${address}"}}\n`,
      'manifests/ada.yaml': ada('"${IDOPS_STATE_TOKEN}"'),
    });
    const env = { IDOPS_STATE_TOKEN: secret };
    expect((await idops('validate', { env })).stderr).toContain('error[credential-variable]');
    await write({ 'manifests/ada.yaml': ada('staff') });
    for (const command of ['plan', 'state show', 'runs', 'doctor', 'plan --debug']) {
      const { stdout, stderr } = await failed(idops(command, { env }));
      expect(stdout + stderr, command).not.toContain(secret);
    }
    const remote = `https://ada:${secret}@git.example.com/a.git`;
    const found = gitBackend({ root: '/', remote, branch: 'b', path: 'c.json' });
    expect(found.place).toBe('c.json on the branch b of https://git.example.com/a.git');
  });
});

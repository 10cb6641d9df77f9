import { execFileSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../cleanups.js';
import { ids } from '../demo-ids.js';
import { failed, project, succeeded, type TestProject, trustedConfig } from './running.js';

const secret = 'a-smtp-password-of-somebody';
const user = (group: string): string =>
  `kind: User\nid: ${ids.ada}\ngroup: ${group}\nmetadata: {pin: "\${PIN}", count: 12345678901234567890.0}\nwhole: [metadata]\n`;
const inFile = `${trustedConfig}allow_env: [PIN]\n`;
const inGit = `${inFile}state: {git: {}}\n`;
const env = { PIN: secret };

/** A project in a clone, with two runs and a state in a file. */
async function applied(): Promise<TestProject> {
  const made = await project({ 'idops.yaml': inFile, 'manifests/user.yaml': user('staff') });
  const bare = await temporaryFolder('remote');
  execFileSync('git', ['init', '--quiet', '--bare', bare]);
  execFileSync('git', ['init', '--quiet'], { cwd: made.folder });
  execFileSync('git', ['remote', 'add', 'origin', bare], { cwd: made.folder });
  for (const group of ['staff', 'others']) {
    await made.write({ 'manifests/user.yaml': user(group) });
    await succeeded(made.idops('apply --yes', { env }));
  }
  return made;
}

const runsIn = (text: string): string[] => text.match(/\d{8}T\d{6}Z-\w+/g) ?? [];

describe('idops state migrate', () => {
  it('moves the state and its journals, and then the former state is refused', async () => {
    const { idops, write, read, writes } = await applied();
    const before = await read('.idops/state.json');
    const runs = runsIn((await idops('runs')).stdout);
    const sent = writes().length;
    await write({ 'idops.yaml': inGit });
    const moved = await succeeded(idops('state migrate --yes'));
    expect(moved.stderr).toContain(
      'Moved 1 record and 2 journals to state.json on the branch idops-state of origin.',
    );
    expect(runsIn((await idops('runs')).stdout)).toEqual(runs);
    expect((await idops('plan --detailed-exitcode', { env })).code).toBe(0);
    expect(writes()).toHaveLength(sent);
    const undone = await idops('undo --last --yes', { env });
    expect(undone.stdout).toContain('group');

    const { moved_to, ...left } = JSON.parse(await read('.idops/state.json'));
    expect(moved_to).toBe('state.json on the branch idops-state of origin');
    expect(left).toEqual(JSON.parse(before));
    await write({ 'idops.yaml': inFile });
    const message = 'error[state-moved]: the state .idops/state.json was moved to state.json on';
    for (const command of ['plan', 'apply --yes', 'state show', 'undo --last --yes', 'state rm User/1 --yes'])
      await failed(idops(command, { env }), message);
    expect((await idops('doctor', { env })).stdout).toContain('was moved to');
  });

  it('moves it back with --from a configuration, and keeps numbers and secrets', async () => {
    const { idops, write, read } = await applied();
    const before = await read('.idops/state.json');
    await write({ 'idops.yaml': inGit, 'former.yaml': inGit });
    expect((await idops('state migrate --yes')).code).toBe(0);
    await write({ 'idops.yaml': inFile });
    await succeeded(idops('state migrate --from former.yaml --yes'));
    expect(await read('.idops/state.json')).toBe(before);
    expect((await idops('plan --detailed-exitcode', { env })).code).toBe(0);
    await write({ 'idops.yaml': inGit });
    expect((await idops('plan', { env })).stderr).toContain('was moved to .idops/state.json');
  });

  it('can be repeated if it ended in the middle', async () => {
    const { idops, write, read } = await applied();
    const before = await read('.idops/state.json');
    await write({ 'idops.yaml': `${inFile}state: {path: other/state.json}\n` });
    expect((await idops('state migrate --yes')).code).toBe(0);
    await write({ '.idops/state.json': before });
    await succeeded(idops('state migrate --yes'));
    expect(JSON.parse(await read('.idops/state.json'))).toHaveProperty('moved_to');
    expect((await idops('plan --detailed-exitcode', { env })).code).toBe(0);
    await failed(idops('state migrate --yes'), 'error[state-moved]');
  });

  it('is refused at the target until it arrived completely', async () => {
    const { idops, folder, write, read } = await applied();
    await write({ 'idops.yaml': inGit });
    // The remote accepts the first push of journals, and no later one.
    const bare = execFileSync('git', ['remote', 'get-url', 'origin'], { cwd: folder, encoding: 'utf8' });
    const hook = join(bare.trim(), 'hooks/pre-receive');
    const counted = '"$(git rev-list --count idops-state 2>/dev/null || echo 0)"';
    await writeFile(hook, `#!/bin/sh\ntest ${counted} -lt 3\n`, { mode: 0o755 });
    await failed(idops('state migrate --yes'), 'error[not-writable]');
    await rm(hook);
    await failed(idops('plan', { env }), /error\[(state-moved|locked)\]/);
    await idops('runs unlock --yes');
    await failed(
      idops('plan', { env }),
      /error\[state-moved\]: the state state\.json on the branch \S+ of origin is incomplete: .* and the state is still at \.idops\/state\.json/,
    );
    expect(JSON.parse(await read('.idops/state.json'))).not.toHaveProperty('moved_to');
    await succeeded(idops('state migrate --yes'));
    expect(runsIn((await idops('runs')).stdout)).toHaveLength(2);
    expect((await idops('plan --detailed-exitcode', { env })).code).toBe(0);
  });

  it('is suggested if the configured state is empty and another one has records', async () => {
    const { idops, folder, files, write } = await applied();
    await write({ 'idops.yaml': inGit });
    const left =
      /the configured state is empty, and \.idops\/state\.json has a record of this server: idops state migrate --from \.idops\/state\.json moves it there/;
    expect((await succeeded(idops('plan', { env }))).stderr).toMatch(left);
    await failed(idops('apply --yes', { env }), 'error[state-elsewhere]');
    expect((await idops('doctor', { env })).stdout).toMatch(/fail {2}state +the configured state is empty/);
    expect((await idops('state migrate --from .idops/state.json --yes')).code).toBe(0);
    expect((await idops('plan', { env })).stderr).not.toMatch(left);

    await write({ 'idops.yaml': `${inFile}state: {path: other/state.json}\n` });
    const again = await failed(
      idops('apply --yes', { env }),
      'state.json in git (refs/idops/seen/idops-state) has a record of this server',
    );
    expect(await files()).not.toHaveProperty('other/state.json');
    const [command = ''] = /git update-ref -d \S+/.exec(again.stderr) ?? [];
    execFileSync('git', command.split(' ').slice(1), { cwd: folder });
    expect((await idops('apply --yes', { env })).code).toBe(0);
  });

  it('is suggested if the path of the file or branch changed', async () => {
    const { idops, write } = await applied();
    await write({ 'idops.yaml': `${inFile}state: {path: other/state.json}\n` });
    await failed(idops('apply --yes', { env }), '.idops/state.json has a record of this server');
    await write({ 'idops.yaml': inGit });
    expect((await idops('state migrate --from .idops/state.json --yes')).code).toBe(0);
    await write({ 'idops.yaml': inGit.replace('git: {}', 'git: {path: x/y.json}') });
    const seen = 'state.json in git (refs/idops/seen/idops-state)';
    await failed(idops('apply --yes', { env }), `${seen} has a record of this server`);
  });

  it('moves the state to its environment, whose default path differs', async () => {
    const { idops, write, read, files } = await applied();
    const runs = runsIn((await idops('runs')).stdout);
    await write({ 'idops.yaml': `${inFile}environments: {production: {}}\n` });
    const plan = await idops('plan --env production', { env });
    expect(plan.stderr).toContain('.idops/state.json has a record of this server');
    await failed(
      idops('apply --yes --env production', { env }),
      'error[state-elsewhere]',
      'to start over instead: set state.path in the environment production',
    );
    expect((await idops('state migrate --env production --yes')).code).toBe(0);
    expect(runsIn((await idops('runs --env production')).stdout)).toEqual(runs);
    expect((await idops('plan --env production --detailed-exitcode', { env })).code).toBe(0);
    expect(Object.keys(await files())).toEqual(
      expect.arrayContaining(runs.map((run) => `.idops/production/runs/${run}.jsonl`)),
    );
    expect(await read('.idops/production/state.json')).toContain('"resources"');
    const apart = `${trustedConfig}state: {path: x.json}\nallow_env: [PIN]\nenvironments:\n  a: {server: {base_url: 'https://a.example'}}\n  b: {server: {base_url: 'https://b.example'}}\n`;
    await write({ 'idops.yaml': apart });
    for (const command of ['validate', 'plan', 'apply --yes', 'undo --last --yes', 'pull --check'])
      await failed(idops(command, { env }), 'shared-state');
  });

  it('asks for confirmation, and requires a state that can be moved', async () => {
    const { idops, write, read, files } = await applied();
    const before = await files();
    await failed(idops('state migrate --yes'), 'the state is already at .idops/state.json');
    await write({ 'idops.yaml': inGit });
    await failed(idops('state migrate'), 'error[no-terminal]');
    await failed(idops('state migrate --yes --from none.json'), 'there is no state at none.json');
    await failed(idops('state migrate --yes --from none.yaml'));
    expect(await read('.idops/state.json')).toBe(before['.idops/state.json']);
  });

  it('never replaces another state', async () => {
    const { idops, write, read } = await applied();
    const before = await read('.idops/state.json');
    const config = `${inFile}state: {path: .idops/other.json}\n`;
    await write({ 'idops.yaml': config, '.idops/state.json': '' });
    expect((await idops('apply --yes', { env })).code).toBe(0);
    await write({ '.idops/state.json': before });
    const other = await read('.idops/other.json');
    await failed(idops('state migrate --yes'), 'error[file-exists]: there is a state of http');
    expect([await read('.idops/state.json'), await read('.idops/other.json')]).toEqual([before, other]);
    await write({ '.idops/other.json': before.replace(/"serial": (\d+)/, '"serial": 99') });
    await failed(idops('state migrate --yes'), 'the same state, newer than this one');
    await write({ '.idops/other.json': '{' });
    await failed(idops('state migrate --yes'), 'error[state-unreadable]');
  });

  it('requires settled runs, and the locks of both states', async () => {
    const { idops, write, read } = await applied();
    const path = `.idops/runs/${runsIn((await idops('runs')).stdout)
      .sort()
      .at(-1)}.jsonl`;
    const journal = await read(path);
    await write({ 'idops.yaml': inGit, [path]: journal.slice(0, journal.lastIndexOf('{"type":"end"')) });
    await failed(idops('state migrate --yes'), /run \S+ did not end/);
    await write({ [path]: journal, '.idops/state.json.lock': '{}' });
    await failed(idops('state migrate --yes'), 'error[locked]');
  });
});

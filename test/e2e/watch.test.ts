import { rename, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { afterwards } from '../cleanups.js';
import { ids } from '../demo-ids.js';
import { listening as serving } from '../server/serving.js';
import { gate } from './gate.js';
import {
  config,
  type Files,
  journals,
  project,
  refused,
  type TestProject,
  trustedConfig,
} from './running.js';
import { expectDocumented, expectToMatchSchema } from './schemas.js';
import { watching } from './watching.js';

const organization = (label: string): string => `kind: Organization\nname: acme\nlabel: ${label}\n`;
const listening = '--listen 127.0.0.1:0';

async function get(address: string, path: string, method = 'GET'): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${address}${path}`, { method });
  return { status: answer.status, text: await answer.text() };
}

/** The value of a metric, such as `drifted_objects{kind="User"}`. */
async function metric(address: string, series: string): Promise<number> {
  const { text } = await get(address, '/metrics');
  const line = text.split('\n').find((one) => one.startsWith(`idops_${series} `));
  return Number(line?.split(' ').at(-1));
}

function labelOf({ sandbox }: TestProject, name = 'acme'): string | null | undefined {
  return sandbox.data.organizations.find((one) => one.name === name)?.label;
}

function setLabel({ data }: Sandbox, label: string): void {
  const [first] = data.organizations;
  if (first !== undefined) first.label = label;
}

describe('idops watch', () => {
  it('reports differences once, and again if they change, and writes nothing', async () => {
    const at = await project({ 'manifests/all.yaml': organization('New') });
    const watch = watching(at, '');
    expect(await watch.turns(3)).toEqual(['changes', 'changes', 'changes']);
    expect(watch.text().match(/"ACME Corp" → "New"/g)).toHaveLength(1);
    expect(watch.text()).toMatch(
      /Z changes: 1 to update, 0 unchanged \(1 Organization\), as before, \d+\.\d s\n/,
    );
    setLabel(at.sandbox, 'By hand');
    expect(await watch.turns(2)).toEqual(['changes', 'changes']);
    expect(watch.text().match(/"By hand" → "New"/g)).toHaveLength(1);
    setLabel(at.sandbox, 'New');
    expect(await watch.turns(2)).toEqual(['unchanged', 'unchanged']);
    expect(watch.text().match(/nothing to change, 1 unchanged, \d/g)).toHaveLength(2);
    expect(await watch.stop()).toMatchObject({ code: 130, stderr: 'Stopped after 7 turns.\n' });
    expect(at.writes()).toEqual([]);
  });

  it('corrects differences with --apply, of the server and of manifests', async () => {
    const at = await project({ 'manifests/all.yaml': organization('New') });
    const watch = watching(at, `--apply ${listening}`);
    const address = await watch.address();
    expect(await watch.turn()).toBe('applied');
    expect(labelOf(at)).toBe('New');
    expect(await watch.turn()).toBe('unchanged');
    setLabel(at.sandbox, 'By hand');
    expect(await watch.turn()).toBe('applied');
    expect(labelOf(at)).toBe('New');
    await at.write({ 'manifests/all.yaml': organization('Newer') });
    expect(await watch.turn()).toBe('applied');
    expect(labelOf(at)).toBe('Newer');
    expect(watch.text()).toContain('changed on the server since run');
    expect(await watch.turn()).toBe('unchanged');
    expect(await metric(address, 'changes_total{kind="Organization",status="applied"}')).toBe(3);
    expect(await metric(address, 'pending_changes{kind="Organization",action="update"}')).toBe(0);
    const sent = 'requests_total{operation="updateOrganization",method="PATCH",status="2xx"}';
    expect(await metric(address, sent)).toBe(3);
    expect((await watch.stop()).code).toBe(130);
    expect(at.writes()).toHaveLength(3);
    expect(journals(await at.files())).toHaveLength(3);
  });

  it('sends nothing if the plan is blocked or too destructive', async () => {
    const template = `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: reset_password_instructions\nstate: absent\n`;
    const at = await project({
      'idops.yaml': `${trustedConfig}safety: {max_destructive: 0}\n`,
      'manifests/all.yaml': `${organization('New')}---\n${template}`,
    });
    const watch = watching(at, `--apply ${listening}`);
    const address = await watch.address();
    expect(await watch.turn()).toBe('refused');
    await watch.waitFor('too-destructive');
    const blocked = 'kind: Organization\nname: nobody\nlabel: x\n';
    await at.write({ 'manifests/all.yaml': `${organization('New')}---\n${blocked}` });
    expect(await watch.turn()).toBe('refused');
    expect(await metric(address, 'problems_total{code="blocked"}')).toBe(1);
    expect(at.writes()).toEqual([]);
    expect(await metric(address, 'pending_changes{kind="Organization",action="blocked"}')).toBe(1);
    await watch.stop();
    await at.write({ 'manifests/all.yaml': `${organization('New')}---\n${template}` });
    expect(await watching(at, '--apply --allow-destructive 1').turn()).toBe('applied');
    expect(at.writes().map((line) => line.split(' ')[0])).toEqual(['PATCH', 'DELETE']);
  });

  it('reads the manifests in each turn: reports a mistake once, and applies after it is fixed', async () => {
    const at = await project({ 'manifests/all.yaml': organization('New') });
    const watch = watching(at, '--apply');
    expect(await watch.turn()).toBe('applied');
    await at.write({ 'manifests/all.yaml': 'kind: Organization\nname: acme\nlable: Newer\n' });
    expect(await watch.turns(2)).toEqual(['failed', 'failed']);
    await at.write({ 'manifests/all.yaml': organization('Newer') });
    expect(await watch.turn()).toBe('applied');
    const { code, stdout, stderr } = await watch.stop();
    expect(code).toBe(130);
    expect(labelOf(at)).toBe('Newer');
    expect(stderr.match(/error\[unknown-field\]/g)).toHaveLength(1);
    expect(stderr).toContain('manifests/all.yaml:3:1');
    expect(stdout).toMatch(/Z failed: unknown-field, \d/);
    expect(stdout).toMatch(/Z failed: unknown-field, as before, \d/);
  });

  it('reads a folder that is swapped by a link, with the state outside', async () => {
    const at = await project({ 'kept/.keep': '' });
    const version = async (name: string, label: string): Promise<void> => {
      await at.write({
        [`git/.worktrees/${name}/idops.yaml`]: `${config}state: {path: ../../../kept/state.json}\n`,
        [`git/.worktrees/${name}/manifests/all.yaml`]: organization(label),
      });
      await symlink(`.worktrees/${name}`, join(at.folder, 'git/next'));
      await rename(join(at.folder, 'git/next'), join(at.folder, 'git/current'));
    };
    await version('first', 'First');
    const watch = watching(at, `--apply --config ${join(at.folder, 'git/current/idops.yaml')}`);
    expect(await watch.turn()).toBe('applied');
    await version('second', 'Second');
    expect(await watch.turn()).toBe('applied');
    expect(labelOf(at)).toBe('Second');
    await watch.stop();
    expect(journals(await at.files()).filter((path) => path.startsWith('kept/'))).toHaveLength(2);
  });

  it('reads the token in each turn', async () => {
    const at = await project({
      'idops.yaml': config.replace(`token: \${IDOPS_TOKEN}`, 'token_file: ../token'),
      'manifests/all.yaml': organization('New'),
    });
    const file = `${at.folder}-token`;
    await writeFile(file, 'an-old-token-0123456789\n');
    const run = { env: { IDOPS_TOKEN: undefined } };
    const watch = watching(at, `--token-file ${file}`, run);
    expect(await watch.turn()).toBe('failed');
    await writeFile(file, `${at.sandbox.token}\n`);
    expect(await watch.turn()).toBe('changes');
    const { stdout, stderr } = await watch.stop();
    expect(stdout).toContain('server-unauthorized');
    expect(stdout + stderr).not.toContain('an-old-token');
    expect(stdout + stderr).not.toContain(at.sandbox.token);
  });

  it('prints each turn as a line of JSON', async () => {
    const at = await project({ 'manifests/all.yaml': organization('New') });
    const watch = watching(at, '--format json --apply');
    await watch.turns(3);
    await at.write({ 'manifests/all.yaml': 'kind: Organization\n' });
    await watch.turn();
    const { stdout, stderr } = await watch.stop();
    const lines = JSON.parse(`[${stdout.trimEnd().replaceAll('\n', ',')}]`);
    for (const line of lines) {
      expectDocumented('A turn', line);
      if (line.plan !== undefined) expectToMatchSchema('plan', line.plan);
      if (line.result !== undefined) expectToMatchSchema('run', line.result);
    }
    const places = [{ file: 'manifests/all.yaml', line: 1 }];
    expect(lines).toMatchObject([
      {
        turn: 1,
        outcome: 'applied',
        new: true,
        summary: { update: 1, unchanged: 0 },
        kinds: { Organization: { update: 1 } },
        plan: { changes: [{ address: 'Organization/acme' }] },
        result: { summary: { applied: 1 } },
        problems: [],
      },
      { turn: 2, outcome: 'unchanged', kinds: {} },
      { turn: 3, outcome: 'unchanged', new: false },
      {
        outcome: 'failed',
        new: true,
        summary: null,
        kinds: null,
        problems: [{ code: 'missing-field', places }],
      },
    ]);
    expect(lines[1]).not.toHaveProperty('plan');
    expect(stderr).toMatch(/^\S+Z applied: .+\n\n[\s\S]*"ACME Corp" → "New"[\s\S]*\nApplied: 1 applied\.\n/);
    expect(stderr.match(/error\[missing-field\]/g)).toHaveLength(1);
    expect(stderr.match(/Z \w+: /g)).toHaveLength(2);
    expect(stderr).toMatch(/\nStopped after 4 turns\.\n$/);
  });

  it('fails while another run holds the lock, and continues afterwards', async () => {
    const { arrived, open, intercept } = gate();
    const at = await project({ 'manifests/all.yaml': organization('New') }, { intercept });
    const other = at.begin(['apply', '--yes']);
    await arrived;
    const watch = watching(at, '--apply');
    expect(await watch.turns(2)).toEqual(['failed', 'failed']);
    open();
    expect((await other.ended).code).toBe(0);
    expect(await watch.turn()).toBe('unchanged');
    const { stdout, stderr } = await watch.stop();
    expect(stdout).toMatch(/Z failed: locked, /);
    expect(stderr.match(/error\[locked\]/g)).toHaveLength(1);
    expect(at.writes()).toHaveLength(1);
  });
});

describe('drift in idops watch', () => {
  it('is reported for changes on the server since an apply, and nothing else', async () => {
    const at = await project({ 'manifests/all.yaml': organization('ACME Corp') });
    expect((await at.idops('apply --yes')).code).toBe(0);
    const watch = watching(at, listening);
    const address = await watch.address();
    expect(await watch.turn()).toBe('unchanged');
    await at.write({ 'manifests/all.yaml': organization('New') });
    expect(await watch.turn()).toBe('changes');
    expect(await metric(address, 'drifted_objects{kind="Organization"}')).toBe(0);
    setLabel(at.sandbox, 'By hand');
    expect(await watch.turn()).toBe('drift');
    expect(await metric(address, 'drifted_objects{kind="Organization"}')).toBe(1);
    await watch.stop();
  });
});

describe('the endpoints of idops watch', () => {
  it('report failing turns while the server is unreachable, and success afterwards', async () => {
    const at = await project({ 'manifests/all.yaml': organization('New') });
    const watch = watching(at, listening);
    const address = await watch.address();
    expect(await watch.turn()).toBe('changes');
    expect(await metric(address, 'turns_total{outcome="changes"}')).toBe(1);
    expect((await get(address, '/healthz')).text).toBe('{"status":"ok"}\n');
    expect(await metric(address, 'last_success_timestamp_seconds')).toBeGreaterThan(1_700_000_000);

    const { port } = new URL(at.sandbox.url);
    const { token } = at.sandbox;
    await at.sandbox.close();
    await watch.turns(3);
    expect((await get(address, '/healthz')).status).toBe(200);
    await watch.turn();
    expect(await get(address, '/healthz')).toEqual({
      status: 503,
      text: '{"status":"failing","reason":"no turn succeeded for 4 s: failed (server-unreachable)"}\n',
    });
    expect((await get(address, '/livez')).status).toBe(200);
    expect(await metric(address, 'turns_total{outcome="failed"}')).toBe(4);
    const asked = 'requests_total{operation="listOrganizations",method="GET",status="none"}';
    expect(await metric(address, asked)).toBe(4);
    // The last known changes stay.
    expect(await metric(address, 'pending_changes{kind="Organization",action="update"}')).toBe(1);

    const scopes = ['users:manage:all'] as const;
    const back = await startSandbox({ port: Number(port), tokens: { [token]: scopes } });
    afterwards(() => back.close());
    await watch.turn();
    expect((await get(address, '/healthz')).status).toBe(200);
    expect((await watch.stop()).code).toBe(130);
    await expect(fetch(`${address}/healthz`)).rejects.toThrow();
  });

  it('contain no secret, and neither does the log', async () => {
    const secret = 'S3cret-of-the-manifest-1234';
    const files = {
      'idops.yaml': `${config}allow_env: [SECRET_LABEL]\n`,
      'manifests/all.yaml': organization('${SECRET_LABEL}'),
    };
    const at = await project(files, {
      intercept: ({ number }) =>
        number % 2 === 0
          ? { kind: 'answer', status: 422, body: { code: 'X', message: `${secret} ${at.sandbox.token}` } }
          : undefined,
    });
    const watch = watching(at, `${listening} --apply --debug`, { env: { SECRET_LABEL: secret } });
    const address = await watch.address();
    expect(await watch.turns(2)).toEqual(['failed', 'failed']);
    const served: string[] = [];
    for (const path of ['/metrics', '/healthz', '/livez']) served.push((await get(address, path)).text);
    const { stdout, stderr } = await watch.stop();
    const all = [stdout, stderr, ...served].join('\n');
    expect(all).toContain('GET /api/organizations');
    expect(all).not.toContain(secret);
    expect(all).not.toContain(at.sandbox.token);
    for (const word of ['acme', ids.acme, new URL(at.sandbox.url).host])
      expect(served[0]).not.toContain(word);
  });
});

describe('the end of idops watch', () => {
  const ada = `kind: User\nid: ${ids.ada}\ngroup: staff\n`;
  const users = Array.from({ length: 5 }, (_, index) => `kind: User\nid: user-${index}\ngroup: staff\n`);

  it('is a signal between turns', async () => {
    const at = await project({ 'manifests/all.yaml': organization('New') });
    const watch = at.begin(['watch', '--interval', '24h']);
    await watch.waitFor(' changes: ');
    watch.child.kill('SIGINT');
    expect(await watch.ended).toMatchObject({
      code: 130,
      signal: null,
      stderr: expect.stringMatching(/^Stopped after 1 turn\.\n$/),
    });
  });

  /** A watch that is interrupted during its first request, and its result. */
  async function interrupted(files: Files, message: string) {
    const { arrived, open, intercept } = gate();
    const at = await project(files, { intercept });
    const watch = watching(at, `--apply --concurrency 1 ${listening}`);
    await arrived;
    watch.interrupt();
    await watch.waitFor(message);
    open();
    const ended = await watch.ended;
    expect(ended.code).toBe(130);
    return { at, ...ended };
  }

  it('is a signal during apply: requests in flight finish and are recorded, no others start', async () => {
    const manifest = { 'idops.yaml': trustedConfig, 'manifests/all.yaml': [ada, ...users].join('---\n') };
    const { at, stdout } = await interrupted(manifest, 'Finishing 1 in flight');
    expect(at.writes()).toEqual([`PATCH /api/users/${ids.ada}`]);
    expect(stdout).toMatch(/Z interrupted: .*1 applied, 5 skipped/);
    const left = await at.files();
    expect(journals(left)).toHaveLength(1);
    const { resources } = JSON.parse(left['.idops/state.json'] ?? '');
    expect(resources[`User/${ids.ada}`].fields.group).toBe('staff');
    expect(Object.keys(left).filter((path) => path.endsWith('.lock'))).toEqual([]);
  });

  it('is a signal during a plan: nothing more is requested, and the lock is released', async () => {
    const templates = Array.from(
      { length: 5 },
      (_, index) => `kind: EmailTemplate\nbackend_id: b\ntype: type_${index}\nstate: absent\n`,
    );
    const files = { 'manifests/all.yaml': templates.join('---\n') };
    const { at, stdout, stderr } = await interrupted(files, 'Stopping');
    expect(stdout).toMatch(/^\S+Z interrupted: \d+\.\d s\n$/);
    expect(stderr).toMatch(/^.*\nStopping: nothing new will start\.\nStopped after 1 turn\.\n$/);
    expect(at.reads()).toHaveLength(1);
    expect(await at.files()).not.toHaveProperty('.idops/state.json.lock');
  });

  it('is a signal during the last change, which is applied', async () => {
    const files = { 'idops.yaml': trustedConfig, 'manifests/all.yaml': ada };
    const { at, stdout } = await interrupted(files, 'Finishing 1 in flight');
    expect(stdout).toMatch(/Z applied: /);
    expect(at.writes()).toHaveLength(1);
  });

  it('is a second signal, immediately', async () => {
    const { arrived, intercept } = gate();
    const files = { 'idops.yaml': trustedConfig, 'manifests/all.yaml': users.join('---\n') };
    const at = await project(files, { intercept });
    const watch = at.begin(['watch', '--apply', '--interval', '24h']);
    await arrived;
    watch.child.kill('SIGTERM');
    await watch.waitFor('Finishing');
    watch.child.kill('SIGTERM');
    const { signal, stderr } = await watch.ended;
    expect(signal).toBe('SIGTERM');
    expect(stderr).toContain('Ended immediately. Outcome unknown: User/user-');
  });

  it('is a port in use, or an address of another machine', async () => {
    const taken = createServer();
    const { port } = new URL(await serving(taken));
    const at = await project({ 'manifests/all.yaml': organization('New') });
    const { stdout } = await at.refused(`watch --listen 127.0.0.1:${port} --format json`, [
      `error[port-unavailable]: port ${port} of 127.0.0.1 can't be used: another program listens on it (EADDRINUSE)`,
      'name another one with --listen',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ problems: [{ code: 'port-unavailable' }] });
    const elsewhere = await at.idops('watch --listen 192.0.2.1:9464');
    expect(elsewhere.stderr).toContain('this machine has no such address');
    expect(at.reads()).toEqual([]);
  });

  it.each([
    ['--interval 5', 'It must be a time from 1s to 24h'],
    ['--listen 9464', 'such as 127.0.0.1:9464'],
    ['--allow-destructive 3', 'add --apply'],
    ['--format json=file', 'standard output'],
    ['--format html', 'the formats are text, json'],
    ['--format text --format json', 'choose one of them'],
  ])('is the invalid option %s, immediately', async (args, message) => {
    const at = await project({ 'manifests/all.yaml': organization('New') });
    await refused(at.idops(`watch ${args}`), 'error[wrong-option]', message);
    expect(at.reads()).toEqual([]);
  });
});

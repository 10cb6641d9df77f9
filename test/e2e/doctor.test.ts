import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { currentProcess } from '../../src/base/process.js';
import { ids } from '../demo-ids.js';
import { borutaProject, failed, journals, project, type TestProject, trustedConfig } from './running.js';

interface Check {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly hint: string | null;
}

const manifest = 'kind: Organization\nname: acme\nlabel: First\n';

/** A project after an apply. */
async function applied(files: { readonly [path: string]: string } = {}): Promise<TestProject> {
  const at = await project({ 'idops.yaml': trustedConfig, 'manifests/all.yaml': manifest, ...files });
  expect((await at.idops('apply --yes')).code).toBe(0);
  return at;
}

/** The checks of idops doctor with this name. Expects that it writes and sends nothing. */
async function checksNamed(at: TestProject, name: string, args = ''): Promise<Check[]> {
  const [files, written] = [await at.files(), at.writes().length];
  const { code, stdout } = await at.idops(`doctor --format json ${args}`);
  expect(await at.files()).toEqual(files);
  expect(at.writes()).toHaveLength(written);
  const { checks } = JSON.parse(stdout) as { checks: Check[] };
  expect(code).toBe(checks.some(({ status }) => status === 'fail') ? 1 : 0);
  return checks.filter((check) => check.name === name);
}

function git(at: TestProject, ...args: string[]): void {
  execFileSync('git', args, { cwd: at.folder, stdio: 'pipe' });
}

/** The output without the parts that depend on the server, the project or the machine. */
function normalized(text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .replace(/https?:\/\/[^\s/]+/, 'ADDRESS')
        .replace(/(?<=\btls +).*/, '…')
        .replace(/ on \S+, process/, ' on HOST, process')
        .replace(/\b\d[\w.:-]*/g, 'N')
        .replace(/\b(N (?:object|run))s\b/, '$1'),
    );
}

describe('idops doctor, scopes', () => {
  it('checks those that only some kinds need', async () => {
    const role = 'kind: Role\nname: member\nscopes: []\n';
    const page = 'kind: ErrorTemplate\ntype: 404\ncontent: "<p>No</p>"\n';
    const tokens = { limited: ['users:manage:all', 'scopes:manage:all'] as const };
    const at = await borutaProject({ 'manifests/all.yaml': `${role}---\n${page}` }, { tokens });
    expect(await checksNamed(at, 'scope scopes:manage:all')).toMatchObject([{ status: 'ok' }]);
    expect(await checksNamed(at, 'scope configuration:manage:all')).toMatchObject([{ status: 'fail' }]);
  });
});

describe('idops doctor, state', () => {
  it('passes a usable state', async () => {
    const at = await applied();
    expect((await at.idops('doctor')).stdout).toMatch(/^No check failed\.\n.*gitleaks.*\n$/m);
    expect(await checksNamed(at, 'state')).toMatchObject([
      { status: 'ok', message: `.idops/state.json records 1 object of ${at.sandbox.url}` },
    ]);
    expect(await checksNamed(at, 'lock')).toMatchObject([{ status: 'ok' }]);
    expect(await checksNamed(at, 'journals')).toMatchObject([{ status: 'ok', message: 'of 1 run' }]);
  });

  it('prints what docs/reference/servers.md shows', async () => {
    const at = await applied();
    const holder = { user: 'ada', command: 'apply', at: '2026-01-31T12:00:00.000Z', nonce: 'n' };
    const gone = { ...currentProcess(), ...holder, pid: 2 ** 22 - 1, started: null };
    await at.write({ '.idops/state.json.lock': JSON.stringify(gone) });
    const page = await readFile('docs/reference/servers.md', 'utf8');
    const shown = /\$ idops doctor\n([^`]+)```/.exec(page)?.[1] ?? '';
    expect(normalized(shown)).toEqual(normalized((await at.idops('doctor')).stdout));
  });

  it("reports why the state can't be used, and what to do", async () => {
    const at = await applied();
    await at.write({ '.idops/state.json': (await at.read('.idops/state.json')).replace('{', '') });
    const message = expect.stringContaining('is not JSON');
    expect(await checksNamed(at, 'state')).toMatchObject([
      { status: 'fail', message, hint: expect.any(String) },
    ]);
    expect(await checksNamed(at, 'journals')).toMatchObject([{ status: 'ok' }]);
  });

  it('checks it without a usable server configuration too', async () => {
    const at = await applied();
    const { stdout } = await at.idops('doctor', { env: { IDOPS_TOKEN: undefined } });
    expect(stdout).toMatch(/^fail {2}configuration/m);
    expect(stdout).toMatch(/^ok {4}state +\.idops\/state\.json records 1 object/m);
  });

  it('reports that git tracks it, which plans refuse', async () => {
    const at = await applied();
    git(at, 'init', '-q');
    expect(await checksNamed(at, 'state')).toMatchObject([{ status: 'ok' }]);
    git(at, 'add', '-A');
    expect(await checksNamed(at, 'state')).toMatchObject([
      { status: 'fail', code: 'state-tracked', message: expect.stringContaining('git tracks .idops/') },
    ]);
  });

  it('reports a folder in its place', async () => {
    const at = await project({ 'idops.yaml': trustedConfig, '.idops/state.json/x': '' });
    expect(await checksNamed(at, 'state')).toMatchObject([
      { status: 'fail', hint: expect.stringContaining('move what is in the way') },
    ]);
  });
});

describe('idops doctor, failures', () => {
  it.each([
    ['a value', 'version: 2\n', /^correct it there; idops validate shows the line/],
    ['YAML', 'version: 1\n  server: {}\n', /indent/],
  ])('names the place of an error in %s', async (_, text, cure) => {
    const at = await project({ 'idops.yaml': text });
    const message = expect.stringContaining('idops.yaml:');
    const hint = expect.stringMatching(cure);
    expect(await checksNamed(at, 'configuration')).toMatchObject([{ status: 'fail', message, hint }]);
  });

  it("names the fitting profile if the configured one doesn't fit", async () => {
    const at = await project({ 'idops.yaml': trustedConfig }, { profile: 'boruta' });
    expect(await at.json('doctor')).toMatchObject({ profile: 'documented', fitting_profile: 'boruta' });
    const hint = expect.stringContaining('boruta');
    expect(await checksNamed(at, 'profile')).toMatchObject([{ status: 'fail', hint }]);
  });

  it.each([
    ['User', 0],
    ['KeyPair', 1],
  ])('requires a scope only if the manifests need it: for a %s', async (kind, code) => {
    const tokens = { secret: ['users:manage:all', 'identity-providers:manage:all'] as const };
    const at = await borutaProject({ 'manifests/all.yaml': `kind: ${kind}\nid: ${ids.ada}\n` }, { tokens });
    expect((await at.idops('doctor')).code).toBe(code);
  });

  it('gives a hint for a server that fails', async () => {
    const intercept = () => ({ kind: 'answer', status: 500, body: '' }) as const;
    const at = await project({ 'idops.yaml': trustedConfig }, { intercept });
    expect(await checksNamed(at, 'server')).toMatchObject([
      { status: 'fail', hint: expect.stringContaining('log') },
    ]);
  });

  it("prints the problem's code for scripts", async () => {
    const at = await project({ 'idops.yaml': trustedConfig });
    expect((await at.json('doctor', { env: { IDOPS_TOKEN: 'another' } })).checks).toContainEqual(
      expect.objectContaining({ name: 'credentials', status: 'fail', code: 'server-unauthorized' }),
    );
  });

  it('shows failed checks as text too if standard output is JSON', async () => {
    const at = await project({ 'idops.yaml': trustedConfig });
    const env = { IDOPS_TOKEN: 'another' };
    await failed(at.idops('doctor --format json', { env }), /^fail {2}credentials /m);
    expect((await at.idops('doctor --format json')).stderr).toBe('');
  });
});

describe('idops doctor, lock', () => {
  const mark = currentProcess();
  it.each([
    ['of a dead process', { ...mark, pid: 2 ** 22 - 1, started: null }, 'warn', 'takes it over'],
    ['of a running process', mark, 'warn', 'wait until'],
    ['of another host', { ...mark, host: 'elsewhere' }, 'warn', 'idops runs unlock'],
    ['with an unknown holder', 'nobody', 'fail', 'idops runs unlock'],
  ])('reports a lock %s', async (_, holder, status, hint) => {
    const at = await applied();
    const named = { user: 'ada', command: 'apply', at: '2026-01-31T12:00:00Z', nonce: 'n' };
    const text = typeof holder === 'string' ? holder : JSON.stringify({ ...named, ...holder });
    await at.write({ '.idops/state.json.lock': text });
    expect(await checksNamed(at, 'lock')).toMatchObject([{ status, hint: expect.stringContaining(hint) }]);
  });
});

describe('idops doctor, journals', () => {
  it("reports those that can't be read", async () => {
    const at = await applied();
    const [run = ''] = journals(await at.files());
    await at.write({ [run]: '' });
    await at.write({ '.idops/runs/20260101T000000Z-000000.jsonl': 'no journal\n' });
    expect(await checksNamed(at, 'journals')).toMatchObject([
      { status: 'fail', message: expect.stringContaining('line 1 is not JSON') },
      {
        status: 'fail',
        message: expect.stringContaining('its first line is missing'),
        hint: expect.any(String),
      },
    ]);
  });

  it('reports a file in place of their folder', async () => {
    const at = await project({ 'idops.yaml': trustedConfig, '.idops/runs': '' });
    const message = expect.stringContaining('.idops/runs');
    const hint = expect.stringMatching(/^it must be a readable folder: move away what is in its place/);
    expect(await checksNamed(at, 'journals')).toMatchObject([{ status: 'fail', message, hint }]);
  });
});

import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ownMark } from '../../src/base/process.js';
import { journals, project, sure, type TestProject } from './running.js';

interface Check {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly hint: string | null;
}

const manifest = 'kind: Organization\nname: acme\nlabel: First\n';

/** A project in which something was applied. */
async function applied(files: { readonly [path: string]: string } = {}): Promise<TestProject> {
  const at = await project({ 'idops.yaml': sure, 'manifests/all.yaml': manifest, ...files });
  expect((await at.idops('apply --yes')).code).toBe(0);
  return at;
}

/** What the doctor says of one thing; it must have written and sent nothing. */
async function say(at: TestProject, name: string, args = ''): Promise<Check[]> {
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

/** What the doctor says without what is one server's, one project's or one machine's own. */
function alike(text: string): string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .replace(/https?:\/\/[^\s/]+/, 'ADDRESS')
        .replace(/(?<=\btls +).*/, '…')
        .replace(/ on \S+, process/, ' on HOST, process')
        .replace(/ (?:linux|darwin|win32) \w+$/, ' SYSTEM')
        .replace(/\b\d[\w.:-]*/g, 'N')
        .replace(/\b(N (?:object|run|file))s\b/, '$1'),
    );
}

describe('idops doctor, of the state', () => {
  it('finds nothing in the way', async () => {
    const at = await applied();
    expect((await at.idops('doctor')).stdout).toMatch(/Nothing is in the way\.\n$/);
    expect(await say(at, 'state')).toMatchObject([
      { status: 'ok', message: `.idops/state.json records 1 object of ${at.sandbox.url}` },
    ]);
    expect(await say(at, 'lock')).toMatchObject([{ status: 'ok' }]);
    expect(await say(at, 'journals')).toMatchObject([{ message: '1 run, all of them settled' }]);
    expect(await say(at, 'clock')).toMatchObject([{ status: 'ok' }]);
    expect(await say(at, 'versions')).toMatchObject([{ status: 'ok' }]);
  });

  it('prints what its page shows', async () => {
    const at = await applied();
    git(at, 'init', '-q');
    await at.write({ '.gitignore': '.idops/\n' });
    git(at, 'add', '-A');
    const holder = { user: 'ada', command: 'apply', at: '2026-01-31T12:00:00.000Z', nonce: 'n' };
    const gone = { ...ownMark(), ...holder, pid: 2 ** 22 - 1, started: null };
    await at.write({ '.idops/state.json.lock': JSON.stringify(gone) });
    const page = await readFile('docs/servers.md', 'utf8');
    const shown = /\$ idops doctor\n([^`]+)```/.exec(page)?.[1] ?? '';
    expect(alike(shown)).toEqual(alike((await at.idops('doctor')).stdout));
  });

  it.each([
    ['is for another server', /"server": "[^"]+"/, '"server": "https://other.example"', 'belongs to'],
    ['is of a newer format', '"format_version": 1', '"format_version": 2', 'format 2'],
    ['is no JSON', '{', '', 'is not JSON'],
  ])('says where it %s, and what to do', async (_, before, after, message) => {
    const at = await applied();
    await at.write({ '.idops/state.json': (await at.read('.idops/state.json')).replace(before, after) });
    expect(await say(at, 'state')).toMatchObject([
      { status: 'fail', message: expect.stringContaining(message), hint: expect.stringMatching(/\w+ .*/) },
    ]);
    expect(await say(at, 'journals')).toMatchObject([{ status: 'ok' }]);
  });

  it('looks at it where no server can be spoken to as well', async () => {
    const at = await applied();
    const { stdout } = await at.idops('doctor', { env: { IDOPS_TOKEN: undefined } });
    expect(stdout).toMatch(/^fail {2}configuration/m);
    expect(stdout).toMatch(/^ok {4}state +\.idops\/state\.json records 1 object/m);
  });

  it('knows what a run left open', async () => {
    const at = await applied();
    const state = JSON.parse(await at.read('.idops/state.json'));
    const [run] = journals(await at.files());
    const name = (run ?? '').replace(/^.*\/|\.jsonl$/g, '');
    await at.write({
      '.idops/state.json': JSON.stringify({
        ...state,
        resources: {
          'Client/c1': {
            ...Object.values<object>(state.resources)[0],
            kind: 'Client',
            identity: { id: 'c1' },
            pending_regeneration: name,
          },
        },
      }),
    });
    expect(await say(at, 'state')).toMatchObject([
      { status: 'ok' },
      { status: 'warn', hint: expect.stringContaining(`idops runs settle ${name} Client/c1 --done`) },
    ]);
  });
});

describe('idops doctor, of what fails', () => {
  it.each([
    ['a value', 'version: 2\n', /^correct it there; idops validate shows the line/],
    ['YAML', 'version: 1\n  server: {}\n', /indent/],
  ])('says where it helps with %s', async (_, text, cure) => {
    const at = await project({ 'idops.yaml': text });
    const [check] = await say(at, 'configuration');
    expect(check).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('idops.yaml:'),
      hint: expect.stringMatching(cure),
    });
  });

  it('has a cure for a server that fails', async () => {
    const at = await project(
      { 'idops.yaml': sure },
      { intercept: () => ({ kind: 'answer', status: 500, body: '' }) },
    );
    expect(await say(at, 'server')).toMatchObject([{ status: 'fail', hint: expect.stringContaining('log') }]);
  });
});

describe('idops doctor, of the lock', () => {
  const mark = ownMark();
  it.each([
    ['of a process that is gone', { ...mark, pid: 2 ** 22 - 1, started: null }, 'warn', 'takes it over'],
    ['of a living one', mark, 'warn', 'wait until'],
    ['of another host', { ...mark, host: 'elsewhere' }, 'warn', 'idops runs unlock'],
    ['without a name', 'nobody', 'fail', 'idops runs unlock'],
  ])('tells of one %s', async (_, holder, status, hint) => {
    const at = await applied();
    const named = { user: 'ada', command: 'apply', at: '2026-01-31T12:00:00Z', nonce: 'n' };
    const text = typeof holder === 'string' ? holder : JSON.stringify({ ...named, ...holder });
    await at.write({ '.idops/state.json.lock': text });
    expect(await say(at, 'lock')).toMatchObject([{ status, hint: expect.stringContaining(hint) }]);
  });
});

describe('idops doctor, of journals', () => {
  it('tells of a run that had not ended, and what settles it', async () => {
    const at = await applied();
    const [run = ''] = journals(await at.files());
    const text = await at.read(run);
    await at.write({
      [run]: text.slice(0, text.lastIndexOf('{"type":"end"')).replace(/"pid":\d+/, '"pid":4194303'),
    });
    expect(await say(at, 'journals')).toMatchObject([
      {
        status: 'warn',
        message: expect.stringContaining('had not ended'),
        hint: expect.stringContaining('plan'),
      },
    ]);
    expect((await at.idops('plan')).code).toBe(0);
    expect(await say(at, 'journals')).toMatchObject([{ status: 'ok' }]);
  });

  it('tells of those that can not be read, of other states, and of later versions', async () => {
    const at = await applied({
      'other.yaml': `${sure}state: {path: .idops/other.json}\n`,
    });
    expect(await say(at, 'journals', '--config other.yaml')).toMatchObject([
      { status: 'ok', message: 'there are none yet; 1 run of other states beside them' },
    ]);
    const [run = ''] = journals(await at.files());
    await at.write({
      [run]: (await at.read(run)).replace(/"tool_version":"[^"]+"/, '"tool_version":"900.0.0"'),
    });
    expect(await say(at, 'versions')).toMatchObject([
      { status: 'warn', message: expect.stringContaining('900.0.0') },
    ]);
    await at.write({ [run]: '' });
    expect(await say(at, 'journals')).toMatchObject([
      {
        status: 'fail',
        message: expect.stringContaining('its first line is gone'),
        hint: expect.any(String),
      },
    ]);
    await at.write({ '.idops/runs/20260101T000000Z-000000.jsonl': 'no journal\n' });
    expect(await say(at, 'journals')).toMatchObject([
      { status: 'fail', message: expect.stringContaining('line 1 is not JSON') },
      { status: 'fail', message: expect.stringContaining('its first line is gone') },
    ]);
  });

  it('tells of what lies where their folder should', async () => {
    const at = await project({ 'idops.yaml': sure, '.idops/runs': '' });
    expect(await say(at, 'journals')).toMatchObject([
      {
        status: 'fail',
        message: expect.stringContaining('.idops/runs'),
        hint: expect.stringMatching(/^it has to be a folder: move what is in its place away/),
      },
    ]);
  });
});

describe("idops doctor, of git's index", () => {
  const key = '-----BEGIN EC PRIVATE KEY-----\nMHcC\n-----END EC PRIVATE KEY-----\n';

  it('has nothing to say without a repository', async () => {
    expect(await say(await project({}), 'git')).toMatchObject([{ status: 'ok' }]);
  });

  it('finds what is secret and what belongs to a state, with a cure for each', async () => {
    const at = await applied({
      'idops.yaml': `${sure}environments:
  production:
    server: {auth: {token_file: secrets/token}, tls: {client_key_file: client.key, ca_file: ca.pem}}
`,
      '.gitignore': '.idops/\n',
      'secrets/token': 'abc',
      'ca.pem': '-----BEGIN CERTIFICATE-----\n',
      'client.key': 'any',
      'deploy.pem': key,
      '.env': 'A=1\nexport API_TOKEN="abc"\n',
      '.env.development': 'A=1\nAPI_TOKEN=\nTOKEN=$OTHER\n',
      '.env.example': 'A=',
      'store.p12': '',
    });
    expect((await at.idops('plan --out plan.json')).code).toBe(0);
    git(at, 'init', '-q');
    expect(await say(at, 'git')).toMatchObject([{ status: 'ok' }]);
    git(at, 'add', '-A');
    const found = await say(at, 'git');
    expect(found.map(({ status, message }) => `${status} ${message.split(':')[0]}`).sort()).toEqual([
      'fail it tracks .env',
      'fail it tracks client.key',
      'fail it tracks deploy.pem',
      'fail it tracks secrets/token',
      'fail it tracks store.p12',
      'warn it tracks .env.development',
      'warn it tracks plan.json',
    ]);
    for (const { hint } of found)
      expect(hint).toMatch(/git rm --cached (-f )?\S+, and name it in \.gitignore/);
    git(
      at,
      'rm',
      '-q',
      '--cached',
      'plan.json',
      '.env',
      '.env.development',
      '.env.development',
      'client.key',
      'deploy.pem',
      'secrets/token',
      'store.p12',
    );
    git(at, 'add', '-f', '.idops');
    const [tracked] = await say(at, 'git');
    expect(tracked).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('.idops/state.json'),
      hint: expect.stringMatching(/^git rm --cached .*\.idops\/state\.json, and name them/),
    });
    const refused = (await at.idops('plan')).stderr;
    expect(refused).toContain('state-tracked');
    // Both commands do what they say.
    await mkdir(join(at.folder, 'below'));
    for (const [command = '', cwd] of [
      [tracked?.hint?.split(', ')[0], at.folder],
      [/"(git rm --cached [^"]+)"/.exec(refused)?.[1], join(at.folder, 'below')],
    ] as const) {
      execFileSync('sh', ['-c', command], { cwd, stdio: 'pipe' });
      expect((await at.idops('plan')).stderr).not.toContain('state-tracked');
      git(at, 'add', '-f', '.idops');
    }
    await at.write({ 'idops.yaml': `${sure}state: {allow_tracked: true}\n` });
    expect(await say(at, 'git')).toMatchObject([{ status: 'ok' }]);
    // Without git on the search path there is nobody to ask.
    await mkdir(join(at.folder, 'bin'));
    const { stdout } = await at.idops('doctor', { env: { PATH: join(at.folder, 'bin') } });
    expect(stdout).toMatch(/^ok {4}git +there is no git here/m);
    expect(await readdir(join(at.folder, '.git'))).not.toContain('index.lock');
  });

  it('finds what is secret within files, and stored plans by whatever name', async () => {
    const at = await applied({
      'manifests/key.yaml': '# nothing',
      'doc.md': 'see -----BEGIN PRIVATE KEY-----',
    });
    git(at, 'init', '-q');
    git(at, 'add', '-A', '--', 'idops.yaml', 'manifests', 'doc.md');
    const [fine] = await say(at, 'git');
    expect(fine).toMatchObject({
      status: 'ok',
      message: expect.stringMatching(
        /^no credential that is known here, no private key, .* is in the \d+ files/,
      ),
    });
    expect((await at.idops('plan --out plan.txt')).code).toBe(0);
    const inside = `a: |\n  ${key.replaceAll('\n', '\n  ')}\n`;
    await at.write({
      'manifests/token.yaml': `# ${'x'.repeat(9000)}\n# ${at.sandbox.token}\n`,
      'notes.yaml': inside,
    });
    git(at, 'add', '-A', '--', 'manifests', 'notes.yaml', 'plan.txt');
    const found = await say(at, 'git');
    expect(found.map(({ status, message }) => `${status} ${message}`).sort()).toEqual([
      'fail it tracks manifests/token.yaml: it has a credential in it that idops uses',
      'fail it tracks notes.yaml: it has a private key in it',
      'warn it tracks plan.txt: it is a stored plan',
    ]);
    expect(JSON.stringify(found)).not.toContain(at.sandbox.token);
  });

  it.skipIf(process.getuid?.() === 0)('finds a folder of the state that can not be written', async () => {
    const at = await project({
      'idops.yaml': `${sure}state: {path: closed/deep/state.json}\n`,
      'closed/x': '',
    });
    await chmod(join(at.folder, 'closed'), 0o500);
    expect(await say(at, 'state')).toMatchObject([
      { status: 'ok' },
      { status: 'fail', message: "closed can't be written (EACCES), so no run could record what it does" },
    ]);
  });

  it('says what is in the way of a state', async () => {
    const at = await project({ 'idops.yaml': sure, '.idops/state.json/x': '' });
    expect(await say(at, 'state')).toMatchObject([
      { status: 'fail', hint: expect.stringContaining('move what is in the way') },
    ]);
  });

  it('finds what was added, whatever the files have by now', async () => {
    const plain = sure.replace('${IDOPS_TOKEN}', 'plain-token-0123456789');
    const at = await project({
      'idops.yaml': plain,
      'my key.key': key,
      'big.md': `see\n${key}${'x'.repeat(2 * 1024 * 1024)}`,
      'folder/.env': 'API_SECRET=abcdef0123456789\n',
      'same.md': 'same',
      "it's.pem": key,
      ':odd.pem': key,
    });
    const large = `${'ö'.repeat(600_000)}${at.sandbox.token}`;
    await at.write({ 'note.md': at.sandbox.token, 'gone.md': at.sandbox.token, 'large.md': `x${large}` });
    git(at, 'init', '-q');
    git(at, 'add', '-A');
    await at.write({
      'idops.yaml': sure,
      'note.md': 'clean',
      "it's.pem": `${key}# changed`,
      'big.md': 'clean',
      'same.md': at.sandbox.token,
    });
    for (const path of ['my key.key', 'folder/.env', 'gone.md']) await rm(join(at.folder, path));
    const found = await say(at, 'git');
    expect(found.map(({ status, message }) => `${status} ${message}`).sort()).toEqual([
      'fail idops.yaml says server.auth.token in plain words as git has it',
      'fail it tracks :odd.pem: it is a private key',
      'fail it tracks big.md: as it was added, it has a private key in it',
      'fail it tracks folder/.env: it has a value for API_SECRET',
      'fail it tracks gone.md: as it was added, it has a credential in it that idops uses',
      "fail it tracks it's.pem: it is a private key",
      'fail it tracks large.md: it has a credential in it that idops uses',
      'fail it tracks my key.key: it is a private key',
      'fail it tracks note.md: as it was added, it has a credential in it that idops uses',
      'fail it tracks same.md: it has a credential in it that idops uses',
    ]);
    const hints = found.map(({ hint }) => hint ?? '');
    // What it says to do is what mends it.
    for (const command of hints.flatMap(
      (hint) => hint.match(/git (?:rm --cached(?: -f)?|add) (?:'[^']*'|\\'|[^\s,;])+/g) ?? [],
    ))
      execFileSync('sh', ['-c', command], { cwd: at.folder, stdio: 'pipe' });
    await at.write({ 'same.md': 'same', 'large.md': 'x' });
    git(at, 'add', 'large.md');
    expect(await say(at, 'git')).toMatchObject([{ status: 'ok' }]);
  });

  it.each([
    [
      'behind a variable',
      'token: "${secret}"',
      'vars: {secret: "${inner}", inner: plain-0123456789}',
      'vars.inner',
    ],
    ['as a default', 'token: "${IDOPS_TOKEN:-plain-0123456789}"', '', 'the default of server.auth.token'],
    [
      'behind a variable of another environment',
      'token: "${secret:-}"',
      'environments: {production: {vars: {secret: plain-0123456789}}}',
      'vars.secret',
    ],
    [
      'beside what is none',
      'header: {name: authorization, value: "${kind} ${IDOPS_TOKEN}"}',
      'vars: {kind: Bearer}',
      null,
    ],
  ])('finds a credential in plain words %s', async (_, auth, rest, path) => {
    const at = await project({ 'idops.yaml': `${sure.replace('token: ${IDOPS_TOKEN}', auth)}${rest}\n` });
    git(at, 'init', '-q');
    git(at, 'add', 'idops.yaml');
    expect(await say(at, 'git')).toMatchObject([
      path === null
        ? { status: 'ok' }
        : { status: 'fail', message: `idops.yaml says ${path} in plain words, and git tracks it` },
    ]);
  });

  it('finds a token that the configuration says in plain words', async () => {
    const at = await project({ 'idops.yaml': sure.replace('${IDOPS_TOKEN}', 'plain-token-0123456789') });
    git(at, 'init', '-q');
    git(at, 'add', 'idops.yaml');
    const [check] = await say(at, 'git');
    expect(check).toMatchObject({
      status: 'fail',
      message: 'idops.yaml says server.auth.token in plain words, and git tracks it',
    });
  });
});

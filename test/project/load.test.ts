import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Problem, ProblemsError } from '../../src/base/problems.js';
import { reveal } from '../../src/base/values.js';
import { loadManifests } from '../../src/manifests/load.js';
import {
  configSchema,
  loadProject,
  type ProjectOptions,
  type ServerSettings,
} from '../../src/project/index.js';
import { temporaryFolder } from '../cleanups.js';

let cwd: string;

beforeEach(async () => {
  cwd = await temporaryFolder('project');
});

async function load(config: string, options: Partial<ProjectOptions> = {}) {
  await writeFile(join(cwd, 'idops.yaml'), config);
  return loadProject({ cwd, variables: {}, ...options });
}

async function problemsOf(action: () => unknown): Promise<readonly Problem[]> {
  try {
    await action();
  } catch (failure) {
    if (failure instanceof ProblemsError) return failure.problems;
    throw failure;
  }
  throw new Error('nothing was refused');
}

async function codesOf(action: () => unknown): Promise<readonly string[]> {
  return (await problemsOf(action)).map(coded);
}

function coded({ code, places }: Problem): string {
  return [code, ...places.map(({ file, line, column }) => `${file}:${line}:${column}`)].join(' ');
}

const server = `version: 1
server:
  base_url: https://id.example.com/
  auth:
    token: \${IDOPS_TOKEN}
`;

function tokenOf({ auth }: ServerSettings): unknown {
  return auth.way === 'token' ? auth.token.reveal() : auth.way;
}

describe('finding the configuration', () => {
  test('the option overrides the variable, and its folder is the root', async () => {
    await mkdir(join(cwd, 'sub'));
    await writeFile(join(cwd, 'sub/x.yaml'), 'version: 1\n');
    const variables = { IDOPS_CONFIG: 'nowhere.yaml' };
    const project = await loadProject({ cwd, variables, config: 'sub/x.yaml' });
    expect(project).toMatchObject({ root: expect.stringMatching(/sub$/), file: 'sub/x.yaml' });
    const [problem] = await problemsOf(() => loadProject({ cwd, variables }));
    expect(problem?.message).toBe('there is no file nowhere.yaml');
  });

  test('an empty file and a folder are refused', async () => {
    expect(await codesOf(() => load('# nothing\n'))).toEqual(['missing-field idops.yaml:1:1']);
    await mkdir(join(cwd, 'folder'));
    const options = { cwd, variables: {}, config: 'folder' };
    expect(await codesOf(() => loadProject(options))).toEqual(['file-unreadable folder:1:1']);
  });
});

describe('defaults', () => {
  test('only version is required', async () => {
    const project = await load('version: 1\nvars:\nenvironments:\n  test:\n');
    const path = join(project.root, '.idops/state.json');
    expect(project.state()).toEqual({ in: 'file', path, allowTracked: false });
    expect(project.safety().maxDestructive).toBe(5);
    const patterns = ['manifests/**/*.yaml', 'manifests/**/*.yml'];
    expect(project.patterns().map(({ pattern }) => pattern)).toEqual(patterns);
    expect(project.profile.name).toBe('documented');
    expect(project.environment).toBeNull();
  });

  test('a folder without manifests is one warning', async () => {
    const { problems } = await loadManifests(await load('version: 1\n'), { lenient: false });
    expect(problems.map(({ code, severity }) => [code, severity])).toEqual([['no-match', 'warning']]);
  });
});

describe('environments', () => {
  const config = `${server}vars: {a: base, b: base}
manifests: [one.yaml]
safety: {max_destructive: 1}
environments:
  production:
    server: {base_url: "https://prod.example.com", auth: {token_file: token}}
    vars: {b: over}
    manifests: [two.yaml, three.yaml]
  broken:
    server: {base_url: "\${NOWHERE}"}
    safety: {max_destructive: "\${NOWHERE}"}
`;

  test('are recognised by the keys that only they set', async () => {
    const two = `version: 1
vars: {all: "\${URL:?say it}", URL: ""}
environments:
  production: {server: {base_url: "https://a.example", auth: {token: abcdef}}, vars: {SUPPORT: a}}
  staging: {server: {base_url: "https://b.example"}, vars: {SUPPORT: b}}
  empty: {}
`;
    const hints = async (project: Awaited<ReturnType<typeof load>>): Promise<unknown[]> =>
      (await problemsOf(() => project.server())).map(({ code, hint }) => [code, hint]);
    expect(await hints(await load(two))).toEqual([
      ['missing-field', 'environments production and staging set it: choose one with --env'],
      ['missing-field', 'environment production sets it: choose it with --env'],
    ]);
    expect(await hints(await load(two, { env: 'staging' }))).toEqual([
      ['missing-field', 'add server.auth to the configuration, or give --token-file or IDOPS_TOKEN'],
    ]);
    const advice = async (name: string, env?: string): Promise<unknown> => {
      await writeFile(join(cwd, 'a.yaml'), `kind: Organization\nname: acme\nlabel: \${${name}}\n`);
      const project = await load(`${two}manifests: [a.yaml]\n`, env === undefined ? {} : { env });
      return (await loadManifests(project, { lenient: false })).problems[0]?.hint;
    };
    expect(await advice('SUPPORT')).toBe('environments production and staging set it: choose one with --env');
    expect(await advice('SUPPORT', 'empty')).toMatch(/^add it to vars/);
    expect(await advice('all')).not.toContain('--env');
  });

  test('have a state each', async () => {
    const own = (name: string) => load('version: 1\nenvironments: {a: {}, b: {}}\n', { env: name });
    const project = await own('a');
    expect(project.state()).toMatchObject({ path: join(project.root, '.idops/a/state.json') });
    const states = ['.idops/state.json', '.idops/a/state.json', '.idops/b/state.json'];
    expect((await own('b')).privateInputs().states).toEqual(states.map((path) => join(project.root, path)));
    expect(await codesOf(() => load('version: 1\nenvironments: {..: {}}\n'))).toEqual([
      'wrong-value idops.yaml:2:16',
    ]);
  });

  const [a, b] = ['https://a.example', 'https://b.example'];
  test.each<[string, string, string | null, string | null, string | null, number]>([
    ['one file', 'path: x.json', null, a, b, 1],
    ['one file, without an environment too', 'path: x.json', a, a, b, 1],
    ['one file on a branch', 'git: {path: x.json}', null, a, b, 1],
    ['one file through a link', 'path: "${folder}/x.json"', null, a, b, 1],
    ['one file through a link that leads nowhere yet', 'path: "${folder}.json"', null, a, b, 1],
    ['one remote by two names', 'git: {path: x.json, remote: "${remote}"}', null, a, b, 1],
    ['one database by two names', 'postgres: {url: "postgres://${database}", name: x}', null, a, b, 1],
    ['one name in a database', 'postgres: {url: "postgres://${IDOPS_PW}@h/d", name: x}', null, a, b, 1],
    ['different variables', 'path: x.json', null, '${IDOPS_A}', '${IDOPS_B}', 1],
    ['a variable of vars', 'path: x.json', null, a, 'https://${host}.${IDOPS_DOMAIN}', 1],
    ['the same server', 'path: x.json', null, a, `${a}/`, 0],
    ['the same server in a variable', 'path: x.json', '${IDOPS_URL}', null, null, 0],
    ['a variable without an environment', 'path: x.json', '${IDOPS_URL}', a, a, 0],
    ['a path of the process', 'path: "${IDOPS_ENV:-x}.json"', a, a, b, 0],
    ['the usual files', 'allow_tracked: true', a, a, b, 0],
    ['the usual branch', 'git: {}', a, a, b, 0],
    ['the usual names', 'postgres: {url: "${IDOPS_URL}"}', a, a, b, 0],
  ])('that share a state must have one server: %s', async (_, state, base, one, other, count) => {
    const server = (url: string | null) => (url === null ? '' : `server: {base_url: "${url}"}`);
    await mkdir(join(cwd, 'real'));
    await symlink('real', join(cwd, 'link'));
    await symlink('real.json', join(cwd, 'link.json'));
    execFileSync('git', ['init', '--quiet', cwd]);
    execFileSync('git', ['remote', 'add', 'origin', 'https://git.example/x'], { cwd });
    const vars = (folder: string, database: string, remote: string) =>
      `vars: {folder: ${folder}, database: "${database}", remote: "${remote}"}`;
    const text = [
      `version: 1\nstate: {${state}}\n${server(base)}\nvars: {host: b}\nenvironments:`,
      `  a: {${[server(one), vars('real', 'db.example/x', 'origin')].filter(Boolean).join(', ')}}`,
      `  b: {${[server(other), vars('link', 'DB.example.:5432/%78', 'https://git.example/x')].filter(Boolean).join(', ')}}\n`,
    ].join('\n');
    const variables = { IDOPS_A: a, IDOPS_B: a, IDOPS_DOMAIN: 'example' };
    for (const options of [{}, { env: 'a' }]) {
      const found = await (await load(text, { variables, ...options })).sharedStateProblems();
      expect(found.map(({ code, places }) => [code, places[0]?.line])).toEqual(
        Array.from({ length: count }, () => ['shared-state', 2]),
      );
    }
  });

  test('have names whose allowed characters the error lists', async () => {
    const [problem] = await problemsOf(() => load(`${server}environments:\n  prod-eu.1: {}\n  Été: {}\n`));
    expect(problem).toMatchObject({
      code: 'wrong-value',
      hint: 'must be a name of letters (a to z), digits, "_", "-" and "."',
      places: [{ line: 8 }],
    });
  });

  test('override the rest: maps merge, lists and single values replace', async () => {
    const project = await load(config, { env: 'production' });
    await writeFile(join(cwd, 'token'), 'from-file\n');
    const settings = await project.server();
    expect(settings.baseUrl).toBe('https://prod.example.com');
    expect(settings.auth).toMatchObject({ way: 'token_file', path: join(project.root, 'token') });
    expect(settings.secrets.map(reveal)).toEqual(['from-file']);
    expect(project.patterns().map(({ pattern, place }) => [pattern, place?.line])).toEqual([
      ['two.yaml', 13],
      ['three.yaml', 13],
    ]);
    expect(project.safety().maxDestructive).toBe(1);
    expect(project.environment).toBe('production');
  });

  test('come from IDOPS_ENV too', async () => {
    const project = await load(config, { variables: { IDOPS_ENV: 'production' } });
    expect(project.environment).toBe('production');
    expect((await load(config, { variables: { IDOPS_ENV: '' } })).environment).toBeNull();
  });

  test('are not resolved if they were not chosen', async () => {
    const project = await load(config, { variables: { IDOPS_TOKEN: 'a-token' } });
    expect((await project.server()).baseUrl).toBe('https://id.example.com');
  });

  test('keep their places if they were chosen', async () => {
    const project = await load(config, { env: 'broken', variables: { IDOPS_TOKEN: 'a-token' } });
    expect(await codesOf(() => project.server())).toEqual(['unresolved-variable idops.yaml:15:25']);
    expect(await codesOf(() => project.safety().maxDestructive)).toEqual([
      'unresolved-variable idops.yaml:16:32',
    ]);
  });

  test('that do not exist are refused, with the names of those that do', async () => {
    const [problem] = await problemsOf(() => load(config, { env: 'prodution' }));
    expect(problem).toMatchObject({
      code: 'unknown-environment',
      message: 'there is no environment "prodution" in idops.yaml',
      hint: 'known environments: production, broken',
    });
  });

  test('are checked for their shape even if they were not chosen', async () => {
    const text = 'version: 1\nenvironments:\n  a:\n    manifest: []\n    state: []\n';
    expect(await codesOf(() => load(text))).toEqual([
      'unknown-field idops.yaml:4:5',
      'wrong-type idops.yaml:5:12',
    ]);
  });
});

describe('the server', () => {
  test('is resolved when it is needed', async () => {
    const project = await load(server);
    expect(await codesOf(() => project.server())).toEqual(['unresolved-variable idops.yaml:5:12']);
  });

  test('may be left out if options and variables set it', async () => {
    const variables = { IDOPS_BASE_URL: 'https://a.example.com', IDOPS_TOKEN: 'a-token' };
    const project = await load('version: 1\n', { variables });
    expect(tokenOf(await project.server())).toBe('a-token');
    const baseUrl = 'https://b.example.com';
    expect((await project.server({ baseUrl })).baseUrl).toBe(baseUrl);
    expect(await codesOf(() => project.server({ baseUrl: 'ftp://b.example.com' }))).toEqual(['bad-address']);
    const bare = await load('version: 1\n');
    expect(await codesOf(() => bare.server())).toEqual(['missing-field', 'missing-field']);
  });

  test('options override variables, and variables override the file', async () => {
    const written = server.replace(`\${IDOPS_TOKEN}`, 'written');
    const project = await load(written, { variables: { IDOPS_TOKEN: 'variable', IDOPS_BASE_URL: '' } });
    await writeFile(join(cwd, 'token'), '\uFEFFfile\r\n');
    expect(tokenOf(await project.server())).toBe('variable');
    expect((await project.server()).baseUrl).toBe('https://id.example.com');
    const { auth } = await project.server({ tokenFile: 'token' });
    expect(auth).toEqual({ way: 'token_file', path: join(cwd, 'token'), shown: 'token' });
    expect(tokenOf(await (await load(written)).server())).toBe('written');
  });

  test.each([
    ['ftp://id.example.com', ['bad-address idops.yaml:3:13']],
    ['nonsense', ['bad-address idops.yaml:3:13']],
    ['http://example.com', ['insecure-http idops.yaml:3:13']],
    ["'${host}'\nvars: {host: 'ftp://x'}", ['bad-address idops.yaml:3:13']],
    ['http://localhost:4000', []],
    ["'${IDOPS_BASE_URL}'", []],
    ["'${IDOPS_OTHER}'", []],
    ["'ftp://${IDOPS_HOST}'", []],
  ])('a literal address, %s, is checked without a server: %j', async (baseUrl, codes) => {
    const text = `version: 1\nserver:\n  base_url: ${baseUrl}\n`;
    const project = await load(text, { variables: { IDOPS_BASE_URL: 'ftp://x' } });
    expect(project.literalProblems().map(coded)).toEqual(codes);
  });

  test('a literal token is checked without a server', async () => {
    const project = await load("version: 1\nserver:\n  auth: {token: 'abc'}\n");
    expect(project.literalProblems().map(coded)).toEqual(['bad-token idops.yaml:3:17']);
  });

  test('wrong structure and wrong literal values are reported together', async () => {
    const text =
      'version: 1\nserver:\n  base_url: ftp://x\n  bogus: 1\nenvironments:\n  p: {server: {base_url: ftp://y}, other: 1}\n';
    const expected = [
      'bad-address idops.yaml:3:13',
      'unknown-field idops.yaml:4:3',
      'bad-address idops.yaml:6:26',
      'unknown-field idops.yaml:6:36',
    ];
    expect((await problemsOf(() => load(text))).map(coded)).toEqual(expected);
  });

  test('an unclosed reference is reported once, without a server', async () => {
    const text = `version: 1\nserver:\n  base_url: \${IDOPS_BASE_URL\n  auth:\n    token: \${IDOPS_TOKEN\nenvironments:\n  a: {server: {profile: boruta}}\n`;
    const project = await load(text, { variables: { IDOPS_BASE_URL: 'x', IDOPS_TOKEN: 'a-token' } });
    const found = ['bad-variable idops.yaml:3:13', 'bad-variable idops.yaml:5:12'];
    expect(project.literalProblems().map(coded)).toEqual(found);
    expect((await load(text, { env: 'a' })).literalProblems().map(coded)).toEqual(found);
  });

  test('addresses of other environments are checked too, and shared values where they are used', async () => {
    const text = `version: 1\nserver: {base_url: 'http://a.example'}\nenvironments:\n  a: {server: {allow_insecure_http: true}}\n  b: {server: {base_url: 'ftp://x'}}\n`;
    expect((await load(text)).literalProblems().map(coded)).toEqual([
      'insecure-http idops.yaml:2:20',
      'bad-address idops.yaml:5:26',
    ]);
    expect((await load(text, { env: 'a' })).literalProblems().map(coded)).toEqual([
      'bad-address idops.yaml:5:26',
    ]);
  });

  test('plain http must be allowed', async () => {
    const config = server
      .replace('https:', 'http:')
      .replace('  auth', `  allow_insecure_http: \${IDOPS_INSECURE}\n  auth`);
    const variables = { IDOPS_TOKEN: 'a-token', IDOPS_INSECURE: 'true' };
    const project = await load(config, { variables });
    const settings = { baseUrl: 'http://id.example.com', allowInsecureHttp: true };
    expect(await project.server()).toMatchObject(settings);
    const refused = await load(config, { variables: { ...variables, IDOPS_INSECURE: 'false' } });
    expect(await codesOf(() => refused.server())).toEqual(['insecure-http idops.yaml:3:13']);
  });

  test('a token file without a token is refused', async () => {
    const project = await load(server);
    await writeFile(join(cwd, 'token'), 'two words');
    const [problem] = await problemsOf(() => project.server({ tokenFile: 'token' }));
    expect(problem?.code).toBe('bad-token');
    expect(JSON.stringify(problem)).not.toContain('two words');
  });

  test('the profile is known without process variables', async () => {
    const project = await load(`${server}  profile: \${p}\nvars: {p: documented}\n`);
    expect(project.profile.name).toBe('documented');
    const unknown = await load(`${server}  profile: \${IDOPS_PROFILE}\n`);
    expect(unknown.profile.name).toBe('documented');
    expect(await codesOf(() => load(`${server}  profile: documnted\n`))).toEqual([
      'wrong-value idops.yaml:6:12',
    ]);
  });
});

test('the schema can be written as JSON Schema', () => {
  expect(z.toJSONSchema(configSchema, { io: 'input' })).toMatchObject({
    type: 'object',
    required: ['version'],
    additionalProperties: false,
  });
});

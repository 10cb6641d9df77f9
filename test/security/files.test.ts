import { spawnSync } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Problem, ProblemsError } from '../../src/base/problems.js';
import { loadManifests, pruneRefusals } from '../../src/manifests/load.js';
import { loadSamples } from '../../src/manifests/samples.js';
import { loadProject } from '../../src/project/index.js';
import { temporaryFolder } from '../cleanups.js';
import { ids } from '../demo-ids.js';
import { config, type Files, project } from '../e2e/running.js';

const canary = 'canary-0123456789';
const acme = 'kind: Organization\nname: acme\nlabel: New\n';

interface Given {
  readonly [path: string]: string | { readonly link: string };
}

/** A project in a new folder; a `link` is created with the given target. */
async function folderOf(files: Given, name = ''): Promise<string> {
  const folder = join(await temporaryFolder('files'), name);
  const all: Given = { 'idops.yaml': 'version: 1\n', ...files };
  for (const [path, content] of Object.entries(all)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    if (typeof content === 'string') await writeFile(join(folder, path), content);
    else await symlink(content.link, join(folder, path));
  }
  return folder;
}

async function load(cwd: string, variables: { [name: string]: string } = {}) {
  const project = await loadProject({ cwd, variables });
  return { project, ...(await loadManifests(project, { lenient: true })) };
}

async function found(files: Given, variables: { [name: string]: string } = {}) {
  try {
    const { problems, declared, unread, ...rest } = await load(await folderOf(files), variables);
    return { problems, declared, unread, codes: codesOf(problems), ...rest };
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    throw new Error(JSON.stringify(failure.problems));
  }
}

const codesOf = (problems: readonly Problem[]): string[] => problems.map(({ code }) => code);

const stamp = '..2026_01_31_12_00_00.1234567890';

/** A folder as Kubernetes mounts it: its files are in a folder that is swapped as a whole. */
function mounted(folder: string, files: Files): Given {
  const at = folder === '' ? '' : `${folder}/`;
  const tops = new Set(Object.keys(files).map((path) => path.split('/')[0]));
  return Object.fromEntries<Given[string]>([
    ...Object.entries(files).map(([path, text]) => [`${at}${stamp}/${path}`, text] as const),
    [`${at}..data`, { link: stamp }],
    ...[...tops].map((top) => [`${at}${top}`, { link: `..data/${top}` }] as const),
  ]);
}

/** Expects that each use of a private file is refused, and that its content is not shown. */
async function expectPrivate(files: Given, code = 'manifest-private', uses = 1): Promise<void> {
  const { problems, codes, declared } = await found(files);
  expect(codes).toEqual(Array(uses).fill(code));
  expect(JSON.stringify([problems, declared])).not.toContain(canary);
}

const template = (file: string, type: string): string =>
  `kind: EmailTemplate\nbackend_id: b\ntype: ${type}\ntxt_content: {file: ${file}}\n`;

/** What is private, the configuration, the path and the content. */
const secrets = (
  [
    ['a hidden file', '', '.env'],
    ['a file in a hidden folder', '', '.git/config'],
    ['a file in a hidden folder of a visible one', '', 'x/.ssh/id'],
    ['the state', '', '.idops/state.json'],
    ['a state of another environment', 'environments: {a: {state: {path: kept/a.json}}}', 'kept/a.json'],
    ['the lock of a state', 'state: {path: kept/a.json}', 'kept/a.json.lock'],
    ['the journal of a state', 'state: {path: kept/a.json}', 'kept/runs/r.jsonl'],
    ['the token file', 'server: {auth: {token_file: secrets/token}}', 'secrets/token'],
    [
      'the token file of another environment',
      'environments: {a: {server: {auth: {token_file: s/t}}}}',
      's/t',
    ],
    [
      'a token file whose path has a variable',
      `vars: {place: s}\nserver: {auth: {token_file: "\${place}/t"}}`,
      's/t',
    ],
    ['a private key', 'server: {tls: {client_key_file: tls/key.pem}}', 'tls/key.pem'],
    ...[
      ['cat', 'secrets/t'],
      ['sh', '-c', '--file=./secrets/t'],
      ['sh', '-c', '-d@secrets/t'],
      ['sh', '-c', '--data=user=@secrets/t'],
      ['sh', '-c', 'cat secrets/t | tr -d x'],
      ['sh', '-c', 'cat <"secrets/t"'],
    ].map(
      (argv) =>
        [
          `the file that a token command names in ${argv.at(-1)}`,
          `server: {auth: {token_command: ${JSON.stringify(argv)}}}`,
          'secrets/t',
        ] as const,
    ),
    ['the configuration', `# ${canary}`, 'idops.yaml', `version: 1 # ${canary}\n`],
    ['a stored plan', '', 'kept/plan.json', `{"format_version":1,"changes":["${canary}"],"digest":"x"}`],
    ['a copied journal', '', 'kept/x.txt', `{"type":"run","format_version":1,"x":"${canary}"}\n`],
  ] as readonly (readonly [string, string, string, string?])[]
).map(([what, configured, path, content = canary]): [string, Given, string] => [
  what,
  { 'idops.yaml': `version: 1\n${configured}\n`, [path]: content },
  path,
]);

describe('a private file is not read through a manifest', () => {
  it.each(secrets)('%s as the manifest', async (_, files, path) => {
    await expectPrivate({ ...files, 'manifests/x.yaml': { link: `../${path}` } });
  });

  it.each(secrets)('%s as a body, by name and through a link', async (_, files, path) => {
    const used = {
      'bodies/x.txt': { link: `../${path}` },
      'manifests/all.yaml': `${template(`../${path}`, 'a')}---\n${template('../bodies/x.txt', 'b')}`,
    };
    await expectPrivate({ ...files, ...used }, 'body-private', 2);
  });

  it.each(secrets)('%s as sample data', async (_, files, path) => {
    const cwd = await folderOf({ ...files, 'samples/tx_code.yaml': { link: `../${path}` } });
    const project = await loadProject({ cwd, variables: {} });
    const { found: samples, problems } = await loadSamples(project, [
      { address: 'a', type: 'tx_code', manifest: 'manifests/all.yaml' },
    ]);
    expect(samples.size).toBe(0);
    expect(codesOf(problems)).toEqual(['manifest-private']);
    expect(JSON.stringify(problems)).not.toContain(canary);
  });

  it.each([
    ['a linked folder', { far: { link: 'kept' } }, 'far/s.json', 'kept/s.json'],
    ['a linked file', { 'far/s.json': { link: '../kept/s.json' } }, 'far/s.json', 'kept/s.json'],
    ['a linked folder, the lock', { far: { link: 'kept' } }, 'far/s.json', 'kept/s.json.lock'],
  ] as readonly [string, Given, string, string][])(
    'a state behind %s, by its real path',
    async (_, links, path, real) => {
      const configured = { 'idops.yaml': `version: 1\nstate: {path: ${path}}\n`, [real]: canary };
      const used = { 'manifests/all.yaml': template(`../${real}`, 'a') };
      await expectPrivate({ ...configured, ...links, ...used }, 'body-private');
    },
  );
});

describe('a token file that only an option names is not read by', () => {
  const sent = (body: string): string =>
    `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: tx_code\ntxt_content: ${body}\n`;

  it.each(['validate', 'preview --out -', 'plan', 'apply --yes'])('%s', async (command) => {
    const at = await project({
      'idops.yaml': config,
      'secrets/tok.yaml': `${canary}: abc\n`,
      'manifests/all.yaml': sent('{file: ../secrets/tok.yaml}'),
    });
    await symlink('../secrets/tok.yaml', join(at.folder, 'manifests/x.yaml'));
    const { code, stdout, stderr } = await at.idops(`${command} --token-file secrets/tok.yaml`);
    expect(code).toBe(1);
    for (const refusal of ['manifest-private', 'body-private']) expect(stderr).toContain(refusal);
    expect(stdout + stderr).not.toContain(canary);
  });

  it('preview as sample data', async () => {
    const at = await project({
      'idops.yaml': config,
      'secrets/tok.yaml': `${canary}: abc\n`,
      'manifests/all.yaml': sent(`"{{ ${canary} }}"`),
      'samples/x': '',
    });
    await symlink('../secrets/tok.yaml', join(at.folder, 'samples/tx_code.yaml'));
    const { stderr } = await at.refused('preview --out - --token-file secrets/tok.yaml', 'so it is not read');
    expect(stderr).not.toContain('abc');
  });
});

describe('links reveal nothing about files outside the project', () => {
  // A file, nothing, a folder, a path below a file, a path only root may list, and paths that lead back through each.
  const places = [
    ...'/etc/passwd /etc/nowhere /etc /etc/passwd/x /root/x/y /proc/self/root/etc ../../../etc'.split(' '),
    '/nowhere/../etc/passwd',
  ];

  /** The results for links to each of these places, direct and through others, at the path of a file or a folder. */
  async function answers(ask: (files: Given) => Promise<unknown>, path: string): Promise<string[]> {
    const said: string[] = [];
    for (const link of places) {
      const up = '../'.repeat(path.split('/').length - 1);
      const links: Given[] = [
        { [path]: { link } },
        { [path]: { link: `${up}far` }, far: { link } },
        { [path]: { link: `${up}far/x.yaml` }, far: { link } },
        { [path]: { link: `${up}far/../../x.yaml` }, far: { link } },
      ];
      for (const given of links) said.push(JSON.stringify(await ask(given)));
    }
    return [...new Set(said)];
  }

  const problemsOf = async (files: Given) => (await found(files)).problems;
  const folders = async (files: Given) => {
    const { problems, unread } = await found({ 'manifests/all.yaml': acme, ...files });
    return [problems, await unread()];
  };
  const bodies = { 'manifests/all.yaml': template('../bodies/x.txt', 'tx_code') };
  const samples = async (files: Given) => {
    const project = await loadProject({ cwd: await folderOf(files), variables: {} });
    const asked = [{ address: 'a', type: 'tx_code', manifest: 'manifests/all.yaml' }];
    return (await loadSamples(project, asked)).problems;
  };

  it.each<[string, string, (files: Given) => Promise<unknown>, string]>([
    ['a manifest', 'manifests/x.yaml', problemsOf, 'manifest-outside'],
    ['the folder of manifests', 'manifests', problemsOf, 'manifest-outside'],
    ['a folder in it, also with --prune', 'manifests/sub', folders, 'linked-folder'],
    ['a body', 'bodies/x.txt', (files) => problemsOf({ ...bodies, ...files }), 'body-outside'],
    ['the folder of bodies', 'bodies', (files) => problemsOf({ ...bodies, ...files }), 'body-outside'],
    ['sample data', 'samples/tx_code.yaml', samples, 'manifest-outside'],
    ['the folder of sample data', 'samples', samples, 'manifest-outside'],
  ])('as %s', async (_, path, ask, code) => {
    expect(await answers(ask, path)).toEqual([expect.stringContaining(`"${code}"`)]);
  });

  it("a link out and back is followed only through the project's own path", async () => {
    const cwd = await folderOf({ 'kept/acme.yaml': acme, 'far/y.yaml': acme.replace('acme', 'other') });
    const name = basename(cwd);
    await mkdir(join(cwd, 'manifests'));
    await symlink(join(cwd, 'kept/acme.yaml'), join(cwd, 'manifests/x.yaml'));
    await symlink(`../../${name}/far/y.yaml`, join(cwd, 'manifests/y.yaml'));
    await symlink(`../../nowhere/../${name}/far/y.yaml`, join(cwd, 'manifests/z.yaml'));
    const { problems, declared } = await load(cwd);
    expect(declared).toHaveLength(2);
    expect(problems).toMatchObject([
      { code: 'manifest-outside', message: 'manifests/z.yaml is a link that leads out of the project' },
    ]);
  });

  it('broken links inside the project, and a link to itself, are reported as such', async () => {
    const { problems } = await found({
      'kept/file': '',
      'manifests/a.yaml': { link: '../kept/none.yaml' },
      'manifests/b.yaml': { link: '../kept/file/x.yaml' },
      'manifests/c.yaml': { link: 'c.yaml' },
    });
    expect(problems.map(({ code, message }) => [code, message])).toEqual([
      ['file-unreadable', 'manifests/a.yaml is a broken link'],
      ['file-unreadable', 'manifests/b.yaml is a broken link'],
      ['file-unreadable', "manifests/c.yaml can't be read: a symbolic link leads to itself (ELOOP)"],
    ]);
  });
});

describe('a mounted ConfigMap is read', () => {
  const emails = { 'all.yaml': template('tx.txt', 'tx_code'), 'tx.txt': 'Hello {{ code }}' };

  it('with its bodies and folders, and --prune misses nothing', async () => {
    const { codes, declared, unread } = await found(
      mounted('manifests', { ...emails, 'deep/acme.yaml': acme }),
    );
    expect(codes).toEqual([]);
    expect(declared.map(({ kind }) => kind).sort()).toEqual(['EmailTemplate', 'Organization']);
    expect(await unread()).toEqual([]);
  });

  it('if the whole project is mounted', async () => {
    const { codes, declared } = await found({
      'idops.yaml': 'version: 1\nmanifests: ["*.yaml", "!idops.yaml"]\n',
      ...mounted('', emails),
    });
    expect(codes).toEqual([]);
    expect(declared).toHaveLength(1);
  });

  it('with nested samples, samples of another mount, and bodies of another mount', async () => {
    const body = (type: string) => template('../bodies/mails/tx.txt', type);
    const cwd = await folderOf({
      ...mounted('manifests', { 'all.yaml': body('tx_code'), 'samples/tx_code.yaml': 'code: 1\n' }),
      'other/all.yaml': body('invitation'),
      ...mounted('other/samples', { 'invitation.yaml': 'code: 2\n' }),
      ...mounted('bodies', { 'mails/tx.txt': 'Hello {{ code }}' }),
      'idops.yaml': 'version: 1\nmanifests: ["manifests/**/*.yaml", "other/**/*.yaml"]\n',
    });
    const { project, problems, declared, unread } = await load(cwd);
    expect(codesOf(problems)).toEqual([]);
    expect(declared).toHaveLength(2);
    expect(await unread()).toEqual([]);
    const samples = await loadSamples(project, [
      { address: 'a', type: 'tx_code', manifest: 'manifests/all.yaml' },
      { address: 'b', type: 'invitation', manifest: 'other/all.yaml' },
    ]);
    expect(samples.problems).toEqual([]);
    expect([...samples.found.values()].flat().map(({ data }) => data)).toEqual([{ code: 1 }, { code: 2 }]);
  });

  const twoBodies =
    'kind: EmailTemplate\nbackend_id: b\ntype: tx_code\n' +
    'txt_content: {file: emails/tx.txt}\nhtml_content: {file: emails/tx.html}\n';
  const html = '<meta charset="utf-8"><p>Hello {{ tx_code }}</p>';
  const mails = (folder = '') => ({ [`${folder}tx.txt`]: 'Hello {{ tx_code }}', [`${folder}tx.html`]: html });

  const both = { 'manifests/all.yaml': twoBodies };
  const inFolders = { 'idops.yaml': 'version: 1\nmanifests: [manifests/**/*.yaml]\n', ...both };

  it.each([
    ['the whole project is mounted', mounted('', { ...inFolders, ...mails('manifests/emails/') })],
    ['only the folder of bodies is mounted', { ...both, ...mounted('manifests/emails', mails()) }],
  ] as readonly [string, Given][])('if %s, also through a link to the project', async (_, files) => {
    const folder = await folderOf(files, 'project');
    await symlink('project', `${folder}-link`);
    for (const cwd of [folder, `${folder}-link`]) {
      const { problems, declared, unread } = await load(cwd);
      expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
      expect(declared.map(({ kind }) => kind)).toEqual(['EmailTemplate']);
      expect(await unread()).toEqual([]);
    }
  });

  const x = { 'manifests/x.yaml': { link: '..data/x.yaml' } };

  const swapped = (to: string): Given => ({ 'manifests/..data': { link: to } });
  const alone = (link: string): Given => ({ 'manifests/x.yaml': { link } });
  const now = (path: string): string => `manifests/${stamp}${path}`;
  const later = '..2027_01_31_12_00_00.1';
  /** Another mount, which contains a file. */
  const kept = (dot: string, file: string): Given => ({
    [`${dot}kept/${stamp}/${file}`]: canary,
    [`${dot}kept/..data`]: { link: stamp },
  });

  it.each([
    ['an incomplete timestamp', { 'manifests/..2026/x.yaml': canary, ...swapped('..2026'), ...x }],
    [
      'a name that begins with a timestamp',
      { [now('.old/x.yaml')]: canary, ...swapped(`${stamp}.old`), ...x },
    ],
    ['a plain folder', { 'manifests/..data/x.yaml': canary, ...x }],
    ['a hidden folder elsewhere', { '.git/x.yaml': canary, ...swapped('../.git'), ...x }],
    [
      "another mount's timestamp",
      { [`.kept/${stamp}/x.yaml`]: canary, ...swapped(`../.kept/${stamp}`), ...x },
    ],
    ['a folder of two dots', { 'manifests/..evil/x.yaml': canary, ...alone('..evil/x.yaml') }],
    [
      'a path out of the mount',
      { '.env': canary, [now('/y')]: '', ...swapped(stamp), ...alone(`${stamp}/../../.env`) },
    ],
    [
      'a link out of the mount',
      { '.env': canary, [now('/x.yaml')]: { link: '../../.env' }, ...swapped(stamp), ...x },
    ],
    ['a hidden file of a mount with another name', { ...kept('', '.env'), ...alone('../kept/..data/.env') }],
    ['a mount in a hidden folder', { ...kept('.', 'x.yaml'), ...alone('../.kept/..data/x.yaml') }],
    [
      'a swapped folder within another',
      { [now(`/${later}/x.yaml`)]: canary, ...swapped(stamp), ...alone(`..data/${later}/x.yaml`) },
    ],
  ] as readonly [string, Given][])('%s is not accepted as a mount', async (_, files) => {
    await expectPrivate(files);
    await expectPrivate({ ...files, ...globs('"**/*.yaml", "!idops.yaml"') });
  });

  it('"..data" that leads out of the project is refused', async () => {
    const { codes, problems } = await found({
      'manifests/..data': { link: '../../../../../../../etc' },
      'manifests/x.yaml': { link: '..data/passwd' },
    });
    expect(codes).toEqual(['manifest-outside']);
    expect(JSON.stringify(problems)).not.toContain('root');
  });

  it.each([
    ['the token file', 'server: {auth: {token_file: secrets/token}}', 'token'],
    ['a private key', 'server: {tls: {client_key_file: secrets/key.pem}}', 'key.pem'],
    ['a state', 'state: {path: secrets/state.json}', 'state.json'],
  ])('%s in a mount is private through any link', async (_, line, name) => {
    const ways = ['secrets', 'alias', 'copy', 'alias/..data'].map((folder) => `../${folder}/${name}`);
    const files: Given = {
      'idops.yaml': `version: 1\n${line}\n`,
      ...mounted('secrets', { [name]: canary }),
      alias: { link: 'secrets' },
      [`copy/${name}`]: { link: `../secrets/${name}` },
      'manifests/all.yaml': ways.map((file, index) => template(file, `t${index}`)).join('---\n'),
    };
    await expectPrivate(files, 'body-private', ways.length);
  });

  it.each([
    ['a link into another swapped folder', { ...kept('', 'x'), ...alone(`../kept/${stamp}/x`) }],
    [
      'a link to a hidden folder through a link of the mount',
      {
        '.git/x.yaml': canary,
        [`mounted/${stamp}/x.yaml`]: { link: '../../.git/x.yaml' },
        'mounted/..data': { link: stamp },
        'mounted/x.yaml': { link: '..data/x.yaml' },
        ...alone('../mounted/x.yaml'),
      },
    ],
    [
      'a folder that is not the current one',
      { [now('/x.yaml')]: canary, ...swapped('../kept'), 'kept/y': '', ...alone(`${stamp}/x.yaml`) },
    ],
    ['a hidden file in the mount', { [now('/.env')]: canary, ...swapped(stamp), ...alone('..data/.env') }],
  ] as readonly [string, Given][])('%s stays hidden', async (_, files) => {
    await expectPrivate(files);
  });
});

describe('linked folders', () => {
  it.each([
    ['to itself', { 'manifests/l': { link: '.' } }],
    ['to the project', { 'manifests/l': { link: '..' } }],
    ['to another folder', { 'manifests/l': { link: '../kept' }, 'kept/x.yaml': acme }],
  ] as readonly [string, Given][])(
    '%s are not walked, are reported once, and --prune is refused',
    async (_, files) => {
      const { codes, declared, unread } = await found({ 'manifests/all.yaml': acme, ...files });
      expect(codes).toEqual(['linked-folder']);
      expect(declared).toHaveLength(1);
      expect(await unread()).toEqual([expect.stringContaining('manifests/l is a link to a folder')]);
    },
  );

  it('are walked if a glob names them and they are inside the project', async () => {
    const inside = await found({ manifests: { link: 'kept' }, 'kept/x.yaml': acme });
    expect(inside).toMatchObject({ codes: [], declared: [{ kind: 'Organization' }] });
    const out = await found({ manifests: { link: '/' } });
    expect(new Set(out.codes)).toEqual(new Set(['manifest-outside', 'no-match']));
  });
});

describe('credentials are refused in manifests', () => {
  const env = { IDOPS_TOKEN: canary, KEY: canary, IDOPS_SECRET: canary, CERT: canary };
  const uses = (name: string): string => `kind: Organization\nname: acme\nlabel: "a \${${name}} b"\n`;

  const ofVars = `vars: {key: "\${IDOPS_SECRET}"}\nserver: {auth: {token: "\${key}"}}`;
  const credentials = `{token_url: "https://x", client_id: a, client_secret: "\${IDOPS_SECRET}"}`;
  it.each([
    ['', 'IDOPS_TOKEN'],
    ['allow_env: [IDOPS_TOKEN]', 'IDOPS_TOKEN'],
    ['', 'IDOPS_TOKEN:-x'],
    [`allow_env: [KEY]\nserver: {auth: {header: {name: X-Key, value: "\${KEY}"}}}`, 'KEY'],
    [`environments: {a: {server: {auth: {client_credentials: ${credentials}}}}}`, 'IDOPS_SECRET'],
    ['allow_env: [KEY]\nenvironments: {a: {server: {auth: {token_command: [x], pass_env: [KEY]}}}}', 'KEY'],
    [`allow_env: [CERT]\nserver: {tls: {ca_file: "\${CERT}"}}`, 'CERT'],
    [`server: {auth: {token: "\${NONE:-\${IDOPS_SECRET}}"}}`, 'IDOPS_SECRET'],
    // A member of vars that auth uses, and the variable of that member.
    [ofVars, 'key'],
    [ofVars, 'IDOPS_SECRET'],
    [`vars: {x: "\${IDOPS_TOKEN}"}`, 'x'],
  ])('with the configuration %j: ${%s}', async (config, name) => {
    const given = { 'idops.yaml': `version: 1\n${config}\n`, 'manifests/all.yaml': uses(name) };
    const { problems, declared } = await found(given, env);
    expect(problems).toMatchObject([{ code: 'credential-variable', severity: 'error' }]);
    expect(problems[0]?.places[0]?.file).toBe(name === 'x' ? 'idops.yaml' : 'manifests/all.yaml');
    expect(JSON.stringify([problems, declared])).not.toContain(canary);
  });

  it('other variables and vars are accepted', async () => {
    const config = `version: 1\nvars: {x: "\${IDOPS_OTHER}"}\nserver: {base_url: "\${IDOPS_BASE_URL}", auth: {token: "\${IDOPS_TOKEN}"}}\n`;
    for (const name of ['IDOPS_OTHER', 'x', 'IDOPS_BASE_URL']) {
      const variables = { ...env, IDOPS_OTHER: 'other', IDOPS_BASE_URL: 'https://x' };
      const { codes } = await found({ 'idops.yaml': config, 'manifests/all.yaml': uses(name) }, variables);
      expect(codes).toEqual([]);
    }
  });
});

function globs(patterns: string): Given {
  return { 'idops.yaml': `version: 1\nmanifests: [${patterns}]\n` };
}

describe('--prune is refused', () => {
  it.each([
    ['no document', { 'manifests/empty.yaml': '# nothing\n' }, 'no document was read'],
    ['a name in capitals', { 'manifests/b.YAML': acme }, 'manifests/b.YAML has the name of a manifest'],
    ['a hidden file', { 'manifests/.b.yaml': acme }, 'manifests/.b.yaml has the name of a manifest'],
    ['a hidden folder', { 'manifests/.b/c.yml': acme }, 'manifests/.b/c.yml has the name of a manifest'],
    ['a hidden link to nowhere', { 'manifests/.#b.yaml': { link: 'ada@host:1' } }, 'manifests/.#b.yaml'],
    ['a broken link', { 'manifests/sub': { link: '../no/where' } }, 'manifests/sub is a broken link'],
    [
      "a glob whose folder doesn't exist",
      globs('"manifests/**/*.yaml", "sub2/**/*.yaml"'),
      'the folder sub2 of "sub2/**/*.yaml" does not exist',
    ],
    [
      'another file extension',
      { ...globs('"manifests/**/*.yaml"'), 'manifests/b.yml': acme },
      'manifests/b.yml',
    ],
    ['a linked folder', { 'manifests/l': { link: '../kept' }, 'kept/x.yaml': acme }, 'manifests/l is a link'],
    [
      'a glob without matches, as if its folder is not mounted',
      { ...globs('"manifests/*.yaml", "prod/*.yaml"'), 'prod/README.md': '' },
      'no file matches "prod/*.yaml"',
    ],
    ['a deleted file', globs('"manifests/*.yaml", "manifests/b.yaml"'), 'no file matches "manifests/b.yaml"'],
    [
      'a manifest in a folder below the glob',
      { ...globs('"manifests/*.yaml"'), 'manifests/sub/deep/b.yml': acme },
      'manifests/sub/deep/b.yml looks like a manifest, and no glob names it',
    ],
    [
      'a manifest below the project folder',
      { ...globs('"*.yaml", "!idops.yaml", "manifests/*.yaml"'), 'c.yaml': acme, 'sub/b.yaml': acme },
      'sub/b.yaml looks like a manifest, and no glob names it',
    ],
    [
      'a device in a folder below',
      { ...globs('"manifests/*.yaml"'), 'manifests/s/b.yaml': { link: '/dev/null' } },
      's/b.yaml',
    ],
  ] as readonly [string, Given, string][])('with %s', async (name, files, why) => {
    const own: Given = name === 'no document' ? {} : { 'manifests/a.yaml': acme };
    const loaded = await found({ ...own, ...files });
    const [refusal, ...rest] = await pruneRefusals(loaded);
    expect(refusal).toMatchObject({ code: 'prune-refused', severity: 'error' });
    expect(refusal?.message).toContain(why);
    expect(rest).toEqual([]);
  });

  it.each([
    ['a broken link', { 'manifests/b.yaml': { link: 'nowhere' } }],
    ['a device', { 'manifests/b.yaml': { link: '/dev/null' } }],
  ] as readonly [string, Given][])('%s is an error for every command', async (_, files) => {
    const { problems } = await found({ 'manifests/a.yaml': acme, ...files });
    expect(problems).toMatchObject([{ severity: 'error' }]);
  });

  it.skipIf(process.platform === 'win32')(
    "a named pipe is an error for every command, and doesn't block",
    async () => {
      const cwd = await folderOf({ 'manifests/a.yaml': acme });
      spawnSync('mkfifo', [join(cwd, 'manifests/b.yaml')]);
      const { problems } = await load(cwd);
      expect(problems).toMatchObject([
        { code: 'file-unreadable', message: 'manifests/b.yaml is a named pipe, not a regular file' },
      ]);
    },
  );

  it.each(['manifests/b.yaml', 'manifests/B.YML', 'manifests/sub/b.yaml'])(
    'with %s, which is a folder, as a mount without its source creates it',
    async (path) => {
      const cwd = await folderOf({ 'manifests/a.yaml': acme });
      await mkdir(join(cwd, path), { recursive: true });
      const [refusal, ...rest] = await pruneRefusals(await load(cwd));
      expect(refusal).toMatchObject({ code: 'prune-refused', severity: 'error' });
      expect(refusal?.message).toContain(`${path} is a folder`);
      expect(rest).toEqual([]);
    },
  );

  it.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
    'with an unreadable folder below',
    async () => {
      const cwd = await folderOf({ ...globs('"manifests/*.yaml"'), 'manifests/a.yaml': acme });
      await mkdir(join(cwd, 'manifests/sub'), { mode: 0 });
      const [refusal] = await pruneRefusals(await load(cwd));
      await chmod(join(cwd, 'manifests/sub'), 0o700);
      expect(refusal?.message).toContain('manifests/sub');
    },
  );

  it('not for a folder with such a name whose manifests are read', async () => {
    const loaded = await found({ 'manifests/a.yaml/a.yaml': acme });
    expect(loaded.declared).toHaveLength(1);
    expect(await pruneRefusals(loaded)).toEqual([]);
  });

  it('not for files of another environment, other YAML, or excluded files below a glob', async () => {
    const loaded = await found({
      'idops.yaml': `version: 1
manifests: ["manifests/*.yaml", "!manifests/old/**"]
environments: {prod: {manifests: ["manifests/prod/*.yaml"]}}
`,
      'manifests/a.yaml': acme,
      'manifests/prod/b.yaml': acme,
      'manifests/old/b.yaml': acme,
      'manifests/samples/tx_code.yaml': 'code: 1\n',
      'manifests/chart/values.yaml': 'kind: ConfigMap\n',
    });
    expect(loaded.codes).toEqual([]);
    expect(await pruneRefusals(loaded)).toEqual([]);
  });

  it('not for excluded files, sample data, or hidden folders of other tools', async () => {
    const loaded = await found({
      'idops.yaml': 'version: 1\nmanifests: ["**/*.yaml", "!idops.yaml", "!old/**"]\n',
      'old/l': { link: 'nowhere' },
      'manifests/a.yaml': acme,
      'manifests/samples/tx_code.yaml': 'code: 1\n',
      'old/x.YAML': acme,
      '.github/workflows/ci.yaml': 'on: push\n',
      '.git/x.yaml': acme,
    });
    expect(loaded.codes).toEqual([]);
    expect(await pruneRefusals(loaded)).toEqual([]);
  });
});

describe.skipIf(process.platform === 'win32')('a project in the folder', () => {
  it.each(['a\\b', 'a\\', '(x)', '[x]*', '!x', '{a,b}', ' a b ', 'a?b'])('%j is read', async (name) => {
    const given = { 'manifests/a.yaml': acme, 'manifests/c\\d/b.yaml': acme.replace('acme', 'b') };
    const cwd = await folderOf(given, name);
    const { problems, declared } = await load(cwd);
    expect(codesOf(problems)).toEqual([]);
    expect(declared).toHaveLength(2);
  });
});

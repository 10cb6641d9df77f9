import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { reveal, Sensitive } from '../../src/base/values.js';
import { type LoadedManifests, loadManifests } from '../../src/manifests/load.js';
import { loadProject } from '../../src/project/index.js';
import { temporaryFolder, writeFiles } from '../cleanups.js';

let cwd: string;

beforeEach(async () => {
  cwd = await temporaryFolder('manifests');
});

type Files = { [path: string]: string | Uint8Array };

interface Options {
  readonly config?: string;
  readonly variables?: { [name: string]: string };
  readonly lenient?: boolean;
}

async function load(files: Files | string, options: Options = {}): Promise<LoadedManifests> {
  const all: Files = typeof files === 'string' ? { 'manifests/all.yaml': files } : files;
  await writeFiles(cwd, { 'idops.yaml': `version: 1\n${options.config ?? ''}`, ...all });
  const project = await loadProject({ cwd, variables: options.variables ?? {} });
  return loadManifests(project, { lenient: options.lenient ?? false });
}

describe('what a document declares', () => {
  test('identity, managed fields and directives of every kind', async () => {
    const { declared, problems } = await load(
      [
        'kind: Organization\nid: o1\nname: acme\nlabel: null',
        'kind: Organization\nname: other',
        'kind: User\nid: u1\nblocked: false\norganizations: [acme, {id: o1}]\nmetadata: {a: {value: 1}}\nwhole: [metadata]',
        'kind: KeyPair\nid: k1\nis_default: true',
        'kind: EmailTemplate\nbackend_id: b1\ntype: tx_code\nstate: absent',
        'kind: Client\nid: c1\ndid_generation: 2',
      ].join('\n---\n'),
    );
    expect(problems).toEqual([]);
    const plain = { absent: false, whole: [], ignored: [] };
    expect(declared).toMatchObject([
      {
        ...plain,
        kind: 'Organization',
        identity: { id: 'o1', name: 'acme' },
        fields: { name: 'acme', label: null },
      },
      { ...plain, kind: 'Organization', identity: { name: 'other' }, fields: { name: 'other' } },
      {
        ...plain,
        kind: 'User',
        identity: { id: 'u1' },
        fields: { blocked: false, organizations: ['acme', { id: 'o1' }], metadata: { a: { value: 1 } } },
        whole: ['metadata'],
      },
      { ...plain, kind: 'KeyPair', identity: { id: 'k1' }, fields: { is_default: true } },
      {
        ...plain,
        kind: 'EmailTemplate',
        identity: { backend_id: 'b1', type: 'tx_code' },
        fields: {},
        absent: true,
      },
      { ...plain, kind: 'Client', identity: { id: 'c1' }, fields: {}, generation: 2 },
    ]);
    expect(declared.filter(({ generation }) => generation !== undefined)).toHaveLength(1);
  });

  test('its place is its first key, even after comments, a byte order mark and CRLF', async () => {
    const text = '\uFEFF# us\r\n---\r\n\r\n# more\r\nkind: Organization\r\nname: acme\r\n';
    const { declared } = await load(text);
    expect(declared[0]?.places.of()).toMatchObject({
      line: 5,
      column: 1,
      length: 4,
      text: 'kind: Organization',
    });
    expect(declared[0]?.fields).toEqual({ name: 'acme' });
  });

  test("a field's place is its key, an element's is its own, and an unwritten value's is nearby", async () => {
    const { declared } = await load('kind: User\nid: u1\norganizations:\n  - acme\n  - {id: o1}\n');
    const [user] = declared;
    expect(user?.places.of('organizations')).toMatchObject({ line: 3, column: 1 });
    expect(user?.places.of('organizations', 1)).toMatchObject({ line: 5, column: 5 });
    expect(user?.places.of('organizations', 1, 'name')).toMatchObject({ line: 5 });
    expect(user?.places.of('group')).toMatchObject({ line: 1, column: 1 });
  });

  test('empty files and documents declare nothing', async () => {
    const { declared, problems } = await load({
      'manifests/empty.yaml': '',
      'manifests/comment.yaml': '# nothing yet\n',
      'manifests/documents.yaml': '---\n---\n# nothing\n---\n~\n---\nkind: Organization\nname: acme\n---\n',
    });
    expect(problems).toEqual([]);
    expect(declared).toHaveLength(1);
  });

  test('files are read in order, each once', async () => {
    const { declared, problems } = await load(
      {
        'manifests/b.yaml': 'kind: Organization\nname: b\n',
        'manifests/a.yaml': 'kind: Organization\nname: a\n',
        'manifests/not.yaml': 'kind: nonsense\n',
      },
      { config: 'manifests: [manifests/*.yaml, "manifests/{a,b}.yaml", "!manifests/not.yaml"]\n' },
    );
    expect(problems).toEqual([]);
    expect(declared.map(({ identity }) => identity.name)).toEqual(['a', 'b']);
  });

  test('a link to a manifest inside the project is not read a second time', async () => {
    await mkdir(join(cwd, 'manifests'));
    await symlink('a.yaml', join(cwd, 'manifests/link.yaml'));
    const { declared, problems } = await load({ 'manifests/a.yaml': 'kind: Organization\nname: a\n' });
    expect(problems).toEqual([]);
    expect(declared).toHaveLength(1);
  });

  test('a document can have more errors than a call takes arguments', async () => {
    const fields = Array.from({ length: 130_000 }, (_, index) => `x${index}: 1`);
    const { problems } = await load(`kind: Organization\nname: a\n${fields.join('\n')}\n`);
    expect(problems).toHaveLength(130_000);
  });

  test('valid documents are still compared if another one is invalid', async () => {
    const one = 'kind: Organization\nname: a\n';
    const { problems } = await load([one, 'kind: nonsense\n', one].join('---\n'));
    expect(problems.map(({ code }) => code)).toEqual(['unknown-kind', 'duplicate-object']);
  });
});

describe('body files', () => {
  test('keep every byte', async () => {
    const text = '\uFEFFhello\r\n{{ name }}\n\n';
    const { declared, problems } = await load({
      'manifests/a.yaml':
        'kind: EmailTemplate\nbackend_id: b\ntype: t\ntxt_content: {file: ../emails/a.txt}\nhtml_content:\n  file: ../emails/a.txt\n',
      'emails/a.txt': text,
    });
    expect(problems).toEqual([]);
    expect(declared[0]?.fields).toEqual({ txt_content: text, html_content: text });
  });

  test('may be secret', async () => {
    const { declared, secrets } = await load({
      'manifests/a.yaml': 'kind: User\nid: u\nbackend: {smtp_password: {file: pw}}\n',
      'manifests/pw': 'hunter2',
    });
    expect(JSON.stringify(declared[0]?.fields)).toBe('{"backend":{"smtp_password":{"sensitive":true}}}');
    expect([...secrets]).toEqual([['hunter2', 'declared']]);
  });

  test('a member "file" of metadata is not a body file', async () => {
    const { declared, problems } = await load('kind: User\nid: u\nmetadata: {file: none}\n');
    expect(problems).toEqual([]);
    expect(declared[0]?.fields).toEqual({ metadata: { file: 'none' } });
  });

  test('with a NUL are refused at its place, without showing the text around it', async () => {
    const { problems } = await load({
      'manifests/a.yaml': 'kind: User\nid: u\nbackend: {smtp_password: {file: pw}}\n',
      'manifests/pw': 'first\nhunter2 \0',
    });
    expect(
      problems.map(({ code, places }) => [code, places.map(({ file, line }) => `${file}:${line}`)]),
    ).toEqual([['body-nul', ['manifests/pw:2', 'manifests/a.yaml:3']]]);
    expect(JSON.stringify(problems)).not.toContain('hunter2');
  });

  test('that are too large are refused', async () => {
    const { problems } = await load({
      'manifests/a.yaml': 'kind: EmailTemplate\nbackend_id: b\ntype: t\ntxt_content: {file: big.txt}\n',
      'manifests/big.txt': new Uint8Array(16 * 1024 * 1024 + 1).fill(97),
      'manifests/big.yaml': new Uint8Array(16 * 1024 * 1024 + 1).fill(10),
    });
    expect(problems.map(({ code, places }) => [code, places[0]?.file])).toEqual([
      ['too-large', 'manifests/a.yaml'],
      ['too-large', 'manifests/big.yaml'],
    ]);
  });
});

describe('variables', () => {
  const user = (fields: string) => `kind: User\nid: u1\n${fields}\n`;

  test('take the type of the field', async () => {
    const given = user(`blocked: \${blocked}\ngroup: \${port}\nbackend: {smtp_port: "\${port}"}`);
    const { declared, problems } = await load(given, { config: 'vars: {blocked: true, port: 587}\n' });
    expect(problems).toEqual([]);
    expect(declared[0]?.fields).toEqual({ blocked: true, group: '587', backend: { smtp_port: 587 } });
  });

  test('of the process are sensitive wherever they end up, also through vars and as another type', async () => {
    const { declared, secrets } = await load(
      user(
        `blocked: \${IDOPS_BLOCKED}\ngroup: a-\${group}\nmetadata: {a: {value: "\${SMTP}"}}\nbackend: {smtp_port: "\${IDOPS_PORT:-\${port}}"}`,
      ),
      {
        config: `vars: {group: "\${IDOPS_GROUP}", port: 25}\nallow_env: [SMTP]\n`,
        variables: { IDOPS_BLOCKED: 'true', IDOPS_GROUP: 'staff', SMTP: 'pw', IDOPS_PORT: '' },
      },
    );
    const [hidden, backend] = [{ sensitive: true }, { smtp_port: 25 }];
    const shown = { blocked: hidden, group: hidden, metadata: { a: { value: hidden } }, backend };
    expect(JSON.parse(JSON.stringify(declared[0]?.fields))).toEqual(shown);
    const meant = { blocked: true, group: 'a-staff', metadata: { a: { value: 'pw' } }, backend };
    expect(reveal(declared[0]?.fields ?? {})).toEqual(meant);
    expect(Object.fromEntries(secrets)).toEqual({ pw: 'variable', staff: 'variable', true: 'variable' });
  });

  test('secret fields are sensitive whatever their source, and null clears them', async () => {
    const given = user('backend: {smtp_password: hunter2, ldap_master_password: null}');
    const { declared, secrets } = await load(given);
    const backend = { smtp_password: expect.any(Sensitive), ldap_master_password: null };
    expect(declared[0]?.fields.backend).toEqual(backend);
    expect([...secrets]).toEqual([['hunter2', 'declared']]);
  });

  test("in a name that isn't the identity may be sensitive, and stay out of the address", async () => {
    const variables = { IDOPS_NAME: 'acme' };
    const text = `kind: Organization\nid: o1\nname: \${IDOPS_NAME}\n`;
    const { declared, problems } = await load(text, { variables });
    expect(problems).toEqual([]);
    expect(declared[0]?.identity).toEqual({ id: 'o1' });
    expect(declared[0]?.fields.name).toBeInstanceOf(Sensitive);
  });

  test("that are not set are warnings in lenient mode, and their types aren't checked", async () => {
    const { declared, problems } = await load(
      user(
        `blocked: \${IDOPS_A}\ntotp_registered_at: \${IDOPS_B:?say when}\nusername: {file: "\${IDOPS_C}"}\nbackend: {smtp_port: "\${IDOPS_D}"}\nwhole: [metadata]`,
      ),
      { lenient: true },
    );
    expect(problems.map(({ code, severity, places }) => [code, severity, places[0]?.line])).toEqual(
      [3, 4, 5, 6].map((line) => ['unset-variable', 'warning', line]),
    );
    expect(declared).toHaveLength(1);
  });

  test('that are not allowed are errors in lenient mode too', async () => {
    const { problems } = await load(user(`group: \${HOME}\nuid: \${NOWHERE}`), {
      lenient: true,
      variables: { HOME: '/root' },
    });
    expect(problems.map(({ code }) => code)).toEqual(['env-not-allowed', 'unresolved-variable']);
    expect(JSON.stringify(problems)).not.toContain('/root');
  });

  test('in an alias are reported at the alias', async () => {
    const { problems } = await load(user(`group: &g \${NOWHERE}\nuid: *g`));
    expect(problems.map(({ code, places }) => [code, places[0]?.line])).toEqual([
      ['unresolved-variable', 3],
      ['unresolved-variable', 4],
    ]);
  });
});

describe('limits', () => {
  const user = (at: number, password: string) =>
    `kind: User\nid: u${at}\nbackend: {smtp_password: ${password}}\n`;

  test('2,000 different secrets are accepted, and the document with one more is refused', async () => {
    const users = (count: number) =>
      Array.from({ length: count }, (_, at) => user(at, `secret-${at % 2001}`)).join('---\n');
    expect((await load(users(2000))).problems).toEqual([]);
    const { problems } = await load(users(2003));
    expect(problems).toMatchObject([
      { code: 'too-many-secrets', severity: 'error', places: [{ line: 2000 * 4 + 1 }] },
    ]);
    expect(problems[0]?.message).toContain('2001 different secrets');
  });

  test('process variables count as secrets', async () => {
    const names = Array.from({ length: 2001 }, (_, at) => `IDOPS_S${at}`);
    const { problems } = await load(
      `kind: User\nid: u\nmetadata:\n${names.map((name) => `  ${name}: {value: "\${${name}}"}\n`).join('')}`,
      { variables: Object.fromEntries(names.map((name) => [name, `value of ${name}`])) },
    );
    expect(problems).toMatchObject([{ code: 'too-many-secrets', severity: 'error' }]);
  });

  test('body files of 32,000,000 characters in total are accepted, each counted once', async () => {
    const names = Array.from({ length: 4 }, (_, at) => `body-${at}.txt`);
    const files = (last: number): Files => ({
      ...Object.fromEntries(names.map((name) => [`manifests/${name}`, 'x'.repeat(8_000_000)])),
      'manifests/last.txt': 'x'.repeat(last),
      'manifests/all.yaml': [...names, ...names, 'last.txt']
        .map((name, at) => `kind: EmailTemplate\nbackend_id: b${at}\ntype: t\ntxt_content: {file: ${name}}\n`)
        .join('---\n'),
    });
    expect((await load(files(0))).problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    const { problems } = await load(files(1));
    expect(problems.filter(({ code }) => code === 'too-large').length).toBeGreaterThan(0);
    expect(problems[0]).toMatchObject({ severity: 'error', places: [{ file: 'manifests/all.yaml' }] });
    expect(problems[0]?.hint).toContain('limits.body_characters');
    const config = 'limits: {body_characters: 32000001}\n';
    const raised = await load(files(1), { config });
    expect(raised.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    const [beyond] = (await load(files(2), { config })).problems;
    expect(beyond?.message).toContain('more than 32,000,001 characters');
  });
});

describe('suggestions', () => {
  const template = 'kind: EmailTemplate\nbackend_id: b1\ntype: tx_code\n';

  test.each([
    ['kind: User\nid: u1\norganizations:\n  -acme\n  -globex\n', 'on a line that begins with "- "'],
    ['knid: Organization\nname: a\n', 'missing field "kind" in a manifest document'],
    [`${template}txt_content: a\ntext_content: b\n`, 'did you mean "txt_content"?'],
    [`${template}txt_content: {file: ""}\n`, 'must not be empty'],
  ])('%j', async (text, said) => {
    const { problems } = await load(text);
    expect(problems.map(({ message, hint = '' }) => `${message} ${hint}`)).toEqual([
      expect.stringContaining(said),
    ]);
  });
});

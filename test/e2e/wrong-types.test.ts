import { describe, expect, it } from 'vitest';
import { project } from './running.js';

async function told(manifest: string): Promise<[string, string | null][]> {
  const { idops } = await project({ 'manifests/a.yaml': manifest });
  const { stdout } = await idops('validate --format json');
  const { problems } = JSON.parse(stdout) as { problems: { message: string; hint: string | null }[] };
  return problems.map(({ message, hint }) => [message, hint]);
}

const head = {
  Organization: 'kind: Organization\n',
  User: 'kind: User\nid: u\n',
  EmailTemplate: 'kind: EmailTemplate\nbackend_id: b\ntype: tx_code\n',
  Client: 'kind: Client\nid: c\n',
};
const user = head.User;

describe('a value of another type is told as it is written, with what to write', () => {
  it.each([
    ['Organization', 'name: 123', 'a string', 'the number 123', 'put it in quotes: "123"'],
    ['Organization', 'name:', 'a string', 'nothing', 'write a value, or remove the key'],
    ['Organization', 'name: [acme]', 'a string', 'a list', 'write it without the [] or the "- "'],
    ['User', 'blocked: yes', 'true or false', 'the string "yes"', 'in YAML 1.2 yes is a text: write true'],
    ['User', 'blocked: "true"', 'true or false', 'the string "true"', 'write it without quotes'],
    ['User', 'blocked: ture', 'true or false', 'the string "ture"', 'did you mean true?'],
    [
      'User',
      'organizations: acme, beta',
      'a list',
      'the string "acme, beta"',
      'write it as a list: [acme, beta]',
    ],
    [
      'User',
      'metadata: [a]',
      'a map',
      'a list',
      'write it as {key: value}, or as "key: value" on lines below, indented further',
    ],
    [
      'EmailTemplate',
      'txt_content: {fiel: x}',
      'a string or {file: PATH}',
      'a map',
      'did you mean "file" for "fiel"?',
    ],
    ['Client', 'did_generation: 1.5', 'an integer', 'the number 1.5', 'write it without a fraction'],
  ] as const)('%s, %s', async (kind, field, expected, got, hint) => {
    const message = `"${field.split(':')[0]}" in ${kind}: expected ${expected}, got ${got}`;
    expect(await told(`${head[kind]}${field}\n`)).toEqual([[message, hint]]);
  });

  it.each([
    [
      `${user}authorized_scopes: ["users:read"]\n`,
      '"authorized_scopes[0]" in User: expected a map, got the string "users:read"',
      'write it as {name: "users:read", label: …}',
    ],
    [
      `${user}backend: {smtp_password: 12345}\n`,
      '"backend.smtp_password" in User: expected a string or {file: PATH}, got a number',
      'put it in quotes',
    ],
    [`${user}scopes: []\n`, 'unknown field "scopes" in User, did you mean "authorized_scopes"?', null],
    [
      `${head.Organization}name: *acme\n`,
      'this alias has no anchor before it',
      'put quotes around a text that begins with "*", or write the anchor "&name" first',
    ],
    [
      `${head.Organization}name: {{acme}}\n`,
      'a text without quotes can\'t begin with "{{"',
      'put quotes around the value',
    ],
  ])('%j', async (manifest, message, hint) => {
    expect(await told(manifest)).toEqual([[message, hint]]);
  });

  it.each([
    ['version: "1"\n', '"version" in configuration must be 1', 'write it without quotes'],
    [
      'version: 1\nserver: http://localhost\n',
      '"server" in configuration: expected a map, got the string "http://localhost"',
      'write its fields on lines below, indented further: base_url, profile, auth, tls, allow_insecure_http',
    ],
    [
      'version: 1\nenvironments: {production: {base_url: x}}\n',
      'unknown field "base_url" in environments.production of configuration',
      '"base_url" stands below "server"',
    ],
    [
      'version: 1\nserver: {auth: hunter2}\n',
      '"server.auth" in configuration: expected a map, got a string',
      'write its fields on lines below, indented further: token, token_file, token_command, client_credentials, header, pass_env',
    ],
  ])('in the configuration too: %j', async (configuration, message, hint) => {
    const { idops } = await project({ 'idops.yaml': configuration });
    const { stdout, stderr } = await idops('validate --format json');
    expect(JSON.parse(stdout).problems).toContainEqual(expect.objectContaining({ message, hint }));
    expect(stdout + stderr).not.toContain('hunter2');
  });

  it('but the value of a variable is not', async () => {
    const { idops } = await project({ 'manifests/a.yaml': `${user}blocked: \${IDOPS_BLOCKED}\n` });
    const { stdout, stderr } = await idops('validate --format json', {
      env: { IDOPS_BLOCKED: 'hunter2hunter2' },
    });
    expect(stdout).toContain('expected true or false, got a string');
    expect(stderr).toContain(`blocked: \${IDOPS_BLOCKED}\n   |          ^^^^^^^^^^^^^^^^\n`);
    expect(stdout + stderr).not.toContain('hunter2');
  });
});

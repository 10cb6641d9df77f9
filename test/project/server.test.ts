import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { ProblemsError } from '../../src/base/problems.js';
import { reveal } from '../../src/base/values.js';
import { loadProject, type ServerSettings } from '../../src/project/index.js';
import { temporaryFolder } from '../cleanups.js';
import { issue } from '../server/certificates.js';

let cwd: string;

beforeEach(async () => {
  cwd = await temporaryFolder('server');
});

type Variables = { readonly [name: string]: string };

async function settings(server: string, variables: Variables = {}): Promise<ServerSettings> {
  await writeFile(
    join(cwd, 'idops.yaml'),
    `version: 1\nserver:\n  base_url: https://id.example.com/x/\n${server}allow_env: [SECRET, ARGUMENT]\n`,
  );
  return await (await loadProject({ cwd, variables })).server();
}

async function problems(server: string, variables: Variables = {}): Promise<string[]> {
  try {
    await settings(server, variables);
  } catch (failure) {
    if (!(failure instanceof ProblemsError)) throw failure;
    expect(JSON.stringify(failure.problems)).not.toContain('hunter2');
    return failure.problems.map(({ code, message, places: [place] }) =>
      [code, ...(place === undefined ? [] : [`${place.line}:${place.column}`]), message].join(' '),
    );
  }
  throw new Error('nothing was refused');
}

const token = '  auth: {token: abcd}\n';

describe('the ways to authenticate', () => {
  test('a token command keeps its arguments, and those from process variables are secret', async () => {
    const server = `  auth: {token_command: [get-token, "--for=\${ARGUMENT}", "a b"]}\n`;
    const { auth, secrets } = await settings(server, { ARGUMENT: 'hunter2' });
    expect(auth).toMatchObject({ way: 'token_command', argv: ['get-token', '--for=hunter2', 'a b'] });
    expect(secrets.map(reveal)).toEqual(['--for=hunter2']);
  });

  test('client credentials', async () => {
    const href = 'https://id.example.com/oauth/token';
    const server = `  auth:
    client_credentials: {token_url: "${href}", client_id: ci, client_secret: "\${SECRET}", scopes: ["users:manage:all"]}
`;
    const { auth, secrets } = await settings(server, { SECRET: 'hunter2' });
    const given = { address: { href }, clientId: 'ci', scopes: ['users:manage:all'] };
    expect(auth).toMatchObject({ way: 'client_credentials', ...given });
    expect(secrets.map(reveal)).toContain('hunter2');
    expect(JSON.stringify(auth)).not.toContain('hunter2');
  });

  test('a header', async () => {
    const server = `  auth: {header: {name: X-Api-Key, value: "key \${SECRET}"}}\n`;
    const { auth, secrets } = await settings(server, { SECRET: 'hunter2' });
    expect(auth).toMatchObject({ way: 'header', name: 'X-Api-Key' });
    expect(secrets.map(reveal)).toEqual(expect.arrayContaining(['key hunter2', 'hunter2']));
  });

  const credentials = (token: string, more = ''): string =>
    `{client_credentials: {token_url: "${token}", client_id: a, client_secret: hunter2${more}}}`;
  test.each([
    ['{token: a, token_file: b}', 'wrong-value 4:9 "server.auth" in configuration needs exactly one of'],
    ['{}', 'wrong-value 4:9 "server.auth" in configuration needs exactly one of'],
    ['{token_command: []}', 'wrong-value 4:25'],
    ['{token: x, pass_env: [A]}', 'wrong-value 4:9'],
    ['{pass_env: [A]}', 'wrong-value 4:9'],
    ['{token_command: [x], pass_env: [A=b]}', 'wrong-value 4:41'],
    ['{token_command: get-token}', 'wrong-type 4:25'],
    [credentials('http://id.example.com/t'), 'insecure-http 4:42 the token address is plain http'],
    [credentials('id?x'), 'bad-address 4:42 the token address'],
    [credentials('https://a', ', scopes: ["a b"]'), 'wrong-value 4:102'],
    ['{header: {name: Content-Length, value: "1"}}', 'bad-header 4:25'],
    ['{header: {name: X-A, value: "hunter2\\nb: c"}}', 'bad-header 4:37'],
    ['{header: {name: X-A, value: "Key xyz"}}', 'bad-header 4:37 "auth.header.value" has fewer than 4'],
    ['{token: xyz}', 'bad-token 4:17 server.auth.token has fewer than 4 characters'],
    ['{token_file: nowhere}', 'token-unreadable 4:22'],
  ])('%s is refused at its place', async (auth, expected) => {
    const found = await problems(`  auth: ${auth}\n`);
    expect(found.some((text) => text.startsWith(expected))).toBe(true);
  });

  test('a command gets the variables that it lists, if they are set', async () => {
    const server = '  auth: {token_command: [x], pass_env: [HANDED_ON, NOT_SET]}\n';
    const { auth } = await settings(server, { HANDED_ON: 'abc', OTHER: 'def' });
    expect(auth).toMatchObject({ way: 'token_command', variables: { HANDED_ON: 'abc' } });
    expect(auth.way === 'token_command' && Object.keys(auth.variables)).toEqual(['HANDED_ON']);
  });

  test('IDOPS_TOKEN overrides all of them', async () => {
    const { auth } = await settings('  auth: {token_command: [x]}\n', { IDOPS_TOKEN: 'abcd' });
    expect(auth.way).toBe('token');
  });
});

describe('certificates', () => {
  const authority = issue('authority');
  const client = issue('client', { issuer: authority });

  async function write(files: { [name: string]: string }): Promise<void> {
    for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
  }

  test('are read, relative to the configuration', async () => {
    await write({ 'ca.pem': authority.cert, 'c.pem': client.cert + authority.cert, 'k.pem': client.key });
    const { tls, secrets } = await settings(
      `${token}  tls: {ca_file: ca.pem, client_cert_file: c.pem, client_key_file: k.pem}\n`,
    );
    expect(tls).toMatchObject({ ca: authority.cert, clientCert: client.cert + authority.cert });
    expect(tls.clientKey?.reveal()).toBe(client.key);
    expect(secrets.map(reveal)).toContain(client.key);
  });

  const pair = 'client_cert_file: c.pem, client_key_file:';
  test.each([
    ['ca_file: nowhere.pem', '5:18 the file nowhere.pem of tls.ca_file does not exist'],
    ['ca_file: k.pem', '5:18 k.pem does not contain certificates in PEM form'],
    ['ca_file: junk.pem', '5:18 junk.pem does not contain certificates in PEM form'],
    ['client_cert_file: c.pem', '5:27 "tls.client_cert_file" also needs "tls.client_key_file"'],
    ['client_key_file: k.pem', '5:26 "tls.client_key_file" also needs "tls.client_cert_file"'],
    [`${pair} other.pem`, '5:51 "tls.client_key_file" is not the key of the client certificate'],
    [`${pair} c.pem`, '5:51 c.pem does not contain a private key without a passphrase in PEM form'],
  ])('%s is refused at its place', async (tls, expected) => {
    await write({
      'c.pem': client.cert,
      'k.pem': client.key,
      'other.pem': issue('other').key,
      'junk.pem': '-----BEGIN CERTIFICATE-----\nhunter2\n-----END CERTIFICATE-----\n',
    });
    const found = await problems(`${token}  tls: {${tls}}\n`);
    expect(found[0]?.startsWith(`bad-certificate ${expected}`)).toBe(true);
  });
});

describe('proxies', () => {
  test('come from the process, and their passwords are secret', async () => {
    const { proxy, secrets } = await settings(token, { https_proxy: 'http://me:hunter2@proxy:3128' });
    expect(proxy).toMatchObject({ origin: 'http://proxy:3128', variable: 'https_proxy' });
    expect(secrets.map(reveal)).toContain('hunter2');
  });

  test('are chosen separately for the token address', async () => {
    const { proxy, auth } = await settings(
      '  auth: {client_credentials: {token_url: "https://a.test/t", client_id: a, client_secret: b}}\n',
      { https_proxy: 'http://proxy:3128', no_proxy: 'a.test' },
    );
    expect(proxy?.origin).toBe('http://proxy:3128');
    expect(auth).toMatchObject({ proxy: null });
  });

  test("that aren't addresses are refused", async () => {
    const found = await problems(token, { https_proxy: 'socks5://hunter2@proxy' });
    expect(found).toEqual(['bad-proxy the proxy in https_proxy is neither http nor https']);
  });
});

describe("an environment's address that differs from IDOPS_BASE_URL", () => {
  const load = async (environment: string, variables: Variables, env = 'production') => {
    const text = `version: 1\nserver:\n  base_url: https://shared.example.com\n  auth: {token: abcd}\nenvironments:\n  production:\n    ${environment}\n  other: {server: {base_url: https://other.example.com}}\n`;
    await writeFile(join(cwd, 'idops.yaml'), text);
    return await loadProject({ cwd, variables, ...(env === '' ? {} : { env }) });
  };
  const own = 'server: {base_url: https://id.example.com}';
  const variable = "server: {base_url: '${IDOPS_BASE_URL}'}";

  test('is an error, at the place of the environment', async () => {
    const project = await load(own, { IDOPS_BASE_URL: 'https://staging.example.com' });
    const message =
      'IDOPS_BASE_URL names https://staging.example.com, and environment production is at https://id.example.com';
    const problem = { code: 'other-address', message, places: [{ line: 7, column: 24 }] };
    await expect(project.server()).rejects.toMatchObject({ problems: [problem] });
  });

  test.each([
    ['both say the same', own, 'https://ID.example.com/', 'https://id.example.com'],
    ['it is that very variable', variable, 'https://a.example', 'https://a.example'],
    ['it has none', 'vars: {}', 'https://a.example', 'https://a.example'],
    ['the variable is empty', own, '', 'https://id.example.com'],
  ])('is no error if %s', async (_, environment, given, address) => {
    const project = await load(environment, { IDOPS_BASE_URL: given });
    expect((await project.server()).baseUrl).toBe(address);
  });

  test('is no error with --base-url or without an environment', async () => {
    const variables = { IDOPS_BASE_URL: 'https://staging.example.com' };
    const given = { baseUrl: 'https://third.example.com' };
    expect((await (await load(own, variables)).server(given)).baseUrl).toBe('https://third.example.com');
    expect((await (await load(own, variables, '')).server()).baseUrl).toBe('https://staging.example.com');
  });

  test("is reported without the variable's value if that isn't an address", async () => {
    const project = await load(own, { IDOPS_BASE_URL: 'user:hunter2' });
    const message =
      'IDOPS_BASE_URL names something else, and environment production is at https://id.example.com';
    await expect(project.server()).rejects.toMatchObject({ problems: [{ message }] });
  });
});

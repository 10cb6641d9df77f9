import { spawn } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { cli, project } from './running.js';

const organization = 'kind: Organization\nname: acme\nlabel: ACME Corporation\n';

describe('what leaves a person stuck', () => {
  test.each([
    [
      'no address is set',
      'plan',
      { IDOPS_BASE_URL: undefined },
      'set it to the address of your server, or give --base-url; idops sandbox runs one to practise on and prints both',
    ],
    [
      'no token is set',
      'plan',
      { IDOPS_TOKEN: undefined },
      'set it to a bearer token of your server; idops sandbox runs one to practise on and prints both',
    ],
    [
      'there is no run yet',
      'undo --last',
      {},
      'a run is what idops apply leaves; which state this is, --env and state in the configuration say',
    ],
    ['the plan file is not there', 'apply plan.json', {}, 'idops plan --out plan.json stores one'],
    [
      'the token file is not there',
      'plan --token-file nope',
      {},
      'check --token-file and server.auth.token_file',
    ],
    [
      'no environments are there',
      'plan --env production',
      {},
      'leave out --env and IDOPS_ENV, or write it under environments',
    ],
    [
      'a plan does too much',
      'apply --yes --allow-destructive 0',
      {},
      'the plan does 1 destructive thing, and 0 are allowed',
    ],
  ])('is told what to do: %s', async (_, args, env, help) => {
    const absent =
      'kind: EmailTemplate\nbackend_id: 20000000-0000-4000-8000-000000000001\ntype: tx_code\nstate: absent\n';
    const { idops } = await project({ 'manifests/a.yaml': absent });
    const { code, stderr } = await idops(args, { env });
    expect(code).toBe(1);
    expect(stderr).toContain(help);
  });
});

describe('a pipe', () => {
  test('that is closed early is no failure', async () => {
    const { folder } = await project({ 'manifests/a.yaml': organization });
    const line = `"${process.execPath}" "${cli}" schema manifest | head -n 1`;
    const child = spawn('bash', ['-o', 'pipefail', '-c', line], { cwd: folder });
    let stderr = '';
    let stdout = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    expect(await new Promise((done) => child.on('close', done))).toBe(0);
    expect(stdout).toBe('{\n');
    expect(stderr).toBe('');
  });
});

describe('Windows line endings', () => {
  test('in the configuration, a manifest and a body: read alike, and bodies sent as they are', async () => {
    const crlf = (text: string) => text.replaceAll('\n', '\r\n');
    const { idops, sandbox, write } = await project({
      'idops.yaml': crlf(
        'version: 1\nserver:\n  base_url: ${IDOPS_BASE_URL}\n  profile: documented\n  auth:\n    token: ${IDOPS_TOKEN}\n',
      ),
      'manifests/a.yaml': crlf(
        `${organization}---\nkind: EmailTemplate\nbackend_id: 20000000-0000-4000-8000-000000000001\ntype: tx_code\ntxt_content: {file: code.txt}\nhtml_content: |\n  <meta charset="utf-8">\n  {{ tx_code }}\n`,
      ),
      'manifests/code.txt': 'Your code:\r\n{{ tx_code }}\r\n',
    });
    expect((await idops('validate')).stdout).toBe('2 objects are valid.\n');
    expect((await idops('apply --yes')).code).toBe(0);
    const sent = sandbox.requests.find(({ method, path }) => method === 'PATCH' && path.endsWith('/tx_code'));
    expect(sent?.body).toMatchObject({
      template: {
        txt_content: 'Your code:\r\n{{ tx_code }}\r\n',
        // YAML has one line ending within a scalar.
        html_content: '<meta charset="utf-8">\n{{ tx_code }}\n',
      },
    });
    expect((await idops('plan --detailed-exitcode')).code).toBe(0);
    await write({ 'manifests/b.yaml': crlf('kind: Organization\nname: globex\nlable: Globex\n') });
    const { stderr } = await idops('validate');
    expect(stderr).toContain('--> manifests/b.yaml:3:1\n   |\n 3 | lable: Globex\n   | ^^^^^\n');
    expect(stderr).not.toContain('\r');
  });
});

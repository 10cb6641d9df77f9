import { describe, expect, test } from 'vitest';
import { project } from './running.js';

const organization = 'kind: Organization\nname: acme\nlabel: ACME Corporation\n';

describe('Windows line endings', () => {
  test('are accepted in configuration, manifest and body, and bodies are sent unchanged', async () => {
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
        // YAML normalizes line endings in a scalar.
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

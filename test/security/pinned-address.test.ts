import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pullRequest, type Workspace, workspace } from '../action/running.js';
import { listening } from '../server/serving.js';

const manifests = { 'manifests/organizations.yaml': 'kind: Organization\nname: acme\nlabel: One\n' };

/** A server that nothing may connect to. */
async function elsewhere(): Promise<{ readonly url: string; readonly visits: () => number }> {
  let visits = 0;
  const server = createServer((socket) => {
    visits += 1;
    socket.destroy();
  });
  return { url: await listening(server), visits: () => visits };
}

/** What a branch may put into its configuration to send credentials to `away` or to write the file `ran`. */
const hostile = (away: string): [string, string][] => [
  ['another base_url', `{base_url: "${away}", auth: {token: "\${IDOPS_TOKEN}"}}`],
  ['a token_command', `{base_url: "${away}", auth: {token_command: [sh, -c, "echo x > ran; echo token"]}}`],
  [
    'a token_url',
    `{base_url: "${away}", auth: {client_credentials: {token_url: "${away}/token", client_id: me, client_secret: "\${IDOPS_SECRET}"}}}`,
  ],
  ['a header', `{base_url: "${away}", auth: {header: {name: X-Token, value: "\${IDOPS_SECRET}"}}}`],
  ['plain http', `{base_url: "${away}", allow_insecure_http: true, auth: {token: "\${IDOPS_SECRET}"}}`],
];
const ways = hostile('').map(([name], index): [string, number, boolean] => [
  name,
  index,
  index === 1 || index === 2,
]);

async function site(index: number, environment: boolean) {
  const away = await elsewhere();
  const [, server = ''] = hostile(away.url)[index] ?? [];
  const config = environment
    ? `version: 1\nenvironments:\n  production:\n    server: ${server}\n`
    : `version: 1\nserver: ${server}\n`;
  return { away, site: await workspace({ ...manifests, 'idops.yaml': config }) };
}

function ran({ folder }: Workspace): boolean {
  return existsSync(join(folder, 'ran'));
}

describe('with the input base-url', () => {
  it.each(ways)('a configuration with %s sends nothing elsewhere', async (_, index, refused) => {
    for (const environment of [false, true]) {
      const { away, site: made } = await site(index, environment);
      const options = {
        ...pullRequest(),
        env: { IDOPS_BASE_URL: '', IDOPS_SECRET: 'a-secret-of-the-workflow' },
      };
      const inputs = { 'base-url': made.sandbox.url, ...(environment ? { environment: 'production' } : {}) };
      const withToken = await made.run(inputs, options);
      expect(withToken.outputs, withToken.log).toMatchObject({ update: '1' });
      const without = await made.run({ ...inputs, token: '' }, options);
      expect(without.code).toBe(1);
      expect(without.log.includes('error[auth-elsewhere]')).toBe(refused);
      expect(without.log).not.toContain('a-secret-of-the-workflow');
      expect(away.visits()).toBe(0);
      expect(ran(made)).toBe(false);
    }
  });

  it('other credentials of the configuration are used', async () => {
    const made = await workspace({
      ...manifests,
      'idops.yaml':
        'version: 1\nserver: {auth: {header: {name: Authorization, value: "Bearer ${IDOPS_SECRET}"}}}\n',
    });
    const { outputs, log } = await made.run(
      { 'base-url': made.sandbox.url, token: '' },
      { env: { IDOPS_BASE_URL: '', IDOPS_SECRET: made.sandbox.token } },
    );
    expect(outputs, log).toMatchObject({ update: '1' });
  });

  it('a token_command runs if base-url is not an input', async () => {
    const made = await workspace({
      ...manifests,
      'idops.yaml': `version: 1\nserver: {base_url: "\${IDOPS_BASE_URL}", auth: {token_command: [sh, -c, "echo x > ran; echo token"]}}\n`,
    });
    await made.run({ token: '' });
    expect(ran(made)).toBe(true);
  });
});

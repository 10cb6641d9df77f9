import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ids } from '../sandbox/asking.js';
import { config, project, type Ran, type TestProject } from './running.js';

const password = `literal/${randomBytes(9).toString('base64')}`;
const fromEnv = `env "${randomBytes(9).toString('base64')}"\\`;
const allowed = `${config}allow_env: [MARKED]\n`;
const env = { MARKED: fromEnv, IDOPS_MARKED: fromEnv };

const user = `kind: User
id: ${ids.ada}
group: \${MARKED}
metadata: {token: {value: "\${IDOPS_MARKED}", status: valid}}
whole: [metadata]
authorized_scopes: [{id: ${ids.billingRead}, name: "billing:read", label: "\${MARKED}"}]
backend:
  smtp_username: \${MARKED}
  smtp_password: ${password}
  ldap_master_password: {file: password.txt}
`;
const template = `kind: EmailTemplate
backend_id: ${ids.backend}
type: tx_code
txt_content: "{{ tx_code }} \${MARKED}"
`;
const files = {
  'idops.yaml': allowed,
  'manifests/all.yaml': `${user}---\n${template}`,
  'manifests/password.txt': `${password} in a file`,
};

/** The forms in which a secret may turn up: as it is, in JSON, in a URL and in base64. */
function forms(secret: string): string[] {
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  ];
}

/** Looks at all that a run printed and left behind, manifests apart. */
async function expectNoSecrets({ sandbox, files }: TestProject, ...runs: Ran[]): Promise<void> {
  const left = Object.entries(await files()).filter(([path]) => !path.startsWith('manifests/'));
  const places = [
    ...runs.flatMap(({ stdout, stderr }) => [stdout, stderr]),
    ...left.map(([, content]) => content),
  ].join('\n');
  for (const secret of [password, fromEnv, sandbox.token]) {
    for (const form of forms(secret)) expect(places).not.toContain(form);
  }
}

describe('a secret', () => {
  it('reaches the server, and nothing else, on the way from manifest to record', async () => {
    const it = await project(files);
    const runs = [
      await it.idops('plan --debug', { env }),
      await it.idops('plan --debug --format json', { env }),
      await it.idops('apply --yes --debug --format json --format text=report.txt', { env }),
      await it.idops('plan --debug --detailed-exitcode', { env }),
      await it.idops('plan --assert --debug --format json=plan.json', { env }),
    ];
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    expect(it.sandbox.data.users[0]?.group).toBe(fromEnv);
    expect(it.sandbox.data.backends[0]).toMatchObject({
      smtp_username: fromEnv,
      smtp_password: password,
      ldap_master_password: `${password} in a file`,
    });
    await expectNoSecrets(it, ...runs);
  });

  it('stays one when its manifest has moved on, whether the server can be read or not', async () => {
    const secretly = `kind: Organization\nname: acme\nlabel: \${MARKED}\n---\nkind: User\nid: ${ids.ada}\ngroup: \${MARKED}\n---\n${template}`;
    const it = await project({ 'idops.yaml': allowed, 'manifests/all.yaml': secretly });
    const first = await it.idops('apply --yes', { env });
    await it.write({ 'manifests/all.yaml': secretly.replaceAll('${MARKED}', 'plain') });
    const runs = [first, await it.idops('plan --debug'), await it.idops('apply --yes --format json')];
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(it.sandbox.data.organizations[0]?.label).toBe('plain');
    await expectNoSecrets(it, ...runs);
  });

  it('that changes is seen by its hash, and shown by nothing', async () => {
    const it = await project(files);
    await it.idops('apply --yes', { env });
    const other = { MARKED: `${fromEnv}2`, IDOPS_MARKED: fromEnv };
    const changed = await it.idops('plan --format json', { env: other });
    const [update] = JSON.parse(changed.stdout).changes;
    expect(update.fields).toContainEqual({
      path: 'group',
      before: { sensitive: true },
      after: { sensitive: true },
      sensitive: true,
    });
    await expectNoSecrets(it, changed);
  });

  it('is in no message where the server refuses it, quotes it, or keeps another value', async () => {
    const it = await project(files, {
      intercept: ({ method, path }) => {
        const quoted = `no ${password} and no ${fromEnv} for ${encodeURIComponent(fromEnv)}`;
        if (method === 'GET') return undefined;
        if (path.includes('/users/'))
          return { kind: 'answer', status: 422, body: { errors: { group: [quoted] } } };
        return { kind: 'replace', body: { data: { type: 'tx_code', txt_content: `other ${fromEnv}` } } };
      },
    });
    const run = await it.idops('apply --yes --debug', { env });
    expect(run.code).toBe(1);
    expect(run.stdout).toContain('not converged');
    await expectNoSecrets(it, run);
  });

  it('is masked in the source line of a mistake', async () => {
    const it = await project({
      'idops.yaml': allowed,
      'manifests/all.yaml': `kind: User\nid: u\nbackend: {smtp_password: "${password}", smtp_prt: 1}\n`,
    });
    const runs = [await it.idops('validate --debug'), await it.idops('apply --yes --debug', { env })];
    expect(runs.map(({ code }) => code)).toEqual([1, 1]);
    expect(runs[0]?.stderr).toContain('did you mean "smtp_port"?');
    await expectNoSecrets(it, ...runs);
  });
});

describe('a token', () => {
  it('that the server echoes in an error is taken out of it', async () => {
    const it = await project(
      { 'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: New\n' },
      {
        tokens: { 'marked-token+of/the=test': ['users:manage:all'] },
        intercept: () => ({
          kind: 'answer',
          status: 401,
          body: {
            code: 'UNAUTHORIZED',
            message: 'Bearer marked-token+of/the=test is no good',
            errors: { 'marked-token+of/the=test': ['marked-token%2Bof%2Fthe%3Dtest'] },
          },
        }),
      },
    );
    const run = await it.idops('apply --yes --debug');
    expect(run.code).toBe(1);
    expect(run.stderr).toContain('is no good');
    await expectNoSecrets(it, run);
  });

  it('goes to the server alone, not where a redirect leads', async () => {
    const other = await project({});
    const it = await project(
      { 'manifests/all.yaml': 'kind: Organization\nname: acme\nlabel: New\n' },
      {
        intercept: () => ({ kind: 'answer', status: 307, headers: { location: `${other.sandbox.url}/x` } }),
      },
    );
    expect((await it.idops('plan')).code).toBe(1);
    expect(other.sandbox.requests).toEqual([]);
  });

  it("and a client's secret are in no answer that is kept", async () => {
    const it = await project({
      'manifests/all.yaml': `kind: Client\nid: ${ids.portal}\ndid_generation: 1\n`,
    });
    await it.idops('apply --yes');
    await it.write({ 'manifests/all.yaml': `kind: Client\nid: ${ids.portal}\ndid_generation: 2\n` });
    const run = await it.idops('apply --yes --debug --format json');
    expect(run.code).toBe(0);
    const left = [run.stdout, run.stderr, ...Object.values(await it.files())].join('\n');
    expect(left).not.toContain('demo-client-secret');
    await expectNoSecrets(it, run);
  });
});

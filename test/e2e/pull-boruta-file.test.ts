import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { boruta, borutaProject, failed, succeeded, type TestProject } from './running.js';

const id = (kind: number, number: number) => `${kind}0000000-0000-4000-8000-00000000000${number}`;

const file = `---
version: "1.0"
configuration:
  node_name: main
  gateway:
    - {scheme: http, host: upstream, port: 80, uris: ["/"]}
  organization:
    - {id: ${id(1, 9)}, name: north, label: North}
  backend:
    - id: ${id(2, 8)}
      name: Staff
      roles: [{id: ${id(8, 8)}}]
      smtp_from: staff@north.example
      smtp_password: password-of-smtp
      metadata_fields: [{attribute_name: desk, user_editable: true}]
      federated_servers:
        - {name: partner, client_id: north, client_secret: secret-of-partner, base_url: https://partner.example}
    - {name: Guests, password_hashing_alg: bcrypt, password_hashing_opts: {log_rounds: 12}}
  identity_provider:
    - id: ${id(9, 8)}
      name: Staff accounts
      backend_id: ${id(2, 8)}
      registrable: true
      templates: [{type: new_session, content: "<h1>North</h1>{{> inner }}"}]
    - {id: ${id(9, 7)}, name: Old accounts, backend_id: ${id(2, 1)}}
    - {id: ${id(9, 6)}, name: Refused, check_password: false}
  client:
    - id: ${id(6, 8)}
      name: North portal
      secret: secret-of-the-portal
      identity_provider: {id: ${id(9, 8)}}
      redirect_uris: [https://portal.north.example/back]
      authorized_scopes: [{name: "north:write"}, {name: "reports:read"}, {id: ${id(7, 8)}}]
      access_token_ttl: 3600
    - {name: Without an id, identity_provider: {id: ${id(9, 8)}}}
  scope:
    - {id: ${id(7, 8)}, name: "north:read", label: Read, public: true}
  role:
    - {id: ${id(8, 8)}, name: clerk, scopes: [{id: ${id(7, 8)}}, {id: ${id(7, 1)}}]}
    - {name: guest}
    - {name: ghp_0123456789abcdefghijABCDEFGHIJ012345}
  error_template:
    - {type: "404", content: "<h1>Nothing here</h1>"}
`;

const resources: { readonly [section: string]: string } = {
  organization: 'organizations',
  scope: 'scopes',
  role: 'roles',
  backend: 'backends',
  identity_provider: 'identity-providers',
  client: 'clients',
};

/** Creates the objects of the file, as the server does, except those that it refuses. */
async function load({ sandbox: { url, token } }: TestProject): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${url}/api/${path}`, { method, headers, body: JSON.stringify(body) ?? null });
    expect(answer.ok, `${method} ${path}: ${answer.status}`).toBe(true);
  };
  const { configuration } = parse(file);
  for (const section of ['organization', 'scope', 'role', 'backend', 'identity_provider', 'client'])
    for (const { client_secret: _, ...entry } of configuration[section])
      if (!['Refused', 'Without an id'].includes(entry.name))
        await ask('POST', resources[section] ?? '', { [section]: entry });
  for (const { type, ...template } of configuration.error_template)
    await ask('PATCH', `configuration/error-templates/${type}`, { template });
}

describe("idops pull from Boruta's configuration file", () => {
  it('writes manifests that match a server that loaded the file', async () => {
    const at = await borutaProject({ 'boruta.yml': file });
    const pulled = await succeeded(at.idops('pull --from-boruta-file boruta.yml'));
    expect(at.reads()).toEqual([]);
    for (const reason of [
      'gateway is not fully managed: idops has no kind for it',
      'identity_provider[2] is not fully managed: not written: the server refuses the member check_password',
      'client[0] is not fully managed: secret is a secret: declare it with a variable',
      'backend[0] is not fully managed: smtp_password is a secret',
      'backend[0] is not fully managed: client_secret of federated_servers is a secret',
      'client[1] is not fully managed: not written: it has no id',
      'role[2] is not fully managed: not written: it has neither an id nor a name that a document can use',
    ])
      expect(pulled.stderr).toContain(reason);
    const written = Object.entries(await at.files()).filter(([path]) => path.startsWith('manifests/'));
    const text = written.map(([, content]) => content).join('');
    for (const secret of ['password-of-smtp', 'secret-of-partner', 'secret-of-the-portal', 'ghp_'])
      expect(text + pulled.stdout + pulled.stderr).not.toContain(secret);
    expect(await at.read('manifests/clients.yaml')).toContain('identity_provider: Staff accounts\n');
    expect(await at.read('manifests/roles.yaml')).toContain(`- north:read\n`);
    await load(at);
    const planned = await at.idops('plan --detailed-exitcode');
    expect(planned, planned.stdout + planned.stderr).toMatchObject({ code: 0 });
  });

  it('refuses invalid files, and projects for other servers', async () => {
    const at = await borutaProject({
      'old.yml': file.replace('version: "1.0"\n', ''),
      'good.yml': file,
      'broken.yml': 'version: [',
      'list.yml': 'version: "1.0"\nconfiguration: {scope: {name: a}}\n',
    });
    const failing = (args: string, ...said: string[]) =>
      failed(at.idops(`pull --from-boruta-file ${args}`), ...said);
    await failing('old.yml', '"version"', 'old.yml');
    await failing('broken.yml', 'broken.yml:1');
    await failing('list.yml', 'list.yml:2', 'scope');
    await failing('none.yml', 'none.yml');
    await failing('good.yml --kind User', 'Scope');
    // Some entries have no id.
    await failing('good.yml --by id --user x', '--by id, --user');
    await at.write({ 'manifests/own.yaml': 'kind: Scope\nname: own\n' });
    await failing('good.yml', 'has manifests already', 'with --out');
    await at.write({ 'idops.yaml': boruta.replace('profile: boruta', 'profile: documented') });
    await failing('good.yml', 'profile: boruta');
  });
});

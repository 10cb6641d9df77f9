import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { boruta, borutaProject, project, refused, trustedConfig } from './running.js';

const ada = { id: ids.ada, username: 'ada@acme.example' };

/** Ada gets a scope and an organization. She has the role member, which contains reports:read. */
const manifest = `kind: User
id: ${ids.ada}
organizations: [acme, initech]
authorized_scopes:
  - name: "billing:read"
  - name: "billing:write"
`;

describe('idops access', () => {
  it('reads from the server who has which access, how, since when and where it is declared', async () => {
    const { idops, sandbox, write, writes, json } = await borutaProject({
      'idops.yaml': `${boruta}safety: {privileged: ["reports:*"]}\n`,
      'manifests/ada.yaml': manifest,
    });
    const member = sandbox.data.roles.find(({ id }) => id === ids.member);
    const user = sandbox.data.users.find(({ id }) => id === ids.ada);
    if (user === undefined || member === undefined) throw new Error('the sandbox has changed');
    Object.assign(user, { roles: [member], organizations: [{ id: ids.acme, roles: [] }] });
    expect((await idops('apply --yes')).code).toBe(0);
    const [run] = (await json('runs')).runs;

    const { grants, ...head } = await json(`access --user ${ada.username}`);
    expect(head).toEqual({ format_version: 1, source: 'live', as_of: expect.stringMatching(/^\d{4}-.+Z$/) });
    const none = { via: null, blocked: null, since: null, run: null, until: null };
    const own = { user: ada, privileged: false, ...none };
    const given = { since: expect.any(String), run: run.run };
    const at = (line: number) => ({ declared_at: { file: 'manifests/ada.yaml', line } });
    expect(grants).toEqual([
      { ...own, type: 'organization', id: ids.acme, name: 'acme', ...at(3) },
      { ...own, type: 'organization', id: ids.initech, name: 'initech', ...given, ...at(3) },
      expect.objectContaining({ type: 'scope', name: 'billing:read', via: null, ...at(5) }),
      expect.objectContaining({ type: 'scope', name: 'billing:write', via: null, ...at(6) }),
      expect.objectContaining({ name: 'reports:read', via: 'member', privileged: true, declared_at: null }),
      { ...own, type: 'role', id: ids.member, name: 'member', declared_at: null },
      { ...own, type: 'role', id: ids.member, name: 'member', declared_at: null, via: 'Company directory' },
    ]);

    const scope = await idops('access --scope reports:read');
    expect(scope.stdout).toMatch(
      /\nscope reports:read \(.+\): 2 users\n {4}ada@acme\.example privileged {2}via role member\n/,
    );
    const { stdout: roles } = await idops('access --role member --user ada@*');
    expect(roles).toMatch(/role member .*via backend "?Company directory"?/);
    const organization = await json(`access --organization ${ids.initech}`);
    expect(organization.grants.map(({ user: one }: { user: object }) => one)).toContainEqual(ada);
    await write({
      'manifests/many.yaml': `kind: Users\nusers: [grace@globex.example]\norganizations:\n  add:\n    - {name: umbrella, until: 2099-01-31}\n`,
    });
    expect((await idops('apply --yes')).code).toBe(0);
    const dated = await json('access --user grace* --organization umbrella');
    expect(dated.grants).toMatchObject([
      { until: '2099-01-31T00:00:00.000Z', declared_at: { file: 'manifests/many.yaml', line: 5 } },
    ]);
    const later = await idops('access --organization umbrella --now 2099-02-01');
    expect(later.stdout).toContain(', ended 2099-01-31T');
    const csv = (await idops('access --user ada* --role * --format csv')).stdout;
    expect(csv).toBe(
      `user_id,username,type,id,name,via,privileged,blocked,since,run,declared_at,until\n${ids.ada},${ada.username},role,${ids.member},member,,false,,,,,\n${ids.ada},${ada.username},role,${ids.member},member,Company directory,false,,,,,\n`,
    );
    await refused(idops('access --user adda --role "" --scope nothing'));
    const unknown = /error\[not-found\]: --user adda: .+\n[\s\S]+error\[not-found\]: --scope nothing: /;
    await refused(idops('access --user adda --scope nothing'), unknown);
    expect(writes().filter((one) => !one.startsWith('PATCH /api/users/'))).toEqual([]);
  });

  it('reports recorded access without requests if the profile lists no users, and what is unknown', async () => {
    const { idops, write, sandbox } = await project({
      'idops.yaml': trustedConfig,
      'manifests/all.yaml': `kind: User\nid: ${ids.ada}\nauthorized_scopes: [{id: 70000000-0000-4000-8000-000000000009, name: "users:manage:all", label: All}]\n`,
    });
    expect((await idops('apply --yes --allow-privileged 1')).code).toBe(0);
    await write({ 'manifests/grace.yaml': `kind: User\nid: ${ids.grace}\ngroup: staff\n` });
    const before = sandbox.requests.length;
    const env = { IDOPS_TOKEN: undefined };
    const { code, stdout, stderr } = await idops('access --scope *:manage:all --format json', { env });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      source: 'recorded',
      grants: [
        { user: ada, name: 'users:manage:all', privileged: true, blocked: false, run: expect.any(String) },
      ],
    });
    expect(stderr).toContain(`declared and never recorded, so unknown: ${ids.grace}`);
    const text = (await idops('access', { env })).stdout;
    expect(text).toMatch(/\nSource: +as recorded in the state, last at \d{4}-/);
    expect(text).toMatch(/access\s+that\s+idops\s+never\s+wrote/);
    expect(sandbox.requests).toHaveLength(before);
  });

  it('knows a recorded organization without members if the profile lists no users', async () => {
    const files = { 'manifests/a.yaml': 'kind: Organization\nname: acme\nlabel: ACME\n' };
    const { idops, json } = await project({ 'idops.yaml': trustedConfig, ...files });
    expect((await idops('apply --yes')).code).toBe(0);
    for (const name of ['acme', ids.acme])
      expect(await json(`access --organization ${name}`)).toMatchObject({ source: 'recorded', grants: [] });
    expect((await idops('access --organization acme')).code).toBe(0);
    await refused(
      idops('access --organization globex'),
      '--organization globex: the state has no such organization',
    );
    await refused(idops('access --role acme'), 'the state has no such role');
  });
});

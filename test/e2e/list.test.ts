import { describe, expect, it } from 'vitest';
import { ids } from '../sandbox/asking.js';
import { config, project, startedSeed } from './running.js';
import { expectToBeTold } from './schemas.js';

const boruta = config.replace('server:\n', 'server:\n  profile: boruta\n');
const manifests = {
  'manifests/organizations.yaml': `kind: Organization\nname: acme\nlabel: ACME\n---\nkind: Organization\nid: ${ids.globex}\nlabel: Globex\n`,
  'manifests/ada.yaml': `kind: User\nid: ${ids.ada}\ngroup: staff\n`,
};

interface Listed {
  readonly address: string;
  readonly declared_at?: { readonly file: string; readonly line: number };
}

describe('idops list', () => {
  it('says of each object where it is declared, and of the others nothing', async () => {
    const { idops } = await project({ 'idops.yaml': boruta, ...manifests }, { profile: 'boruta' });
    const { stdout, stderr } = await idops('list --format json');
    const listing = JSON.parse(stdout);
    expectToBeTold('A listing', listing);
    const declared = (listing.objects as Listed[]).flatMap(({ address, declared_at }) =>
      declared_at === undefined ? [] : [[address, `${declared_at.file}:${declared_at.line}`]],
    );
    expect(Object.fromEntries(declared)).toEqual({
      'Organization/acme': 'manifests/organizations.yaml:1',
      'Organization/globex': 'manifests/organizations.yaml:5',
      [`User/${ids.ada}`]: 'manifests/ada.yaml:1',
    });
    expect(stderr).toContain(`3 of ${listing.objects.length} objects are declared.`);
    const text = await idops('list User');
    expect(text.stdout).toBe(
      `User  ${ids.ada}  ada@acme.example\n  declared at manifests/ada.yaml:1\nUser  ${ids.grace}  grace@globex.example\n`,
    );
  });

  it('lists backends, scopes and roles where the server does, each list read once', async () => {
    const { idops, reads } = await project({ 'idops.yaml': boruta }, { profile: 'boruta' });
    const { backends, scopes, roles } = await startedSeed();
    const { stdout } = await idops('list --format json');
    const { others } = JSON.parse(stdout);
    expect(others).toEqual([
      ...backends.map(({ id, name }) => ({ kind: 'Backend', id, name, label: null })),
      ...scopes.map(({ id, name, label }) => ({ kind: 'Scope', id, name, label })),
      ...roles.map(({ id, name }) => ({ kind: 'Role', id, name, label: null })),
    ]);
    expect(
      reads().filter((read) => read.startsWith('GET /api/backends') && !read.includes('email')),
    ).toHaveLength(1);
    const before = reads().length;
    const alone = await idops('list Role');
    expect(alone).toMatchObject({ code: 0, stderr: '' });
    expect(alone.stdout.trimEnd().split('\n')).toHaveLength(roles.length);
    expect(alone.stdout).toContain(`Role  ${ids.member}  member`);
    expect(reads()).toHaveLength(before + 1);
    expect((await idops('list Organization')).stdout).not.toContain('Role');
    expect((await idops(`list --user ${ids.ada}`)).stdout).not.toContain('Role');
  });

  it('says where a profile has no list of them', async () => {
    const { idops } = await project(manifests);
    const { code, stdout, stderr } = await idops('list Scope');
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain("scopes can't be read with the profile documented");
    const all = JSON.parse((await idops('list --format json')).stdout);
    expect(all).not.toHaveProperty('others');
    expect((await idops('list')).stderr).not.toContain('scopes');
  });

  it('says what is wrong with manifests, and that more may be declared', async () => {
    const four = ['acme', 'globex', 'initech', 'umbrella'].map(
      (name) => `kind: Organization\nname: ${name}\n`,
    );
    const { idops, write } = await project({
      'manifests/organizations.yaml': [...four.slice(0, 3), `${four[3]}lable: U\n`].join('---\n'),
    });
    const misspelt = await idops('list Organization');
    expect(misspelt.code).toBe(1);
    expect(misspelt.stderr).toContain('error[unknown-field]');
    expect(misspelt.stderr).toMatch(/At least 3 of \d+ objects are declared/);
    await write({ 'manifests/broken.yaml': 'kind: Organization\nname: [a\n' });
    const { code, stdout, stderr } = await idops('list Organization --format json');
    expect(code).toBe(1);
    expect(stderr).toContain('error[yaml-syntax]');
    expect(stderr).toMatch(/At least 3 of \d+ objects are declared; what is wrong with the manifests/);
    const listing = JSON.parse(stdout);
    expectToBeTold('A listing', listing);
    expect(listing.problems.map(({ code }: { code: string }) => code).sort()).toEqual([
      'unknown-field',
      'yaml-syntax',
    ]);
    // What isn't declared by manifests has nothing to do with them.
    expect((await idops('list Scope')).code).toBe(0);
  });

  it('lists what is declared and not on the server, as far as it can be asked', async () => {
    const lacking = {
      'Organization/nowhere': 'kind: Organization\nname: nowhere\n',
      'User/40000000-0000-4000-8000-0000000000ff': 'kind: User\nid: 40000000-0000-4000-8000-0000000000ff\n',
      'KeyPair/50000000-0000-4000-8000-0000000000ff':
        'kind: KeyPair\nid: 50000000-0000-4000-8000-0000000000ff\n',
      'EmailTemplate/20000000-0000-4000-8000-0000000000ff/tx_code':
        'kind: EmailTemplate\nbackend_id: 20000000-0000-4000-8000-0000000000ff\ntype: tx_code\ntxt_content: hi\n',
      'Client/60000000-0000-4000-8000-0000000000ff':
        'kind: Client\nid: 60000000-0000-4000-8000-0000000000ff\n',
    };
    const files = {
      ...manifests,
      'manifests/lacking.yaml': Object.values(lacking).join('---\n'),
      'manifests/gone.yaml':
        'kind: EmailTemplate\nbackend_id: 20000000-0000-4000-8000-0000000000fe\ntype: tx_code\nstate: absent\n',
    };
    const full = await project({ 'idops.yaml': boruta, ...files }, { profile: 'boruta' });
    const { code, stdout, stderr } = await full.idops('list --format json');
    expect(code).toBe(0);
    const listing = JSON.parse(stdout);
    expectToBeTold('A listing', listing);
    expect(listing.lacking.map(({ address }: Listed) => address)).toEqual(Object.keys(lacking));
    expect(listing.lacking[0].declared_at).toEqual({ file: 'manifests/lacking.yaml', line: 1 });
    expect(stderr).toContain("The server doesn't have 5 objects that are declared.");
    const text = await full.idops('list Client');
    expect(text.stdout).toContain(
      'Client  60000000-0000-4000-8000-0000000000ff  (not on the server)\n  declared at manifests/lacking.yaml:',
    );
    expect(text.stdout).not.toContain('nowhere');
    expect((await full.idops(`list --user ${ids.ada}`)).stdout).not.toContain(
      '40000000-0000-4000-8000-0000000000ff',
    );
    // Whether it has users, key pairs and clients can't be asked there.
    const documented = await project(files);
    const part = JSON.parse((await documented.idops('list --format json')).stdout);
    expect(part.lacking.map(({ kind }: { kind: string }) => kind)).toEqual(['Organization', 'EmailTemplate']);
  });
});

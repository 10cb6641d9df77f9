import { describe, expect, it } from 'vitest';
import { ids } from '../sandbox/asking.js';
import { config, project, startedSeed } from './running.js';
import { expectToFit } from './schemas.js';

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
    expectToFit('list', listing);
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
});

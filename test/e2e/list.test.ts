import { describe, expect, it } from 'vitest';
import { ids } from '../demo-ids.js';
import { borutaProject, project, startedSeed, succeeded } from './running.js';

describe('idops list', () => {
  it('lists backends, scopes and roles if the server does, and reads each list once', async () => {
    const { idops, json, reads } = await borutaProject();
    const { backends, scopes, roles } = await startedSeed();
    const { objects } = await json('list');
    const listed = objects.map(({ kind, id, name }: { [part: string]: unknown }) => ({ kind, id, name }));
    expect(listed).toEqual(
      expect.arrayContaining([
        ...backends.map(({ id, name }) => ({ kind: 'Backend', id, name })),
        ...scopes.map(({ id, name }) => ({ kind: 'Scope', id, name })),
        ...roles.map(({ id, name }) => ({ kind: 'Role', id, name })),
      ]),
    );
    const ofBackends = reads().filter((read) => /^GET \/api\/backends(?!.*email)/.test(read));
    expect(ofBackends).toHaveLength(1);
    const before = reads().length;
    const onlyRoles = await succeeded(idops('list Role'));
    expect(onlyRoles.stdout.trimEnd().split('\n')).toHaveLength(roles.length);
    expect(onlyRoles.stdout).toContain(`Role  ${ids.member}  member`);
    // The scopes that roles contain are another list.
    expect(reads()).toHaveLength(before + 2);
    const both = (await idops('list Organization Role')).stdout;
    expect(both).toContain(`Role          ${ids.member}  member`);
    expect(both).toMatch(/^Organization /m);
    expect(both).not.toMatch(/^(?:User|Scope|Backend) /m);
    expect((await idops('list Organization')).stdout).not.toContain('Role');
  });

  it("reports if the profile can't list them", async () => {
    const { idops, json } = await project({});
    const { code, stdout, stderr } = await idops('list Scope');
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toContain("scopes can't be read with the profile documented");
    const all = await json('list');
    expect(all).not.toHaveProperty('others');
    expect((await idops('list')).stderr).not.toContain('scopes');
  });
});

import { describe, expect, test } from 'vitest';
import { planJson } from '../../src/report/json.js';
import { planText } from '../../src/report/text.js';
import { type Doc, ids, journalLines, type Site, site, todo } from '../boruta/site.js';

const home: Doc = { kind: 'Backend', name: 'Branch', smtp_password: 'of-the-branch', create: true };
const login: Doc = { kind: 'IdentityProvider', name: 'Branch login', backend: 'Branch', create: true };

const rowOf = ({ sandbox }: Site, name = 'Branch login') =>
  sandbox.data.identityProviders.find((one) => one.name === name);

describe('an identity provider', () => {
  test('is created in a backend of the same plan, and both are deleted by an undo', async () => {
    const at = await site();
    const { run, statuses, plan } = await at.apply(login, home);
    expect(statuses).toEqual({ 'Backend/Branch': 'applied', 'IdentityProvider/Branch login': 'applied' });
    expect(todo(await at.plan())).toEqual([]);
    expect(planText(plan, { color: false, debug: false })).toContain('backend: "Branch"\n');
    expect(JSON.stringify(planJson(plan, { debug: false }))).not.toMatch(/-8[0-9a-f]{3}-8[0-9a-f]{3}-/);
    await at.undo(run);
    expect(rowOf(at)).toBeUndefined();
    expect(at.sandbox.data.backends).toHaveLength(1);
  });

  test('is applied if its backend changes, which the server writes and answers with 500', async () => {
    const at = await site();
    await at.apply(home, login);
    const { run, statuses, results } = await at.apply(
      { ...login, backend: 'Company directory', totpable: true },
      home,
    );
    expect(statuses).toEqual({ 'IdentityProvider/Branch login': 'applied' });
    expect(results[0]?.httpStatus).toBe(500);
    expect(rowOf(at)).toMatchObject({ backend_id: ids.backend, totpable: true });
    expect(todo(await at.plan())).toEqual([]);
    const { left } = await at.undo(run);
    expect(left).toEqual([]);
    const made = at.sandbox.data.backends.find(({ name }) => name === 'Branch')?.id;
    expect(rowOf(at)).toMatchObject({ backend_id: made, totpable: false });
    expect(JSON.stringify(await journalLines(at))).not.toMatch(/of-the-branch|demo-(?:smtp|ldap)-password/);
  });

  test('has one backend, which a new one needs', async () => {
    const at = await site();
    const { backend: _, ...alone } = login;
    expect(todo(await at.plan(alone))).toEqual([
      'blocked IdentityProvider/Branch login: a new identity provider needs backend: declare it',
    ]);
    expect(todo(await at.plan(login))).toEqual([
      expect.stringContaining('blocked IdentityProvider/Branch login: the server has no backend "Branch"'),
    ]);
    const failure = await at.plan({ ...login, backend_id: ids.backend }).catch((refused: unknown) => refused);
    expect(failure).toMatchObject({ problems: [{ code: 'wrong-value' }] });
    const { statuses } = await at.apply({ ...alone, backend_id: ids.backend });
    expect(statuses).toEqual({ 'IdentityProvider/Branch login': 'applied' });
    expect(rowOf(at)).toMatchObject({ backend_id: ids.backend });
  });

  test('is blocked if the server has no backend with its backend_id and no document creates it', async () => {
    const at = await site();
    const { backend: _, ...alone } = login;
    const unknown = { ...alone, backend_id: ids.nobody };
    const lacks = expect.stringContaining(
      `blocked IdentityProvider/Branch login: the server has no backend with the id ${ids.nobody}`,
    );
    expect(todo(await at.plan(unknown))).toEqual([lacks]);
    const { statuses } = await at.apply(unknown, { ...home, id: ids.nobody });
    expect(statuses).toEqual({ 'Backend/Branch': 'applied', 'IdentityProvider/Branch login': 'applied' });
    const changed = { ...unknown, backend_id: '20000000-0000-4000-8000-0000000000ee' };
    expect(todo(await at.plan(changed, { ...home, id: ids.nobody }))).toEqual([
      expect.stringContaining('blocked IdentityProvider/Branch login: the server has no backend with the id'),
    ]);
  });

  test("that the server refuses to delete stays, and doesn't stop another deletion", async () => {
    const at = await site();
    const [used] = at.sandbox.data.clients;
    const [provider] = at.sandbox.data.identityProviders;
    if (used === undefined || provider === undefined) throw new Error('the demo data has no client');
    await at.apply(home, login);
    const gone: Doc[] = [provider.name, 'Branch login'].map((name) => ({
      kind: 'IdentityProvider',
      name,
      state: 'absent',
    }));
    at.fault = ({ method, path }) =>
      method === 'DELETE' && path.endsWith(provider.id)
        ? { kind: 'answer', status: 403, body: { code: 'FORBIDDEN', message: 'is write protected' } }
        : undefined;
    const protectedOne = await at.apply(...gone);
    expect(protectedOne.statuses).toEqual({
      'IdentityProvider/Branch login': 'applied',
      [`IdentityProvider/${provider.name}`]: expect.stringMatching(/^failed: .*write protected/),
    });
    at.fault = undefined;
    const { statuses } = await at.apply();
    expect(statuses[`IdentityProvider/${provider.name}`]).toMatch(/^failed: .*associated with client/);
    expect(rowOf(at, provider.name)).toBeDefined();
  });
});

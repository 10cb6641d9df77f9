import { describe, expect, test } from 'vitest';
import { ids, once, removeRow, type Site, site, user } from './site.js';

const ada = `User/${ids.ada}`;
const byName = { kind: 'User', username: 'ada@acme.example' };

function removeRole(at: Site): void {
  removeRow(at.sandbox.data.roles, ids.accountant);
  for (const { roles } of at.sandbox.data.users) {
    if (roles.some(({ id }) => id === ids.accountant)) removeRow(roles, ids.accountant);
  }
}

describe('undo', () => {
  const objects = [
    ['Scope', 's10'],
    ['Role', 'r10'],
    ['Organization', 'o10'],
  ] as const;
  /** The run that deletes these objects and takes them from the user. */
  const deleting = async (at: Site): Promise<string | null> => {
    const sets = (part: string) => ({
      roles: { [part]: ['r10'] },
      organizations: { [part]: ['o10'] },
      authorized_scopes: { [part]: ['s10'] },
    });
    const created = objects.map(([kind, name]) => ({ kind, name, create: true }));
    await at.apply(...created, { ...byName, ...sets('add') });
    const deleted = objects.map(([kind, name]) => ({ kind, name, state: 'absent' }));
    return (await at.apply(...deleted, { ...byName, ...sets('remove') })).run;
  };
  const newIds = ({ sandbox: { data } }: Site) =>
    [data.scopes, data.roles, data.organizations].map((rows) => rows.at(-1)?.id);

  test.each([
    ['creates again', false],
    ['created again in a first attempt', true],
  ])('gives a user the scopes and organizations that it %s, under their new ids', async (_, fails) => {
    const at = await site();
    const run = await deleting(at);
    // Its change fails first, and the objects have their new ids when the undo is repeated.
    once(at, fails ? 'PATCH' : 'NONE', { kind: 'answer', status: 422, body: {} });
    if (fails) await at.undo(run);
    const { left } = await at.undo(run);
    expect(left.filter((one) => one.startsWith(ada))).toEqual([]);
    const { authorized_scopes: scopes, roles, organizations } = user(at);
    expect([scopes, roles, organizations].map((set) => set.at(-1)?.id)).toEqual(newIds(at));
  });

  test('gives a user no organization that somebody else has created again', async () => {
    const at = await site();
    const run = await deleting(at);
    at.sandbox.data.organizations.push({ id: ids.portal, name: 'o10', label: null });
    const { left } = await at.undo(run);
    expect(left).toContainEqual(expect.stringMatching(`^${ada}: .*no organization with the id`));
    expect(user(at).organizations.map(({ id }) => id)).not.toContain(ids.portal);
  });

  test('restores the other fields if a role that the run added has been deleted', async () => {
    const at = await site();
    const former = user(at).group;
    const { run } = await at.apply({ ...byName, group: 'other', roles: { add: ['accountant'] } });
    removeRole(at);
    expect(await at.undo(run)).toMatchObject({ statuses: { [ada]: 'applied' }, left: [] });
    expect(user(at).group).toBe(former);
  });

  test.each([
    ['from a set', { remove: ['accountant', 'member'] }, ['member']],
    ['from a whole set', [], []],
  ])('restores the rest if a role that the run removed %s has been deleted', async (_, roles, rest) => {
    const at = await site();
    user(at).roles.push(...at.sandbox.data.roles.filter(({ id }) => id === ids.accountant));
    const former = user(at).group;
    const { run } = await at.apply({ ...byName, group: 'other', roles });
    removeRole(at);
    const left = [expect.stringMatching(`^${ada}: .*${ids.accountant}`)];
    expect(await at.undo(run)).toMatchObject({ statuses: { [ada]: 'applied' }, left });
    expect(user(at).group).toBe(former);
    expect(user(at).roles.map(({ name }) => name)).toEqual(rest);
  });

  test('restores the other fields of a client if the server refuses the former access_token_ttl in an update', async () => {
    const at = await site();
    const client = at.sandbox.data.clients.find(({ id }) => id === ids.portal);
    const { redirect_uris: former } = client ?? {};
    const changed = { redirect_uris: ['https://other.example/'], access_token_ttl: 200 };
    const { run } = await at.apply({ kind: 'Client', id: ids.portal, ...changed });
    const left = [{ path: 'access_token_ttl', reason: expect.stringContaining('at most 300 in an update') }];
    const undone = await at.session((opened) => opened.planUndo(run ?? ''));
    expect(undone).toMatchObject({ left });
    expect((await at.undo(run)).statuses).toEqual({ [`Client/${ids.portal}`]: 'applied' });
    expect(client).toMatchObject({ redirect_uris: former, access_token_ttl: 200 });
  });

  test('names the templates that were deleted with a backend', async () => {
    const at = await site();
    const office = { kind: 'Backend', name: 'Office' };
    const of = { kind: 'EmailTemplate', backend: 'Office' };
    const reset = {
      ...of,
      type: 'reset_password_instructions',
      txt_content: '{{ url }}',
      html_content: '<p>{{ url }}</p>',
    };
    const code = { ...of, type: 'tx_code', txt_content: '{{ code }}', html_content: '<p>{{ code }}</p>' };
    await at.apply({ ...office, create: true }, reset, code);
    await at.apply({ ...of, type: 'tx_code', state: 'absent' });
    const { id } = at.sandbox.data.backends.find(({ name }) => name === 'Office') ?? {};
    const { run } = await at.apply({ ...office, state: 'absent' });
    const { left } = await at.undo(run);
    expect(left.filter((one) => one.startsWith('EmailTemplate/'))).toEqual([
      `EmailTemplate/${id}/reset_password_instructions: it was deleted with its backend; apply its manifest to restore it`,
    ]);
  });

  test('names the pages that were deleted with an identity provider', async () => {
    const at = await site();
    const provider = { kind: 'IdentityProvider', name: 'Intern' };
    await at.apply({ ...provider, backend_id: ids.backend, create: true });
    const { id } = at.sandbox.data.identityProviders.find(({ name }) => name === 'Intern') ?? {};
    await at.apply({
      kind: 'PageTemplate',
      identity_provider_id: id ?? '',
      type: 'new_session',
      content: '<p>Hi</p>',
    });
    const { run } = await at.apply({ ...provider, state: 'absent' });
    const { left } = await at.undo(run);
    expect(left.filter((one) => one.startsWith('PageTemplate/'))).toEqual([
      `PageTemplate/${id}/new_session: it was deleted with its identity provider; apply its manifest to restore it`,
    ]);
  });

  test('keeps fields together that the server checks together', async () => {
    const at = await site();
    const office = { kind: 'Backend', name: 'Office' };
    const argon2 = { password_hashing_alg: 'argon2', password_hashing_opts: { m_cost: 16 } };
    await at.apply({ ...office, ...argon2, roles: ['accountant', 'member'], create: true });
    const bcrypt = { password_hashing_alg: 'bcrypt', password_hashing_opts: { log_rounds: 12 } };
    const { run } = await at.apply({ ...office, ...bcrypt, roles: ['member'] });
    removeRole(at);
    const undone = await at.undo(run);
    expect(undone).toMatchObject({
      statuses: { 'Backend/Office': 'applied' },
      left: [expect.stringContaining(ids.accountant)],
    });
    expect(at.sandbox.data.backends.find(({ name }) => name === 'Office')).toMatchObject(argon2);
  });
});

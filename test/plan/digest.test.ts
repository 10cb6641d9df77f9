import { expect, it } from 'vitest';
import { type Fields, Sensitive } from '../../src/base/values.js';
import { type DigestScope, digestHasher, planDigest, withHashes } from '../../src/plan/digest.js';
import type { Change } from '../../src/plan/plan.js';
import { changeFor, declared, organizations, recorded } from './fixtures.js';

const scope: DigestScope = { server: 'https://id.example.com', environment: null };

function user(fields: Fields): Change {
  return changeFor(declared('User', { id: 'u' }, fields), { organizations });
}

function digest(...changes: Change[]): string {
  return planDigest(scope, changes);
}

it('is a sha256', () => {
  expect(digest()).toMatch(/^sha256:[0-9a-f]{64}$/);
});

it('does not change with the order of changes and keys', () => {
  const a = user({ group: 'staff', backend: { smtp_port: 1, smtp_relay: 'x' } });
  const b = user({ backend: { smtp_relay: 'x', smtp_port: 1 }, group: 'staff' });
  const pair = changeFor(declared('KeyPair', { id: 'k' }, { is_default: true }));
  expect(digest(a, pair)).toBe(digest(pair, b));
});

it('does not change with the order inside sets, at any depth', () => {
  const roles = [{ id: 'r1' }, { id: 'r2' }];
  const a = user({ organizations: [{ id: '1', roles }, 'globex'] });
  const b = user({ organizations: ['globex', { id: '1', roles: [...roles].reverse() }] });
  expect(digest(a)).toBe(digest(b));
});

it("changes with the order of a list that isn't a set", () => {
  expect(digest(user({ backend: { features: ['a', 'b'] } }))).not.toBe(
    digest(user({ backend: { features: ['b', 'a'] } })),
  );
});

it('changes with a value, an address, the server and a cleared field', () => {
  const base = digest(user({ group: 'staff' }));
  expect(digest(user({ group: 'Staff' }))).not.toBe(base);
  expect(digest(user({ group: null }))).not.toBe(base);
  expect(digest(changeFor(declared('User', { id: 'v' }, { group: 'staff' })))).not.toBe(base);
  expect(planDigest({ ...scope, server: 'https://other.example.com' }, [user({ group: 'staff' })])).not.toBe(
    base,
  );
});

it('changes with a secret, and is the same on every machine', () => {
  const password = (text: string) => user({ backend: { smtp_password: new Sensitive(text) } });
  expect(digest(password('hush'))).toBe(digest(password('hush')));
  expect(digest(password('hush'))).not.toBe(digest(password('Hush')));
});

it('hashes a secret differently for another server or environment', () => {
  const change = user({ backend: { smtp_password: new Sensitive('hush') } });
  const hidden = (other: Partial<DigestScope>) =>
    withHashes(new Sensitive('hush'), digestHasher({ ...scope, ...other }));
  expect(hidden({})).toEqual(hidden({}));
  expect(hidden({ environment: 'production' })).not.toEqual(hidden({}));
  expect(hidden({ server: 'https://other.example.com' })).not.toEqual(hidden({}));
  expect(planDigest({ ...scope, environment: 'production' }, [change])).not.toBe(digest(change));
});

it("ignores what isn't sent", () => {
  const known = { recorded: recorded({ group: 'staff' }) };
  const unchanged = changeFor(declared('User', { id: 'u' }, { group: 'staff' }), known);
  const adopted = changeFor(declared('Client', { id: 'c' }, {}, { generation: 1 }));
  expect(digest(unchanged, adopted)).toBe(digest());
});

it('changes if one of two equal requests is left out', () => {
  const change = changeFor(declared('Client', { id: 'c' }, {}, { generation: 2 }), {
    recorded: recorded({}, { generation: 1 }),
  });
  expect(digest(change, change)).not.toBe(digest(change));
});

it('does not change with the display name of an object', () => {
  const change = user({ group: 'staff' });
  expect(digest({ ...change, label: 'ada@acme.example' })).toBe(digest(change));
});

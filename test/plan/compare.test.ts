import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../src/base/values.js';
import { Catalog } from '../../src/kinds/catalog.js';
import { Hasher } from '../../src/secrets/hash.js';
import { boruta, changeFor, declared, live, organizations, recorded } from './fixtures.js';

const template = { backend_id: 'b', type: 'tx_code' };

describe('an organization', () => {
  const identity = { id: '1', name: 'acme' };
  const there = live(identity, { id: '1', name: 'acme', label: 'ACME' });
  const unlabelled = live(identity, { id: '1', name: 'acme' });
  const labelled = (label: string | null) => declared('Organization', identity, { label });

  it('is unchanged if the server has the declared values', () => {
    const document = declared('Organization', identity, { name: 'acme', label: 'ACME' });
    const change = changeFor(document, { live: there });
    expect(change).toMatchObject({ action: 'unchanged', observed: 'live', requests: [], fields: [] });
  });

  it('is sent whole: live fields under declared ones', () => {
    const change = changeFor(labelled('ACME Corp'), { live: there });
    const body = { id: '1', name: 'acme', label: 'ACME Corp' };
    const params = { organization_id: '1' };
    expect(change.requests).toEqual([{ operation: 'updateOrganization', params, body }]);
    expect(change.fields).toMatchObject([{ path: 'label', before: 'ACME', after: 'ACME Corp' }]);
    expect(change.declaredAt).toEqual({ file: 'manifests/all.yaml', line: 3 });
  });

  it('is not sent with assert if the live value matches', () => {
    const change = changeFor(labelled('ACME'), { live: there, assert: true });
    expect(change).toMatchObject({ action: 'unchanged', observed: 'live', requests: [] });
  });

  it("loses its label by null, and keeps a label that it doesn't mention", () => {
    const fields = [{ path: 'label', before: 'ACME', after: null }];
    expect(changeFor(labelled(null), { live: there })).toMatchObject({ action: 'update', fields });
    expect(changeFor(declared('Organization', identity, {}), { live: there }).action).toBe('unchanged');
  });

  it('is sent if the response left its label out', () => {
    const change = changeFor(labelled('ACME'), { live: unlabelled });
    expect(change).toMatchObject({ action: 'update', fields: [{ before: undefined, after: 'ACME' }] });
  });

  it('is compared with the record if the response left its label out', () => {
    const change = changeFor(labelled('ACME'), { live: unlabelled, recorded: recorded({ label: 'ACME' }) });
    const recordedAt = '2026-01-31T12:00:00Z';
    expect(change).toMatchObject({ action: 'unchanged', observed: 'recorded', recordedAt });
  });

  it("is blocked if the server doesn't have it, since no operation creates it", () => {
    const reason = 'the server has no organization "acme"';
    const change = changeFor(labelled('x'), { live: live(identity, {}, { exists: false, reason }) });
    expect(change).toMatchObject({ action: 'blocked', reason, requests: [] });
  });
});

describe('a user', () => {
  const identity = { id: 'u' };

  it('is sent if nothing is known about it', () => {
    const body = { blocked: false, group: 'staff' };
    const change = changeFor(declared('User', identity, body));
    expect(change).toMatchObject({ action: 'update', observed: 'unknown', destructions: [] });
    expect(change.requests).toEqual([{ operation: 'updateUser', params: { user_id: 'u' }, body }]);
    expect(change.fields.map(({ before }) => before)).toEqual([undefined, undefined]);
  });

  it('is unchanged if the last response had the declared values, and then sent only with assert', () => {
    const document = declared('User', identity, { group: 'staff' });
    const known = { recorded: recorded({ group: 'staff', username: 'ada' }) };
    expect(changeFor(document, known)).toMatchObject({ action: 'unchanged', observed: 'recorded' });
    expect(changeFor(document, { ...known, assert: true })).toMatchObject({
      action: 'update',
      fields: [{ path: 'group', before: 'staff', after: 'staff' }],
      destructions: [],
      requests: [{ body: { group: 'staff' } }],
    });
  });

  it('is sent with all declared fields, not only those that differ', () => {
    const change = changeFor(declared('User', identity, { group: 'staff', blocked: false }), {
      recorded: recorded({ group: 'staff', blocked: true }),
    });
    expect(change.requests).toMatchObject([{ body: { group: 'staff', blocked: false } }]);
    expect(change.fields.map(({ path }) => path)).toEqual(['blocked']);
  });

  it('is sent again if the outcome of the last request is unknown', () => {
    const doubtful = recorded({ group: 'staff' }, { uncertain: new Set(['group']) });
    const change = changeFor(declared('User', identity, { group: 'staff' }), { recorded: doubtful });
    expect(change).toMatchObject({ action: 'update', fields: [{ path: 'group', before: undefined }] });
  });

  it('has its metadata merged into the recorded metadata', () => {
    const change = changeFor(declared('User', identity, { metadata: { a: 2, b: null } }), {
      recorded: recorded({ metadata: { a: 1, b: 2, c: 3 } }),
    });
    expect(change.requests).toMatchObject([{ body: { metadata: { a: 2, c: 3 } } }]);
    expect(change.fields.map(({ path, before, after }) => [path, before, after])).toEqual([
      ['metadata.a', 1, 2],
      ['metadata.b', 2, null],
    ]);
  });

  it('is blocked if its present metadata is unknown', () => {
    const change = changeFor(declared('User', identity, { metadata: { a: 1 }, group: 'staff' }));
    expect(change).toMatchObject({ action: 'blocked', requests: [] });
    expect(change.reason).toContain('whole: [metadata]');
  });

  it('is not blocked if the metadata is declared whole or empty', () => {
    const whole = declared('User', identity, { metadata: { a: 1 } }, { whole: ['metadata'] });
    expect(changeFor(whole).requests).toMatchObject([{ body: { metadata: { a: 1 } } }]);
    const nothing = declared('User', identity, { metadata: {}, group: 'staff' });
    expect(changeFor(nothing).requests).toMatchObject([{ body: { group: 'staff' } }]);
  });

  it('manages only the mentioned members of its backend', () => {
    const document = declared('User', identity, { backend: { smtp_port: 587 } });
    const known = recorded({ backend: { smtp_port: 25, smtp_relay: 'relay' } });
    expect(changeFor(document, { recorded: known })).toMatchObject({
      fields: [{ path: 'backend.smtp_port', before: 25, after: 587 }],
      requests: [{ body: { backend: { smtp_port: 587 } } }],
    });
  });

  it('shows no secret, whatever its source', () => {
    const group = new Sensitive('from the environment');
    const backend = { smtp_password: new Sensitive('hush') };
    const change = changeFor(declared('User', identity, { group, backend }));
    expect(change.fields.map(({ path, sensitive }) => [path, sensitive])).toEqual([
      ['group', true],
      ['backend.smtp_password', true],
    ]);
    expect(JSON.stringify(change)).not.toMatch(/hush|from the environment/);
  });

  it('shows no former secret if the manifest now declares another value', () => {
    const hasher = new Hasher({ server: 'https://id.example.com', salt: 'salt' });
    for (const group of [new Sensitive('hush'), hasher.hashedSecret(hasher.hash('hush'))]) {
      const document = declared('User', identity, { group: 'staff' });
      const change = changeFor(document, { recorded: recorded({ group }) });
      expect(change.fields).toMatchObject([{ path: 'group', sensitive: true }]);
    }
  });

  it('is unchanged if its password has the recorded hash', () => {
    const hasher = new Hasher({ server: 'https://id.example.com', salt: 'salt' });
    const known = recorded({ backend: { smtp_password: hasher.hashedSecret(hasher.hash('hush')) } });
    const document = (password: string) =>
      declared('User', identity, { backend: { smtp_password: new Sensitive(password) } });
    expect(changeFor(document('hush'), { recorded: known }).action).toBe('unchanged');
    expect(changeFor(document('new'), { recorded: known })).toMatchObject({
      action: 'update',
      fields: [{ path: 'backend.smtp_password', sensitive: true }],
    });
  });
});

describe("a user's organizations", () => {
  const identity = { id: 'u' };
  const memberOf = (...members: string[]) => declared('User', identity, { organizations: members });
  const acme = { id: '1', name: 'acme' };
  const globex = { id: '2', name: 'globex' };

  it('are found by name or id, and sent with all their known fields', () => {
    const globex = { id: '2', name: 'globex', label: null };
    const body = { organizations: [globex, { id: '1', name: 'acme', label: 'ACME' }] };
    expect(changeFor(memberOf('globex', '1'), { organizations }).requests).toMatchObject([{ body }]);
  });

  it('count as destructive for each one lost', () => {
    const known = { organizations, recorded: recorded({ organizations: [acme, globex] }) };
    expect(changeFor(memberOf('initech'), known).destructions).toEqual([
      'removes the membership "acme" (id 1)',
      'removes the membership "globex" (id 2)',
    ]);
    expect(changeFor(memberOf('acme', 'globex', 'initech'), known).destructions).toEqual([]);
  });

  it('that a server has twice lose nothing if one of the two is removed', () => {
    const known = { organizations, recorded: recorded({ organizations: [acme, globex, { ...acme }] }) };
    expect(changeFor(memberOf('globex', 'acme'), known).destructions).toEqual([]);
    expect(changeFor(memberOf('globex'), known).destructions).toHaveLength(2);
  });

  it('count as destructive for each role lost in a remaining membership', () => {
    const member = { id: 'r1', name: 'member' };
    const accountant = { id: 'r2', name: 'accountant' };
    const known = recorded({ organizations: [{ ...acme, roles: [member, accountant] }] });
    const lost = (...left: { id: string; name: string }[]) => {
      const document = declared('User', identity, { organizations: [{ name: 'acme', roles: left }] });
      return changeFor(document, { organizations, recorded: known }).destructions;
    };
    const accountants = 'removes the role "accountant" (id r2) within the membership "acme" (id 1)';
    expect(lost()).toEqual([
      'removes the role "member" (id r1) within the membership "acme" (id 1)',
      accountants,
    ]);
    expect(lost(member)).toEqual([accountants]);
    expect(lost(member, accountant, { id: 'r3', name: 'auditor' })).toEqual([]);
  });

  it("that don't exist are reported as a wrong name or a wrong id", () => {
    const id = '10000000-0000-4000-8000-00000000beef';
    expect(changeFor(memberOf(id), { organizations }).reason).toMatch(/, or correct the id$/);
    expect(changeFor(memberOf('hooli'), { organizations }).reason).toMatch(/, or correct the name$/);
  });

  it("that are unknown carry a warning, and don't count as destructive", () => {
    const change = changeFor(memberOf('acme'), { organizations });
    expect(change.warnings.map(({ code }) => code)).toEqual(['unknown-set']);
    expect(change.destructions).toEqual([]);
  });

  it("keep their roles if the manifest doesn't mention them", () => {
    const roles = [{ id: 'r', name: 'member' }];
    const known = recorded({ organizations: [{ ...acme, roles }] });
    const change = changeFor(memberOf('acme', 'globex'), { organizations, recorded: known });
    expect(change.requests).toMatchObject([{ body: { organizations: [{ id: '1', roles }, { id: '2' }] } }]);
  });

  it("that the server doesn't have block the user, and the reason names all", () => {
    const change = changeFor(memberOf('hooli', 'acme', 'pied piper'), { organizations });
    expect(change.action).toBe('blocked');
    expect(change.reason).toContain('hooli');
    expect(change.reason).toContain('pied piper');
  });

  it('that are declared twice, by name and by id, block the user', () => {
    const change = changeFor(memberOf('acme', '1'), { organizations });
    expect(change).toMatchObject({ action: 'blocked', reason: expect.stringContaining('twice') });
  });

  it('may be a row that came without an id', () => {
    const index = new Catalog([{ name: 'acme' }, {}]);
    const byId = declared('User', identity, { organizations: [{ id: '9' }] });
    const [request] = changeFor(byId, { organizations: index }).requests;
    expect(request).toMatchObject({ body: { organizations: [{ id: '9' }] } });
    const reason = expect.stringContaining('rows without an id');
    expect(changeFor(memberOf('acme'), { organizations: index })).toMatchObject({
      action: 'blocked',
      reason,
    });
  });
});

it('blocking a user is destructive, unblocking one is not', () => {
  const blocked = (value: boolean) => declared('User', { id: 'u' }, { blocked: value });
  expect(changeFor(blocked(true)).destructions).toEqual(['blocks the user']);
  expect(changeFor(blocked(true), { recorded: recorded({ blocked: false }) }).destructions).toHaveLength(1);
  expect(changeFor(blocked(false), { recorded: recorded({ blocked: true }) }).destructions).toEqual([]);
});

it('another name or label of an organization, role or scope is no change of its user', () => {
  const now = {
    organizations: [{ id: 'o', name: 'renamed', label: 'By hand', roles: [{ id: 'r', name: 'member' }] }],
    authorized_scopes: [{ id: '1', name: 'billing:read', public: true }],
  };
  const billing = { id: '1', name: 'billing', label: 'Billing', public: false };
  const other = { id: '2', name: 'new', label: 'New' };
  const asked = {
    organizations: [{ id: 'o', name: 'acme', label: 'ACME', roles: [] }],
    authorized_scopes: [billing, other],
  };
  const { fields } = changeFor(declared('User', { id: 'u' }, asked), { recorded: recorded(now) });
  expect(fields.map(({ path, after }) => [path, after])).toEqual([
    ['organizations', [{ id: 'o', name: 'renamed', label: 'By hand', roles: [] }]],
    ['authorized_scopes', [...now.authorized_scopes, other]],
  ]);
});

it('removing a scope is destructive', () => {
  const document = declared('User', { id: 'u' }, { authorized_scopes: [] });
  const known = recorded({ authorized_scopes: [{ id: '1', name: 'billing:read', label: 'x' }] });
  const { destructions } = changeFor(document, { recorded: known });
  expect(destructions).toEqual(['removes the scope "billing:read" (id 1)']);
});

describe('a key pair', () => {
  const pair = (fields: { is_default?: boolean; public_key?: string }) =>
    declared('KeyPair', { id: 'k' }, fields);

  it('that becomes the default is destructive', () => {
    expect(changeFor(pair({ is_default: true }))).toMatchObject({
      destructions: ['moves the default key pair'],
      requests: [{ operation: 'updateKeyPair', params: { key_pair_id: 'k' }, body: { is_default: true } }],
    });
  });

  it("ignores a default that it doesn't declare", () => {
    const known = recorded({ is_default: false, public_key: 'old' });
    const change = changeFor(pair({ is_default: false, public_key: 'new' }), { recorded: known });
    expect(change.requests).toMatchObject([{ body: { public_key: 'new' } }]);
    expect(change.apply.expected).toEqual({ public_key: 'new' });
  });

  it('sends nothing if it only declares that it is not the default', () => {
    const known = { recorded: recorded({ is_default: false }), assert: true };
    const change = changeFor(pair({ is_default: false }), known);
    expect(change).toMatchObject({ action: 'unchanged', requests: [] });
  });
});

describe('an email template', () => {
  const there = live(template, { id: 't', ...template, txt_content: 'txt', html_content: '<p>' });

  it("is sent whole, with the body that isn't mentioned", () => {
    const change = changeFor(declared('EmailTemplate', template, { txt_content: 'new' }), { live: there });
    const params = { backend_id: 'b', template_type: 'tx_code' };
    const body = { id: 't', txt_content: 'new', html_content: '<p>', type: 'tx_code', backend_id: 'b' };
    expect(change.requests).toEqual([{ operation: 'updateTemplate', params, body }]);
    expect(change.apply.expected).toEqual({ id: 't', txt_content: 'new', html_content: '<p>' });
  });

  it("is sent with a warning if it doesn't exist", () => {
    const document = declared('EmailTemplate', template, { txt_content: 'new' });
    const change = changeFor(document, { live: live(template, {}, { exists: false }) });
    expect(change).toMatchObject({ action: 'update', observed: 'live', warnings: [{ code: 'not-there' }] });
    expect(change.fields).toMatchObject([{ path: 'txt_content', before: null, after: 'new' }]);
  });

  it('with state absent is deleted if it has an id', () => {
    const change = changeFor(declared('EmailTemplate', template, {}, { absent: true }), { live: there });
    expect(change).toMatchObject({ action: 'delete', destructions: ['deletes the template'] });
    const params = { backend_id: 'b', template_type: 'tx_code' };
    expect(change.requests).toEqual([{ operation: 'deleteTemplate', params }]);
  });

  it.each([
    ['the server has none', live(template, {}, { exists: false })],
    ['the server shows a built-in one, without an id', live(template, { id: null, txt_content: 'txt' })],
    ['the answer has no id', live(template, { txt_content: 'txt' })],
  ])('is already absent: %s', (_, known) => {
    const change = changeFor(declared('EmailTemplate', template, {}, { absent: true }), { live: known });
    expect(change).toMatchObject({ action: 'unchanged', requests: [] });
  });

  it("is already absent if it is the server's response to the last DELETE", () => {
    const change = changeFor(declared('EmailTemplate', template, {}, { absent: true }), {
      live: there,
      recorded: recorded({}, { matchesDeleteResponse: ({ txt_content }) => txt_content === 'txt' }),
    });
    expect(change.action).toBe('unchanged');
  });

  it('sends null, which clears a body', () => {
    const change = changeFor(declared('EmailTemplate', template, { html_content: null }), { live: there });
    expect(change.requests).toMatchObject([{ body: { txt_content: 'txt', html_content: null } }]);
  });
});

describe('a client', () => {
  const client = (generation: number) => declared('Client', { id: 'c' }, {}, { generation });

  it('without a record is adopted, and nothing is sent', () => {
    const idle = { requests: [], destructions: [], apply: { generation: 7 } };
    expect(changeFor(client(7))).toMatchObject({ action: 'adopt', observed: 'unknown', ...idle });
  });

  it('regenerates its DID once, whatever the distance', () => {
    const change = changeFor(client(9), { recorded: recorded({}, { generation: 2 }) });
    const destructions = ['regenerates the DID'];
    expect(change).toMatchObject({ action: 'regenerate', observed: 'recorded', destructions });
    expect(change.requests).toEqual([{ operation: 'regenerateDid', params: { client_id: 'c' } }]);
  });

  it('is unchanged at the recorded number, even with assert', () => {
    const known = { recorded: recorded({}, { generation: 2 }) };
    expect(changeFor(client(2), known).action).toBe('unchanged');
    const asserted = changeFor(client(2), { ...known, assert: true });
    expect(asserted).toMatchObject({ action: 'unchanged', requests: [] });
  });

  it('with a smaller number is an error', () => {
    const change = changeFor(client(1), { recorded: recorded({}, { generation: 2 }) });
    expect(change).toMatchObject({ action: 'blocked', requests: [] });
    expect(change.reason).toContain('smaller than the recorded 2');
  });

  it('is blocked if the last outcome is unknown', () => {
    const pending = recorded({}, { generation: 1, pendingRun: 'run-1' });
    const reason = expect.stringContaining('run-1');
    expect(changeFor(client(2), { recorded: pending })).toMatchObject({
      action: 'blocked',
      requests: [],
      reason,
    });
  });

  describe("whose DID isn't the recorded one", () => {
    const live = { exists: true, identity: { id: 'c' }, fields: { did: 'did:new' } };
    const known = { live, recorded: recorded({ did: 'did:old' }, { generation: 1 }) };

    it('is blocked, with both DIDs, the time of the record, and what to do', () => {
      const change = changeFor(client(2), known);
      expect(change).toMatchObject({ action: 'blocked', requests: [], destructions: [] });
      for (const part of ['did:old', 'did:new', '2026-01-31T12:00:00Z', 'run-0', 'idops state rm Client/c']) {
        expect(change.reason).toContain(part);
      }
    });

    it('is unchanged at the recorded number, with a warning', () => {
      const change = changeFor(client(1), known);
      expect(change).toMatchObject({ action: 'unchanged', requests: [] });
      const message = expect.stringContaining('did:new');
      expect(change.warnings).toMatchObject([{ code: 'did-moved', message }]);
    });

    it('is regenerated if the DID is the recorded one', () => {
      const same = { ...known, recorded: recorded({ did: 'did:new' }, { generation: 1 }) };
      const destructions = ['regenerates the DID, which is did:new now'];
      expect(changeFor(client(2), same)).toMatchObject({ action: 'regenerate', destructions });
      const unseen = { ...same, live: { ...live, fields: {} } };
      expect(changeFor(client(2), unseen).destructions).toEqual([
        'regenerates the DID, which was did:new when it was recorded',
      ]);
    });

    it('is recorded with its DID if the record has none', () => {
      const without = { live, recorded: recorded({}, { generation: 1 }) };
      expect(changeFor(client(1), without)).toMatchObject({ action: 'adopt', requests: [] });
    });
  });

  it("that doesn't show its DID is unchanged", () => {
    expect(changeFor(declared('Client', { id: 'c' })).action).toBe('unchanged');
  });
});

it("a template with state absent carries a warning if the server doesn't have its backend", () => {
  const typo = { ...template, backend_id: '40000000-0000-4000-8000-00000000dead' };
  const gone = declared('EmailTemplate', typo, {}, { absent: true });
  const missing = { exists: false, identity: typo, fields: {} };
  const warned = changeFor(gone, { live: missing, profile: boruta });
  expect(warned).toMatchObject({ action: 'unchanged', warnings: [{ code: 'not-there' }] });
  expect(changeFor(gone, { live: missing })).toMatchObject({ action: 'unchanged', warnings: [] });
});

describe('a key of a map', () => {
  it('is absent before it is added and after it is removed, unlike null', () => {
    const user = declared('User', { id: 'u' }, { metadata: { goes: null, comes: 'b' } });
    const change = changeFor(user, { recorded: recorded({ metadata: { goes: null, stays: null } }) });
    expect(change.fields).toEqual([
      { path: 'metadata.comes', type: 'map', before: null, was: 'absent', after: 'b', sensitive: false },
      { path: 'metadata.goes', type: 'map', before: null, after: null, becomes: 'removed', sensitive: false },
    ]);
    const cleared = declared('User', { id: 'u' }, { group: null });
    const [shown] = changeFor(cleared, { recorded: recorded({ group: 'staff' }) }).fields;
    expect(shown).not.toHaveProperty('becomes');
  });
});

import { describe, expect, it } from 'vitest';
import { otherObjectError, verify } from '../../src/apply/verify.js';
import { Sensitive } from '../../src/base/values.js';
import { kinds } from './fakes.js';

describe('a response', () => {
  it('with the sent values and more has no difference', () => {
    const answer = { group: 'staff', username: 'ada', blocked: false };
    expect(verify(kinds.user, { group: 'staff' }, answer)).toEqual({
      different: [],
      values: [],
      unverified: [],
    });
  });

  it('is compared field by field: different and missing ones', () => {
    const answer = { group: 'other', backend: { smtp_port: 25 } };
    const asked = { group: 'staff', blocked: true, backend: { smtp_port: 587, smtp_relay: 'relay' } };
    expect(verify(kinds.user, asked, answer)).toEqual({
      different: [
        'group: asked "staff", the server has "other"',
        'backend.smtp_port: asked 587, the server has 25',
      ],
      values: ['asked "staff", the server has "other"', 'asked 587, the server has 25'],
      unverified: ['blocked', 'backend.smtp_relay'],
    });
  });

  it('is compared by id and without order in sets', () => {
    const answer = { organizations: [{ id: '2' }, { id: '1', name: 'acme' }] };
    expect(verify(kinds.user, { organizations: [{ id: '1' }, { id: '2' }] }, answer).different).toEqual([]);
    expect(verify(kinds.user, { organizations: [{ id: '1' }] }, answer).different).toHaveLength(1);
  });

  it('without a member of a large set is reported with the whole member, and the others counted', () => {
    const all = ['acme', 'globex', 'initech'].map((name) => ({ id: `5f0c1a9e-${name}`, name, roles: [] }));
    const [acme, globex, initech] = all;
    const other = { id: 'other', name: 'other' };
    const named = (one: object | undefined) => JSON.stringify([one]);
    const compared = (...organizations: (object | undefined)[]) =>
      verify(kinds.user, { organizations: all }, { organizations } as never).different;
    expect(compared(other, initech, acme)).toEqual([
      `organizations: asked ${named(globex)}, the server has ${named(other)}, besides 2 as asked`,
    ]);
    const wider = { ...globex, roles: [{ id: 'r1', name: 'admin' }] };
    expect(compared(acme, wider, initech)).toEqual([
      `organizations: asked ${named(globex)}, the server has ${named(wider)}, besides 2 as asked`,
    ]);
  });

  it('with a long body that differs late shows the difference', () => {
    const sent = { txt_content: `${'a'.repeat(5000)} one` };
    const [sentence] = verify(kinds.template, sent, { txt_content: `${'a'.repeat(5000)} two` }).different;
    expect(sentence).toMatch(/^txt_content: asked …a+ one"… \(\d+ characters\), the server has …a+ two"…/);
  });

  it('that keeps a removed key of a map differs', () => {
    const answer = { metadata: { a: 1, b: 2 } };
    expect(verify(kinds.user, { metadata: { a: 1 } }, answer).different).toEqual([
      'metadata.b: asked null, the server has 2',
    ]);
  });

  it('may write an instant differently', () => {
    const answer = { totp_registered_at: '2026-01-31T13:00:00.000000+01:00' };
    const asked = { totp_registered_at: '2026-01-31T12:00:00Z' };
    expect(verify(kinds.user, asked, answer)).toEqual({ different: [], values: [], unverified: [] });
  });

  it('that lost a secret is reported without it', () => {
    const asked = { backend: { smtp_password: new Sensitive('hush') }, group: new Sensitive('secret group') };
    const { different } = verify(kinds.user, asked, {
      backend: { smtp_password: new Sensitive('another') },
      group: 'secret group, upper-cased',
    });
    expect(different).toEqual([
      'backend.smtp_password: asked (sensitive), the server has (sensitive)',
      'group: asked (sensitive), the server has (sensitive)',
    ]);
  });

  it('with a long body is reported in short', () => {
    const [sentence = ''] = verify(
      kinds.template,
      { txt_content: 'a'.repeat(5000) },
      { txt_content: 'b'.repeat(5000) },
    ).different;
    expect(sentence.length).toBeLessThan(300);
    expect(sentence).toContain('5002 characters');
  });
});

describe('another object', () => {
  it.each([
    [{ id: '1' }, { id: '1' }, undefined],
    [{ id: '1' }, {}, undefined],
    [{ id: '1' }, { id: null }, undefined],
    [{ id: '1' }, { id: '2' }, 'id is "2"'],
    [{ backend_id: 'b', type: 't' }, { backend_id: 'b', type: 'other' }, 'type is "other"'],
    [{ backend_id: 'b', type: 't' }, { backend_id: 'c', type: 't' }, 'backend_id is "c"'],
    [{ backend_id: 'b', type: 't' }, { id: 'whatever', type: 't' }, undefined],
  ])('asked %j, answered %j: %s', (identity, answer, expected) => {
    const found = otherObjectError(identity, answer);
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(expected);
  });
});

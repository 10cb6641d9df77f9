import { describe, expect, it } from 'vitest';
import { type Intent, type Judgement, judge } from '../../src/apply/outcome.js';
import type { Fields } from '../../src/base/values.js';
import { kindOf } from '../../src/kinds/index.js';
import type { KindName, Live } from '../../src/kinds/kind.js';

function judged(kind: KindName, aim: Partial<Intent>, live: Fields | null | undefined): Judgement {
  const shown: Live | undefined =
    live === undefined ? undefined : { exists: live !== null, identity: { id: '1' }, fields: live ?? {} };
  return judge(kindOf(kind), { action: 'update', before: {}, expected: {}, ...aim }, shown);
}

describe('an object that could not be read', () => {
  it.each(['update', 'delete', 'regenerate', 'adopt'] as const)('leaves the outcome of %s open', (action) => {
    expect(judged('Client', { action }, undefined)).toMatchObject({
      verdict: 'unknown',
      sentence: 'was sent, and its outcome is unknown',
    });
  });
});

describe('a regeneration', () => {
  it.each<[string, Fields, Fields, Judgement['verdict']]>([
    ['was done if the DID differs', { did: 'a' }, { did: 'b' }, 'done'],
    ['is open if the DID is the same', { did: 'a' }, { did: 'a' }, 'unknown'],
    ['is open if the DID was unknown', {}, { did: 'b' }, 'unknown'],
    ['is open if there was no DID', { did: null }, { did: 'b' }, 'unknown'],
    ["is open if the DID isn't shown", { did: 'a' }, {}, 'unknown'],
  ])('%s', (_, before, now, verdict) => {
    expect(judged('Client', { action: 'regenerate', before }, now).verdict).toBe(verdict);
  });
});

describe('a deletion', () => {
  it.each<[string, Fields | null, Judgement['verdict']]>([
    ['was done if there is no object', null, 'done'],
    ['was done if the built-in template is shown', { id: null, txt_content: 'x' }, 'done'],
    ['was not done if the object is there', { id: 't', txt_content: 'x' }, 'not-done'],
  ])('%s', (_, now, verdict) => {
    expect(judged('EmailTemplate', { action: 'delete' }, now).verdict).toBe(verdict);
  });
});

it('an adoption, which sends nothing, is done', () => {
  expect(judged('Client', { action: 'adopt' }, {}).verdict).toBe('done');
});

describe('an update', () => {
  const before = { name: 'acme', label: 'Old' };
  const expected = { name: 'acme', label: 'New' };
  const of = (now: Fields | null, aim: Partial<Intent> = {}) =>
    judged('Organization', { before, expected, ...aim }, now);

  it('was done if all values are as sent', () => {
    const nothing = { different: [], values: [], unverified: [], lost: {} };
    const sentence = 'was done, as reading it back shows';
    expect(of(expected)).toEqual({ verdict: 'done', anyDone: true, sentence, ...nothing });
  });

  it('was not done if all values are as before', () => {
    const different = ['label: asked "New", the server has "Old"'];
    expect(of(before)).toMatchObject({ verdict: 'not-done', anyDone: false, different });
  });

  it('was done in part if the value is neither the sent nor the former one', () => {
    expect(of({ name: 'acme', label: 'Other' })).toMatchObject({
      verdict: 'partial',
      anyDone: false,
      sentence: 'was not done as a whole, as reading it back shows (neither as asked nor as before: label)',
    });
  });

  it('was done in part if some values are as sent and some as before', () => {
    const aim = { expected: { name: 'acme inc', label: 'New' } };
    expect(of({ name: 'acme', label: 'New' }, aim)).toMatchObject({
      verdict: 'partial',
      anyDone: true,
      different: ['name: asked "acme inc", the server has "acme"'],
      sentence: 'was not done as a whole, as reading it back shows (as asked: label)',
    });
  });

  it('was done if only an undeclared field that was sent has changed since', () => {
    expect(of({ name: 'acme inc', label: 'New' })).toMatchObject({ verdict: 'done', different: [] });
  });

  it('was not done if the declared value is as before and an undeclared one has changed, which is reported', () => {
    const judgement = of({ name: 'acme inc', label: 'Old' }, { expected: before });
    expect(judgement).toMatchObject({ verdict: 'not-done', anyDone: false });
    expect(judgement.different).toEqual(['changed since the request: name']);
  });

  it("is open if a part isn't shown", () => {
    expect(of({ name: 'acme' })).toMatchObject({
      verdict: 'unknown',
      unverified: ['label'],
      sentence: 'was sent, and its outcome is unknown',
    });
  });

  it('of an object that no longer exists was done in part', () => {
    expect(of(null)).toMatchObject({ verdict: 'partial', different: ['it is not there'], anyDone: false });
  });

  it('of an unknown value was done if the value is as sent, otherwise in part', () => {
    expect(of({ label: 'New' }, { before: {}, expected: { label: 'New' } }).verdict).toBe('done');
    expect(of({ label: 'Old' }, { before: {}, expected: { label: 'New' } }).verdict).toBe('partial');
  });

  it('ignores a key of a map that somebody else added', () => {
    const aim = { before: { metadata: { a: 1 } }, expected: { metadata: { a: 2 } } };
    const user = (now: Fields): Judgement => judged('User', aim, { metadata: { ...now } });
    expect(user({ a: 2, somebody: 1 }).verdict).toBe('done');
    expect(user({ a: 1, somebody: 1 }).verdict).toBe('not-done');
  });
});

describe('an update that deletes a template and writes it again', () => {
  const before = { id: 't', txt_content: 'old', html_content: 'html' };

  it('lost the template even if the built-in one has the sent value', () => {
    const now = { id: null, txt_content: 'new', html_content: 'built in' };
    expect(judged('EmailTemplate', { before, expected: { txt_content: 'new' } }, now)).toMatchObject({
      verdict: 'partial',
      lost: before,
      sentence: expect.stringContaining('lost: txt_content, html_content'),
    });
  });

  it('lost the template even if the built-in one has the former value', () => {
    const expected = { txt_content: 'new', html_content: 'html' };
    const judgement = judged('EmailTemplate', { before, expected }, { ...before, id: null });
    expect(judgement).toMatchObject({ verdict: 'partial', anyDone: false, lost: before });
  });
});

describe('an update that empties lists before it fills them', () => {
  const acme = { id: 'o', name: 'acme' };
  const before = { group: 'old', organizations: [acme] };
  const expected = { group: 'new', organizations: [acme] };

  it('lost the members that were to stay', () => {
    expect(judged('User', { before, expected }, { group: 'new', organizations: [] })).toMatchObject({
      verdict: 'partial',
      anyDone: true,
      different: [],
      lost: { organizations: [acme] },
      sentence: expect.stringContaining('lost: organizations ("acme")'),
    });
  });

  it('lost nothing if the list is complete', () => {
    expect(judged('User', { before, expected }, expected)).toMatchObject({ verdict: 'done', lost: {} });
  });
});

describe('a template that was deleted and written again', () => {
  const before = { id: 'row', txt_content: 'old txt', html_content: 'old html' };
  const expected = { txt_content: 'new txt', html_content: 'old html' };
  const of = (now: Fields) => judged('EmailTemplate', { before, expected }, now);

  it('lost the body that fell back to the built-in text', () => {
    const fallen = { id: 'row', txt_content: 'new txt', html_content: 'built-in' };
    expect(of(fallen).lost).toEqual({ id: 'row', html_content: 'old html' });
  });

  it.each<[string, Fields]>([
    ['another row', { id: 'other', txt_content: 'person txt', html_content: 'person html' }],
    ['the same one as it was', { id: 'row', txt_content: 'old txt', html_content: 'person html' }],
    ['another row as asked for', { id: 'other', txt_content: 'new txt', html_content: 'person html' }],
  ])('has lost nothing where somebody wrote it: %s', (_, now) => {
    expect(of(now).lost).toEqual({});
  });
});

it('a key of a map that was absent before and is absent now was not begun', () => {
  const before = { metadata: { a: { value: 1 } } };
  const expected = { metadata: { a: { value: 1 }, k: { value: 1 } } };
  const sentence = 'was not done, as reading it back shows';
  expect(judged('User', { before, expected }, before)).toMatchObject({ verdict: 'not-done', sentence });
});

describe('an update of members of a set', () => {
  const before = { roles: [{ id: 'a' }, { id: 'b' }] };
  const expected = { roles: [{ id: 'b' }, { id: 'c' }] };
  const of = (...roles: readonly string[]) =>
    judged('User', { before, expected, byMember: ['roles'] }, { roles: roles.map((id) => ({ id })) });

  it.each<[string, readonly string[], Judgement['verdict']]>([
    ['was done if its members are as asked, whatever others did', ['c', 'b', 'x'], 'done'],
    ['was not done if its members are as before, whatever others did', ['a', 'x'], 'not-done'],
    ['was done in part if only some are as asked', ['a', 'b', 'c'], 'partial'],
  ])('%s', (_, roles, verdict) => {
    expect(of(...roles).verdict).toBe(verdict);
  });
});

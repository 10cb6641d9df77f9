import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSelected, matchesPattern, mayMatchKind } from '../../src/plan/select.js';
import { checkTargets } from '../../src/plan/subjects.js';
import { emptyState } from '../../src/state/state.js';
import { often } from '../often.js';
import { declared } from './fixtures.js';

describe('a pattern', () => {
  it.each([
    ['User/1', 'User/1', true],
    ['User/1', 'User/12', false],
    ['User/*', 'User/1', true],
    ['*', 'EmailTemplate/b/tx_code', true],
    ['EmailTemplate/*', 'EmailTemplate/b/tx_code', true],
    ['EmailTemplate/*/tx_code', 'EmailTemplate/a/b/tx_code', true],
    ['*/tx_code', 'EmailTemplate/b/tx_code', true],
    ['*b*code', 'EmailTemplate/b/tx_code', true],
    ['Organization/a*a', 'Organization/a', false],
    ['Organization/a*a', 'Organization/aa', true],
    ['Organization/a**a', 'Organization/aa', true],
    ['User/?', 'User/1', false],
    ['User/[12]', 'User/1', false],
    ['user/1', 'User/1', false],
    ['', 'User/1', false],
    ['Organization/a.b', 'Organization/axb', false],
  ])('%s on %s: %s', (pattern, text, expected) => {
    expect(matchesPattern(pattern, text)).toBe(expected);
  });

  it('matches as a regular expression does', () => {
    const piece = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
    fc.assert(
      fc.property(piece, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 10 }), (pattern, text) => {
        const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text);
        expect(matchesPattern(pattern, text)).toBe(expected);
      }),
      { numRuns: often(500) },
    );
  });

  it('fails fast, however many stars it has', () => {
    const pattern = `${'*a'.repeat(2000)}*b`;
    expect(matchesPattern(pattern, 'a'.repeat(20_000))).toBe(false);
  });
});

describe('a selection', () => {
  it('of nothing is everything', () => {
    expect(isSelected({ targets: [], kinds: [] }, 'User', ['User/1'])).toBe(true);
  });

  it('of a kind and a target selects what matches both', () => {
    const selection = { targets: ['*1'], kinds: ['User'] };
    expect(isSelected(selection, 'User', ['User/1'])).toBe(true);
    expect(isSelected(selection, 'User', ['User/2'])).toBe(false);
    expect(isSelected(selection, 'Client', ['Client/1'])).toBe(false);
  });

  it('selects an object by any of its addresses', () => {
    const selection = { targets: ['Organization/acme'], kinds: [] };
    expect(isSelected(selection, 'Organization', ['Organization/1', 'Organization/acme'])).toBe(true);
  });

  it.each([
    ['Organization/acme', true],
    ['Organization/', true],
    ['Org*', true],
    ['*acme', true],
    ['Organization', false],
    ['User/*', false],
  ])('by %s can match an organization: %s', (target, expected) => {
    expect(mayMatchKind({ targets: [target], kinds: [] }, 'Organization')).toBe(expected);
  });

  it("without a kind can't match it", () => {
    expect(mayMatchKind({ targets: ['*'], kinds: ['User'] }, 'Organization')).toBe(false);
  });
});

describe('a target that matches nothing is refused, with the reason', () => {
  const documents = [declared('User', { id: 'u1' }), declared('Organization', { name: 'acme' })];

  it.each([
    ['User/*', ['Organization'], ' among Organization'],
    ['*', ['Client', 'KeyPair'], ' among Client and KeyPair'],
    ['Client/*', [], ''],
  ])('%s with %j', (target, kinds, among) => {
    const message = `--target ${target} matches nothing that the manifests declare${among}`;
    const known = { declared: documents, state: emptyState('https://id.example.com') };
    const refusal = { problems: [expect.objectContaining({ code: 'no-such-target', message })] };
    expect(() => checkTargets({ targets: [target], kinds }, [], known)).toThrow(
      expect.objectContaining(refusal),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { knownOf } from '../../src/plan/body-checks.js';

describe('the placeholders of a type', () => {
  const email = { txt: 't', html: 'h', type: 'type', placeholders: { tx_code: ['tx_code'] } };

  it('are those that servers are known to fill in, and those of the configuration', () => {
    const known = knownOf({ identity: { type: 'tx_code' } }, email, {
      levels: {},
      placeholders: ['a.*'],
    });
    expect(known?.has(['tx_code'])).toBe(true);
    expect(known?.has(['a.b.c'])).toBe(true);
    expect(known?.has(['b'])).toBe(false);
  });

  it('are not known of any other type', () => {
    for (const type of ['other', 'constructor']) {
      expect(knownOf({ identity: { type } }, email, { levels: {} })).toBeUndefined();
    }
  });
});

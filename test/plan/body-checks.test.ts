import { describe, expect, it } from 'vitest';
import { type Fields, Sensitive } from '../../src/base/values.js';
import type { EmailSettings } from '../../src/mail/settings.js';
import { bodyChecks, knownOf } from '../../src/plan/body-checks.js';
import { declared } from './fixtures.js';

async function loads(
  fields: Fields,
  email: EmailSettings = {},
  level: 'off' | 'error' = 'error',
): Promise<boolean> {
  const project = { checks: () => ({ 'mail-programs': level }), email: () => email };
  const template = declared('EmailTemplate', { backend_id: 'b', type: 'tx_code' }, fields);
  return (await bodyChecks(project, [template])).support !== undefined;
}

describe('what is known of mail programs', () => {
  it('is loaded where there is HTML to check, and nowhere else', async () => {
    expect(await loads({ html_content: '<p>' })).toBe(true);
    expect(await loads({ txt_content: 'x', html_content: null })).toBe(false);
    expect(await loads({ html_content: new Sensitive('<p>') })).toBe(false);
    expect(await loads({ html_content: '<p>' }, { programs: [] })).toBe(false);
    expect(await loads({ html_content: '<p>' }, {}, 'off')).toBe(false);
  });
});

describe('the placeholders of a type', () => {
  const email = { txt: 't', html: 'h', type: 'type', placeholders: { tx_code: ['tx_code'] } };

  it('are those that servers are known to fill in, and those of the configuration', () => {
    const { known } = knownOf({ identity: { type: 'tx_code' } }, email, {
      levels: {},
      placeholders: ['a.*'],
    });
    expect(known?.has(['tx_code'])).toBe(true);
    expect(known?.has(['a.b.c'])).toBe(true);
    expect(known?.has(['b'])).toBe(false);
  });

  it('are not known of any other type', () => {
    for (const type of ['other', 'constructor']) {
      expect(knownOf({ identity: { type } }, email, { levels: {} }).known).toBeUndefined();
    }
  });
});

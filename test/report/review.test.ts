import { describe, expect, it } from 'vitest';
import { requestCounts } from '../../src/report/review.js';
import { changeOf, planOf } from './plans.js';

describe('the summary of a plan', () => {
  const request = { operation: 'updateOrganization', params: { organization_id: '1' }, body: {} } as const;
  const change = (address: string, parts: Partial<Parameters<typeof changeOf>[0]> = {}) =>
    changeOf({ address, requests: [request], ...parts });

  it('counts only what is sent: no unchanged object, and none that the server changes itself', () => {
    const changes = [
      change('a'),
      change('b'),
      change('c', { action: 'delete' }),
      change('gives way', { requests: [] }),
      change('same', { action: 'unchanged', requests: [] }),
    ];
    expect(requestCounts(planOf(changes))).toBe('2 updates and 1 deletion');
    expect(requestCounts(planOf([change('d', { action: 'regenerate' })]))).toBe('1 regeneration');
  });
});

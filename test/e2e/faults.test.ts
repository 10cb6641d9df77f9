import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Intercept } from '../../src/sandbox/index.js';
import { project } from './running.js';

const organization = 'kind: Organization\nname: acme\nlabel: New\n';

const busy: Intercept = { kind: 'answer', status: 503, headers: { 'retry-after': '0' } };

// Pauses between tries last as long as chance says.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void vi.restoreAllMocks());

describe('a fault that passes', () => {
  it.each([
    ['0', 1],
    ['5', 6],
  ])('is given as many more tries as --retries %s says', async (retries, tries) => {
    const { idops, reads } = await project({ 'manifests/all.yaml': organization }, { intercept: () => busy });
    expect((await idops(`plan --retries ${retries}`)).code).toBe(1);
    expect(reads()).toHaveLength(tries);
  });
});

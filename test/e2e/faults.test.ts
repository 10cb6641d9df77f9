import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Intercept } from '../../src/sandbox/index.js';
import { project } from './running.js';

const organization = 'kind: Organization\nname: acme\nlabel: New\n';

const busy: Intercept = { kind: 'answer', status: 503, headers: { 'retry-after': '0' } };

// Pauses between retries are random.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void vi.restoreAllMocks());

describe('a temporary fault', () => {
  it.each([
    ['0', 1],
    ['5', 6],
  ])('is retried as often as --retries %s allows', async (retries, tries) => {
    const { idops, reads } = await project({ 'manifests/all.yaml': organization }, { intercept: () => busy });
    expect((await idops(`plan --retries ${retries}`)).code).toBe(1);
    expect(reads()).toHaveLength(tries);
  });
});

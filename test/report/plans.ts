import type { Change, FieldChange, Plan } from '../../src/plan/plan.js';

/** A plan with nothing in it, and what a test says instead. */
export function planOf(changes: readonly Change[], parts: Partial<Plan> = {}): Plan {
  return {
    toolVersion: '0.1.0',
    createdAt: '2026-01-31T12:00:00Z',
    server: 'https://id.example.com',
    profile: 'documented',
    environment: null,
    changes,
    requiredScopes: ['users:manage:all'],
    warnings: [],
    digest: 'sha256:0123',
    ...parts,
  };
}

/** An update of an organization, and what a test says instead. */
export function changeOf(parts: Partial<Change> = {}): Change {
  return {
    address: 'Organization/acme',
    kind: 'Organization',
    action: 'update',
    observed: 'live',
    destructions: [],
    requests: [],
    fields: [],
    warnings: [],
    reason: null,
    declaredAt: null,
    apply: {
      key: 'Organization/1',
      identity: { id: '1' },
      expected: {},
      before: {},
      // Only who reads the server knows that there is one.
      existed: (parts.observed ?? 'live') === 'live' ? true : null,
      managed: [],
    },
    ...parts,
  };
}

/** A changed label, and what a test says instead. */
export function fieldOf(parts: Partial<FieldChange> = {}): FieldChange {
  return { path: 'label', type: 'value', before: 'ACME', after: 'ACME Corp', sensitive: false, ...parts };
}

import type { ChangeResult } from '../../src/apply/result.js';
import type { Fields } from '../../src/base/values.js';
import type { Change, FieldChange, Plan } from '../../src/plan/plan.js';
import type { GalleryTemplate } from '../../src/report/gallery.js';

/** A plan with the given changes; `parts` replaces other members. */
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

/** An update of an organization; `parts` replaces members. */
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
      // Only a live observation shows that the object exists.
      existed: (parts.observed ?? 'live') === 'live' ? true : null,
      managed: [],
    },
    ...parts,
  };
}

/** A change of an email template's bodies; `parts` replaces members. */
export function templateChange(before: Fields, after: Fields, parts: Partial<Change> = {}): Change {
  return changeOf({
    kind: 'EmailTemplate',
    address: 'EmailTemplate/8d0a/tx_code',
    fields: Object.keys(after).map((path) =>
      fieldOf({ path, type: 'body', before: before[path], after: after[path] ?? null }),
    ),
    apply: { ...changeOf().apply, expected: after, before },
    ...parts,
  });
}

/** A declared email template; `parts` replaces members. */
export function galleryTemplate(parts: Partial<GalleryTemplate> = {}): GalleryTemplate {
  return {
    address: 'EmailTemplate/8d0a/tx_code',
    type: 'tx_code',
    declaredAt: { file: 'manifests/emails.yaml', line: 3 },
    bodies: { txt: null, html: null },
    hasHiddenBody: false,
    mail: undefined,
    samples: [],
    warnings: [],
    ...parts,
  };
}

/** The result of a successful update; `parts` replaces members. */
export function resultOf(parts: Partial<ChangeResult> = {}): ChangeResult {
  return {
    address: 'Organization/acme',
    action: 'update',
    status: 'applied',
    httpStatus: 200,
    attempts: 1,
    unverified: [],
    error: null,
    ...parts,
  };
}

/** Changes of several kinds and actions. */
const mixed: readonly Change[] = [
  changeOf({
    fields: [fieldOf({ before: 'ACME', after: 'ACME Corp' })],
    declaredAt: { file: 'manifests/organizations.yaml', line: 3 },
  }),
  changeOf({
    kind: 'User',
    address: 'User/9b1d',
    observed: 'recorded',
    recordedAt: '2026-01-30T12:00:00Z',
    destructions: ['removes the membership of globex'],
    fields: [
      fieldOf({
        path: 'organizations',
        type: 'set',
        before: [
          { id: '1', name: 'acme' },
          { id: '2', name: 'globex' },
        ],
        after: [{ id: '1', name: 'acme' }],
      }),
      fieldOf({ path: 'backend.smtp_password', before: undefined, after: 'x', sensitive: true }),
    ],
  }),
  changeOf({
    action: 'blocked',
    address: 'Organization/initech',
    reason: 'the server has no organization "initech", and no operation creates one',
  }),
  changeOf({ action: 'unchanged', observed: 'recorded' }),
  changeOf({ action: 'unchanged' }),
];

/** A plan with changes of several kinds and actions. */
export const mixedPlan = planOf(mixed, {
  environment: 'production',
  warnings: [{ code: 'too-large', message: 'this is a large plan' }],
});

/** A changed label; `parts` replaces members. */
export function fieldOf(parts: Partial<FieldChange> = {}): FieldChange {
  return { path: 'label', type: 'value', before: 'ACME', after: 'ACME Corp', sensitive: false, ...parts };
}

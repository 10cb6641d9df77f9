import type { ChangeResult } from '../../src/apply/result.js';
import type { Fields } from '../../src/base/values.js';
import type { Change, Plan } from '../../src/plan/plan.js';
import { type Gallery, galleryHtml } from '../../src/report/gallery.js';
import { planHtml } from '../../src/report/html.js';
import { redactPlan } from '../../src/report/redact-plan.js';
import { resultHtml } from '../../src/report/result-page.js';
import { redactReport } from '../../src/secrets/redact-report.js';
import { createRedactor } from '../../src/secrets/redactor.js';
import { layout, layoutText } from '../mail/layouts.js';
import { changeOf, fieldOf, planOf } from '../report/plans.js';

function template(type: string, before: Fields, after: Fields, parts: Partial<Change> = {}): Change {
  return changeOf({
    kind: 'EmailTemplate',
    address: `EmailTemplate/8d0a6f3e-1c2b-4a0e-8b1a-0d6f3e1c2b77/${type}`,
    fields: ['txt_content', 'html_content'].map((path) =>
      fieldOf({ path, type: 'body', before: before[path], after: after[path] ?? null }),
    ),
    declaredAt: { file: 'manifests/emails.yaml', line: 3 },
    apply: { ...changeOf().apply, identity: { type }, expected: after, before },
    ...parts,
  });
}

const present = { txt_content: layoutText, html_content: layout(20) };

/** A plan with something of everything. */
function mixedPlan(): Plan {
  return planOf(
    [
      template(
        'confirmation_instructions',
        present,
        {},
        { action: 'delete', destructions: ['deletes the template'] },
      ),
      changeOf({
        kind: 'User',
        address: 'User/9b1d5c1e-6f3a-4a0e-8b1a-0d6f3e1c2b77',
        observed: 'recorded',
        recordedAt: '2026-01-30T12:00:00Z',
        destructions: ['removes the membership of globex'],
        declaredAt: { file: 'manifests/users/staff.yaml', line: 12 },
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
          fieldOf({ path: 'metadata.department', before: null, after: { value: 'R&D', status: 'valid' } }),
          fieldOf({ path: 'backend.smtp_password', before: undefined, after: 'x', sensitive: true }),
        ],
      }),
      changeOf({
        action: 'blocked',
        address: 'Organization/initech',
        reason: 'the server has no organization "initech", and no operation creates one',
        declaredAt: { file: 'manifests/organizations.yaml', line: 9 },
      }),
      ...[...Array(20).keys()].map((index) =>
        changeOf({
          address: `Organization/organization-number-${index}`,
          fields: [fieldOf({ before: `Organization ${index}`, after: `Company ${index}` })],
          declaredAt: { file: 'manifests/organizations.yaml', line: 10 + index },
        }),
      ),
      template(
        'reset_password_instructions',
        present,
        {
          txt_content: layoutText.replace('go on at', 'continue at'),
          html_content: layout(20).replaceAll('#586ee0', '#0f766e'),
        },
        {
          warnings: [
            {
              code: 'lost-placeholder',
              message: 'the new txt body lost {{ url }}, which the present one has',
            },
          ],
        },
      ),
      changeOf({
        kind: 'Client',
        address: 'Client/6a2f',
        action: 'adopt',
        apply: { ...changeOf().apply, generation: 2 },
      }),
    ],
    { environment: 'production', warnings: [{ code: 'too-large', message: 'this is a large plan' }] },
  );
}

/** The page of a plan with something of everything. */
export function planPage(): string {
  return planHtml(mixedPlan(), { samples: new Map(), debug: false });
}

/** The page of what became of the same plan, with something of everything. */
export function resultPage(): string {
  const plan = mixedPlan();
  const results = plan.changes.map(({ address, action }, index): ChangeResult => {
    const status = (['applied', 'failed', 'unknown', 'skipped', 'not_converged'] as const)[
      index < 5 ? index : 0
    ];
    return {
      address,
      action,
      status: status ?? 'applied',
      httpStatus: status === 'failed' ? 422 : 200,
      attempts: status === 'failed' ? 4 : 1,
      unverified: index === 6 ? ['label'] : [],
      error:
        status === 'applied'
          ? null
          : status === 'failed'
            ? 'PATCH /api/users/9b1d5c1e-6f3a-4a0e-8b1a-0d6f3e1c2b77 was answered with 422 Unprocessable Content: "group" must not have a word twice'
            : 'the answer shows another value: label is "ACME", not "ACME Corporation"',
      ...(index === 7 ? { notes: ['the object was read again, since it was 40 seconds old'] } : {}),
    };
  });
  return resultHtml({ run: '20260131T120000Z-abc123', results, interrupted: false }, plan, {
    samples: new Map(),
    debug: false,
  });
}

/** The page of declared templates. */
export function galleryPage(html = layout(20), redactor = createRedactor()): string {
  const gallery: Gallery = {
    templates: ['tx_code', 'reset_password_instructions'].map((type) => ({
      type,
      label: 'Company directory',
      address: `EmailTemplate/8d0a6f3e-1c2b-4a0e-8b1a-0d6f3e1c2b77/${type}`,
      declaredAt: { file: 'manifests/emails.yaml', line: 3 },
      bodies: { txt: layoutText, html },
      held: false,
      mail: undefined,
      samples: [
        {
          name: 'manifests/samples/tx_code.yaml',
          file: 'manifests/samples/tx_code.yaml',
          data: { user: { username: 'Ada' } },
        },
      ],
      warnings: [{ code: 'html-charset', message: 'the html body declares no character set' }],
    })),
    problems: [],
  };
  return galleryHtml(redactReport(gallery, redactor));
}

/** The page of one changed template. */
export function emailPage(html: string, redactor = createRedactor()): string {
  const change = template(
    'tx_code',
    { txt_content: 'a', html_content: html },
    // One that looks the same would be shown by its source.
    { txt_content: 'b', html_content: `${html}<p>later` },
  );
  return planHtml(redactPlan(planOf([change]), redactor), { samples: new Map(), debug: false });
}

/** The page of a plan with a changed template for each of the bodies. */
export function bodiesPlanPage(bodies: readonly string[]): string {
  const changes = bodies.map((html, index) =>
    template(`type-${index}`, {}, { txt_content: null, html_content: html }),
  );
  return planHtml(planOf(changes), { samples: new Map(), debug: false });
}

/** The gallery of a declared template for each of the bodies. */
export function bodiesGalleryPage(bodies: readonly string[]): string {
  return galleryHtml({
    templates: bodies.map((html, index) => ({
      address: `EmailTemplate/8d0a/type-${index}`,
      type: `type-${index}`,
      declaredAt: { file: 'manifests/emails.yaml', line: index + 1 },
      bodies: { txt: null, html },
      held: false,
      mail: undefined,
      samples: [],
      warnings: [],
    })),
    problems: [],
  });
}

/** A page that shows documents in frames which may do everything, and each once more in an element of its own. */
export function unguardedPage(documents: readonly string[]): string {
  const data = JSON.stringify(documents).replaceAll('<', '\\u003c');
  return `<!DOCTYPE html><meta charset="utf-8"><title>unguarded</title><body><script>
    const documents = ${data};
    window.shown = Promise.all(documents.map((text) => new Promise((resolve) => {
      const frame = document.createElement('iframe');
      frame.srcdoc = text;
      frame.onload = resolve;
      document.body.append(frame);
      const element = document.createElement('div');
      document.body.append(element);
      element.innerHTML = text;
    })));
  </script>`;
}

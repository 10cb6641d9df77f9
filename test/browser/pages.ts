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
import { changeOf, fieldOf, galleryTemplate, planOf, resultOf, templateChange } from '../report/plans.js';

function template(type: string, before: Fields, after: Fields, parts: Partial<Change> = {}): Change {
  return templateChange(before, after, {
    address: `EmailTemplate/8d0a6f3e-1c2b-4a0e-8b1a-0d6f3e1c2b77/${type}`,
    declaredAt: { file: 'manifests/emails.yaml', line: 3 },
    ...parts,
  });
}

const present = { txt_content: layoutText, html_content: layout(20) };

/** A plan with every kind of change. */
function mixedPlan(): Plan {
  return planOf(
    [
      template(
        'confirmation_instructions',
        present,
        { txt_content: null, html_content: null },
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

/** The page of a plan with every kind of change. */
export function planPage(): string {
  return planHtml(mixedPlan(), { samples: new Map(), debug: false });
}

/** The page of the result of that plan, with every status. */
export function resultPage(): string {
  const plan = mixedPlan();
  const shown = 'the answer shows another value: label is "ACME", not "ACME Corporation"';
  const refused =
    'PATCH /api/users/9b1d5c1e-6f3a-4a0e-8b1a-0d6f3e1c2b77 was answered with 422 Unprocessable Content: "group" must not have a word twice';
  const others: { readonly [index: number]: Partial<ChangeResult> } = {
    1: { status: 'failed', httpStatus: 422, attempts: 4, error: refused },
    2: { status: 'unknown', error: shown },
    3: { status: 'skipped', error: shown },
    4: { status: 'not_converged', error: shown },
    6: { unverified: ['label'] },
    7: { notes: ['the object was read again, since it was 40 seconds old'] },
  };
  const results = plan.changes.map(({ address, action }, index) =>
    resultOf({ address, action, ...others[index] }),
  );
  return resultHtml({ run: '20260131T120000Z-abc123', results, interrupted: false }, plan, {
    samples: new Map(),
    debug: false,
  });
}

const sample = 'manifests/samples/tx_code.yaml';

/** The page of declared templates. */
export function galleryPage(html = layout(20), redactor = createRedactor()): string {
  const gallery: Gallery = {
    templates: ['tx_code', 'reset_password_instructions'].map((type) =>
      galleryTemplate({
        type,
        label: 'Company directory',
        address: `EmailTemplate/8d0a6f3e-1c2b-4a0e-8b1a-0d6f3e1c2b77/${type}`,
        bodies: { txt: layoutText, html },
        samples: [{ name: sample, file: sample, data: { user: { username: 'Ada' } } }],
        warnings: [{ code: 'html-charset', message: 'the html body declares no character set' }],
      }),
    ),
    problems: [],
  };
  return galleryHtml(redactReport(gallery, redactor));
}

/** The page of one changed template. */
export function emailPage(html: string, redactor = createRedactor()): string {
  const change = template(
    'tx_code',
    { txt_content: 'a', html_content: html },
    // If both bodies look the same, the page shows their source.
    { txt_content: 'b', html_content: `${html}<p>later` },
  );
  return planHtml(redactPlan(planOf([change]), redactor), { samples: new Map(), debug: false });
}

/** The page of a plan with a changed template for each body. */
export function bodiesPlanPage(bodies: readonly string[]): string {
  const changes = bodies.map((html, index) =>
    template(`type-${index}`, {}, { txt_content: null, html_content: html }),
  );
  return planHtml(planOf(changes), { samples: new Map(), debug: false });
}

/** The gallery with a declared template for each body. */
export function bodiesGalleryPage(bodies: readonly string[]): string {
  return galleryHtml({
    templates: bodies.map((html, index) => {
      const type = `type-${index}`;
      return galleryTemplate({ address: `EmailTemplate/8d0a/${type}`, type, bodies: { txt: null, html } });
    }),
    problems: [],
  });
}

/** A page that shows documents in frames without restrictions, and again in elements. */
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

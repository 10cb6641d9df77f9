import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonText } from '../../src/base/escape.js';
import type { Place } from '../../src/base/problems.js';
import { Sensitive } from '../../src/base/values.js';
import { redactPlan } from '../../src/report/redact-plan.js';
import { redactReport, redactValue } from '../../src/secrets/redact-report.js';
import { createRedactor } from '../../src/secrets/redactor.js';
import { changeOf, fieldOf, planOf, resultOf } from './plans.js';

function redactorOf(...secrets: string[]) {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.add(secret);
  return redactor;
}

describe('the redaction of a value', () => {
  it('replaces texts and keys, never numbers or structure', () => {
    const hidden = new Sensitive('x');
    const value = { 'my-secret': ['x my-secret', 1, null, { a: 'my-secret' }], port: 25, hidden };
    expect(redactValue(value, redactorOf('my-secret'))).toEqual({
      '(sensitive)': ['x (sensitive)', 1, null, { a: '(sensitive)' }],
      port: 25,
      hidden,
    });
  });

  it('keeps a member whose redacted key equals another one', () => {
    const value = { 'first-secret': 1, 'second-secret': 2, other: 3 };
    expect(redactValue(value, redactorOf('first-secret', 'second-secret'))).toEqual({
      '(sensitive)': 1,
      '(sensitive) 2': 2,
      other: 3,
    });
  });

  it('gives valid JSON without the secret, whatever the secret is', () => {
    const secret = fc.oneof(
      fc.constantFrom('": "', '{"a', '},\n  {', 'true', 'null', '[1, 2'),
      fc.string({ unit: 'binary', minLength: 4 }),
    );
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), (hidden, before, after) => {
        fc.pre(hidden.trim().length >= 4 && !'(sensitive)'.includes(hidden.trim().toLowerCase()));
        const value = { key: [{ inner: `${before} ${hidden} ${after}` }], nothing: null, yes: true };
        const parsed = JSON.parse(jsonText(redactValue(value, redactorOf(hidden))));
        expect(parsed.key[0].inner).toContain('(sensitive)');
        expect(parsed.key[0].inner.replaceAll('(sensitive)', '')).not.toContain(hidden);
        expect(Object.keys(parsed)).toEqual(['key', 'nothing', 'yes']);
      }),
    );
  });
});

describe('the redaction of a plan', () => {
  it("redacts its values, and keeps idops's own words", () => {
    const change = changeOf({
      address: 'Organization/the-credential',
      fields: [
        fieldOf({ before: 'x the-credential', after: 'y' }),
        fieldOf({ path: 'metadata.the-credential', before: 'a', after: 'b' }),
      ],
      requests: [{ operation: 'updateOrganization', params: { organization_id: 'the-credential' } }],
      reason: 'no the-credential here',
      destructions: ['removes the-credential'],
      warnings: [{ code: 'by-server', message: 'about the-credential' }],
      declaredAt: { file: 'manifests/the-credential.yaml', line: 3 },
    });
    const plan = planOf([change], { warnings: [{ code: 'no-list', message: 'the-credential' }] });
    const words = ['by-server', 'Organization', 'sha256:0123', '2026-01-31', 'https://id.', 'live'];
    const redactor = redactorOf('the-credential', ...words);
    const shown = redactPlan(plan, redactor);
    expect(shown).toEqual({
      ...plan,
      changes: [
        {
          ...change,
          address: 'Organization/(sensitive)',
          fields: [
            fieldOf({ before: 'x (sensitive)', after: 'y' }),
            fieldOf({ path: 'metadata.(sensitive)', before: 'a', after: 'b' }),
          ],
          requests: [{ operation: 'updateOrganization', params: { organization_id: '(sensitive)' } }],
          reason: 'no (sensitive) here',
          destructions: ['removes (sensitive)'],
          warnings: [{ code: 'by-server', message: 'about (sensitive)' }],
          declaredAt: { file: 'manifests/(sensitive).yaml', line: 3 },
          apply: { ...change.apply, key: 'Organization/1' },
        },
      ],
      warnings: [{ code: 'no-list', message: '(sensitive)' }],
    });
  });

  it('marks a difference as sensitive if only masked text differs', () => {
    const fields = [
      fieldOf({ before: 'first-secret', after: 'second-secret' }),
      fieldOf({ path: 'name', before: 'x first-secret', after: 'y second-secret' }),
    ];
    const shown = redactPlan(planOf([changeOf({ fields })]), redactorOf('first-secret', 'second-secret'));
    expect(shown.changes[0]?.fields.map(({ sensitive }) => sensitive)).toEqual([true, false]);
  });

  it('redacts whole values that are shown on their own', () => {
    const redactor = redactorOf('the-credential');
    const searched: string[] = [];
    const redact = (text: string): string => {
      searched.push(text);
      return redactor.redact(text);
    };
    const watched = { ...redactor, redact };
    const made = changeOf({ kind: 'EmailTemplate', action: 'unchanged' });
    const change = { ...made, apply: { ...made.apply, expected: { txt_content: 'is the-credential' } } };
    const [shown] = redactPlan(planOf([change]), watched).changes;
    expect(searched).not.toContain('is the-credential');
    expect(shown?.apply.expected).toEqual({ txt_content: 'is (sensitive)' });
    expect({ ...shown?.apply }.expected).toEqual({ txt_content: 'is (sensitive)' });
    expect(searched.filter((text) => text === 'is the-credential')).toHaveLength(1);
  });

  it.each(['Organization', 'User', 'KeyPair', 'Client'] as const)(
    'has no whole values of the kind %s, of which differences alone are shown',
    (kind) => {
      const made = changeOf({ kind, action: 'update' });
      const whole = { label: 'is the-credential' };
      const change = { ...made, apply: { ...made.apply, expected: whole, before: whole } };
      const [shown] = redactPlan(planOf([change]), redactorOf('the-credential')).changes;
      expect(shown?.apply).toMatchObject({ expected: {}, before: {} });
    },
  );

  it('keeps short credentials in names, which contain them by chance', () => {
    const plan = planOf([changeOf({ fields: [fieldOf({ after: 'acme' })] })]);
    const [change] = redactPlan(plan, redactorOf('acme')).changes;
    expect(change?.address).toBe('Organization/acme');
    expect(change?.fields[0]?.after).toBe('(sensitive)');
  });
});

it('redacts the errors of a result', () => {
  const told = { status: 'failed', unverified: ['label'], error: 'said the-credential' } as const;
  const one = resultOf({ ...told, notes: ['the-credential'] });
  const result = { run: 'r', results: [one], interrupted: false };
  const shown = redactReport(result, redactorOf('the-credential', 'failed'));
  expect(shown.results).toEqual([{ ...one, error: 'said (sensitive)', notes: ['(sensitive)'] }]);
});

it('redacts problems, and drops a source line whose caret would no longer fit', () => {
  const place = { file: 'a.yaml', line: 1, column: 3, length: 2 };
  const problem = { code: 'by-server', severity: 'error' } as const;
  const told = { message: 'the-credential', hint: 'the-credential' };
  const [secret, harmless] = ['x: the-credential', 'y: 1'].map((text) => ({ ...place, text })) as [
    Place,
    Place,
  ];
  const problems = [{ ...problem, ...told, places: [secret, harmless] }];
  const shown = redactReport(problems, redactorOf('the-credential', 'by-server'));
  const masked = { message: '(sensitive)', hint: '(sensitive)' };
  expect(shown).toEqual([{ ...problem, ...masked, places: [place, harmless] }]);
});

it('a token is hidden in the path of a pulled file, in text and in JSON', () => {
  const [file, masked] = ['the-credential', '(sensitive)'].map((name) => `manifests/${name}.yaml`);
  const shown = redactReport({ files: [{ displayPath: file, path: file }] }, redactorOf('the-credential'));
  expect(shown).toEqual({ files: [{ displayPath: masked, path: masked }] });
});

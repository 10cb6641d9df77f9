import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { jsonText } from '../../src/base/escape.js';
import { error, warning } from '../../src/base/problems.js';
import { Sensitive } from '../../src/base/values.js';
import { planJson, problemsJson, resultJson } from '../../src/report/json.js';
import { planSchema, resultSchema } from '../../src/report/schemas.js';
import { hostileText } from './hostile.js';
import { changeOf, fieldOf, planOf, resultOf } from './plans.js';

/** Validates an output with the zod schema, and with the JSON Schema that it generates. */
function expectValid(schema: z.ZodType, value: unknown): void {
  const parsed: unknown = JSON.parse(jsonText(value));
  expect(schema.parse(parsed)).toEqual(parsed);
  const validate = new Ajv2020().compile(z.toJSONSchema(schema));
  expect(validate(parsed), JSON.stringify(validate.errors)).toBe(true);
}

describe('the JSON of a plan', () => {
  it('is the documented object, with keys in the documented order', () => {
    const params = { backend_id: '8d/0a', template_type: 'tx_code' };
    const plan = planOf(
      [
        changeOf({
          address: 'EmailTemplate/8d0a/tx_code',
          kind: 'EmailTemplate',
          requests: [{ operation: 'updateTemplate', params, body: { txt_content: 'b' } }],
          fields: [fieldOf({ path: 'txt_content', type: 'body', before: 'a', after: 'b' })],
          warnings: [{ code: 'lost-placeholder', message: 'x is lost' }],
          declaredAt: { file: 'manifests/emails.yaml', line: 3 },
        }),
        changeOf({ action: 'unchanged' }),
      ],
      { requiredScopes: ['identity-providers:manage:all'] },
    );
    expect(JSON.stringify(planJson(plan, { debug: false }))).toBe(
      JSON.stringify({
        format_version: 1,
        tool_version: '0.1.0',
        created_at: '2026-01-31T12:00:00Z',
        server: 'https://id.example.com',
        profile: 'documented',
        environment: null,
        summary: { update: 1, delete: 0, regenerate: 0, adopt: 0, blocked: 0, unchanged: 1 },
        required_scopes: ['identity-providers:manage:all'],
        changes: [
          {
            address: 'EmailTemplate/8d0a/tx_code',
            kind: 'EmailTemplate',
            action: 'update',
            observed: 'live',
            destructive: false,
            destructions: [],
            privileged: false,
            requests: [{ method: 'PATCH', path: '/api/backends/8d%2F0a/email-templates/tx_code' }],
            fields: [{ path: 'txt_content', before: 'a', after: 'b', sensitive: false }],
            warnings: [{ code: 'lost-placeholder', message: 'x is lost' }],
            reason: null,
            declared_at: { file: 'manifests/emails.yaml', line: 3 },
          },
        ],
        warnings: [],
        digest: 'sha256:0123',
      }),
    );
    expectValid(planSchema, planJson(plan, { debug: false }));
  });

  it('lists unchanged objects with debug', () => {
    const plan = planOf([changeOf({ action: 'unchanged' })]);
    expect(planJson(plan, { debug: true }).changes.map(({ action }) => action)).toEqual(['unchanged']);
    expectValid(planSchema, planJson(plan, { debug: true }));
  });

  it('marks unknown and sensitive values, and contains the time of a record', () => {
    const plan = planOf([
      changeOf({
        observed: 'recorded',
        recordedAt: '2026-01-30T12:00:00Z',
        destructions: ['blocks the user'],
        fields: [
          fieldOf({ before: undefined, after: null }),
          fieldOf({ before: undefined, after: new Sensitive('s3cret'), sensitive: true }),
          fieldOf({ before: { a: new Sensitive('s3cret') }, after: { b: [1] } }),
        ],
      }),
    ]);
    const [change] = planJson(plan, { debug: false }).changes;
    expect(change).toMatchObject({ recorded_at: '2026-01-30T12:00:00Z', destructive: true });
    expect(change?.fields.map(({ before, after }) => [before, after])).toEqual([
      [{ unknown: true }, null],
      [{ sensitive: true }, { sensitive: true }],
      [{ a: { sensitive: true } }, { b: [1] }],
    ]);
    expectValid(planSchema, planJson(plan, { debug: false }));
  });

  it('parses to the same object, whatever the texts are', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (address, value) => {
        const fields = [fieldOf({ before: value, after: [value] })];
        const json = planJson(planOf([changeOf({ address, reason: value, fields })]), { debug: false });
        expect(JSON.parse(jsonText(json))).toEqual(json);
        expect(planSchema.parse(json)).toEqual(json);
      }),
    );
  });

  it('is refused by its schema with an undocumented member', () => {
    const json = { ...planJson(planOf([]), { debug: false }), extra: 1 };
    expect(planSchema.safeParse(json).success).toBe(false);
  });
});

describe('the JSON of a result', () => {
  it('is the documented object', () => {
    const failure = {
      status: 'not_converged',
      unverified: ['group'],
      error: 'blocked is still false',
    } as const;
    const results = [resultOf({ address: 'User/1', ...failure })];
    const json = resultJson({ run: 'r1', interrupted: false, results });
    expect(JSON.stringify(json)).toBe(
      '{"format_version":1,"run":"r1","summary":{"applied":0,"failed":0,"not_converged":1,"unknown":0,"skipped":0},' +
        '"results":[{"address":"User/1","action":"update","status":"not_converged","http_status":200,"attempts":1,' +
        '"unverified":["group"],"error":"blocked is still false"}]}',
    );
    expectValid(resultSchema, json);
    expectValid(resultSchema, resultJson({ run: null, interrupted: true, results: [] }));
  });
});

describe('the JSON of problems', () => {
  it('carries places without the source line', () => {
    const json = problemsJson([
      error('unknown-field', 'unknown field', [{ file: 'a.yaml', line: 4, column: 1, length: 5, text: 'x' }]),
      warning('too-large', 'is large', [], 'make it small'),
    ]);
    const places = [{ file: 'a.yaml', line: 4, column: 1 }];
    expect(json).toEqual({
      format_version: 1,
      problems: [
        { code: 'unknown-field', severity: 'error', message: 'unknown field', hint: null, places },
        { code: 'too-large', severity: 'warning', message: 'is large', hint: 'make it small', places: [] },
      ],
    });
  });
});

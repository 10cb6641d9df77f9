import fc from 'fast-check';
import { problemCodes } from '../../src/base/problem-codes.js';
import type { Fields } from '../../src/base/values.js';
import type { Action, Change, FieldChange, Plan } from '../../src/plan/plan.js';
import { hostileText } from './hostile.js';
import { changeOf, fieldOf, planOf } from './plans.js';

/** Texts with markup of Markdown, HTML or GitHub. */
const hostileMarkup = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ..."`¦``¦```¦````diff\n¦~~~\n¦</details>¦</summary>¦</code>¦</pre>¦</p>¦\"><b>¦' onload='x".split(
          '¦',
        ),
        ...'<img src=x onerror=alert(1)>¦<script>alert(1)</script>¦<!--¦-->¦<![CDATA[¦&lt;i&gt;'.split('¦'),
        ...'@octocat¦@team/all,¦#12¦GH-12¦octo/cat#12¦JIRA-123¦deadbeefdeadbeef¦a@evil.example'.split('¦'),
        ...'https://evil.example/?a=b¦www.evil.example¦mailto:a@evil.example¦[x](javascript:alert(1))'.split(
          '¦',
        ),
        ...'![x](https://evil.example/x.png)¦[x]: https://evil.example¦\n\n# Title\n¦\n- item\n¦1. ¦> '.split(
          '¦',
        ),
        ...'| a | b |¦\n---\n¦**bold**¦_em_¦$x$¦:smile:¦\\¦{{ name }}¦{{¦}},¦ word ¦word.¦!¦:'.split('¦'),
        ...'%0A::error::x¦,title=x'.split('¦'),
      ),
      hostileText,
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));

const value = fc.oneof(
  hostileMarkup,
  fc.constant(null),
  fc.boolean(),
  fc.array(
    fc.record({
      id: hostileMarkup,
      name: hostileMarkup,
      roles: fc.array(fc.record({ name: hostileMarkup }), { maxLength: 2 }),
    }),
    { maxLength: 3 },
  ),
  fc.dictionary(hostileMarkup, hostileMarkup, { maxKeys: 2 }),
);

const field: fc.Arbitrary<FieldChange> = fc
  .record({
    path: hostileMarkup,
    type: fc.constantFrom('value', 'body', 'set', 'map'),
    before: fc.oneof(value, fc.constant(undefined)),
    after: value,
    sensitive: fc.boolean(),
    drift: fc.option(fc.record({ recorded: value, run: hostileMarkup }), { nil: undefined }),
  })
  .map(({ drift, ...parts }) => fieldOf({ ...parts, ...(drift === undefined ? {} : { drift }) }));

const bodies: fc.Arbitrary<Fields> = fc.record({ txt_content: hostileMarkup, html_content: hostileMarkup });

const change: fc.Arbitrary<Change> = fc
  .record({
    address: hostileMarkup,
    label: fc.option(hostileMarkup, { nil: undefined }),
    kind: fc.constantFrom('Organization', 'User', 'EmailTemplate'),
    action: fc.constantFrom<Action>('update', 'delete', 'regenerate', 'adopt', 'blocked', 'unchanged'),
    observed: fc.constantFrom('live', 'recorded', 'unknown'),
    recordedAt: hostileMarkup,
    destructions: fc.array(hostileMarkup, { maxLength: 2 }),
    requests: fc.array(
      hostileMarkup.map((text) => ({
        operation: 'updateUser' as const,
        params: { user_id: `u${text.toWellFormed().replace(/\p{Cc}/gu, '')}` },
      })),
      { maxLength: 2 },
    ),
    fields: fc.array(field, { maxLength: 3 }),
    warnings: fc.array(fc.record({ code: fc.constantFrom(...problemCodes), message: hostileMarkup }), {
      maxLength: 2,
    }),
    reason: fc.option(hostileMarkup),
    declaredAt: fc.option(fc.record({ file: hostileMarkup, line: fc.integer({ min: 1, max: 999 }) })),
    before: bodies,
    expected: bodies,
  })
  .map(({ before, expected, label, ...parts }) => {
    const fields: readonly FieldChange[] =
      parts.kind === 'EmailTemplate'
        ? ['txt_content', 'html_content'].map((path) =>
            fieldOf({ path, type: 'body', before: before[path], after: expected[path] ?? null }),
          )
        : parts.fields;
    return changeOf({
      ...parts,
      ...(label === undefined ? {} : { label }),
      fields,
      apply: { ...changeOf().apply, expected, before },
    });
  });

/** Plans with hostile text in everything that comes from a server or a manifest. */
export const hostilePlan: fc.Arbitrary<Plan> = fc
  .record({
    changes: fc.array(change, { maxLength: 4 }),
    toolVersion: hostileMarkup,
    createdAt: hostileMarkup,
    digest: hostileMarkup,
    server: hostileMarkup,
    environment: fc.option(hostileMarkup),
    warnings: fc.array(fc.record({ code: fc.constantFrom(...problemCodes), message: hostileMarkup }), {
      maxLength: 2,
    }),
  })
  .map(({ changes, ...parts }) => planOf(changes, parts));

/** Characters that every report must escape: control, bidirectional and invisible ones. */
export const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** A line that a CI system interprets as a command. */
export const workflowCommand = /^\s*::|##\[|##vso\[|##teamcity\[/im;

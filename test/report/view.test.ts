import { describe, expect, it } from 'vitest';
import { Sensitive, type Value } from '../../src/base/values.js';
import type { FieldChange } from '../../src/plan/plan.js';
import { planHtml } from '../../src/report/html.js';
import { planMarkdown } from '../../src/report/markdown.js';
import { planText } from '../../src/report/text.js';
import { type ViewOptions, viewField } from '../../src/report/view.js';
import { changeOf, fieldOf, planOf } from './plans.js';

const media = ['terminal', 'comment', 'page'] as const;

function view(parts: Partial<FieldChange>, options: Partial<ViewOptions> = {}) {
  return viewField(fieldOf(parts), { whole: false, medium: 'comment', ...options });
}

/** A difference in each report. */
function reportsOf(parts: Partial<FieldChange>, debug = false) {
  // A single difference would be shown in the line of the change.
  const plan = planOf([changeOf({ fields: [fieldOf(parts), fieldOf({ path: 'other' })] })]);
  return {
    text: planText(plan, { color: false, debug }),
    markdown: planMarkdown(plan, { debug }),
    html: planHtml(plan, { samples: new Map(), debug }),
  };
}

describe('the view of a field', () => {
  it('shows of a secret only whether it was known', () => {
    expect(view({ before: undefined, after: 'hunter22', sensitive: true })).toEqual({
      view: 'secret',
      path: 'label',
      unknown: true,
      removed: false,
      drift: null,
    });
    expect(view({ before: 'hunter22', after: null, sensitive: true, becomes: 'removed' })).toMatchObject({
      removed: true,
    });
    expect(view({ type: 'body', before: 'a\n', after: 'b\n', sensitive: true })).toMatchObject({
      view: 'secret',
      unknown: false,
    });
  });

  it('shows drift since a run with the former value, unless it is a secret', () => {
    const drift = (recorded: Value) => ({ drift: { recorded, run: 'run-1' } });
    const driftOf = (parts: Partial<FieldChange>) => view(parts).drift;
    const since = 'changed on the server since run run-1';
    expect(driftOf({})).toBeNull();
    expect(driftOf(drift('x\u001b[31m'))).toBe(`${since} (was "x\\u001b[31m")`);
    expect(driftOf(drift(null))).toBe(`${since} (was null)`);
    const both = { drift: { recorded: 'x', run: 'run-1', declared: 'changed' } } as const;
    expect(driftOf(both)).toBe(`${since} (was "x"), and in the manifest`);
    expect(driftOf({ ...drift('hush'), sensitive: true })).toBe(since);
    expect(driftOf(drift(new Sensitive('hush')))).toBe(since);
    const set: Partial<FieldChange> = { type: 'set', before: [{ id: '2' }], after: [] };
    expect(driftOf({ ...set, ...drift([{ id: '1', name: 'one' }]) })).toBe(`${since} (was one (id 1))`);
    expect(driftOf({ ...set, ...drift([]) })).toBe(`${since} (was none)`);
    const body: Partial<FieldChange> = { type: 'body', before: 'a\nb\n', after: 'c\n' };
    expect(driftOf({ ...body, ...drift('a\n') })).toBe(`${since} (was 1 line)`);
    expect(driftOf({ ...body, before: null, ...drift('a\nb\n') })).toBe(`${since} (was 2 lines)`);
  });

  it('is a body if a text has several lines, in every medium', () => {
    for (const medium of media) {
      expect(view({ before: 'a\nb\n', after: 'a\nc\n' }, { medium })).toEqual({
        view: 'body',
        path: 'label',
        before: 'text',
        removalNote: null,
        lineCount: 2,
        notes: [],
        drift: null,
        hunks: [
          {
            header: '@@ -1,2 +1,2 @@',
            lines: [
              { mark: ' ', text: 'a' },
              { mark: '-', text: 'b' },
              { mark: '+', text: 'c' },
            ],
          },
        ],
      });
    }
  });

  const long = 'word '.repeat(20);
  it.each([
    ['value', 'a', 'b', ['value', 'value', 'value']],
    ['value', long, 'b', ['value', 'value', 'value']],
    ['body', 'a', 'b', ['value', 'value', 'body']],
    ['body', long, 'b', ['body', 'body', 'body']],
    ['body', undefined, long, ['value', 'body', 'body']],
    ['body', undefined, 'a\nb\n', ['body', 'body', 'body']],
    ['body', undefined, null, ['value', 'value', 'body']],
    ['set', 'no set', [], ['value', 'value', 'value']],
    ['set', undefined, [], ['set', 'set', 'set']],
  ] as const)(
    'of a %s, %j to %j, has the form that its medium has space for: %j',
    (type, before, after, forms) => {
      const field = { type, before, after: Array.isArray(after) ? [] : (after as string | null) };
      expect(media.map((medium) => view(field, { medium }).view)).toEqual(forms);
    },
  );

  it('shows what replaces a removed text, and the former text', () => {
    const deleted = { type: 'body', before: 'a\nb\n', after: null } as const;
    expect(view(deleted)).toMatchObject({ removalNote: 'cleared (null)' });
    expect(view({ ...deleted, becomes: 'gone' })).toMatchObject({ removalNote: 'deleted' });
    expect(view({ ...deleted, becomes: 'built-in' })).toMatchObject({
      removalNote: "the server's built-in text takes its place",
    });
    expect(view({ type: 'body', before: null, after: 'a\nb\n' })).toMatchObject({
      before: 'null',
      lineCount: 2,
    });
  });

  it('escapes paths and texts', () => {
    const hostile = '\u001b[2J\u202e';
    const text = JSON.stringify(
      view({ path: hostile, type: 'body', before: hostile, after: `${hostile}\n` }),
    );
    expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(text).toContain('\\\\u001b[2J\\\\u202e');
  });
});

describe('an unknown present value', () => {
  it('is shown as unknown in every report, and nothing as added', () => {
    const { text, markdown, html } = reportsOf({ before: undefined, after: 'ACME' });
    expect(text).toContain('label: (unknown) → "ACME"');
    expect(markdown).toContain('! label: (unknown) → "ACME"');
    expect(markdown).not.toContain('+ label');
    expect(html).toContain('<td class="unknown"><code>(unknown)</code></td>');
  });

  it('gives no added lines, no changed line endings and no differences', () => {
    const { text, markdown, html } = reportsOf(
      { type: 'body', before: undefined, after: '\ufeffa\r\nb \r\n' },
      true,
    );
    expect(text).toContain('label: (unknown) → 2 lines\n');
    for (const report of [markdown, html]) {
      expect(report).toContain('the value before is unknown; 2 lines after');
      expect(report).not.toMatch(/added, \d|mark is added/);
    }
    // Invisible characters are escaped the same way in every report.
    for (const report of [text, markdown, html]) {
      expect(report).toContain('+\\ufeffa\\r');
      expect(report).toContain('+b \\r');
    }
  });

  it('is shown for a removed text too', () => {
    expect(reportsOf({ type: 'body', before: undefined, after: null }).html).toContain(
      'the value before is unknown; cleared (null)',
    );
  });
});

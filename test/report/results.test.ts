import MarkdownIt from 'markdown-it';
import { parseFragment } from 'parse5';
import { describe, expect, it } from 'vitest';
import type { ChangeResult, Result } from '../../src/apply/result.js';
import { resultGithub } from '../../src/report/github.js';
import { resultHtml, resultMarkdown } from '../../src/report/results.js';
import { changeOf, planOf } from './plans.js';

function one(address: string, part: Partial<ChangeResult> = {}): ChangeResult {
  return {
    address,
    action: 'update',
    status: 'applied',
    httpStatus: 200,
    attempts: 1,
    unverified: [],
    error: null,
    ...part,
  };
}

function resultOf(...results: ChangeResult[]): Result {
  return { run: '20260131T120000Z-abc123', results, interrupted: false };
}

const hostile = '<script>alert(1)</script> @acme/everyone [x](https://evil.example) ::error::boo';

describe('a result in Markdown', () => {
  it('names the run, and what went wrong before what went well', () => {
    const text = resultMarkdown(
      resultOf(one('Organization/acme'), one('User/u', { status: 'failed', error: 'answered 422' })),
    );
    expect(text).toContain('Run `20260131T120000Z-abc123`');
    expect(text.indexOf('User/u')).toBeLessThan(text.indexOf('Organization/acme'));
    expect(text).toContain('**failed**');
    expect(text).toContain('422');
  });

  it('never exceeds what a comment takes, and says how much is left out', () => {
    const many = Array.from({ length: 5000 }, (_, index) => one(`Organization/${'x'.repeat(40)}${index}`));
    const text = resultMarkdown(resultOf(...many));
    expect(text.length).toBeLessThanOrEqual(60_000);
    expect(text).toMatch(/and \d+ more results, see the log/);
  });

  it('lets no link, element or mention out of data', () => {
    const html = new MarkdownIt({ html: true, linkify: true }).render(
      resultMarkdown(resultOf(one(hostile, { status: 'failed', error: hostile }))),
    );
    expect(html).not.toMatch(/<script|<a /);
    expect(html.replace(/<code>[^<]*<\/code>/g, '')).not.toContain('@acme');
  });
});

describe('a result as a page', () => {
  it('shows hostile text as text', () => {
    const page = resultHtml(resultOf(one(hostile, { status: 'not_converged', error: hostile })));
    expect(page).not.toContain('<script');
    expect(
      JSON.stringify(parseFragment(page), (key, value) => (key === 'parentNode' ? undefined : value)),
    ).toContain('alert(1)');
  });
});

describe('a result as annotations', () => {
  it('marks what was not applied at the place that declares it, and nothing else', () => {
    const plan = planOf([changeOf({ declaredAt: { file: 'manifests/x.yaml', line: 3 } })]);
    const [change] = plan.changes;
    if (change === undefined) throw new Error('the plan has no change');
    const text = resultGithub(
      resultOf(one(change.address, { status: 'failed', error: hostile }), one('Organization/fine')),
      plan,
    );
    const lines = text.split('\n').filter((line) => line.startsWith('::'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`file=${change.declaredAt?.file}`);
    expect(text).not.toContain('Organization/fine');
  });
});

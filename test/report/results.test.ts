import MarkdownIt from 'markdown-it';
import { parseFragment } from 'parse5';
import { describe, expect, it } from 'vitest';
import type { ChangeResult, Result } from '../../src/apply/result.js';
import type { Plan } from '../../src/plan/plan.js';
import { resultGithub } from '../../src/report/github.js';
import { resultMarkdown } from '../../src/report/result-markdown.js';
import { resultHtml } from '../../src/report/result-page.js';
import { changeOf, resultOf as changeResult, fieldOf, planOf } from './plans.js';

function one(address: string, part: Partial<ChangeResult> = {}): ChangeResult {
  return changeResult({ address, ...part });
}

function resultOf(...results: ChangeResult[]): Result {
  return { run: '20260131T120000Z-abc123', results, interrupted: false };
}

const hostile = '<script>alert(1)</script> @acme/everyone [x](https://evil.example) ::error::boo';

describe('a result in Markdown', () => {
  it('names the run, and lists failures before successes', () => {
    const text = resultMarkdown(
      resultOf(one('Organization/acme'), one('User/u', { status: 'failed', error: 'answered 422' })),
    );
    expect(text).toContain('Run `20260131T120000Z-abc123`');
    expect(text.indexOf('User/u')).toBeLessThan(text.indexOf('Organization/acme'));
    expect(text).toContain('**failed**');
    expect(text).toContain('422');
  });

  it('names the run that an undo restores', () => {
    const text = resultMarkdown({ ...resultOf(one('Organization/acme')), undoes: 'r0' });
    expect(text).toMatch(/^## idops undo: Applied: 1 applied/);
    expect(text).toContain('Undoes run `r0`');
  });

  it('never exceeds the size of a comment, and counts what is left out', () => {
    const many = Array.from({ length: 5000 }, (_, index) => one(`Organization/${'x'.repeat(40)}${index}`));
    const text = resultMarkdown(resultOf(...many));
    expect(text.length).toBeLessThanOrEqual(60_000);
    expect(text).toMatch(/and \d+ more results, see the log/);
  });

  it('makes no link, element or mention from data', () => {
    const html = new MarkdownIt({ html: true, linkify: true }).render(
      resultMarkdown(resultOf(one(hostile, { label: hostile, status: 'failed', error: hostile }))),
    );
    expect(html).not.toMatch(/<script|<a /);
    expect(html.replace(/<code>[^<]*<\/code>/g, '')).not.toContain('@acme');
  });
});

describe('a result as a page', () => {
  const page = (result: Result, plan: Plan = planOf([])) =>
    resultHtml(result, plan, { samples: new Map(), debug: false });
  const changes = [
    changeOf({ address: 'Organization/fine', fields: [fieldOf()] }),
    changeOf({ address: 'Organization/acme', fields: [fieldOf({ before: 'Old', after: 'New' })] }),
    changeOf({ kind: 'User', address: 'User/u', destructions: ['blocks the user'] }),
  ];

  it('shows hostile text as text', () => {
    const html = page(resultOf(one(hostile, { label: hostile, status: 'not_converged', error: hostile })));
    expect(html).not.toContain('<script');
    expect(
      JSON.stringify(parseFragment(html), (key, value) => (key === 'parentNode' ? undefined : value)),
    ).toContain('alert(1)');
  });

  it('shows the server, the time, the run and how to undo it', () => {
    const html = page(resultOf(one('Organization/acme')), planOf(changes, { environment: 'production' }));
    for (const part of [
      'idops apply on https://id.example.com',
      'Environment <code>production</code>',
      'Profile <code>documented</code>',
      'Run <code>20260131T120000Z-abc123</code>',
      '<strong>1</strong> applied',
      '<code>idops undo 20260131T120000Z-abc123 --env production</code>',
    ]) {
      expect(html).toContain(part);
    }
  });

  it('shows failures first, each in full with its differences', () => {
    const html = page(
      resultOf(
        one('Organization/fine', { unverified: ['label'] }),
        one('Organization/acme', { status: 'failed', error: 'the server answered 422: label', attempts: 3 }),
        one('User/u', { status: 'skipped', error: 'the run was interrupted', httpStatus: null }),
      ),
      planOf(changes),
    );
    const addresses = [...html.matchAll(/<code class="address">([^<]*)/g)].map(([, address]) => address);
    expect(addresses).toEqual(['Organization/acme', 'User/u', 'Organization/fine']);
    expect(html).toContain('<strong>Failed:</strong> the server answered 422: label');
    expect(html).toContain('3 requests');
    expect(html).toContain('<strong>Skipped:</strong> the run was interrupted');
    expect(html).toContain('<strong>Unverified:</strong> not in the answer: label');
    expect(html).toContain('<td class="after"><code>&quot;New&quot;</code></td>');
    expect(html).toContain('<strong>Destructive:</strong> blocks the user');
    expect(html).toContain('<strong>2 changes of 3</strong> did not end as planned');
  });

  it('describes what was done, not what will be', () => {
    const adopted = changeOf({
      kind: 'Client',
      address: 'Client/c',
      action: 'adopt',
      apply: { ...changeOf().apply, generation: 2 },
    });
    const body = fieldOf({ path: 'txt_content', type: 'body', before: undefined, after: 'x\ny\n' });
    const template = changeOf({
      kind: 'EmailTemplate',
      address: 'EmailTemplate/b/t',
      observed: 'unknown',
      fields: [body],
    });
    const html = page(
      resultOf(one('Client/c', { action: 'adopt', httpStatus: null, attempts: 0 }), one('EmailTemplate/b/t')),
      planOf([adopted, template]),
    );
    expect(html).toContain('the value before is unknown; 2 lines after');
    expect(html).not.toMatch(/will be|present value/);
  });

  it("shows the plan's warnings, and the next step if something is left", () => {
    const plan = planOf(changes, {
      environment: 'production',
      again: ['apply', '--target', 'User/*'],
      warnings: [{ code: 'ignored-field', message: 'the server takes no notice of "backend"' }],
    });
    const html = page(resultOf(one('Organization/acme', { status: 'failed', error: 'no' })), plan);
    expect(html).toContain('<strong>Warning:</strong> the server takes no notice of &quot;backend&quot;');
    expect(html).toContain(
      'To send what is left, after a new plan: <code>idops apply --target &#39;User/*&#39; --env production</code>',
    );
    expect(page(resultOf(one('Organization/acme')), plan)).not.toContain('To send what is left');
  });

  it('names the run that an undo restores, and says that manifests may differ', () => {
    const html = page(resultOf(one('Organization/acme')), planOf(changes, { undoes: '20260130T1-x' }));
    expect(html).toContain('idops undo on https');
    expect(html).toContain('run <code>20260130T1-x</code>');
    expect(html).toContain('the next apply makes it again');
  });

  it('offers no undo if nothing was done', () => {
    const failed = page(resultOf(one('Organization/acme', { status: 'failed' })), planOf(changes));
    expect(failed).not.toContain('idops undo 2026');
    expect(page({ run: null, results: [], interrupted: false }, planOf([]))).toContain(
      'There was nothing to do',
    );
  });
});

describe('a result as annotations', () => {
  it('marks only what was not applied, at the place that declares it', () => {
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

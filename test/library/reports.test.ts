import { describe, expect, test } from 'vitest';
import { createRedactor } from '../../src/base/redact.js';
import * as library from '../../src/index.js';
import {
  formatNames,
  type Look,
  planReport,
  problemsReport,
  render,
  renderText,
  resultReport,
  validationReport,
} from '../../src/report/formats.js';
import { planJson as innerJson } from '../../src/report/json.js';
import { ids, site } from '../boruta/site.js';
import { changeOf, planOf } from '../report/plans.js';

const look: Look = { color: false, debug: false, folder: 'infra' };

describe('reports for programs', () => {
  test('are there in every format that the command has', () => {
    const functions = (what: string, formats: readonly string[]): string[] =>
      formats.map((name) => `${what}${name.charAt(0).toUpperCase()}${name.slice(1)}`);
    const wanted = [
      ...functions('plan', formatNames(planReport)),
      ...functions('result', formatNames(resultReport)),
      ...functions('problems', formatNames(problemsReport)),
      ...functions('problems', formatNames(validationReport)),
    ];
    for (const name of wanted) expect(Object.keys(library)).toContain(name);
  });

  test('are what the command shows', async () => {
    const at = await site();
    await at.declare(
      { kind: 'Organization', id: ids.acme, label: 'New' },
      { kind: 'Client', id: ids.nobody, did_generation: 1 },
    );
    const variables = { IDOPS_TOKEN: at.sandbox.token };
    const project = await library.loadProject({ cwd: at.folder, variables });
    const session = await library.openForWriting(project, 'apply');
    const plan = await session.plan({ kinds: ['Organization'] });
    const all = await session.plan();
    const { result } = await session.apply(library.approve(plan, { maxDestructive: 0 }));
    await session.close();
    expect(library.planText(plan)).toContain('~ update Organization/acme');
    expect(library.planText(plan, { color: true })).toContain('\u001b[');
    expect(library.planMarkdown(plan, { budget: 1000 }).length).toBeLessThanOrEqual(1000);
    expect(await library.planHtml(plan)).toContain('Organization/acme');
    expect(library.planGithub(plan, { folder: 'infra' })).toContain('file=infra/manifests/');
    expect(library.planGitlab(all)).toEqual({ create: 0, update: 1, delete: 0 });
    expect(library.planJson(all)).toMatchObject({ format_version: 1, digest: all.digest });
    expect(library.resultText(result)).toBe(await shownText('text', result));
    expect(library.resultMarkdown(result)).toBe(await shownText('markdown', result));
    expect(library.resultHtml(result, plan)).toContain('idops apply on http');
    expect(library.resultHtml(result)).toContain(`Run <code>${result.run}</code>`);
    expect(library.resultJson(result)).toMatchObject({ format_version: 1, run: result.run });
    expect(library.resultGithub(result, plan)).toContain('1 applied');
    const problems = library.refusalsOf(all, 0);
    expect(library.problemsText(problems)).toContain('error[blocked]');
    expect(library.problemsGithub(problems)).toContain('::error title=idops blocked::');
    expect(library.problemsJson(problems)).toMatchObject({
      problems: [{ code: 'blocked', hint: expect.any(String) }],
    });
  });
});

async function shownText(format: string, result: library.Result): Promise<string> {
  return await renderText(resultReport, format, { result, plan: planOf([]) }, look);
}

describe('the registry of formats', () => {
  test('knows no other format, and no text where there is JSON', async () => {
    const shown = { plan: planOf([changeOf()]), samples: new Map() };
    await expect(render(planReport, 'yaml', shown, look)).rejects.toThrow('there is no yaml');
    await expect(renderText(planReport, 'json', shown, look)).rejects.toThrow('json is no text');
    expect(await render(planReport, 'json', shown, look)).toEqual({ json: innerJson(shown.plan, look) });
    expect(planReport.redact(shown, createRedactor())).toEqual(shown);
  });
});

import { describe, expect, test } from 'vitest';
import { readRuns } from '../../src/apply/find-runs.js';
import { planHtml } from '../../src/report/html.js';
import { planJson } from '../../src/report/json.js';
import { planMarkdown } from '../../src/report/markdown.js';
import { pastRun } from '../../src/report/past.js';
import { runText } from '../../src/report/runs.js';
import { planText } from '../../src/report/text.js';
import { fileRuns } from '../../src/state/file/runs.js';
import { always, changeOf, type Doc, ids, site, todo } from './site.js';

const absent: Doc = { kind: 'EmailTemplate', backend_id: ids.backend, type: 'tx_code', state: 'absent' };
const own: Doc = { kind: 'EmailTemplate', backend_id: ids.backend, type: 'tx_code', txt_content: 'own' };
const text = { color: false, debug: false };

describe.each(['documented', 'boruta'] as const)('a body (%s)', (profile) => {
  test.each([
    ['of blanks', ' \n\t', 'body-blank'],
    ["of Unicode's white space", '\u00a0\u2003\u3000\u0085', 'body-blank'],
    ['with NUL', 'a\0b', 'bad-character'],
  ])('%s is refused before anything is sent', async (_, body, code) => {
    const at = await site({ profile });
    for (const half of ['txt_content', 'html_content']) {
      await expect(at.plan({ ...own, [half]: body })).rejects.toMatchObject({
        problems: [{ code, severity: 'error', places: [{ file: expect.stringMatching(/0\.yaml$/) }] }],
      });
    }
    expect(at.sandbox.requests).toEqual([]);
  });
});

describe('a template that the server answers 404 for', () => {
  const nowhere: Doc = { ...own, backend_id: ids.nobody };

  test('is blocked, since there is no such backend', async () => {
    const at = await site();
    const plan = await at.plan(nowhere);
    expect(todo(plan)).toEqual([
      expect.stringMatching(
        `^blocked EmailTemplate/${ids.nobody}/tx_code: the server answers 404 for it: it has no backend with the id ${ids.nobody}, or no email template of the type tx_code`,
      ),
    ]);
    expect(plan.changes[0]?.requests).toEqual([]);
  });

  test('is satisfied with state absent', async () => {
    const at = await site();
    expect(todo(await at.plan({ ...absent, backend_id: ids.nobody }))).toEqual([]);
  });

  test('can be written on a documented server', async () => {
    const at = await site({ profile: 'documented' });
    await at.apply(absent);
    const plan = await at.plan({ ...own, html_content: '<p>own</p>' });
    expect(todo(plan)).toEqual([`update EmailTemplate/${ids.backend}/tx_code`]);
  });
});

describe('a template with state absent', () => {
  test('is replaced by the built-in text, as every report says', async () => {
    const at = await site();
    const plan = await at.plan(absent);
    const fate = "the server's built-in text takes its place";
    const flat = (shown: string) => shown.replace(/\s+/g, ' ').replaceAll('&#39;', "'");
    const shown = [
      planText(plan, text),
      planMarkdown(plan, { debug: false }),
      planHtml(plan, { debug: false, samples: new Map() }),
    ];
    for (const report of shown) {
      expect(flat(report)).toContain(fate);
      expect(report).not.toContain('cleared');
    }
    const [field] = planJson(plan, { debug: false }).changes[0]?.fields ?? [];
    expect(field).toMatchObject({ path: 'txt_content', after: { unknown: true }, becomes: 'built-in' });
    await at.apply(absent);
    const { runs } = await readRuns(fileRuns(`${at.folder}/.idops/runs`));
    const [found] = runs;
    if (found === undefined) throw new Error('no run');
    expect(flat(runText(await pastRun(found), text))).toContain(fate);
  });

  test('is gone on a documented server', async () => {
    const at = await site({ profile: 'documented' });
    const plan = await at.plan(absent);
    expect(planText(plan, text)).toContain('txt_content: deleted');
    expect(planText(plan, text)).not.toContain('cleared');
    const [field] = planJson(plan, { debug: false }).changes[0]?.fields ?? [];
    expect(field).toMatchObject({ after: null, becomes: 'gone' });
  });
});

describe('a response about a template of another backend', () => {
  const moved = {
    id: ids.txCode,
    backend_id: ids.nobody,
    type: 'tx_code',
    txt_content: 'own',
    html_content: 'x',
  };

  test.each([
    ['DELETE', absent],
    ['PATCH', own],
  ] as const)('to a %s is no success', async (method, document) => {
    const at = await site();
    always(at, method, { kind: 'answer', status: 200, body: { data: moved } });
    const { results } = await at.apply(document);
    expect(results[0]?.status).not.toBe('applied');
    expect(results[0]?.error).toContain(
      'another object than the one asked for: its backend_id is another one',
    );
  });

  test('to the DELETE before a PATCH prevents the PATCH', async () => {
    const at = await site();
    always(at, 'DELETE', { kind: 'answer', status: 200, body: { data: moved } });
    const { plan } = await at.apply(own);
    expect(changeOf(plan, `EmailTemplate/${ids.backend}/tx_code`).requests).toHaveLength(2);
    expect(at.writes().filter((sent) => sent.startsWith('PATCH'))).toEqual([]);
  });

  test('is accepted if the id is only in upper case', async () => {
    const at = await site({ seed: withLetters((await site()).sandbox.snapshot()) });
    const data = { ...moved, backend_id: lettersIn(ids.backend).toUpperCase(), id: null };
    always(at, 'GET', { kind: 'answer', status: 200, body: { data } });
    const plan = await at.plan({ ...own, backend_id: lettersIn(ids.backend), html_content: 'x' });
    expect(todo(plan)).toEqual([]);
  });
});

function lettersIn(id: string): string {
  return id.replace(/^2/, 'a');
}

function withLetters<T>(seed: T): T {
  return JSON.parse(JSON.stringify(seed).replaceAll(ids.backend, lettersIn(ids.backend)));
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { viewerScript } from '../../src/report/viewer.js';
import { hostileBody, hostileElements } from '../browser/hostile-bodies.js';
import { project, sure, type TestProject } from '../e2e/running.js';
import { often } from '../often.js';
import { emailsIn, scriptsIn, treeOf } from '../report/trees.js';
import { ids } from '../sandbox/asking.js';

const heap = { env: { NODE_OPTIONS: '--max-old-space-size=250' } };

/** A project with these bodies, each the HTML and the text of an email. */
function mails(bodies: readonly string[]): Promise<TestProject> {
  const files = Object.fromEntries(bodies.map((body, at) => [`bodies/${at}.html`, body]));
  const manifests = bodies.map((_, at) => {
    const file = `{file: ../bodies/${at}.html}`;
    return `kind: EmailTemplate\nbackend_id: ${ids.backend}\ntype: t${at}\ntxt_content: ${file}\nhtml_content: ${file}\n`;
  });
  return project({ 'idops.yaml': sure, 'manifests/all.yaml': manifests.join('---\n'), ...files });
}

describe('a body beyond reason takes memory in proportion', () => {
  const many = (count: number, of: (index: number) => string): string =>
    [...Array(count).keys()].map(of).join('');

  it.each([
    ['sections', many(often(9000), (at) => `{{^a${at}}}some text ${at}{{/a${at}}}\n`)],
    ['nested elements', '<div>'.repeat(often(200_000))],
    [
      'elements that repeat each other',
      `<p>${many(400, (at) => `<font size=${at}>`)}${'<p>x'.repeat(often(200_000))}`,
    ],
    ['sections within each other', '{{#a}}'.repeat(often(80_000)) + '{{/a}}'.repeat(often(80_000))],
    ['text', 'some words and more words\n'.repeat(often(40_000))],
    ['open links', '<a href=x>'.repeat(often(100_000))],
    ['attributes of one tag', `<p${many(often(100_000), (at) => ` a${at}=1`)}>`],
  ])('%s', async (_, body) => {
    const at = await mails([body]);
    for (const args of ['validate', 'plan --format html=plan.html --format markdown=plan.md', 'preview']) {
      const ran = await at.idops(args, heap);
      expect(ran.stderr).not.toMatch(/internal|heap|at line \d+:\d+/);
      expect(ran.code).toBe(0);
      expect(ran.stderr.length).toBeLessThan(10_000);
    }
  });

  it.each([
    ['10 MB of spaces', `x${' '.repeat(10_000_000)}x`],
    ['10 MB of nested elements', '<div>'.repeat(2_000_000)],
  ])('%s is no internal error of validate', async (_, body) => {
    const ran = await (await mails([body])).idops('validate', heap);
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('warning[body-too-large]') });
    expect(ran.stderr.length).toBeLessThan(10_000);
  });

  it('bodies that are too many together are an error in words', async () => {
    const at = await mails(Array(4).fill('x'.repeat(9_000_000)));
    const ran = await at.idops('validate', heap);
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('error[too-large]') });
    expect(ran.stderr).toContain('more than 32,000,000 characters together');
  });
});

describe('emails in reports make no connection', () => {
  const url = 'https://canary.example';

  it('hold no element that runs, loads, embeds or leads anywhere, in the plan and in the preview', async () => {
    const bodies = [...fc.sample(hostileBody, { numRuns: 200, seed: 11 }), ...hostileElements].map((of) =>
      // No server can keep a NUL, so it is refused before.
      of(url).replaceAll('\0', ''),
    );
    const at = await mails([bodies.slice(0, 150).join('\n'), ...bodies.slice(150)]);
    expect((await at.idops('plan --format html=plan.html')).code).toBe(0);
    expect((await at.idops('preview')).code).toBe(0);
    for (const name of ['plan.html', 'preview.html']) {
      const text = await at.read(name);
      const emails = emailsIn(text);
      expect(emails.length).toBeGreaterThan(50);
      for (const email of emails) {
        for (const element of treeOf(email).elements) expectHarmless(element);
      }
      expect(scriptsIn(text)).toEqual([viewerScript]);
      for (const element of treeOf(text).elements) if (element.tag !== 'script') expectHarmless(element);
    }
  });

  const leading = /^(?:src|srcset|action|formaction|data|background|poster|ping|cite|longdesc|xlink:href)$/;

  function expectHarmless({ tag, attributes }: ReturnType<typeof treeOf>['elements'][number]): void {
    expect([
      'script',
      'iframe',
      'link',
      'base',
      'object',
      'embed',
      'form',
      'svg',
      'math',
      'video',
      'audio',
    ]).not.toContain(tag);
    if (tag === 'meta') expect(attributes['http-equiv'] ?? '').not.toMatch(/refresh/i);
    for (const [name, value] of Object.entries(attributes)) {
      expect(name).not.toMatch(/^on/);
      if (name === 'href') expect(value).toMatch(/^#/);
      if (leading.test(name)) expect(value).toMatch(/^data:image\//);
      if (name === 'style') expect(value).not.toMatch(/url\((?!"data:image)/i);
    }
  }
});

import { describe, expect, it } from 'vitest';
import { emailProject } from './email-project.js';

const heap = { env: { NODE_OPTIONS: '--max-old-space-size=250' } };

describe('the memory for a large body is proportional to its size', () => {
  const many = (count: number, of: (index: number) => string): string =>
    [...Array(count).keys()].map(of).join('');

  it.each([
    ['sections', many(9000, (at) => `{{^a${at}}}some text ${at}{{/a${at}}}\n`)],
    ['nested elements', '<div>'.repeat(200_000)],
    ['repeated elements', `<p>${many(400, (at) => `<font size=${at}>`)}${'<p>x'.repeat(200_000)}`],
    ['nested sections', '{{#a}}'.repeat(80_000) + '{{/a}}'.repeat(80_000)],
    ['text', 'some words and more words\n'.repeat(40_000)],
    ['open links', '<a href=x>'.repeat(100_000)],
    ['attributes of one tag', `<p${many(100_000, (at) => ` a${at}=1`)}>`],
  ])('%s', async (_, body) => {
    const at = await emailProject([body]);
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
  ])('%s: validate reports no internal error', async (_, body) => {
    const ran = await (await emailProject([body])).idops('validate', heap);
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining('warning[body-too-large]') });
    expect(ran.stderr.length).toBeLessThan(10_000);
  });
});

import { describe, expect, it } from 'vitest';
import type { NamedSample } from '../../src/mail/samples.js';
import { Emails, emailGallery } from '../../src/report/emails.js';
import { galleryHtml } from '../../src/report/gallery.js';
import { planHtml } from '../../src/report/html.js';
import { markup } from '../../src/report/markup.js';
import { galleryTemplate, planOf, templateChange } from './plans.js';
import { emailsIn } from './trees.js';

const sections = (count: number): string =>
  [...Array(count).keys()].map((at) => `{{#a${at}}}${at} {{/a${at}}}`).join('');

function gallery(bodies: readonly string[]): string {
  const templates = bodies.map((html, at) =>
    galleryTemplate({ address: `EmailTemplate/b/t${at}`, type: `t${at}`, bodies: { txt: null, html } }),
  );
  return galleryHtml({ templates, problems: [] });
}

/** Forty templates on a page with room for 1,500,000 characters of emails. */
function narrow(body: (at: number) => string): string {
  const emails = new Emails(1_500_000);
  const views = [...Array(40).keys()].map((at) =>
    emailGallery({ txt: null, html: body(at) }, undefined, [], emails),
  );
  return markup`${views}`.text;
}

function plan(html: string, samples: readonly NamedSample[] = []): string {
  const change = templateChange({ html_content: '' }, { html_content: html });
  return planHtml(planOf([change]), { samples: new Map([[change.address, samples]]), debug: false });
}

/** The labels of the variants of a change, which are the same for the email and its text. */
function variantsIn(page: string): (string | undefined)[] {
  const labels = [...page.matchAll(/<details class="variant"[^>]*><summary>([^<]*)/g)].map(
    ([, label]) => label,
  );
  const half = labels.length / 2;
  expect(labels.slice(half)).toEqual(labels.slice(0, half));
  return labels.slice(0, half);
}

const sentence = /Not shown: up to ([\d,]+) more mails, with other sections present or absent\./;

describe('a page of emails', () => {
  it.each([
    ['the preview', (body: string) => gallery([body])],
    ['the plan', (body: string) => plan(body)],
  ])("says how many mails it doesn't show: %s", (_, page) => {
    // All sections, none, and each section alone or missing: 2 + 2 × 100 variants, of which 24 are shown.
    expect(sentence.exec(page(sections(100)))?.[1]).toBe('178');
    expect(sentence.exec(page(sections(1000)))?.[1]).toBe('1,978');
    expect(sentence.exec(page(sections(12)))?.[1]).toBe('2');
    expect(page(sections(11))).not.toMatch(sentence);
    expect(page('<p>x</p>')).not.toMatch(sentence);
  });

  it('stays within its limits, for what it leaves out too', () => {
    const page = narrow((at) => `<p>${at}</p><!--${'x'.repeat(50_000)}-->`);
    // Each email has a wide and a narrow frame; all frames together may have 1,500,000 characters.
    expect(emailsIn(page)).toHaveLength(58);
    expect(page.match(/200 emails at most/g)).toHaveLength(22);
  });

  it('shows one mail of each template before further ones', () => {
    const page = narrow((at) => `<p>${at}</p><!--${'x'.repeat(25_000)}-->{{#a}}y{{/a}}`);
    const shown = emailsIn(page).join();
    for (let at = 0; at < 40; at += 1) expect(shown).toContain(`<p>${at}</p>`);
    expect(emailsIn(page).length).toBeGreaterThan(100);
    expect(page).not.toContain('emails at most');
    expect(page).toContain('this page shows the first mail of each template');
  });

  it('has at most as many frames as a browser opens', () => {
    const page = gallery([...Array(150).keys()].map((at) => `<p>${at}</p>{{#a}}y{{/a}}`));
    expect(emailsIn(page)).toHaveLength(200);
    expect(page).toContain('this page shows the first mail of each template');
    expect(page).toContain('200 emails at most');
  });

  it('labels sample data by what differs first, and by file if there are several', () => {
    const page = plan('<p>{{ name }}</p>', [
      { name: 'document 1', file: 'a/s.yaml', data: { name: 'Ada' } },
      { name: 'document 2', file: 'a/s.yaml', data: { name: 'Grace' } },
      { name: 'all of it', file: 's.yaml', data: { name: 'Alan' } },
    ]);
    expect(variantsIn(page)).toEqual(['document 1, a/s.yaml', 'document 2, a/s.yaml', 'all of it, s.yaml']);
  });

  it('offers each set of sample data, and each combination of sections', () => {
    const page = plan('<p>{{ name }}{{#a}} A{{/a}}</p>', [
      { name: 'document 1', file: 's.yaml', data: { name: 'Ada' } },
      { name: 'document 2', file: 's.yaml', data: { name: 'Grace' } },
    ]);
    expect(variantsIn(page)).toEqual([
      'document 1: with a',
      'document 2: with a',
      'document 1: without a',
      'document 2: without a',
    ]);
    const after = emailsIn(page).map((document) => /<p>.*<\/p>/.exec(document)?.[0]);
    expect(after.filter((text) => text !== undefined)).toEqual([
      '<p>Ada A</p>',
      '<p>Grace A</p>',
      '<p>Ada</p>',
      '<p>Grace</p>',
    ]);
  });
});

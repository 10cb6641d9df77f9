import { describe, expect, it } from 'vitest';
import { FrameRoom } from '../../src/report/emails.js';
import { type GalleryTemplate, galleryHtml } from '../../src/report/gallery.js';
import { planHtml } from '../../src/report/html.js';
import { changeOf, fieldOf, planOf } from './plans.js';

const sections = (count: number): string =>
  [...Array(count).keys()].map((at) => `{{#a${at}}}${at} {{/a${at}}}`).join('');

function gallery(bodies: readonly string[]): string {
  const templates = bodies.map(
    (html, at): GalleryTemplate => ({
      address: `EmailTemplate/b/t${at}`,
      declaredAt: { file: 'manifests/all.yaml', line: 1 },
      bodies: { txt: null, html },
      held: false,
      sample: {},
      sampleFile: null,
      warnings: [],
    }),
  );
  return galleryHtml({ templates, problems: [] });
}

function plan(html: string): string {
  const change = changeOf({
    kind: 'EmailTemplate',
    address: 'EmailTemplate/b/t',
    fields: [fieldOf({ path: 'html_content', type: 'body', before: '', after: html })],
    apply: { ...changeOf().apply, expected: { html_content: html }, before: { html_content: '' } },
  });
  return planHtml(planOf([change]), { samples: new Map(), debug: false });
}

const sentence = /Not shown: up to ([\d,]+) more mails, in which other sections are there and not there\./;

describe('a page of emails', () => {
  it.each([
    ['the preview', (body: string) => gallery([body])],
    ['the plan', plan],
  ])('says how many mails it does not show: %s', (_, page) => {
    // With every section, without any, and each of them there alone and away alone: 2 + 2 × 100, of which 24 are shown.
    expect(sentence.exec(page(sections(100)))?.[1]).toBe('178');
    expect(sentence.exec(page(sections(1000)))?.[1]).toBe('1,978');
    expect(sentence.exec(page(sections(12)))?.[1]).toBe('2');
    expect(page(sections(11))).not.toMatch(sentence);
    expect(page('<p>x</p>')).not.toMatch(sentence);
  });

  it('takes no more than it has room for, of what is left out as well', () => {
    const comment = (at: number): string => `<p>${at}</p><!--${'x'.repeat(1_000_000)}-->`;
    const page = gallery([...Array(20).keys()].map(comment));
    // Each in a wide and in a narrow frame, of 30,000,000 characters.
    expect(page.match(/<iframe/g)).toHaveLength(29);
    expect(page.match(/this page has 30,000,000 characters of emails already/g)).toHaveLength(11);
  });

  it('writes an email anew once for the frames that show it', () => {
    const room = new FrameRoom();
    const cleaned = room.clean('<p>x</p>');
    expect(room.clean('<p>x</p>')).toBe(cleaned);
    expect(room.clean('<p>y</p>')).not.toBe(cleaned);
  });
});

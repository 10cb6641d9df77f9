import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { stylesOf } from '../../src/mail/css.js';
import { unsupportedIn } from '../../src/mail/features.js';
import {
  platformsOf,
  programNames,
  programsInWords,
  tested,
  usualPrograms,
} from '../../src/mail/programs.js';
import { loadMailSupport, type MailSupport } from '../../src/mail/support.js';
import { supportLines, supportPrograms } from '../../src/mail/support-data.js';
import { parseBody } from '../../src/mail/tree.js';
import { demoTemplates } from '../../src/sandbox/demo-templates.js';
import { often } from '../often.js';
import { layout } from './layouts.js';

let all: MailSupport;
let usual: MailSupport;

beforeAll(async () => {
  all = await loadMailSupport(tested);
  usual = await loadMailSupport(usualPrograms);
});

function used(body: string, support: MailSupport): string[] {
  const tree = parseBody(body, { located: true });
  if ('refused' in tree) throw new Error(tree.refused);
  return unsupportedIn(tree, stylesOf(tree, body), support).map(
    ({ feature, times, at }) =>
      `${feature} ${times} ${at[0] === undefined ? '' : body.slice(at[0].start, at[0].end)}`,
  );
}

describe('the data of Can I email', () => {
  it('is of the programs that can be named', () => {
    expect(supportPrograms.trim().split('\n').toSorted()).toEqual(tested.toSorted());
    expect(new Set(programNames).size).toBe(programNames.length);
    for (const name of programNames) expect(platformsOf([name]).size).toBeGreaterThan(0);
  });

  it('names each feature once, and each sign of one', () => {
    const lines = supportLines.trim().split('\n');
    const signs = lines.flatMap((line) => line.split('||')[0]?.split('|').slice(1) ?? []);
    expect(lines.length).toBeGreaterThan(150);
    expect(new Set(signs).size).toBe(signs.length);
    for (const sign of signs) expect(sign).toMatch(/^(?:[eapvkfusmli@]\S|:|!|s )/);
  });

  it('means all platforms of a program, but for those that hardly anybody has', () => {
    expect([...platformsOf(['gmail', 'hey.desktop-webmail'])].toSorted()).toEqual([
      ...['gmail.android', 'gmail.desktop-webmail', 'gmail.ios', 'hey.desktop-webmail'],
    ]);
    expect(platformsOf(['outlook']).has('outlook.windows-mail')).toBe(false);
    expect(platformsOf(['outlook.windows-mail']).has('outlook.windows-mail')).toBe(true);
  });

  it('names programs with the versions, or with when they were tested', () => {
    const versions = { 'outlook.windows': '2007-2019', 'gmail.ios': '2019-02', 'gmail.android': '2024-05' };
    expect(programsInWords(new Map(Object.entries(versions)))).toBe(
      'Gmail (iOS, Android, tested 2024-05) and Outlook (Windows 2007-2019)',
    );
  });
});

describe('what programs do not understand', () => {
  it('is found in elements, attributes, links and pictures', () => {
    const html =
      '<section><input type="checkbox" required><img src="https://x.example/a.webp?b" srcset="a 2x"><img src="data:image/png;base64,x">';
    const found = used(html, all).join('\n');
    for (const feature of [
      'HTML5 semantics',
      'required attribute',
      'webP image format',
      'srcset and sizes',
      'base 64',
    ])
      expect(found).toContain(feature);
  });

  it('is found in style sheets, where it stands', () => {
    const css =
      '@font-face{src:url(a)}\r\n.a::before{box-shadow:0 0 1vmin red}a>b:nth-child(2){display:grid}';
    const found = used(`<style>${css}</style>`, all);
    for (const one of [
      '@font-face 1 @font-face',
      '::before 1 .a::before',
      'box-shadow 1 box-shadow:0 0 1vmin red',
      'vmin unit 1 box-shadow:0 0 1vmin red',
      ':nth-child 1 a>b:nth-child(2)',
      'display:grid 1 display:grid',
    ])
      expect(found).toContain(one);
  });

  it('is counted, and stands where it is first', () => {
    const body = '<p style="box-shadow:none">x<p style="color:red; BOX-SHADOW:none">';
    expect(used(body, usual)).toEqual(['box-shadow 2 style="box-shadow:none"']);
  });

  const mjml = (start: string, end: string, family: string) =>
    `<head>${start}<link href="https://fonts.googleapis.com/css?family=Open+Sans" rel="stylesheet" type="text/css"><style>
@import url(https://fonts.googleapis.com/css?family=Open+Sans);</style>${end}</head><p style="font-family:${family}">x`;

  it.each([
    [
      'a font for those that can load it',
      '<!--[if !mso]><!-->',
      '<!--<![endif]-->',
      "'Open Sans', Arial",
      [],
    ],
    ['such a font in the other form', '<!--[if !mso]><!-- -->', '<!--<![endif]-->', 'X, serif', []],
    ['a font for all', '', '', 'X, serif', ['<link> element', '@import']],
    ['a font without another', '<!--[if !mso]><!-->', '<!--<![endif]-->', 'X', ['<link> element', '@import']],
  ])('tells %s, or not', (_, start, end, family, told) => {
    const features = used(mjml(start, end, family), usual);
    expect(features.map((one) => one.replace(/ 1 .*/s, ''))).toEqual(told);
  });

  it('is told of a style sheet that is no font, wherever it stands', () => {
    const body = '<!--[if !mso]><!--><link rel="stylesheet" href="https://x.example/a.css"><!--<![endif]-->';
    expect(used(body, usual)).toHaveLength(1);
  });

  it('is none of what stands in remarks, texts and values', () => {
    const body =
      '<!-- <video> --><p title="<video>" style="content:\'box-shadow:0\'">box-shadow: x<style>/* box-shadow:0 */p[a=box-shadow]{color:red}</style>';
    expect(used(body, usual)).toEqual([]);
  });

  it('is nothing in emails as people write them, for the usual programs', () => {
    for (const { html_content } of demoTemplates) expect(used(html_content, usual)).toEqual([]);
    expect(used(layout(20), usual)).toEqual([]);
  });

  it('is told without an exception, whatever a body is', () => {
    const piece = fc.constantFrom(
      ...[
        '<p',
        ' style="',
        '"',
        '>',
        'color',
        ':',
        ';',
        'url(',
        ')',
        '{',
        '}',
        '@media',
        '@x',
        '(',
        '[',
        ']',
        ' ',
        ',',
      ],
      ...[
        '<style>',
        '</style>',
        '.a',
        '#b',
        '>',
        '+',
        '::',
        'before',
        '--x',
        'var(--x)',
        '1vh',
        '50%',
        '!important',
      ],
      ...[
        '<img src="',
        'data:image/',
        'a.webp',
        '{{a}}',
        '/*',
        '*/',
        '\r\n',
        '\uFEFF',
        '🎉',
        '<svg>',
        '\\',
        "'",
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const body = pieces.join('');
        for (const one of used(body, all)) expect(one).toMatch(/ [1-9]\d* /);
      }),
      { numRuns: often(500) },
    );
  });
});

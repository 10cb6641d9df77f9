import { describe, expect, it } from 'vitest';
import { checkTemplate } from '../../src/mail/checks.js';
import { serverMail } from '../../src/mail/servers.js';
import { checksSchema } from '../../src/mail/settings.js';
import type { TemplateBodies } from '../../src/mail/template.js';
import { layout, layoutText } from './layouts.js';

const start = '<!DOCTYPE html><html><head><meta charset="utf-8"></head><body>';

function messages(after: TemplateBodies, before?: TemplateBodies): string[] {
  return checkTemplate({ after, ...(before === undefined ? {} : { before }) }).map(
    ({ code, message }) => `${code}: ${message}`,
  );
}

describe('checking the bodies of an email', () => {
  it('reports nothing about valid bodies', () => {
    const before = { txt: '{{{a}}}', html: '{{a}}' };
    expect(messages({ txt: 'Hi {{ a }}', html: `${start}<p>{{a}}</p>` }, before)).toEqual([]);
  });

  it('reports nothing about empty bodies', () => {
    expect(messages({ txt: null, html: undefined }, { txt: 'x {{ a }}', html: 'y' })).toEqual([]);
    expect(messages({ txt: '', html: ' \n' })).toEqual([]);
  });

  it('reports a lost placeholder in each body', () => {
    const before = { txt: '{{ url }} {{ name }}', html: `${start}{{ url }}{{# vip }}x{{/ vip }}` };
    expect(messages({ txt: '{{ name }}', html: `${start}{{ name }}` }, before)).toEqual([
      'lost-placeholder: the new txt body lost {{ url }}, which the present one has',
      'lost-placeholder: the new html body lost {{ url }}, {{# vip }}, which the present one has',
    ]);
  });

  it('finds a placeholder that moved into a section or out of one', () => {
    expect(messages({ txt: '{{#user}}{{name}}{{/user}}' }, { txt: '{{ user.name }}' })).toEqual([]);
    expect(messages({ txt: '{{ user.name }}' }, { txt: '{{#user}}{{name}}{{/user}}' })).toEqual([
      'lost-placeholder: the new txt body lost {{# user }}, which the present one has',
    ]);
  });

  it("reports no lost placeholders if one of the bodies isn't a template", () => {
    expect(messages({ txt: 'x' }, { txt: '{{#a}}' })).toEqual([]);
    expect(messages({ txt: '{{#a}}' }, { txt: '{{b}}' })).toEqual([
      'template-syntax: the txt body is not a Mustache template: unclosed section "a" at line 1',
    ]);
  });

  it('reports placeholders that only one of the bodies has', () => {
    expect(messages({ txt: '{{ a }}{{ b }}', html: `${start}{{ b }}{{ c }}` })).toEqual([
      'placeholder-mismatch: only the txt body has {{ a }}, only the html body has {{ c }}',
    ]);
  });

  it('names sections as the bodies contain them', () => {
    const after = {
      txt: '{{^ user.group }}x{{/ user.group }}{{^a}}x{{/a}}{{#user.uid}}x{{/user.uid}}',
      html: start,
    };
    const mail = serverMail('boruta', 'tx_code');
    const [mismatch] = checkTemplate({ after, mail }).filter(({ code }) => code === 'placeholder-mismatch');
    expect(mismatch?.message).toBe('only the txt body has {{^ user.group }}, {{^ a }}, {{#user.uid}}');
  });

  it.each([
    ['<script>x</script>', '<script>'],
    ['<p onclick="x">', 'onclick='],
    ['<svg><script>x</script></svg>', '<script>'],
    ['<a href=" jAva\nscript:x">', 'href="jAvascript:…"'],
    ['<iframe src="https://x.example"></iframe>', '<iframe>'],
    ['<object data="x"></object>', '<object>'],
  ])('reports that %s runs or embeds something', (html, words) => {
    expect(messages({ html: start + html })).toEqual([
      `html-script: the html body has ${words}, which mail clients remove or distrust`,
    ]);
  });

  it('ignores data and comments', () => {
    const html = `<script type="application/ld+json">{"@type": "EmailMessage"}</script><!-- <script> -->`;
    expect(messages({ html: start + html })).toEqual([]);
  });

  it('reports bodies that mail clients clip', () => {
    const html = start + 'ä'.repeat(52 * 1024);
    expect(messages({ html })).toEqual([
      'html-too-large: the html body has 104.1 KB, and mail clients clip what is longer than 102 KB',
    ]);
  });

  it.each([
    ['<p>x</p>', 'the html body declares no character set: <meta charset="utf-8"> is missing'],
    ['<meta charset="latin1">', 'the html body says that it is latin1, and it is sent as UTF-8'],
    [
      '<meta http-equiv="Content-Type" content="text/html; charset=ISO-8859-1">',
      'the html body says that it is iso-8859-1, and it is sent as UTF-8',
    ],
  ])('reports that the character set of %s is missing or wrong', (html, words) => {
    expect(messages({ html })).toEqual([`html-charset: ${words}`]);
  });

  it('accepts a character set in either form', () => {
    const old = '<meta http-equiv=content-type content="text/html; charset=UTF-8">';
    for (const html of [old, '<META CHARSET=utf8>']) expect(messages({ html })).toEqual([]);
  });

  it('reports images without alt text, and accepts an empty one', () => {
    const html = `${start}<img src=a.png><img src=b.png alt=""><img src=a.png><input type=IMAGE src=c.png><input>`;
    expect(messages({ html })).toEqual([
      'image-without-alt: the html body has 3 images without alt text: a.png, c.png',
    ]);
  });

  it("doesn't check HTML that is nested deeper than browsers allow", () => {
    const codes = messages({ html: start + '<div>'.repeat(200_000) }).map((it) => it.split(':')[0]);
    expect(codes).toEqual(['html-nesting', 'html-too-large']);
  });

  it.each([20, 80])('reports nothing about a layout of %i KB', (size) => {
    expect(messages({ txt: layoutText, html: layout(size) })).toEqual([]);
  });

  it('reports only the size of a layout of 200 KB', () => {
    const findings = checkTemplate({ after: { html: layout(200) } });
    expect(findings.map(({ code }) => code)).toEqual(['html-too-large']);
  });
});

describe('the settings of the checks', () => {
  it('accept only the three levels', () => {
    expect(checksSchema.safeParse({ 'html-script': 'error', 'html-charset': 'off' }).success).toBe(true);
    expect(checksSchema.safeParse({ 'html-script': 'fatal' }).success).toBe(false);
    expect(checksSchema.safeParse({ 'html-scripts': 'off' }).success).toBe(false);
  });
});

describe('a body beyond the limits', () => {
  const long = 'x'.repeat(1_048_577);

  it('is reported as neither checked nor rendered, with the reason', () => {
    const message =
      "the txt body can't be checked or rendered: it has more than 1,048,576 characters; shorten it, or look at what is sent yourself";
    expect(checkTemplate({ after: { txt: long } })).toEqual([
      { code: 'body-too-large', message, body: 'txt' },
    ]);
  });

  it('is reported once, for either body', () => {
    const codes = checkTemplate({ after: { html: long } }).map(({ code }) => code);
    expect(codes).toEqual(['body-too-large', 'html-too-large']);
  });

  it("is reported for the server's body if the new one would be compared with it", () => {
    const message =
      "the present txt body can't be checked or rendered: it has more than 1,048,576 characters; check by hand whether the new one lost a placeholder";
    expect(checkTemplate({ before: { txt: long }, after: { txt: '{{ a }}' } })).toEqual([
      { code: 'body-too-large', message, body: 'txt', live: true },
    ]);
  });

  const word = 'x'.repeat(90_000);

  it.each([
    `{{#${word}}}`,
    `{{/${word}}}`,
    `{{=${word}=}}`,
    `{{#a}}{{/${word}}}`,
    `{{#${word}}}{{/a}}`,
    `{{${word}`,
    `<p on${word}=1>`,
    `<meta charset="${word}">`,
    `<meta charset="${word} at 1">`,
    `<img src="${word}">`,
    `<a href="javascript:${word}">`,
  ])('is not repeated in its message (%#)', (body) => {
    const found = messages({ txt: body, html: body });
    expect(found.length).toBeGreaterThan(0);
    for (const message of found) expect(message.length).toBeLessThan(500);
  });
});

describe('the place of a finding', () => {
  const spots = (body: string, code: string, txt?: string): string[] =>
    checkTemplate({ after: { html: `${start}${body}`, ...(txt === undefined ? {} : { txt }) } })
      .filter((finding) => finding.code === code)
      .flatMap(({ at }) => [
        ...(at?.txt ?? []).map((span) => txt?.slice(span.start, span.end) ?? ''),
        ...(at?.html ?? []).map((span) => `${start}${body}`.slice(span.start, span.end)),
      ]);

  it.each([
    [
      'insecure-link',
      '<img src="http://x.example/" alt=""><a href="http://y.example/">y</a><a href="http://x.example/">x</a>',
      ['src="http://x.example/"', 'href="http://y.example/"', 'href="http://x.example/"'],
    ],
    ['html-script', '<script></script><p onclick=x><p onclick=y>', ['<script>', 'onclick=x', 'onclick=y']],
    ['image-without-alt', '<img src=a><p><img src=a><img>', ['<img src=a>', '<img src=a>', '<img>']],
  ])('is the whole of it: %s', (code, body, expected) => {
    expect(spots(body, code)).toEqual(expected);
  });

  it('is each tag with a placeholder that only one body has, and each link of a text', () => {
    const told = spots('{{ b }}{{ b }}', 'placeholder-mismatch', '{{ a }}{{ a }}');
    expect(told).toEqual(['{{ a }}', '{{ a }}', '{{ b }}', '{{ b }}']);
    expect(spots('', 'insecure-link', 'http://a.example http://a.example')).toHaveLength(2);
  });
});

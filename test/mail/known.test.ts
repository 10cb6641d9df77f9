import { describe, expect, it } from 'vitest';
import { checkTemplate } from '../../src/mail/checks.js';
import { KnownPlaceholders } from '../../src/mail/known.js';
import type { TemplateBodies } from '../../src/mail/template.js';

const known = new KnownPlaceholders('reset_password_instructions', [
  ...['user', 'user.username', 'user.metadata.*', 'reset_password_url', 'url'],
]);

function unknown(after: TemplateBodies, before?: TemplateBodies): string[] {
  return checkTemplate({ after, known, ...(before === undefined ? {} : { before }) })
    .filter(({ code }) => code === 'unknown-placeholder')
    .map(({ message, at }) => {
      const spots = (['txt', 'html'] as const).flatMap((body) => {
        const spans = at?.[body] ?? [];
        return spans.map((span) => `${body}:${after[body]?.slice(span.start, span.end)}`);
      });
      return `${message} [${spots.join(' ')}]`;
    });
}

describe('a placeholder that nothing is known to fill in', () => {
  it('is told with the one that was most likely meant', () => {
    expect(
      unknown({ txt: 'x\n{{ reset_pasword_url }}', html: '{{user.usernme}} {{ username }} {{ company }}' }),
    ).toEqual([
      'the txt body has {{ reset_pasword_url }}, which nothing is known to fill in for reset_password_instructions, did you mean {{ reset_password_url }}? [txt:{{ reset_pasword_url }}]',
      'the html body has {{ user.usernme }}, which nothing is known to fill in for reset_password_instructions, did you mean {{ user.username }}? [html:{{user.usernme}}]',
      'the html body has {{ username }}, which nothing is known to fill in for reset_password_instructions, did you mean {{ user.username }}? [html:{{ username }}]',
      'the html body has {{ company }}, which nothing is known to fill in for reset_password_instructions [html:{{ company }}]',
    ]);
  });

  it('is told with the one that only has more in front', () => {
    const code = new KnownPlaceholders('tx_code', ['user', 'user.username', 'tx_code']);
    expect(['code', 'username', 'ode', ''].map((name) => code.nearest(name))).toEqual([
      ...['tx_code', 'user.username', undefined, undefined],
    ]);
  });

  it('is told once for both bodies', () => {
    expect(unknown({ txt: '{{ a }}', html: '<p>{{{ a }}}' })).toEqual([
      'the bodies have {{ a }}, which nothing is known to fill in for reset_password_instructions [txt:{{ a }} html:{{{ a }}}]',
    ]);
  });

  it.each([
    '{{ user.username }}{{ url }}{{{ reset_password_url }}}',
    '{{#user}}{{ username }}{{/user}}',
    '{{^user}}{{ url }}{{/user}}',
    '{{ user.metadata.department.value }}',
    '{{#user.metadata}}{{#department}}{{ value }}{{.}}{{/department}}{{/user.metadata}}',
    '{{! comment }}{{> part }}{{#user}}{{.}}{{/user}}',
  ])('is none that is known under any name: %s', (txt) => {
    expect(unknown({ txt })).toEqual([]);
  });

  it('is a section, and not what stands in it', () => {
    expect(
      unknown({ txt: '{{#items}}{{ name }}{{/items}}{{^other}}{{ name }}{{/other}}' }).map((it) =>
        it.slice(0, 30),
      ),
    ).toEqual([
      'the txt body has {{# items }},',
      'the txt body has {{# other }},',
      'the txt body has {{ name }}, w',
    ]);
  });

  it('is none that the server has in the present mail', () => {
    const before = { txt: '{{ company }}', html: '{{#items}}{{ name }}{{/items}}' };
    expect(
      unknown({ txt: '{{ items.name }}', html: '{{ company }}{{#items}}{{ name }}{{/items}}' }, before),
    ).toEqual([]);
  });

  it('is told of ten names, and how many more there are', () => {
    const found = unknown({ txt: [...Array(40).keys()].map((at) => `{{ wholly_other_${at} }}`).join('') });
    expect(found).toHaveLength(10);
    expect(found.at(-1)).toContain('(and 30 more such names)');
  });

  it('is not asked for where nothing is known of the type', () => {
    expect(checkTemplate({ after: { txt: '{{ a }}' } })).toEqual([]);
  });
});

import fc from 'fast-check';
import Mustache from 'mustache';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/base/values.js';
import { placeholdersOf } from '../../src/mail/placeholders.js';
import { parseMustache } from '../../src/mail/template.js';
import { often } from '../often.js';

function rendered(body: string, data: { readonly [name: string]: Json }, html = false): string {
  const template = parseMustache(body);
  return 'syntax' in template ? `syntax: ${template.syntax}` : template.render(data, { html });
}

function syntaxOf(body: string): string | null {
  const template = parseMustache(body);
  return 'syntax' in template ? template.syntax : null;
}

function namesOf(body: string): string[] {
  const template = parseMustache(body);
  return 'syntax' in template ? [] : placeholdersOf(template.parts).map(({ name }) => name);
}

describe('a body that is a Mustache template', () => {
  it('fills in values, sections and lists', () => {
    const body =
      '{{ user.name }}{{#admin}}, admin{{/admin}}{{^admin}}, guest{{/admin}}:{{#items}} {{.}}{{/items}}';
    expect(rendered(body, { user: { name: 'Ada' }, items: ['a', 'b'] })).toBe('Ada, guest: a b');
  });

  it('escapes values in HTML and not in text', () => {
    expect(rendered('{{ x }} {{{ x }}}', { x: '<b>' }, true)).toBe('&lt;b&gt; <b>');
    expect(rendered('{{ x }}', { x: '<b>' })).toBe('<b>');
  });

  it('omits names that count as absent', () => {
    const template = parseMustache('{{#a}}there{{/a}}{{^a}}gone{{/a}}');
    if ('syntax' in template) throw new Error(template.syntax);
    expect(template.render({ a: true }, { html: false, absent: new Set(['a']) })).toBe('gone');
  });

  it('uses no inherited member of the data, and calls nothing', () => {
    for (const name of ['constructor', 'toString', 'x.constructor.constructor', '__proto__', 'x.length']) {
      expect(rendered(`[{{ ${name} }}{{# ${name} }}in{{/ ${name} }}]`, { x: 'text' })).toBe('[]');
    }
  });

  it('names its placeholders, each once', () => {
    const body = '{{ a }}{{{ b.c }}}{{& a }}{{# d }}{{ e }}{{.}}{{/ d }}{{! comment }}{{> part }}';
    expect(namesOf(body)).toEqual(['a', 'b.c', 'd', 'e']);
  });

  it('understands other delimiters', () => {
    expect(namesOf('{{=<% %>=}}<% a %> {{ b }}')).toEqual(['a']);
  });
});

describe('a body that is no template', () => {
  it.each([
    ['x\n\n{{/a}}', 'unopened section "a" at line 3'],
    ['x\n{{# open }}\ny\n', 'unclosed section "open" at line 2'],
    ['{{#a}}\n{{^ b }}\n{{/b}}\nx{{/c}}', 'unclosed section "a" at line 1, before line 4 closes another one'],
    ['{{=<% %>=}}\n<%# a %>\n{{/a}}', 'unclosed section "a" at line 2'],
    ['Hello\n{{ name\nand\nmore', 'unclosed tag at line 2'],
    ['{{#a}}{{#b}}{{/a}}{{/b}}', 'unclosed section "b" at line 1, before line 1 closes another one'],
    ['{{ name } and {{ other }}', 'the tag "{{ name" is not closed with "}}"'],
    ['{{}}', 'a tag has no name: {{}}'],
  ])('is detected: %j', (body, words) => {
    expect(syntaxOf(body)).toBe(words);
  });

  it.each([
    ['Hello\n{{# open }}\nmore\n', '{{# open }}'],
    ['Hello\n{{# open }}\n{{/ other }}', '{{# open }}'],
    ['Hello\n{{ name\nmore', '{'],
    [`${' '.repeat(5000)}{{# open }}\nmore\n`, '{{# open }}'],
  ])('has its place: %#', (body, part) => {
    const template = parseMustache(body);
    const at = 'syntax' in template ? template.at : undefined;
    expect(body.slice(at?.start, at?.end)).toBe(part);
  });

  it('may nest too deeply', () => {
    const body = '{{#a}}'.repeat(5000) + '{{/a}}'.repeat(5000);
    expect(syntaxOf(body)).toBe('sections are nested more than 100 deep');
  });

  it.each([
    [`{{ ${'a.'.repeat(40)}a }}`, /^the name "a\.a.*…" has more than 32 steps$/],
    [`{{ ${'a'.repeat(2000)} }}`, /^the name "a+…" has more than 1,000 characters$/],
    ['{{ a }}'.repeat(20_001), /^it has more than 20,000 tags$/],
    ['x'.repeat(1_048_577), /^it has more than 1,048,576 characters$/],
  ])('may exceed the limits (%#)', (body, words) => {
    expect(syntaxOf(body)).toMatch(words);
  });

  it('never throws, whatever it contains', () => {
    const part = fc.oneof(
      fc.constantFrom(...'{{|}}|{{#a}}|{{/a}}|{{^a}}|{{=|=}}|{{{|}}}|{{>|.| |\n'.split('|')),
      fc.string({ unit: 'binary', maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        const template = parseMustache(parts.join(''));
        if (!('syntax' in template)) template.render({ a: ['x', { b: 1 }] }, { html: true });
      }),
    );
  });

  it('may have a long run of spaces in a tag without stalling', () => {
    expect(rendered(`{{ a${' '.repeat(1_000_000)}}}`, { a: 'x' })).toBe('x');
  });
});

describe('the place of a tag', () => {
  it('is relative to the whole body, whatever is before it', () => {
    const long = `${' '.repeat(3000)}x${'\n'.repeat(1500)}`;
    for (const before of ['', 'a\r\nb\n', '\uFEFFä🎉 ', ' '.repeat(5000), long]) {
      const body = `${before}{{ a }}{{# b }}{{{ c }}}{{/ b }}`;
      const template = parseMustache(body);
      if ('syntax' in template) throw new Error(template.syntax);
      const spots = placeholdersOf(template.parts).map(({ at }) => body.slice(at[0]?.start, at[0]?.end));
      expect(spots).toEqual(['{{ a }}', '{{# b }}', '{{{ c }}}']);
    }
  });

  it('is known if the tag is a syntax error', () => {
    const body = `${' '.repeat(2000)}x\n{{ a <b> }}`;
    const template = parseMustache(body);
    if (!('syntax' in template)) throw new Error('it is a template');
    expect(body.slice(template.at?.start, template.at?.end)).toBe('{{ a <b> }}');
    expect(parseMustache('ab\n{{/c}}')).toMatchObject({ at: { start: 3, end: 4 } });
  });
});

describe('a tag or a section that is never closed', () => {
  /** The library's error message about a body, and its offset. */
  const noticed = (body: string): { words: string; offset: number } | undefined => {
    try {
      new Mustache.Writer().parse(body);
      return undefined;
    } catch (failure) {
      const [, words = '', offset = ''] = /^(.*) at (\d+)$/s.exec((failure as Error).message) ?? [];
      return { words: words.toLowerCase(), offset: Number(offset) };
    }
  };
  const part = fc.oneof(
    fc.constantFrom(
      ...['{{a}}', '{{ b }}', '{{{c}}}', '{{&d}}', '{{#a}}', '{{#a}}', '{{/a}}', '{{^ a }}', '{{/ a }}'],
      ...['{{! x\n y}}', '{{>p}}', '{{=<% %>=}}', '<%={{ }}=%>', '<%a%>', '<%#a%>', '<%/a%>', '<%{a}%>'],
      ...['{{=| |=}}', '|#a|', '|/a|', '|={{ }}=|', '{{= {{ }} =}}', '{{=a=}}', '{{', '}}', '}', '{', '#'],
      ...[' ', '\n', '\r\n', '\u00a0', 'text\nof\nlines\n'],
    ),
    fc.string({ maxLength: 3 }),
  );

  it('is reported where it opens, in any body', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (pieces) => {
        const body = pieces.join('');
        const expected = noticed(body);
        const template = parseMustache(body);
        if (expected === undefined || !('syntax' in template) || template.at === undefined) return;
        const { start, end } = template.at;
        if (expected.words.startsWith('unclosed section')) {
          expect(noticed(body.slice(0, end))?.words).toBe(expected.words);
          expect(noticed(body.slice(0, start))?.words).not.toBe('unclosed tag');
        } else if (expected.words === 'unclosed tag') {
          expect(noticed(body.slice(0, start))?.words).not.toBe('unclosed tag');
          expect(noticed(body.slice(0, start + 3))?.words).toBe('unclosed tag');
        } else expect(start).toBe(expected.offset);
      }),
      { numRuns: often(3000) },
    );
  });
});

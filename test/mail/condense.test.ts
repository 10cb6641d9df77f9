import fc from 'fast-check';
import Mustache from 'mustache';
import { describe, expect, it } from 'vitest';
import { condense } from '../../src/mail/condense.js';
import { type Part, parseMustache, type SyntaxProblem } from '../../src/mail/template.js';
import { often } from '../often.js';

type Token = [type: string, name: string, start: number, end: number, inside?: Token[]];

/** What the library makes of a body by itself; its message where it refuses it. */
function plain(body: string): Part[] | string {
  const parts = (tokens: readonly Token[]): Part[] =>
    tokens.flatMap(([type, name, start, end, inside]): Part[] => {
      if (type === 'text') return [{ kind: 'text', text: name }];
      const at = { start, end };
      if (type === 'name' || type === '&') return [{ kind: 'variable', name, at }];
      if (type === '>') return [{ kind: 'partial', name, at }];
      if (type !== '#' && type !== '^') return [];
      return [{ kind: 'section', name, at, inverted: type === '^', parts: parts(inside ?? []) }];
    });
  try {
    return parts(new Mustache.Writer().parse(body) as unknown as Token[]);
  } catch (failure) {
    const [, words = '', offset = ''] = /^(.*) at (\d+)$/s.exec((failure as Error).message) ?? [];
    if (offset === '') return (failure as Error).message.toLowerCase();
    return `${words} at line ${body.slice(0, Number(offset)).split('\n').length}`.toLowerCase();
  }
}

const part = fc.oneof(
  fc.constantFrom(
    ...[
      '{{a}}',
      '{{ b }}',
      '{{{c}}}',
      '{{&d}}',
      '{{#a}}',
      '{{/a}}',
      '{{^a}}',
      '{{/a}}',
      '{{!x}}',
      '{{! x\n y}}',
    ],
    ...[
      '{{>p}}',
      '{{=<% %>=}}',
      '<%={{ }}=%>',
      '<%a%>',
      '<%#a%>',
      '<%/a%>',
      '<%{a}%>',
      '{{=| |=}}',
      '|a|',
      '|#a|',
    ],
    ...[
      '|/a|',
      '|={{ }}=|',
      '{{=/x x/=}}',
      '/x/x/',
      '/x/a x/',
      '/x={{ }}=x/',
      '{{= {{ }} =}}',
      '{{=a=}}',
      '{{',
      '}}',
    ],
    ...[
      '}',
      '{',
      '=',
      '#',
      '/',
      ' ',
      '  ',
      '\n',
      '\n',
      '\r\n',
      '\t',
      'x',
      'y z',
      'text\nof\nlines\n',
      '\u00a0',
      '\u2028',
    ],
  ),
  fc.string({ maxLength: 3 }),
);

/** The library's words, at its line or, of what is never closed, where that opens. */
function expectSame({ syntax, at }: SyntaxProblem, expected: string, body: string): void {
  const [, said, line] = /^(.*?)(?: at line (\d+))?$/s.exec(expected) ?? [];
  const [, words, , closing] =
    /^(.*?)(?: at line (\d+)(?:, before line (\d+) closes another one)?)?$/s.exec(syntax.toLowerCase()) ?? [];
  expect(words).toBe(said);
  if (said?.startsWith('unclosed section')) {
    const upTo = plain(body.slice(0, at?.end));
    expect(upTo).toMatch(new RegExp(`^${said.replace(/[^\w ]/g, '\\$&')} at line`));
    expect(closing ?? String(body.split('\n').length)).toBe(line);
  } else if (said === 'unclosed tag') {
    expect(String(plain(body.slice(0, at?.start)))).not.toContain('unclosed tag');
    expect(String(plain(body))).toContain('unclosed tag');
  } else expect(syntax.toLowerCase()).toBe(expected);
}

describe('a body with little text between its tags', () => {
  it('is the template that the library makes of the whole one', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (pieces) => {
        const body = pieces.join('');
        const expected = plain(body);
        const template = parseMustache(body);
        if (typeof expected === 'string') {
          expect(template).toMatchObject({ syntax: expect.any(String) });
          if ('syntax' in template) expectSame(template, expected, body);
        } else if ('parts' in template) expect(template.parts).toEqual(expected);
        // A name that the library takes and idops doesn't.
        else expect(template.syntax).toMatch(/^(?:a tag has no name|the tag )/);
      }),
      { numRuns: often(3000) },
    );
  });

  it('has as few characters as it has tags and ends of lines beside them', () => {
    const text = `${'some words\n'.repeat(10_000)}  {{ a }} and\n${'\n\n'.repeat(10_000)}`;
    expect(condense(text).text).toBe('x\n\n {{ a }}x\n\n');
    expect(condense('x'.repeat(1_000_000)).text).toBe('x');
  });

  it('gives every place back', () => {
    const { text, original } = condense('ab\ncd\n  {{a}}ef');
    expect(text).toBe('x\n\n {{a}}x');
    expect([0, 1, 2, 3, 4, 9, 10].map(original)).toEqual([0, 2, 3, 6, 8, 13, 15]);
  });
});

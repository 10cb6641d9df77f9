import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isMap, isScalar, parseDocument, stringify } from 'yaml';
import { partOfText } from '../../src/manifests/written.js';
import { often } from '../often.js';

/** The text of `body` in a document, and where it is written. */
function written(source: string): { text: string; range: { start: number; end: number } } {
  const { contents } = parseDocument(source);
  const node = isMap(contents) ? contents.get('body', true) : undefined;
  if (!isScalar(node) || typeof node.value !== 'string' || node.range == null) throw new Error('no text');
  return { text: node.value, range: { start: node.range[0], end: node.range[1] } };
}

/** The piece of the source that a piece of the text is found at. */
function found(source: string, piece: string): string | undefined {
  const { text, range } = written(source);
  const start = text.indexOf(piece);
  const at = partOfText(source, range, text, { start, end: start + piece.length });
  return at === undefined
    ? undefined
    : `${source.slice(0, at.start).split('\n').length}:${source.slice(at.start, at.end)}`;
}

describe('a part of a text that is written in a manifest', () => {
  it.each([
    ['a block', 'body: |\n  ab\n\n    cd {{ x }}\nb: 1\n', '4:{{ x }}'],
    ['a block with an indentation and a remark', 'body: |2- # why\n   ab\n  cd {{ x }}\n\n', '3:{{ x }}'],
    ['a block with CRLF', 'body: |\r\n  ab\r\n  cd {{ x }}\r\n', '3:{{ x }}'],
    ['a folded block', 'body: >\n  ab\n  ef\n\n  cd {{ x }} ä🎉\n', '5:{{ x }}'],
    ['quotes', "body: 'ab\n\n  cd {{ x }}'\n", '3:{{ x }}'],
    ['double quotes', 'body: "ab cd {{ x }}"\n', '1:{{ x }}'],
    ['a plain text', 'body: ab {{ x }}\n', '1:{{ x }}'],
    ['an anchor and a tag', 'body: &a !!str |\n  {{ x }}\n', '2:{{ x }}'],
  ])('is found in %s', (_, source, expected) => {
    expect(found(source, '{{ x }}')).toBe(expected);
  });

  it('is found where it goes over lines', () => {
    expect(found('body: >\n  ab {{ x\n  }} cd\n', '{{ x }}')).toBe('2:{{ x\n  }}');
  });

  it.each([
    ['an escape', 'body: "ab\\ncd {{ x }}"\n'],
    ['a doubled quote', "body: 'it''s {{ x }}'\n"],
  ])('is not guessed behind %s', (_, source) => {
    expect(found(source, '{{ x }}')).toBeUndefined();
  });

  it('is not guessed where the text is another one than is written', () => {
    const source = 'body: ${NAME} {{ x }}\n';
    const { range } = written(source);
    expect(partOfText(source, range, 'Ada {{ x }}', { start: 4, end: 11 })).toBeUndefined();
  });

  it('is that part, or nothing, however the text is written', () => {
    const styles = ['BLOCK_LITERAL', 'BLOCK_FOLDED', 'QUOTE_SINGLE', 'QUOTE_DOUBLE', 'PLAIN'] as const;
    const word = fc.constantFrom(...'ab|{{ x }}| |  |\n|\n\n|\'|"|\\|ä🎉|#|: |\t'.split('|'));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.constantFrom(...styles), (words, style) => {
        const source = stringify({ a: 1, body: `{${words.join('')}}` }, { defaultStringType: style });
        const { text, range } = written(source);
        for (let start = 0; start < text.length; start += 1) {
          if (/\s/.test(text.charAt(start))) continue;
          const at = partOfText(source, range, text, { start, end: start + 1 });
          if (at !== undefined) expect(source.slice(at.start, at.end)).toBe(text.charAt(start));
        }
      }),
      { numRuns: often(300) },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pauses } from '../../src/base/pauses.js';
import { parseAll, partsOf } from '../../src/source/beside.js';
import { SourceFile } from '../../src/source/file.js';
import { tapeOf } from '../../src/source/quick.js';
import { parseYaml } from '../../src/source/yaml.js';
import { often } from '../often.js';

const line = fc.constantFrom(
  ...[
    'a: 1\n',
    'b: |\n  text\n',
    'b: |+\n  text\n\n',
    'c:\n  - x\n',
    'd: "x\n',
    '  y"\n',
    '---\n',
    '--- # note\n',
    '---x: 1\n',
  ],
  ...[
    '# note\n',
    '\n',
    '--- |\n',
    'text\n',
    '{a: 1,\n',
    ' b: 2}\n',
    '...\n',
    'e:\n',
    'e: # note\n',
    '  \n',
    '--- {a: 1}\n',
    '- --- x\n',
    '  ---\n',
    'a: 1\r\n',
  ],
);

describe('the parts of a text', () => {
  it('are the text, and say as much as the whole where all of them are plain', () => {
    let several = 0;
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.integer({ min: 1, max: 20 }), (lines, length) => {
        const text = lines.join('');
        const parts = partsOf(text, length);
        expect(parts.map((part) => part.text).join('')).toBe(text);
        const tapes = parts.flatMap((part) => {
          const tape = tapeOf(part.text);
          return tape === undefined ? [] : [{ tape, offset: part.offset }];
        });
        if (tapes.length < parts.length) return;
        if (parts.length > 1) several += 1;
        const parsed = (given?: typeof tapes) => {
          const file = new SourceFile({ file: 'x.yaml' }, text);
          const { documents, problems } = parseYaml(file, given);
          return { roots: documents.map(({ root }) => root), problems };
        };
        expect(parsed(tapes)).toStrictEqual(parsed());
      }),
      { numRuns: often(2000) },
    );
    expect(several).toBeGreaterThan(0);
  });

  it('end where a document begins, and nowhere else', () => {
    const text = 'a: 1\n---\nb: "\n---x"\n---\nc: 2\n';
    expect(partsOf(text, 1).map((part) => part.text)).toEqual([
      'a: 1\n',
      '---\nb: "\n---x"\n',
      '---\nc: 2\n',
    ]);
    expect(partsOf(text, 1000)).toEqual([{ text, offset: 0 }]);
  });

  it('do not end behind a comment, since what follows says where its document ends', () => {
    for (const end of ['# note\n', '# note\n\n', 'f: 1 # note\n \r\n'])
      expect(partsOf(`e:\n${end}---\na: 1\n---\nb: 1\n`, 1).map(({ text }) => text)).toEqual([
        `e:\n${end}---\na: 1\n`,
        '---\nb: 1\n',
      ]);
    expect(partsOf('e: 1\n\n\n---\na: 1\n', 1)).toHaveLength(2);
  });
});

describe('files', () => {
  it('are parsed in their order, and their trees can be had again', async () => {
    const files = ['a: 1\n---\nb: [x]\n', 'c: &x 1\n'].map((text, index) => ({
      source: new SourceFile({ file: `${index}.yaml` }, text),
    }));
    const found: unknown[] = [];
    for await (const { of, parsed } of parseAll(files, new Pauses(undefined))) {
      const before = parsed.documents.map(({ root }) => root);
      for (const document of parsed.documents) document.forget?.();
      expect(parsed.documents.map(({ root }) => root)).toStrictEqual(before);
      found.push(of, parsed.documents.length);
    }
    expect(found).toEqual([files[0], 2, files[1], 1]);
  });
});

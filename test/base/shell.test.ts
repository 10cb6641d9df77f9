import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { shellWord } from '../../src/base/shell.js';

describe('a word for a shell', () => {
  it.each(['a/b.txt', ':/state.json'])('%s stays as it is', (word) => {
    expect(shellWord(word)).toBe(word);
  });

  it.each(["my key's.txt", '$(touch x)', '`a`', "a\nb\\'c\u001b[31m", '*', '~/a', '#a', '', 'ä'])(
    '%j is taken whole',
    (word) => {
      expect(execFileSync('bash', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8' })).toBe(word);
      expect(shellWord(word)).not.toMatch(/[\n\u001b]/);
    },
  );

  it('is no option', () => {
    expect(shellWord('-rf')).toBe('./-rf');
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BadVariable, parseVariables } from '../../src/yaml/interpolation.js';
import { SourceFile } from '../../src/yaml/source-file.js';
import type { ScalarNode } from '../../src/yaml/tree.js';
import { Variables } from '../../src/yaml/variables.js';

function scalar(value: string): ScalarNode {
  const range = { start: 0, end: 0 };
  return { type: 'scalar', value, plain: true, source: value, range, size: 1, height: 0 };
}

function fill(text: string, vars: { [name: string]: string } = {}, process: { [name: string]: string } = {}) {
  const file = new SourceFile({ file: 'x.yaml' }, text);
  const known = new Map(Object.entries(vars).map(([name, value]) => [name, scalar(value)]));
  const scope = { vars: known, file, allowed: new Set(['ALLOWED']), process };
  const variables = new Variables(scope, { lenient: false });
  const result = variables.resolve(text, scalar(text), file);
  return { ...result, codes: variables.takeProblems().map(({ code }) => code) };
}

describe('variables', () => {
  test.each([
    [`a \${v} b`, 'a 1 b'],
    [`\${v}\${v}`, '11'],
    ['costs $$5', 'costs $5'],
    ['costs $5', 'costs $5'],
    ['$', '$'],
    [`$$\{v}`, `$\{v}`],
    [`$$$\{v}`, '$1'],
    [`\${none:-x y}`, 'x y'],
    [`\${none:-}`, ''],
    [`\${none:-\${other:-\${v}}}`, '1'],
    [`\${none:-$$\{v}`, `$\{v`],
    [`\${empty:-x}`, 'x'],
    [`\${empty}`, ''],
    [`\${v:?message}`, '1'],
    [`\${ALLOWED}`, 'yes'],
    [`\${IDOPS_X}`, 'set'],
    [`\${chain}`, '<1>'],
  ])('%s', (text, expected) => {
    const vars = { v: '1', empty: '', chain: `<\${v}>` };
    const result = fill(text, vars, { ALLOWED: 'yes', IDOPS_X: 'set', v: 'not this' });
    expect(result).toMatchObject({ text: expected, codes: [] });
  });

  test.each([
    [`\${NOWHERE}`, 'unresolved-variable'],
    [`\${HOME}`, 'env-not-allowed'],
    [`\${HOME:-x}`, 'env-not-allowed'],
    [`\${IDOPS_EMPTY}`, 'unresolved-variable'],
    [`\${NOWHERE:?say it}`, 'unresolved-variable'],
    [`\${`, 'bad-variable'],
    [`\${v`, 'bad-variable'],
    [`\${}`, 'bad-variable'],
    [`\${v-x}`, 'bad-variable'],
    [`\${v:+x}`, 'bad-variable'],
    [`\${v:-\${w}`, 'bad-variable'],
    [`\${loop}`, 'variable-cycle'],
  ])('%s is refused: %s', (text, code) => {
    const result = fill(text, { v: '1', loop: `\${loop}` }, { HOME: '/root', IDOPS_EMPTY: '' });
    expect(result).toMatchObject({ unknown: true, codes: [code] });
  });

  test('a value is sensitive if any part of it came from the process', () => {
    expect(fill(`a\${v}`, { v: `\${IDOPS_X}` }, { IDOPS_X: 's' })).toMatchObject({
      text: 'as',
      tainted: true,
    });
    expect(fill(`\${v:-\${IDOPS_X}}`, { v: '1' }, { IDOPS_X: 's' })).toMatchObject({ tainted: false });
  });

  test('vars that expand each other without bound are refused', () => {
    const names = Array.from({ length: 30 }, (_, index) => `v${index}`);
    const vars = Object.fromEntries(
      names.map((name, index) => [name, index === 29 ? 'x'.repeat(1000) : `\${v${index + 1}}`.repeat(10)]),
    );
    expect(fill(`\${v0}`, vars).codes).toContain('too-large');
    const chain = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`c${index}`, `\${c${index + 1}}`]),
    );
    expect(fill(`\${c0}`, chain).codes).toContain('too-deep');
  });

  test('any text parses or is refused with a code', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('$', '{', '}', ':-', ':?', 'A', ' ', '\n', `\${`)), (parts) => {
        try {
          parseVariables(parts.join(''));
        } catch (failure) {
          expect(failure).toBeInstanceOf(BadVariable);
        }
      }),
    );
  });

  test('a text without a dollar sign is unchanged', () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !text.includes('$')),
        (text) => {
          expect(fill(text)).toMatchObject({ text, tainted: false, unknown: false, codes: [] });
        },
      ),
    );
  });
});

import { expect, it } from 'vitest';
import { appendDocuments } from '../../src/pull/placement.js';

it('new documents follow the existing ones, which stay the same', () => {
  expect(appendDocuments('', ['a: 1\n', 'b: 2\n'])).toBe('a: 1\n---\nb: 2\n');
  expect(appendDocuments('# all of them\n', ['a: 1\n'])).toBe('# all of them\na: 1\n');
  expect(appendDocuments('x: 1', ['a: 1\n'])).toBe('x: 1\n---\na: 1\n');
  expect(appendDocuments('x: 1\n...\n', ['a: 1\n'])).toBe('x: 1\n...\n---\na: 1\n');
  expect(appendDocuments('x: 1\r\n', ['a: 1\n'])).toBe('x: 1\r\n---\r\na: 1\r\n');
  expect(appendDocuments('x: [', ['a: 1\n'])).toBeUndefined();
});

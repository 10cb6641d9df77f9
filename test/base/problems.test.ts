import { expect, it } from 'vitest';
import { addProblems, error, type Problem } from '../../src/base/problems.js';

it('adds more problems than a call takes arguments', () => {
  const problems: Problem[] = [error('internal', 'the first')];
  addProblems(problems, new Array<Problem>(300_000).fill(error('internal', 'another')));
  expect(problems).toHaveLength(300_001);
});

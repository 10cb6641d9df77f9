import { inspect } from 'node:util';
import { expect } from 'vitest';
import { ProblemsError } from '../../../src/base/problems.js';
import { password } from './server.js';

/** A password that no message may show. */
export const secret = 's3cr3t-w0rd';

interface Reported {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** The problem that `work` fails with. Neither its message nor its inspection shows a secret. */
export async function problemOf(work: Promise<unknown> | (() => unknown)): Promise<Reported> {
  try {
    await (typeof work === 'function' ? work() : work);
  } catch (failure) {
    if (!(failure instanceof ProblemsError) || failure.problems[0] === undefined) throw failure;
    const shown = inspect(failure, { depth: 20, showHidden: true });
    for (const word of [secret, password, encodeURIComponent(password)]) expect(shown).not.toContain(word);
    return failure.problems[0];
  }
  throw new Error('nothing was thrown');
}

/** Expects a problem with this code, message and hint. */
export async function refused(
  work: Parameters<typeof problemOf>[0],
  code: string,
  message: string | RegExp = '',
  hint?: string | RegExp,
): Promise<void> {
  const problem = await problemOf(work);
  expect(problem.code).toBe(code);
  expect(problem.message).toMatch(message);
  if (hint !== undefined) expect(problem.hint).toMatch(hint);
}

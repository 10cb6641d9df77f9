import { inspect } from 'node:util';
import { expect } from 'vitest';
import { ProblemsError } from '../../../src/base/problems.js';
import { password } from './server.js';

/** A password that no message may show. */
export const secret = 's3cr3t-w0rd';

interface Told {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** The problem that something ends with, which shows no secret, not even to who looks into it. */
export async function problemOf(work: Promise<unknown> | (() => unknown)): Promise<Told> {
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

/** Expects that something is refused with this code, and in words such as these. */
export async function refused(
  work: Parameters<typeof problemOf>[0],
  code: string,
  message: string | RegExp = '',
  hint?: string | RegExp,
): Promise<void> {
  const told = await problemOf(work);
  expect(told.code).toBe(code);
  expect(told.message).toMatch(message);
  if (hint !== undefined) expect(told.hint).toMatch(hint);
}

import type { ProblemCode } from './problem-codes.js';

/** One thing that was looked at. */
export interface Check {
  /** `address`, `tls`, `credentials`, `scope clients:manage:all`, `profile` and the like. */
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly message: string;
  readonly hint: string | null;
  /** The stable code of the problem behind it; left out where there is none. */
  readonly code?: ProblemCode;
}

/** What is fine. */
export function ok(name: string, message: string): Check {
  return { name, status: 'ok', message, hint: null };
}

/** What a person should know, and stops nothing; `hint` is what to do about it. */
export function warn(name: string, message: string, hint: string): Check {
  return { name, status: 'warn', message, hint };
}

/** What is in the way, and its cure. */
export function fail(name: string, message: string, hint: string, code?: ProblemCode): Check {
  return { name, status: 'fail', message, hint, ...(code === undefined ? {} : { code }) };
}

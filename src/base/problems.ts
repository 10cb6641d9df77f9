import type { ProblemCode } from './problem-codes.js';

export type { ProblemCode };

/** A place in a file; lines and columns count from 1. */
export interface Place {
  /** The path relative to the current folder. */
  readonly file: string;
  /** The path from the project root, with `/`, if it differs. */
  readonly inProject?: string;
  /** The line, from 1. */
  readonly line: number;
  /** The column, from 1. */
  readonly column: number;
  /** How many characters to underline. */
  readonly length: number;
  /** The source line, if it is readable and nothing on it may be a secret. */
  readonly text?: string;
}

/** An error stops the command; a warning is only shown. */
export type Severity = 'error' | 'warning';

/** A problem in the user's input, as data that every format can show. */
export interface Problem {
  /** A stable code; docs/reference/errors.md explains each. */
  readonly code: ProblemCode;
  /** Whether it stops the command. */
  readonly severity: Severity;
  /** What is wrong, in one sentence. */
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
  /** Where it is. */
  readonly places: readonly Place[];
  /** How many places are left out, if there are too many. */
  readonly morePlaces?: number;
}

/** Creates an error. */
export function error(
  code: ProblemCode,
  message: string,
  places: readonly Place[] = [],
  hint?: string,
): Problem {
  return { code, severity: 'error', message, places, ...(hint === undefined ? {} : { hint }) };
}

/** Creates a warning. */
export function warning(
  code: ProblemCode,
  message: string,
  places: readonly Place[] = [],
  hint?: string,
): Problem {
  return { ...error(code, message, places, hint), severity: 'warning' };
}

/** Every problem that a stage found; thrown at the end of the stage, not at the first problem. */
export class ProblemsError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], options?: ErrorOptions) {
    super(problems.map((problem) => `${problem.code}: ${problem.message}`).join('\n'), options);
    this.name = 'ProblemsError';
    this.problems = problems;
  }
}

/** A ProblemsError of one error without a place. */
export function problemError(
  code: ProblemCode,
  message: string,
  hint?: string,
  cause?: unknown,
): ProblemsError {
  return new ProblemsError([error(code, message, [], hint)], { cause });
}

/** Whether a failure has a problem with this code. */
export function hasProblem(failure: unknown, code: ProblemCode): failure is ProblemsError {
  return failure instanceof ProblemsError && failure.problems.some((problem) => problem.code === code);
}

/** Throws a stage's problems if one is an error; otherwise returns the warnings. */
export function refuse(problems: readonly Problem[]): readonly Problem[] {
  if (problems.some((problem) => problem.severity === 'error')) throw new ProblemsError(problems);
  return problems;
}

/** A part of a text, from `start` up to but not including `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Sorts problems by file and line; those without a place come first. */
export function sortByPlace(problems: readonly Problem[]): readonly Problem[] {
  return [...problems].sort((one, other) => {
    const [a] = one.places;
    const [b] = other.places;
    if (a === undefined || b === undefined) return (a === undefined ? 0 : 1) - (b === undefined ? 0 : 1);
    if (a.file !== b.file) return a.file < b.file ? -1 : 1;
    return a.line - b.line || a.column - b.column;
  });
}

import type { ProblemCode } from './problem-codes.js';

export type { ProblemCode };

/** Where something stands in a file; lines and columns count from 1. */
export interface Place {
  /** The path as a person would type it, relative to the folder idops was started in. */
  readonly file: string;
  /** The path from the root of the project, with `/`, where that is another one. */
  readonly inProject?: string;
  /** The line, from 1. */
  readonly line: number;
  /** The column, from 1. */
  readonly column: number;
  /** How many characters to underline; 1 where only a point is known. */
  readonly length: number;
  /** The whole source line, where the file could be read and nothing on the line may be a secret. */
  readonly text?: string;
}

/** An error stops what is to be done; a warning is shown. */
export type Severity = 'error' | 'warning';

/** A mistake in what the user gave: data, so that every format can show it. */
export interface Problem {
  /** A stable code; docs/errors.md explains each. */
  readonly code: ProblemCode;
  /** Whether it stops the work. */
  readonly severity: Severity;
  /** What is wrong, in one sentence. */
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
  /** Where it is. */
  readonly places: readonly Place[];
  /** How many more places there are, where those are too many. */
  readonly morePlaces?: number;
}

/** Builds an error; the places are optional since options and servers have none. */
export function error(
  code: ProblemCode,
  message: string,
  places: readonly Place[] = [],
  hint?: string,
): Problem {
  return { code, severity: 'error', message, places, ...(hint === undefined ? {} : { hint }) };
}

/** Builds a warning, which is shown and does not stop anything. */
export function warning(
  code: ProblemCode,
  message: string,
  places: readonly Place[] = [],
  hint?: string,
): Problem {
  return { ...error(code, message, places, hint), severity: 'warning' };
}

/** Everything that was found wrong, at once. Thrown at the end of a stage, never at the first find. */
export class ProblemsError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], options?: ErrorOptions) {
    super(problems.map((problem) => `${problem.code}: ${problem.message}`).join('\n'), options);
    this.name = 'ProblemsError';
    this.problems = problems;
  }
}

/** Throws what a stage found if any of it is an error; warnings alone are returned. */
export function refuse(problems: readonly Problem[]): readonly Problem[] {
  if (problems.some((problem) => problem.severity === 'error')) throw new ProblemsError(problems);
  return problems;
}

/** Adds problems to others, one by one: there may be more of them than a call takes arguments. */
export function addProblems(to: Problem[], more: readonly Problem[]): void {
  for (const problem of more) to.push(problem);
}

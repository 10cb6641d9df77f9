import { error, ProblemsError } from '../base/problems.js';

/** What says that something isn't approved, and what to do. */
export function refusal(message: string, hint: string): ProblemsError {
  return new ProblemsError([error('not-approved', message, [], hint)]);
}

import { error } from '../base/problems.js';
import { systemErrorText } from '../base/system-errors.js';
import { problemsText } from '../report/problems.js';

/** What is said where standard output doesn't take a result. */
export function unwritable(failure: unknown): string {
  const hint = 'make room, or send it elsewhere; what the command did is done';
  const problem = error(
    'not-writable',
    `standard output can't be written: ${systemErrorText(failure)}`,
    [],
    hint,
  );
  return problemsText([problem], { color: false });
}

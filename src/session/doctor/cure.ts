import { type Check, fail } from '../../base/checks.js';
import type { Problem } from '../../base/problems.js';

/** A problem as a failed check: one that doesn't say what to do is told where that is to be found. */
export function failedBy(name: string, { code, message, hint, places: [place] }: Problem): Check {
  const where = place === undefined ? '' : ` (${place.file}:${place.line})`;
  const explained = `docs/errors.md explains ${code}`;
  const cure =
    place === undefined ? explained : `correct it there; idops validate shows the line, ${explained}`;
  return fail(name, `${message}${where}`, hint ?? cure, code);
}

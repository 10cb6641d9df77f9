import type { Problem } from '../base/problems.js';

/** By file and line, as a person goes through them; what has no place comes first. */
export function inOrder(problems: readonly Problem[]): readonly Problem[] {
  return [...problems].sort((one, other) => {
    const [a] = one.places;
    const [b] = other.places;
    if (a === undefined || b === undefined) return (a === undefined ? 0 : 1) - (b === undefined ? 0 : 1);
    if (a.file !== b.file) return a.file < b.file ? -1 : 1;
    return a.line - b.line || a.column - b.column;
  });
}

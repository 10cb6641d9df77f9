import { distance } from 'fastest-levenshtein';

/** The known name closest to a mistyped one; undefined if none is close. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase();
  if (wanted.length > 100) return undefined;
  let best: string | undefined;
  let limit = (wanted.length < 4 ? 1 : Math.max(2, Math.floor(wanted.length / 3))) + 1;
  for (const candidate of known) {
    const edits = distance(wanted, candidate.toLowerCase());
    if (edits < limit) {
      limit = edits;
      best = candidate;
    }
  }
  return best;
}

import type { Seen } from '../plan/plan.js';
import { type DiscoveredAll, discoverAll, type LookOptions, type Wanted } from './discover.js';
import { type FreshDocument, freshDocuments, type LeftOut, seenOfNew } from './fresh.js';
import { filesOf, type NewFile } from './layout.js';
import { VariableNames, type VariableToSet } from './literal.js';

export interface PullWishes extends Wanted {
  /** Also write the server's built-in objects. */
  readonly builtIn: boolean;
  /** Whether a text contains a known credential, which no file may hold. */
  readonly holds: (text: string) => boolean;
}

/** A pull into an empty folder; nothing is written yet. */
export interface FreshPull {
  readonly files: readonly NewFile[];
  readonly documents: readonly FreshDocument[];
  readonly seen: readonly Seen[];
  /** Variables in place of secrets. */
  readonly toSet: readonly VariableToSet[];
  readonly left: readonly LeftOut[];
  readonly notes: DiscoveredAll['notes'];
  readonly missing: DiscoveredAll['missing'];
}

/** Reads a server, with GETs only, and returns manifests and bodies that declare what it has. */
export async function pullFresh(wishes: PullWishes, look: LookOptions): Promise<FreshPull> {
  const seen = await discoverAll(wishes, [], look);
  const { profile } = look;
  const { references } = seen;
  const { documents, left } = freshDocuments(withoutBuiltIn(seen, wishes.builtIn), {
    profile,
    names: new VariableNames(),
    holds: wishes.holds,
    references,
    by: wishes.by ?? 'id',
  });
  return {
    files: filesOf(documents, wishes.holds),
    documents,
    seen: documents.map((one) => seenOfNew(one, { references, profile })),
    toSet: documents.flatMap(({ toSet }) => toSet),
    left,
    notes: seen.notes,
    missing: seen.missing,
  };
}

/** What was found, without the server's built-in objects unless `builtIn`. */
export function withoutBuiltIn({ found }: DiscoveredAll, builtIn: boolean): DiscoveredAll['found'] {
  return found.filter(
    ({ kind, finding }) => builtIn || kind.deletion?.isBuiltIn(finding.live.fields) !== true,
  );
}

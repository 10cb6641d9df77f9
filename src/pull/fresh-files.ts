import type { Asked, Kind, Known } from '../kinds/kind.js';
import type { Seen } from '../plan/plan.js';
import type { LookOptions } from './discover.js';
import { type FreshDocument, freshDocuments, type LeftOut } from './fresh.js';
import { filesOf, type NewFile } from './layout.js';
import type { ToSet } from './literal.js';
import { VariableNames } from './names.js';
import { seenAnew } from './seen.js';
import { type Survey, survey } from './survey.js';

/** What is to be pulled. */
export interface PullWishes {
  readonly kinds: readonly Kind[];
  readonly asked: Asked;
  readonly known: readonly Known[];
  /** Write down what the server has built in, too. */
  readonly builtIn: boolean;
  /** Whether a text is a credential that is known, or has one in it: it never gets into a file. */
  readonly holds: (text: string) => boolean;
}

/** What a pull into an empty folder would write. */
export interface FreshPull {
  readonly files: readonly NewFile[];
  /** The documents that are in them. */
  readonly documents: readonly FreshDocument[];
  /** Their objects, as the server showed them. */
  readonly seen: readonly Seen[];
  /** The variables that stand in the place of secrets. */
  readonly toSet: readonly ToSet[];
  readonly left: readonly LeftOut[];
  readonly notes: Survey['notes'];
  readonly missing: Survey['missing'];
}

/** Reads a server and makes the manifests and bodies that say what it has. Sends GETs alone, writes nothing. */
export async function pullFresh(wishes: PullWishes, look: LookOptions): Promise<FreshPull> {
  const seen = await survey(wishes, [], look);
  const { profile } = look;
  const { references } = seen;
  const { documents, left } = freshDocuments(withoutBuiltIn(seen, wishes.builtIn), {
    profile,
    names: new VariableNames(),
    holds: wishes.holds,
    references,
  });
  return {
    files: filesOf(documents, wishes.holds),
    documents,
    seen: documents.map((one) => seenAnew(one, { references, profile })),
    toSet: documents.flatMap(({ toSet }) => toSet),
    left,
    notes: seen.notes,
    missing: seen.missing,
  };
}

/** What was found without what nobody wrote. */
export function withoutBuiltIn({ found }: Survey, builtIn: boolean): Survey['found'] {
  return found.filter(
    ({ kind, finding }) => builtIn || kind.deletion?.isBuiltIn(finding.live.fields) !== true,
  );
}

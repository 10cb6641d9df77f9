import type { Problem } from '../base/problems.js';
import type { Seen } from '../plan/plan.js';
import { type DiscoveredAll, discoverAll, type LookOptions, type PullWishes } from './discover.js';
import { type FreshDocument, freshDocuments, type LeftOut, seenOfNew } from './fresh.js';
import { filesOf, type NewFile } from './layout.js';
import { VariableNames, type VariableToSet } from './literal.js';

/** What a pull saw; nothing is written yet. */
export interface PullFindings {
  /** The live objects of documents that now match the server. */
  readonly seen: readonly Seen[];
  /** Variables in place of secrets, to be set before the next plan. */
  readonly toSet: readonly VariableToSet[];
  /** Parts of new objects that no document can declare. */
  readonly leftOut: readonly LeftOut[];
  /** A sentence for each thing that can't be looked for. */
  readonly notes: readonly string[];
  /** What was asked for by id and doesn't exist. */
  readonly missing: readonly Problem[];
}

export interface FreshPull extends PullFindings {
  readonly files: readonly NewFile[];
  readonly documents: readonly FreshDocument[];
}

/** Reads a server, with GETs only, and returns manifests and bodies that declare what it has. */
export async function pullFresh(wishes: PullWishes, look: LookOptions): Promise<FreshPull> {
  const discovered = await discoverAll(wishes, [], look);
  const { references, notes, missing } = discovered;
  const { holds, by, builtIn, referredOnly } = wishes;
  const options = { profile: look.profile, names: new VariableNames(), holds, references, by };
  const found = withoutBuiltIn(discovered, builtIn).filter(
    ({ finding }) => referredOnly?.has(finding.identity.id ?? '') !== true,
  );
  const { documents, leftOut } = freshDocuments(found, options);
  return {
    files: filesOf(documents, holds),
    documents,
    seen: documents.map((one) => seenOfNew(one, options)),
    toSet: documents.flatMap(({ toSet }) => toSet),
    leftOut,
    notes,
    missing,
  };
}

/** What was found, without the server's built-in objects unless `builtIn`. */
export function withoutBuiltIn({ found }: DiscoveredAll, builtIn: boolean): DiscoveredAll['found'] {
  return found.filter(
    ({ kind, finding }) => builtIn || kind.deletion?.isBuiltIn(finding.live.fields) !== true,
  );
}

import type { Problem } from '../base/problems.js';
import type { Seen } from '../plan/plan.js';
import { type DiscoveredAll, type DiscoverOptions, discoverAll, type PullOptions } from './discover.js';
import { layOutFiles, type NewFile } from './layout.js';
import { createDocuments, type LeftOut, type NewDocument, seenOfNew } from './new-documents.js';
import { VariableNames, type VariableToSet } from './write-value.js';

/** What a pull found; nothing is written yet. */
export interface PullFindings {
  /** The live objects of documents that now match the server. */
  readonly seen: readonly Seen[];
  /** Variables that replace secrets, to set before the next plan. */
  readonly toSet: readonly VariableToSet[];
  /** Parts of new objects that no document can declare. */
  readonly leftOut: readonly LeftOut[];
  /** A sentence about the kinds that can't be read. */
  readonly notes: readonly string[];
  /** Problems of ids that were asked for and don't exist. */
  readonly missing: readonly Problem[];
}

export interface NewFilesResult extends PullFindings {
  readonly files: readonly NewFile[];
  readonly documents: readonly NewDocument[];
}

/** Reads a server, with GETs only, and returns new manifests and bodies that declare what it has. */
export async function pullNewFiles(options: PullOptions, context: DiscoverOptions): Promise<NewFilesResult> {
  const discovered = await discoverAll(options, [], context);
  const { references, notes, missing } = discovered;
  const { hasCredential, by, builtIn, referencedOnly } = options;
  const documentOptions = {
    profile: context.profile,
    names: new VariableNames(),
    hasCredential,
    references,
    by,
  };
  const found = withoutBuiltIn(discovered, builtIn).filter(
    ({ finding }) => referencedOnly?.has(finding.identity.id ?? '') !== true,
  );
  const { documents, leftOut } = createDocuments(found, documentOptions);
  return {
    files: layOutFiles(documents, hasCredential),
    documents,
    seen: documents.map((one) => seenOfNew(one, documentOptions)),
    toSet: documents.flatMap(({ toSet }) => toSet),
    leftOut,
    notes,
    missing,
  };
}

/** The discovered objects; the server's built-in ones only if `builtIn`. */
export function withoutBuiltIn({ found }: DiscoveredAll, builtIn: boolean): DiscoveredAll['found'] {
  return found.filter(
    ({ kind, finding }) => builtIn || kind.deletion?.isBuiltIn(finding.live.fields) !== true,
  );
}

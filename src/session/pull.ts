import type { Problem } from '../base/problems.js';
import { noProgress, type Progress } from '../base/progress.js';
import { kindOf, kinds } from '../kinds/index.js';
import type { Asked, KindName } from '../kinds/kind.js';
import type { LeftOut } from '../pull/fresh.js';
import { pullFresh } from '../pull/fresh-files.js';
import type { Layout, NewFile } from '../pull/layout.js';
import type { ToSet } from '../pull/literal.js';
import type { Profile } from '../server/profiles.js';
import type { Reader } from '../server/reader.js';

/** What is to be pulled; all that the server shows where nothing is said. */
export interface PullRequest {
  readonly kinds?: readonly KindName[];
  /** The ids that are asked for, by option: `backend`, `type`, `user`, `client`. */
  readonly asked?: Asked;
  readonly layout?: Layout;
  /** Built-in templates, which nobody customised, too. */
  readonly builtIn?: boolean;
}

/** A server that can be read, as `openConnection` gives one, and what must not get into a file. */
export interface PullSource {
  readonly reader: Reader;
  readonly profile: Profile;
  /** `redactor.holds`: whether a text is a credential that is known, or has one in it. */
  readonly holds: (text: string) => boolean;
  readonly concurrency?: number;
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
}

/** What a pull into an empty folder would write. */
export interface FreshFiles {
  /** Manifests and bodies, by their paths from the folder of the manifests, with `/`; no two have the same. */
  readonly files: readonly NewFile[];
  /** How many objects of each kind are in them. */
  readonly counts: { readonly [kind in KindName]?: number };
  /** The process variables that stand in the place of secrets, to be set; their names need no `allow_env`. */
  readonly toSet: readonly ToSet[];
  /** What of the server could not be written down, and why. */
  readonly left: readonly LeftOut[];
  /** What could not be looked for, and what to do, a sentence each; texts of the server in them aren't escaped. */
  readonly notes: readonly string[];
  /** What was asked for by its id and isn't there. */
  readonly missing: readonly Problem[];
}

/**
 * The manifests and body files that a pull into an empty folder would write: pure of writing, and GETs alone are sent.
 * A plan with them, and with the variables of `toSet`, is empty. Throws an AggregateError of what the reader threw.
 */
export async function freshFiles(
  { reader, profile, holds, concurrency = 10, progress = noProgress, signal }: PullSource,
  request: PullRequest = {},
): Promise<FreshFiles> {
  const { layout = 'file-per-kind', asked = {}, builtIn = false } = request;
  const chosen = request.kinds === undefined ? kinds : request.kinds.map(kindOf);
  const pulled = await pullFresh(
    { kinds: kinds.filter((kind) => chosen.includes(kind)), asked, known: [], layout, builtIn, holds },
    { reader, profile, concurrency, progress, ...(signal === undefined ? {} : { signal }) },
  );
  const counts: { [kind in KindName]?: number } = {};
  for (const { kind } of pulled.documents) counts[kind.name] = (counts[kind.name] ?? 0) + 1;
  const { files, toSet, left, survey } = pulled;
  return { files, counts, toSet, left, notes: survey.notes, missing: survey.missing };
}

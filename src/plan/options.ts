import type { Progress } from '../base/progress.js';
import type { Fields } from '../base/values.js';
import type { Declared } from '../kinds/kind.js';
import type { ReadLists } from '../kinds/references.js';
import type { Hasher } from '../secrets/hash.js';
import type { Profile } from '../server/profiles.js';
import type { Reader } from '../server/reader.js';
import type { State } from '../state/state.js';
import type { BodyChecks } from './body-checks.js';
import type { Recognise } from './profile-guard.js';
import type { Selection } from './select.js';

/** What every plan says of itself. */
export interface PlanHeader {
  readonly server: string;
  readonly profile: Profile;
  readonly environment: string | null;
  readonly toolVersion: string;
  readonly now: Date;
  /** How to find out what the server is; null where the configuration says it. */
  readonly recognise: Recognise | null;
}

export interface BuildOptions extends PlanHeader {
  readonly declared: readonly Declared[];
  readonly reader: Reader;
  readonly state: State;
  readonly hasher: Hasher;
  readonly selection: Selection;
  /** Delete templates that idops applied and no manifest names any more. */
  readonly prune: boolean;
  /** Send even where the recorded value already matches. */
  readonly assert: boolean;
  readonly concurrency: number;
  readonly progress: Progress;
  /** What the checks of email bodies count for. */
  readonly checks: BodyChecks;
  /** Whose losses are put back although no document names the object: all, those of one run, or none. */
  readonly restores: 'all' | { readonly run: string } | 'none';
  /** Changes a document in the light of what is there now, before the two are compared. */
  readonly adjust?: (document: Declared, now: Fields) => Declared;
  /** Lists that were read just before, which are not read again. */
  readonly read?: ReadLists | undefined;
  /** Aborted where nothing more may be asked. */
  readonly signal?: AbortSignal;
}

import type { Safety } from '../base/safety.js';
import type { Fields } from '../base/values.js';
import type { Declared, KindName } from '../kinds/kind.js';
import type { ReadLists } from '../kinds/references.js';
import type { Hasher } from '../secrets/hash.js';
import type { Scope } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import type { ProbeResult } from '../server/recognise.js';
import type { State } from '../state/state.js';
import type { BodyChecks } from './body-checks.js';
import type { ObserveOptions } from './observe.js';
import type { Selection } from './select.js';

/** Finds out the server's profile with a request that needs this scope, which the run needs anyway. */
export type Recognise = (scope: Scope) => Promise<ProbeResult>;

/** Why a document would be blocked; undefined if it wouldn't be. */
export type Refusal = (document: Declared) => string | undefined;

export interface PlanHeader {
  readonly server: string;
  readonly profile: Profile;
  readonly environment: string | null;
  readonly toolVersion: string;
  readonly now: Date;
  /** Finds out the server's profile; null if the configuration has `trust_profile`. */
  readonly recognise: Recognise | null;
  /** The `safety` section of the configuration. */
  readonly safety: Safety;
  /** The id of the user whose token is used, if the token tells it. */
  readonly ownUser?: string | undefined;
}

export interface BuildOptions
  extends PlanHeader,
    Pick<ObserveOptions, 'reader' | 'concurrency' | 'progress' | 'plannedIds' | 'signal'> {
  /** The instant that decides which access has ended; by default `now`. */
  readonly asOf?: Date | undefined;
  /** Only remove access that has ended. */
  readonly endedOnly?: boolean;
  readonly declared: readonly Declared[];
  readonly state: State;
  readonly hasher: Hasher;
  readonly selection: Selection;
  /** Delete what no manifest declares any more: templates that idops applied, and other objects that it created. */
  readonly prune: boolean;
  /** The kinds that pruning may delete; by default templates. */
  readonly prunes?: readonly KindName[] | undefined;
  /** Send even if the recorded value already matches. */
  readonly assert: boolean;
  readonly checks: BodyChecks;
  /** Which pending restores of undeclared objects to plan: all, those of one run, or none. */
  readonly restores: 'all' | { readonly run: string } | 'none';
  /** Adjusts a document to the present fields before it is compared with them. `refusal` says why a document would be blocked. */
  readonly adjust?: (document: Declared, now: Fields, refusal: Refusal) => Declared;
  /** Lists that were just read and aren't read again. */
  readonly read?: ReadLists | undefined;
}

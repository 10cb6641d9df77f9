import type { Place } from '../base/problems.js';
import type { Shard } from '../base/shard.js';
import type { Fields } from '../base/values.js';
import type { Action, FieldChange, PlanWarning } from '../kinds/change.js';
import type { KindName } from '../kinds/kind.js';
import type { Scope, WriteRequest } from '../server/operations.js';
import type { ProfileName } from '../server/profiles.js';

export type { Action, FieldChange, PlanWarning, WarningPlace } from '../kinds/change.js';

/** Where the present value came from. */
export type Source = 'live' | 'recorded' | 'unknown';

/** One declared (or pruned) object and what is to happen to it. */
export interface Change {
  /** What names the object, such as `Organization/acme`. */
  readonly address: string;
  /** What the server calls it, where that is known and the address doesn't say it; for the eye alone. */
  readonly label?: string;
  /** The kind of the object. */
  readonly kind: KindName;
  /** What applying the plan does to the object. */
  readonly action: Action;
  /** Where the present values come from. */
  readonly observed: Source;
  /** When the record that it was compared with was made, as an ISO 8601 time; for `recorded` alone. */
  readonly recordedAt?: string;
  /** What would be lost, a sentence each; empty where nothing would. */
  readonly destructions: readonly string[];
  /** What would be sent, in this order. */
  readonly requests: readonly WriteRequest[];
  /** The differences. */
  readonly fields: readonly FieldChange[];
  /** What a reviewer should know about it. */
  readonly warnings: readonly PlanWarning[];
  /** Why it is blocked, and what to do. */
  readonly reason: string | null;
  /** Where the manifest declares it; null if none does. */
  readonly declaredAt: Pick<Place, 'file' | 'inProject' | 'line'> | null;
  /** What apply needs besides. */
  readonly apply: ApplyInfo;
}

/** What applying a change takes besides: values as the server answered them, not to be printed. */
export interface ApplyInfo {
  /** The address that the state records the object under: by id, which a rename doesn't change. */
  readonly key: string;
  /** What the answers must identify themselves with, where they do: `id`, or `backend_id` and `type`. */
  readonly identity: { readonly [part: string]: string };
  /** What was asked or sent along: what the server must show afterwards. */
  readonly expected: Fields;
  /** The object as it is known to be now; a field that isn't there is unknown. */
  readonly before: Fields;
  /** Whether the server has it; null where it can't be asked. */
  readonly existed: boolean | null;
  /** What the server shows of it now; left out if it can't be asked, or has no such object. */
  readonly seen?: Fields;
  /** The fields that the manifest mentions. */
  readonly managed: readonly string[];
  /** The declared `did_generation`, to be recorded. */
  readonly generation?: number;
  /** The one that was recorded before; left out where none was. */
  readonly recordedGeneration?: number;
}

/** An object that the server was seen to have as manifests declare it. */
export interface Seen
  extends Pick<ApplyInfo, 'key' | 'identity' | 'expected' | 'managed'>,
    Partial<Pick<ApplyInfo, 'before'>> {
  readonly kind: KindName;
  /** What the server showed of it. */
  readonly fields: Fields;
}

/** What would be done, and all that a reviewer needs to judge it. Plain data. */
export interface Plan {
  /** The version of idops that made it. */
  readonly toolVersion: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** The server's base URL. */
  readonly server: string;
  /** What the server was taken for. */
  readonly profile: ProfileName;
  /** The chosen environment; null if none is. */
  readonly environment: string | null;
  /** The part of the objects that it is about; left out where it is about all. */
  readonly shard?: Shard;
  /** True if targets, kinds or a shard leave objects out. */
  readonly partial?: true;
  /** In the order in which they are applied; unchanged objects included. */
  readonly changes: readonly Change[];
  /** The scopes that observing and applying need together, sorted. */
  readonly requiredScopes: readonly Scope[];
  /** What a reviewer should know about the whole. */
  readonly warnings: readonly PlanWarning[];
  /** The state's keys of objects that got back what an update had taken away, or were set otherwise since. */
  readonly settled?: readonly string[];
  /** True where manifests declare something, and nothing of that is selected. */
  readonly leavesOut?: boolean;
  /** The run that it puts back; left out where it follows manifests. */
  readonly undoes?: string;
  /** What makes it anew, word by word behind `idops`; left out where nothing is said of that. */
  readonly again?: readonly string[];
  /** `sha256:` and the hash of what would be sent. */
  readonly digest: string;
}

/** How many changes there are of each action. */
export type Summary = { readonly [action in Action]: number };

/** How many changes there are of each action. */
export function summarize(plan: Pick<Plan, 'changes'>): Summary {
  const summary = { update: 0, delete: 0, regenerate: 0, adopt: 0, blocked: 0, unchanged: 0 };
  for (const change of plan.changes) summary[change.action] += 1;
  return summary;
}

/** Whether applying would change the server. An adoption records something and changes nothing. */
export function changesServer(plan: Plan): boolean {
  return plan.changes.some(
    ({ action }) => action === 'update' || action === 'delete' || action === 'regenerate',
  );
}

/** Whether the selection leaves out objects that something is still owed to. */
export function leavesRestores({ warnings }: Plan): boolean {
  return warnings.some(({ code }) => code === 'restores-left-out');
}

/** Which changes of a plan are shown: those of the server's own since the last run, or those that the manifests make. */
export const shares = ['drift', 'changes'] as const;

export type Share = (typeof shares)[number];

import type { Place } from '../base/problems.js';
import type { Shard } from '../base/shard.js';
import type { Fields } from '../base/values.js';
import type { Action, FieldChange, PlanWarning } from '../kinds/change.js';
import type { KindName } from '../kinds/kind.js';
import type { Scope, WriteRequest } from '../server/operations.js';
import type { ProfileName } from '../server/profiles.js';

export type { Action, FieldChange, PlanWarning, WarningPlace } from '../kinds/change.js';

/** The source of the present value. */
export type Source = 'live' | 'recorded' | 'unknown';

/** One declared or pruned object, and what to do with it. */
export interface Change {
  /** The address of the object, such as `Organization/acme`. */
  readonly address: string;
  /** The object's name, for people, if it is known and the address doesn't contain it. */
  readonly label?: string;
  /** The kind of the object. */
  readonly kind: KindName;
  /** What applying the plan does to the object. */
  readonly action: Action;
  /** The source of the present values. */
  readonly observed: Source;
  /** When the compared record was made, as an ISO 8601 time; only for `recorded`. */
  readonly recordedAt?: string;
  /** What would be lost, a sentence each; empty if nothing. */
  readonly destructions: readonly string[];
  /** The privileged scopes and roles that it gives, a sentence each; left out if none. */
  readonly privileges?: readonly string[];
  /** The pattern of `safety.protect` that matches it, if an approver may approve the change; left out otherwise. */
  readonly protectedBy?: string;
  /** The keys of changes that must be applied first: they free its name, or grant what `safety.keep` needs after it. */
  readonly awaits?: readonly string[];
  /** The requests, in this order. */
  readonly requests: readonly WriteRequest[];
  /** The differences. */
  readonly fields: readonly FieldChange[];
  /** What a reviewer should know about it. */
  readonly warnings: readonly PlanWarning[];
  /** Why it is blocked, and what to do. */
  readonly reason: string | null;
  /** Where the manifest declares it; null if none does. */
  readonly declaredAt: Pick<Place, 'file' | 'inProject' | 'line'> | null;
  /** What apply needs in addition. */
  readonly apply: ApplyInfo;
}

/** The end of a member's access. */
export interface End {
  /** ISO 8601, UTC. */
  readonly at: string;
  /** The name of the member. */
  readonly name?: string;
  /** Whether idops added the member with an end. */
  readonly received: boolean;
}

/** Ends of access, by field and id of the member. */
export type UntilChanges = { readonly [field: string]: { readonly [id: string]: End | null } };

/** What apply needs in addition: values from the server's answers, not to be printed. */
export interface ApplyInfo {
  /** The key of the object's record: its address by id, which a rename doesn't change. */
  readonly key: string;
  /** The identity that an answer must show, if it shows one: `id`, or `backend_id` and `type`. */
  readonly identity: { readonly [part: string]: string };
  /** The fields that the change sends, declared or not: the server must show them afterwards. */
  readonly expected: Fields;
  /** The known present fields; an absent field is unknown. */
  readonly before: Fields;
  /** Whether the server has it; null if the profile can't read it. */
  readonly existed: boolean | null;
  /** The fields that the server shows now; left out if it can't be read, or doesn't exist. */
  readonly seen?: Fields;
  /** The id of a new object in the plan. The server gives it another one. */
  readonly plannedId?: string;
  /** The id that an earlier creation with an unknown outcome sent. This one sends the same. */
  readonly chosenId?: string;
  /** The id of the deleted object in place of which it is created. */
  readonly replaces?: string;
  /** A creation by an earlier run with an unknown outcome: the key of its record, and the run. */
  readonly lostCreation?: { readonly key: string; readonly run: string };
  /** The declared fields. */
  readonly managed: readonly string[];
  /** Recorded ends of access to change, by field and id of the member; null for one that no longer has an end. */
  readonly until?: UntilChanges;
  /** Members of sets that it removes because their access has ended, by field. */
  readonly ended?: { readonly [field: string]: readonly string[] };
  /** When declared access ends, earliest first. Nothing may be sent after the first end. */
  readonly ends?: readonly { readonly field: string; readonly name: string; readonly at: string }[];
  /** Names of members whose declared end has no effect, since the object had them before. */
  readonly undated?: readonly string[];
  /** The managed sets in which only named members are managed. */
  readonly byMember?: readonly string[];
  /** The declared `did_generation`, to be recorded. */
  readonly generation?: number;
  /** The recorded one; left out if there is none. */
  readonly recordedGeneration?: number;
}

/** An object that the server has as the manifests declare it. */
export interface Seen
  extends Pick<ApplyInfo, 'key' | 'identity' | 'expected' | 'managed'>,
    Partial<Pick<ApplyInfo, 'before'>> {
  readonly kind: KindName;
  /** What the server showed of it. */
  readonly fields: Fields;
}

/** What would be done, and what a reviewer needs to judge it. Plain data. */
export interface Plan {
  /** The version of idops that made it. */
  readonly toolVersion: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** The server's base URL. */
  readonly server: string;
  /** The configured profile. */
  readonly profile: ProfileName;
  /** The chosen environment; null if none is. */
  readonly environment: string | null;
  /** The shard of the objects; left out if the plan is about all. */
  readonly shard?: Shard;
  /** True if targets, kinds or a shard leave objects out. */
  readonly partial?: true;
  /** In the order in which they are applied, with unchanged objects. */
  readonly changes: readonly Change[];
  /** The scopes that observing and applying need together, sorted. */
  readonly requiredScopes: readonly Scope[];
  /** What a reviewer should know about the whole. */
  readonly warnings: readonly PlanWarning[];
  /** The keys of objects that need their pending restore no longer: it is done, or someone set the value. */
  readonly settled?: readonly string[];
  /** Set if the manifests declare objects and the selection has none of them (`true`), or no access that has ended (`ended`). */
  readonly leavesOut?: true | 'ended';
  /** The instant that decides which access has ended, if it isn't `createdAt`. */
  readonly asOf?: string;
  /** The earliest declared end of access after that. From then on the plan is stale. */
  readonly holdsUntil?: string;
  /** The run that the plan undoes; left out if it comes from manifests. */
  readonly undoes?: string;
  /** The arguments of the command that makes the same plan again. */
  readonly again?: readonly string[];
  /** `sha256:` and the hash of what would be sent. */
  readonly digest: string;
}

const emptyList: readonly never[] = Object.freeze([]);

/** The parts of a change that are usually empty. They are shared, since a large plan has many changes. */
export const emptyChange = {
  destructions: emptyList,
  requests: emptyList,
  fields: emptyList,
  warnings: emptyList,
  reason: null,
};

/** How many changes there are of each action. */
export type Summary = { readonly [action in Action]: number };

/** How many changes there are of each action. */
export function summarize(plan: Pick<Plan, 'changes'>): Summary {
  const summary = { create: 0, update: 0, delete: 0, regenerate: 0, adopt: 0, blocked: 0, unchanged: 0 };
  for (const change of plan.changes) summary[change.action] += 1;
  return summary;
}

/** Whether a change gives a privileged scope or role. */
export function isPrivileged({ privileges }: Pick<Change, 'privileges'>): boolean {
  return privileges !== undefined;
}

export function countPrivileged({ changes }: Pick<Plan, 'changes'>): number {
  return changes.filter(isPrivileged).length;
}

/** Whether applying the plan changes the server. An adoption only records something. */
export function changesServer(plan: Plan): boolean {
  return plan.changes.some(isChanging);
}

export function isChanging({ action }: Pick<Change, 'action'>): boolean {
  return action === 'create' || action === 'update' || action === 'delete' || action === 'regenerate';
}

/** Whether the selection leaves out pending restores. */
export function leavesRestores({ warnings }: Plan): boolean {
  return warnings.some(({ code }) => code === 'restores-left-out');
}

/** Which changes of a plan to show: drift since the last run, or the changes that the manifests make. */
export const shares = ['drift', 'changes'] as const;

export type Share = (typeof shares)[number];

/** Blocks a change if there is a reason. It still shows the differences. */
export function blockedFor(change: Change, why: string | undefined): Change {
  if (why === undefined) return change;
  const reason = change.reason === null ? why : `${change.reason}; ${why}`;
  return { ...change, action: 'blocked', requests: [], destructions: [], reason };
}

import type { KindName } from '../base/kind-names.js';
import type { Problem } from '../base/problems.js';
import type { Shard } from '../base/shard.js';
import type { Json } from '../base/values.js';
import {
  type ApprovedPlan as Approved,
  approve as approveMade,
  refusalsOf as refusals,
} from '../plan/approve.js';
import {
  type Action,
  changesServer as changes,
  type Plan as Made,
  type Change as MadeChange,
  type PlanWarning,
  type Source,
  type Summary,
  summarize as summary,
} from '../plan/plan.js';
import { changeJson } from '../report/json.js';
import { redactPlan, redactProblems } from '../report/redacted.js';
import type { ProfileName } from '../server/profiles.js';
import { tellable } from './errors.js';
import type { Inside, Members } from './project.js';
import { said } from './said.js';

/** One difference. */
export interface FieldChange {
  /** The field, or the part of it that differs. */
  readonly path: string;
  /** The present value; `{unknown: true}` where it isn't known, `{sensitive: true}` for a secret. */
  readonly before: Json;
  /** The new value; `{sensitive: true}` for a secret, `{unknown: true}` where the server has its own. */
  readonly after: Json;
  /** Whether the values are held back. */
  readonly sensitive: boolean;
  /**
   * Where the object is deleted: whether a text that the server has built in takes the place, or the field is gone. Of a key of
   * a map that it is removed.
   */
  readonly becomes?: 'built-in' | 'gone' | 'removed' | undefined;
  /** Of a key of a map that wasn't there before. */
  readonly was?: 'absent' | undefined;
  /**
   * There where the server was changed since a run left the field: what that was, `{sensitive: true}` for a secret; `declared`
   * where the manifest was changed too.
   */
  readonly drift?:
    | { readonly recorded: Json; readonly run: string; readonly declared?: 'changed' | undefined }
    | undefined;
}

/** A request that applying would send. */
export interface PlannedRequest {
  /** The method of the request. */
  readonly method: 'PATCH' | 'POST' | 'DELETE';
  /** Below the base URL, its parameters percent-encoded. */
  readonly path: string;
}

/** One declared (or pruned) object and what is to happen to it. */
export interface Change {
  /** What names the object, such as `Organization/acme`. */
  readonly address: string;
  /** What the server calls it, or what it belongs to, where that is known and the address doesn't say it. */
  readonly label?: string;
  /** The kind of the object. */
  readonly kind: KindName;
  /** What is to be done. */
  readonly action: Action;
  /** Where the present values come from. */
  readonly observed: Source;
  /** When the record that it was compared with was made, ISO 8601 in UTC; where `observed` is `recorded` alone. */
  readonly recordedAt?: string;
  /** What would be lost, a sentence each; empty where nothing would. */
  readonly destructions: readonly string[];
  /** What would be sent, in this order. */
  readonly requests: readonly PlannedRequest[];
  /** The differences. */
  readonly fields: readonly FieldChange[];
  /** What a reviewer should know about it. */
  readonly warnings: readonly PlanWarning[];
  /** Why it is blocked, and what to do. */
  readonly reason: string | null;
  /** Where the manifest declares it: a path relative to the project's root, and a line from 1. */
  readonly declaredAt: { readonly file: string; readonly line: number } | null;
}

/**
 * What would be done, and all that a reviewer needs to judge it: frozen data in which secrets are masked. What applying sends is
 * kept beside it, so only a plan that a session made can be shown, stored and approved; a copy of one can't.
 */
export declare class Plan {
  // Of the type alone: what a copy doesn't have.
  protected readonly made: true;
  /** The version of idops that made it. */
  readonly toolVersion: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** The server's base URL. */
  readonly server: string;
  /** The profile that the server was taken for. */
  readonly profile: ProfileName;
  /** The chosen environment; null where none is. */
  readonly environment: string | null;
  /** The part of the objects that it is about; left out where it is about all. */
  readonly shard?: Shard;
  /** In the order in which they are applied; unchanged objects included. */
  readonly changes: readonly Change[];
  /** The scopes that observing and applying need together, sorted. */
  readonly requiredScopes: readonly string[];
  /** What a reviewer should know about the whole. */
  readonly warnings: readonly PlanWarning[];
  /** `sha256:` and the hash of what would be sent. */
  readonly digest: string;
}

/** What a plan is approved with. */
export interface Limits {
  /** How many destructive things it may do. */
  readonly maxDestructive: number;
  /**
   * When a person said yes to it, as a time of `performance.now()`, in milliseconds: what was read before is read again before
   * it is built on. Left out where nobody was asked.
   */
  readonly asked?: number;
}

/** A plan that may be applied. Only `approve` makes one. */
export declare class ApprovedPlan {
  // Of the type alone: what a copy doesn't have.
  protected readonly approved: true;
  /** What was approved. */
  readonly plan: Plan;
}

/** What is known of a plan, and isn't for programs. */
export interface Known {
  readonly made: Made;
  readonly inside: Inside;
  /** The session that made it. */
  readonly maker: object;
}

const known = new WeakMap<Plan, Known>();
const approvals = new WeakMap<ApprovedPlan, Approved>();

/** What a program gets of a plan. */
export function publicPlan(made: Made, inside: Inside, maker: object): Plan {
  const redacted = redactPlan(made, inside.redactor);
  const { toolVersion, createdAt, server, profile, environment, shard } = redacted;
  const { changes, requiredScopes, warnings, digest } = redacted;
  const members: Members<Plan> = {
    toolVersion,
    createdAt,
    server,
    profile,
    environment,
    ...(shard === undefined ? {} : { shard: { ...shard } }),
    changes: changes.map(publicChange),
    requiredScopes: [...requiredScopes],
    warnings,
    digest,
  };
  deepFreeze(members);
  const plan = members as Plan;
  known.set(plan, { made, inside, maker });
  return plan;
}

function publicChange(change: MadeChange): Change {
  const { address, label, kind, action, observed, recordedAt, destructions, warnings, reason, declaredAt } =
    change;
  const { requests, fields } = changeJson(change);
  return {
    address,
    ...(label === undefined ? {} : { label }),
    kind,
    action,
    observed,
    ...(recordedAt === undefined ? {} : { recordedAt }),
    destructions,
    requests,
    fields,
    warnings,
    reason,
    declaredAt: declaredAt === null ? null : { file: declaredAt.file, line: declaredAt.line },
  };
}

/** What a plan was made of. Throws a TypeError where no session made it. */
export function knownOf(plan: Plan): Known {
  const found = known.get(plan);
  if (found === undefined) throw new TypeError('no session made this plan: it may be a copy of one');
  return found;
}

/** A plan to be shown. */
export function shownOf(plan: Plan, { made, inside }: Known = knownOf(plan)): Made {
  return redactPlan(made, inside.redactor);
}

/** What `approve` let through of a session's plans. Throws a TypeError for anything else. */
export function approvedOf(approvedPlan: ApprovedPlan, maker: object): Approved {
  const found = approvals.get(approvedPlan);
  if (found === undefined) throw new TypeError('this plan was not approved: approve(plan, limits) does it');
  if (knownOf(approvedPlan.plan).maker !== maker)
    throw new TypeError('another session made this plan: store it, and use planStored here');
  return found;
}

/** How many changes a plan has of each action. */
export function summarize(plan: Plan): Summary {
  return summary(knownOf(plan).made);
}

/** Whether applying a plan would change the server. An adoption records something and changes nothing. */
export function changesServer(plan: Plan): boolean {
  return changes(knownOf(plan).made);
}

/**
 * Why a plan may not be applied: it is stale, has blocked entries, or destroys more than is allowed; empty where it may. Throws
 * a TypeError where `maxDestructive` is no number of 0 or more.
 */
export function refusalsOf(plan: Plan, maxDestructive: number): Problem[] {
  const { made, inside } = knownOf(plan);
  refuseNonsense(maxDestructive, inside);
  return redactProblems(refusals(made, maxDestructive), inside.redactor);
}

/**
 * Makes of a plan what `apply` takes. Throws a ProblemsError with all of `refusalsOf` (`stale-plan`, `blocked`,
 * `too-destructive`) where it may not be applied, and a TypeError where a limit is no number.
 */
export function approve(plan: Plan, limits: Limits): ApprovedPlan {
  const { made, inside } = knownOf(plan);
  // Read once: what was checked is what counts.
  const { maxDestructive, asked = 0 } = limits;
  refuseNonsense(maxDestructive, inside);
  if (!Number.isFinite(asked)) {
    const given = said(asked, inside.redactor);
    throw new TypeError(`asked is ${given}: it must be a number, a time of performance.now()`);
  }
  try {
    const inner = approveMade(made, { maxDestructive, asked });
    const outer = Object.freeze({ plan }) as ApprovedPlan;
    approvals.set(outer, inner);
    return outer;
  } catch (failure) {
    throw tellable(failure, inside.redactor);
  }
}

/** No number is more than NaN, nor than what isn't there: nothing would be too destructive. */
function refuseNonsense(maxDestructive: unknown, { redactor }: Inside): void {
  if (typeof maxDestructive === 'number' && maxDestructive >= 0) return;
  throw new TypeError(
    `maxDestructive is ${said(maxDestructive, redactor)}: it must be a number of 0 or more`,
  );
}

/** What is shown of a plan is what is applied, so nothing in it may be changed. */
function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
}

import { createHash } from 'node:crypto';
import { type Shard, shardText } from '../base/shard.js';
import type { Plan } from '../plan/plan.js';
import { sealObjects } from '../plan/stored.js';
import type { Redactor } from '../secrets/redactor.js';
import type { WorkflowEvent } from './event.js';

/** `plan` is a comment that can approve its plan when the pull request is merged; `shown` is one that only shows a plan. */
export type CommentKind = 'plan' | 'shown';

/** `plan` for the event `pull_request`: only those runs belong to a pull request according to GitHub, so only they can be approved. */
export function commentKind({ name }: Pick<WorkflowEvent, 'name'>): CommentKind {
  return name === 'pull_request' ? 'plan' : 'shown';
}

/** The hidden first line of a comment or an issue, for idops only. */
export interface Marker {
  readonly kind: CommentKind | 'drift';
  /** Identifies the project, environment and shard. */
  readonly key: string;
  /** The plan that it shows; null if it shows none. */
  readonly plan: PlanIdentity | null;
  /** The id of the workflow run that made the plan; null if unknown. */
  readonly run: string | null;
}

/** What identifies a plan. */
export interface PlanIdentity {
  readonly digest: string;
  /** A hash of the observed values of all objects that the plan changes. */
  readonly observed: string;
}

/** The key of a project, an environment, and a shard if there is one. */
export function markerKey(config: string, environment: string | null, shard?: Shard): string {
  const part = shard === undefined ? [] : [shardText(shard)];
  return sha256(JSON.stringify([config, environment, ...part])).slice(0, 16);
}

/** The hashes that identify a plan in a marker. */
export async function identifyPlan(
  { server, environment, digest, changes }: Plan,
  redactor: Redactor,
): Promise<PlanIdentity> {
  const sent = changes.filter(({ requests }) => requests.length > 0);
  const sealed = await sealObjects({ server, environment, changes: sent }, redactor.redactName);
  // The requests say which object was observed.
  const rows = sealed.map(({ requests, observed }) => [requests, observed]).sort();
  return { digest, observed: `sha256:${sha256(JSON.stringify(rows))}` };
}

/** Formats the first line of a comment or an issue. No value in it can end the HTML comment. */
export function markerLine({ kind, key, plan, run }: Marker): string {
  return [
    `<!-- idops-${kind} key=${key}`,
    ...(plan === null ? [] : [`digest=${plan.digest} observed=${plan.observed}`]),
    ...(run !== null && /^\d{1,20}$/.test(run) ? [`run=${run}`] : []),
    '-->',
  ].join(' ');
}

const linePattern = new RegExp(
  [
    '^<!-- idops-(?<kind>plan|shown|drift) key=(?<key>[0-9a-f]{16})',
    '(?: digest=(?<digest>sha256:[0-9a-f]{64}) observed=(?<observed>sha256:[0-9a-f]{64}))?',
    '(?: run=(?<run>\\d{1,20}))? -->$',
  ].join(''),
);

/** Reads the first line of a text; null if idops didn't write it. */
export function readMarker(body: string): Marker | null {
  const groups = linePattern.exec(body.split(/\r?\n/, 1)[0] ?? '')?.groups;
  if (groups === undefined) return null;
  const { kind, key = '', digest, observed, run = null } = groups;
  return {
    kind: kind === 'drift' || kind === 'shown' ? kind : 'plan',
    key,
    plan: digest === undefined || observed === undefined ? null : { digest, observed },
    run,
  };
}

/** Whether a text has a marker of this kind and key. */
export function hasMarker(body: string, { kind, key }: Pick<Marker, 'kind' | 'key'>): boolean {
  const marker = readMarker(body);
  return marker?.kind === kind && marker.key === key;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

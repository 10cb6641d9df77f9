import { createHash } from 'node:crypto';
import { type Shard, shardText } from '../base/shard.js';
import type { Plan } from '../plan/plan.js';
import { sealObjects } from '../plan/stored.js';
import type { Redactor } from '../secrets/redactor.js';
import type { WorkflowEvent } from './event.js';

/** `plan` is a comment that can approve its plan when the pull request is merged; `shown` is one that only shows a plan. */
export type CommentKind = 'plan' | 'shown';

/** Only runs for the event `pull_request` are bound to a pull request by GitHub, so only their plans can be approved. */
export function commentKind({ name }: Pick<WorkflowEvent, 'name'>): CommentKind {
  return name === 'pull_request' ? 'plan' : 'shown';
}

/** What a comment or an issue of idops says of itself, where only idops reads it. */
export interface Marker {
  readonly kind: CommentKind | 'drift';
  /** Which project, environment and shard it is about. */
  readonly key: string;
  /** The plan that it shows; null where it shows none. */
  readonly plan: MarkedPlan | null;
  /** The id of the workflow's run that made the plan; null where that isn't known. */
  readonly run: string | null;
}

/** What has to be known of a plan to tell later whether it is the same. */
export interface MarkedPlan {
  readonly digest: string;
  /** A hash over all that was observed of the objects that the plan changes. */
  readonly observed: string;
}

/** The key of a project, one of its environments, and one shard of that where it is about one alone. */
export function markerKey(config: string, environment: string | null, shard?: Shard): string {
  const part = shard === undefined ? [] : [shardText(shard)];
  return sha256(JSON.stringify([config, environment, ...part])).slice(0, 16);
}

/** What a marker says of a plan. */
export async function markPlan(
  { server, environment, digest, changes }: Plan,
  redactor: Redactor,
): Promise<MarkedPlan> {
  const sent = changes.filter(({ requests }) => requests.length > 0);
  const sealed = await sealObjects({ server, environment, changes: sent }, redactor.redactName);
  // The requests say which object each observation is of.
  const rows = sealed.map(({ requests, observed }) => [requests, observed]).sort();
  return { digest, observed: `sha256:${sha256(JSON.stringify(rows))}` };
}

/** The first line of a comment or an issue. Nothing in it can end the HTML comment that it is. */
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

/** Reads the first line of a text that idops wrote; null where it isn't one of its own. */
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

/** Whether a text that idops wrote is about this. */
export function isAbout(body: string, { kind, key }: Pick<Marker, 'kind' | 'key'>): boolean {
  const marker = readMarker(body);
  return marker?.kind === kind && marker.key === key;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as z from 'zod';
import type { Redactor } from '../base/redact.js';
import { type Shard, shardText } from '../base/shard.js';
import type { Action, Change, Plan } from '../plan/plan.js';
import { sealedName, sealObjects } from '../plan/stored.js';

/** What a comment or an issue of idops says of itself, where only idops reads it. */
export interface Marker {
  /** `past` is a plan of which another comment shows a later one. */
  readonly kind: 'plan' | 'past' | 'drift';
  /** Which project, environment and shard it is about. */
  readonly key: string;
  /** The digest of the plan that it shows; null where it shows none. */
  readonly digest: string | null;
  /** A hash over all that was observed of the objects that the plan changes; null where there is no plan. */
  readonly observed: string | null;
  /** The id of the workflow's run that made the plan; null where that isn't known. */
  readonly run: string | null;
  /** The changes of that plan; null where they would take too much room. */
  readonly changes: readonly MarkedChange[] | null;
}

/** What a marker says of a plan. */
export type MarkedPlan = Pick<Marker, 'digest' | 'observed' | 'changes'>;

/** One change, as far as it takes to see that it is another one now. */
export interface MarkedChange {
  /** A short hash of the address. */
  readonly id: string;
  /** Null where there was no room for it. */
  readonly address: string | null;
  readonly action: Action;
  /** A short hash of what was observed and of what would be sent; shorter still where there was no room. */
  readonly hash: string;
}

/** What a marker says where there is no plan. */
export const noPlan: MarkedPlan = { digest: null, observed: null, changes: null };

/** How many characters a marker may take of a comment: room for 2,000 changes. */
const markerRoom = 26_000;
/** How many characters changes may take with their addresses. */
const namesRoom = 12_000;

const actions = ['update', 'delete', 'regenerate', 'adopt', 'blocked', 'unchanged'] as const;
const packed = z.array(z.tuple([z.string(), z.enum(actions), z.string().regex(/^[0-9a-f]+$/)]));

/** In bytes: of the hashes of an address and a content, and of a change without its address. */
const idLength = 5;
const hashLength = 6;
const shortHashLength = 3;
const compactLength = idLength + 1 + shortHashLength;

/** The key of a project, one of its environments, and one shard of that where it is about one alone. */
export function markerKey(config: string, environment: string | null, shard?: Shard): string {
  const part = shard === undefined ? [] : [shardText(shard)];
  return sha256(JSON.stringify([config, environment, ...part])).slice(0, 16);
}

/** What has to be known of a plan to tell later whether it is the same, and else how it differs. */
export async function markPlan(plan: Plan, redactor: Redactor): Promise<MarkedPlan> {
  const { server, environment } = plan;
  const changes = plan.changes.filter(({ action }) => action !== 'unchanged');
  const sealed = await sealObjects({ server, environment, changes }, redactor.redactName);
  const sent = sealed.filter((_, index) => (changes[index]?.requests.length ?? 0) > 0);
  return {
    digest: plan.digest,
    // The requests say which object each observation is of.
    observed: `sha256:${sha256(JSON.stringify(sent.map(({ requests, observed }) => [requests, observed]).sort()))}`,
    changes: sealed.map(({ address, action, observed, requests }) => ({
      id: idOf(address),
      address,
      action,
      hash: sha256(JSON.stringify([observed, requests])).slice(0, 2 * hashLength),
    })),
  };
}

/** What markers know the object of a change by. */
export function markedId(change: Change, redactor: Redactor): string {
  return idOf(sealedName(change, redactor.redactName));
}

/**
 * A line of a comment or an issue. Nothing in it can end the HTML comment that it is. It is never longer than `room`,
 * but for what it says without changes.
 */
export function markerLine({ kind, key, digest, observed, run, changes }: Marker, room = markerRoom): string {
  const parts = [`idops-${kind}`, `key=${key}`];
  if (digest !== null) parts.push(`digest=${digest}`, `observed=${observed}`);
  if (run !== null && isRun.test(run)) parts.push(`run=${run}`);
  const line = (more: readonly string[]): string => `<!-- ${[...parts, ...more].join(' ')} -->`;
  const bare = line([]);
  if (changes === null) return bare;
  const named = named64(changes);
  if (named !== null && named.length <= namesRoom) {
    const full = line([`changes=${named}.`]);
    if (full.length <= room) return full;
  }
  const compact = line([`compact=${compact64(changes)}.`]);
  return compact.length <= room ? compact : bare;
}

const isRun = /^\d{1,20}$/;

/** What the lines at the start of a text say that idops wrote; empty where it doesn't begin with one of them. */
export function readMarkers(body: string): Marker[] {
  const found: Marker[] = [];
  for (const line of body.split(/\r?\n/)) {
    const marker = readLine(line);
    if (marker === null) break;
    found.push(marker);
  }
  return found;
}

/** Reads the first line of a text that idops wrote; null where it isn't one of its own. */
export function readMarker(body: string): Marker | null {
  return readMarkers(body)[0] ?? null;
}

const linePattern = new RegExp(
  [
    '^<!-- idops-(?<kind>plan|past|drift) key=(?<key>[0-9a-f]{16})',
    '(?: digest=(?<digest>sha256:[0-9a-f]{64}) observed=(?<observed>sha256:[0-9a-f]{64}))?',
    '(?: run=(?<run>\\d{1,20}))?',
    '(?: (?<form>changes|compact)=(?<changes>[\\w+/]*)\\.)? -->$',
  ].join(''),
);

function readLine(line: string): Marker | null {
  const groups = linePattern.exec(line)?.groups;
  if (groups === undefined) return null;
  const { kind, key = '', digest, observed, run, form, changes } = groups;
  return {
    kind: kind === 'drift' || kind === 'past' ? kind : 'plan',
    key,
    digest: digest ?? null,
    observed: observed ?? null,
    run: run ?? null,
    changes: changes === undefined ? null : form === 'compact' ? ofCompact64(changes) : ofNamed64(changes),
  };
}

/** Without hyphens, two of which in a row would end an HTML comment early for some readers. */
function base64(data: Buffer): string {
  return data.toString('base64').replace(/=+$/, '');
}

function named64(changes: readonly MarkedChange[]): string | null {
  const rows = changes.map(({ address, action, hash }) => [address, action, hash]);
  if (rows.some(([address]) => address === null)) return null;
  return base64(deflateRawSync(JSON.stringify(rows), { level: 9 }));
}

function ofNamed64(text: string): MarkedChange[] | null {
  const data = Buffer.from(text, 'base64');
  try {
    const rows = packed.parse(
      JSON.parse(inflateRawSync(data, { maxOutputLength: 2 ** 20 }).toString('utf8')),
    );
    return rows.map(([address, action, hash]) => ({ id: idOf(address), address, action, hash }));
  } catch {
    return null;
  }
}

function compact64(changes: readonly MarkedChange[]): string {
  const rows = changes.map(({ id, action, hash }) =>
    Buffer.concat([
      Buffer.from(id, 'hex'),
      Buffer.of(actions.indexOf(action)),
      Buffer.from(hash, 'hex').subarray(0, shortHashLength),
    ]),
  );
  return base64(Buffer.concat(rows));
}

function ofCompact64(text: string): MarkedChange[] | null {
  const data = Buffer.from(text, 'base64');
  if (data.length % compactLength !== 0) return null;
  const changes: MarkedChange[] = [];
  for (let at = 0; at < data.length; at += compactLength) {
    const action = actions[data[at + idLength] ?? -1];
    if (action === undefined) return null;
    const hex = (from: number, length: number): string => data.toString('hex', at + from, at + from + length);
    changes.push({
      id: hex(0, idLength),
      address: null,
      action,
      hash: hex(idLength + 1, shortHashLength),
    });
  }
  return changes;
}

function idOf(address: string): string {
  return sha256(address).slice(0, 2 * idLength);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

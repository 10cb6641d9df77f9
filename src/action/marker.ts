import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { type Redactor, redactAddress } from '../base/redact.js';
import { planDigest } from '../plan/digest.js';
import type { Plan } from '../plan/plan.js';

/** What a comment or an issue of idops says of itself, where only idops reads it. */
export interface Marker {
  readonly kind: 'plan' | 'drift';
  /** Which project and environment it is about. */
  readonly key: string;
  /** The digest of the plan that it shows; null where it shows none. */
  readonly digest: string | null;
  /** The changes of that plan; null where they would take too much room. */
  readonly changes: readonly MarkedChange[] | null;
}

/** One change, as far as it takes to see that it is another one now. */
export interface MarkedChange {
  readonly address: string;
  readonly action: string;
  readonly hash: string;
}

/** How many characters the changes may take of a comment. */
const changesRoom = 12_000;

const packed = z.array(z.tuple([z.string(), z.string(), z.string()]));

/** The key of a project and one of its environments. */
export function markerKey(config: string, environment: string | null): string {
  return createHash('sha256')
    .update(JSON.stringify([config, environment]))
    .digest('hex')
    .slice(0, 16);
}

/** What has to be known of a plan's changes to tell later how it differs. */
export function markedChanges(plan: Plan, redactor: Redactor): MarkedChange[] {
  return plan.changes
    .filter(({ action }) => action !== 'unchanged')
    .map((change) => ({
      address: redactAddress(change.address, redactor),
      action: change.action,
      hash: planDigest(plan, [change]).slice('sha256:'.length, 'sha256:'.length + 12),
    }));
}

/** The first line of a comment or an issue. Nothing in it can end the HTML comment that it is. */
export function markerLine({ kind, key, digest, changes }: Marker): string {
  const parts = [`idops-${kind}`, `key=${key}`];
  if (digest !== null) parts.push(`digest=${digest}`);
  if (changes !== null) {
    const rows = changes.map(({ address, action, hash }) => [address, action, hash]);
    const text = deflateRawSync(JSON.stringify(rows), { level: 9 }).toString('base64url');
    if (text.length <= changesRoom) parts.push(`changes=${text}.`);
  }
  // Two hyphens in a row would end the comment early for some readers.
  return `<!-- ${parts.join(' ').replaceAll('--', '-~')} -->`;
}

/** Reads the first line of a text that idops wrote; null where it isn't one of its own. */
export function readMarker(body: string): Marker | null {
  const match =
    /^<!-- idops-(plan|drift) key=([0-9a-f]{16})(?: digest=(sha256:[0-9a-f]{64}))?(?: changes=([\w~-]*)\.)? -->/.exec(
      body,
    );
  if (match === null) return null;
  const [, kind, key = '', digest, changes] = match;
  return {
    kind: kind === 'drift' ? 'drift' : 'plan',
    key,
    digest: digest ?? null,
    changes: changes === undefined ? null : unpack(changes.replaceAll('-~', '--')),
  };
}

function unpack(text: string): MarkedChange[] | null {
  try {
    const data = inflateRawSync(Buffer.from(text, 'base64url'), { maxOutputLength: 2 ** 20 }).toString(
      'utf8',
    );
    return packed.parse(JSON.parse(data)).map(([address, action, hash]) => ({ address, action, hash }));
  } catch {
    return null;
  }
}

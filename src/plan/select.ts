import { isUuid } from '../base/identifiers.js';
import { type Shard, shardIndex } from '../base/shard.js';
import { addressOf, kindOf } from '../kinds/index.js';
import type { Identity, KindName } from '../kinds/kind.js';

/**
 * Whether a text matches a pattern in which `*` matches any characters, `/` among them.
 * Walks along the text instead of backtracking, so that no pattern can make it slow.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  const parts = pattern.split('*');
  const first = parts[0] ?? '';
  if (parts.length === 1) return pattern === text;
  const last = parts[parts.length - 1] ?? '';
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return false;
  let position = first.length;
  const end = text.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, position);
    if (found < 0 || found + part.length > end) return false;
    position = found + part.length;
  }
  return true;
}

/** Whether a target matches an address; UUIDs match in any letter case. */
export function matchesTarget(target: string, address: string): boolean {
  if (matchesPattern(target, address)) return true;
  const id = address.split('/')[1] ?? '';
  return isUuid(id) && matchesPattern(withLowerCaseId(target), withLowerCaseId(address));
}

/** The pattern of `safety.protect` that matches one of the addresses. Ignores letter case, to protect too much rather than too little. */
export function protectingPattern(patterns: readonly string[], addresses: readonly string[]) {
  const names = addresses.map((address) => address.toLowerCase());
  return patterns.find((pattern) => names.some((name) => matchesPattern(pattern.toLowerCase(), name)));
}

function withLowerCaseId(address: string): string {
  return address.replace(/\/[^/]*/, (id) => id.toLowerCase());
}

/** The objects that a run selects with `--target`, `--kind` and `--shard`. */
export interface Selection {
  /** Patterns of addresses, in which `*` matches any characters; empty selects all objects. */
  readonly targets: readonly string[];
  /** Only objects of these kinds; all kinds if there is none. */
  readonly kinds: readonly string[];
  /** The part of the objects; all of them if it is left out. */
  readonly shard?: Shard | undefined;
}

/** Whether an object belongs to the run's shard. Kinds that can't be split belong to the first shard. */
export function isInShard({ shard }: Pick<Selection, 'shard'>, kind: KindName, identity: Identity): boolean {
  if (shard === undefined) return true;
  const alone = kindOf(kind).succession !== undefined;
  return shard.index === (alone ? 1 : shardIndex(addressOf(kind, identity), shard.count));
}

/** Whether an object with any of these addresses is selected. */
export function isSelected({ targets, kinds }: Selection, kind: string, addresses: readonly string[]) {
  if (kinds.length > 0 && !kinds.includes(kind)) return false;
  if (targets.length === 0) return true;
  return targets.some((target) => addresses.some((address) => matchesTarget(target, address)));
}

/** Whether a target could match some object of a kind, before any address is known. */
export function mayMatchKind({ targets, kinds }: Selection, kind: string): boolean {
  if (kinds.length > 0 && !kinds.includes(kind)) return false;
  if (targets.length === 0) return true;
  return targets.some((target) => {
    const prefix = target.split('*')[0] ?? '';
    const start = `${kind}/`;
    return prefix.startsWith(start) || (target.includes('*') && start.startsWith(prefix));
  });
}

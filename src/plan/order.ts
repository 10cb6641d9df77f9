import { compareText, revealReadable } from '../base/values.js';
import { isTrue } from '../kinds/fields.js';
import { kindOf, kinds } from '../kinds/index.js';
import { blockedFor, type Change } from './plan.js';

/**
 * Sorts changes into the order in which they are applied, level by level:
 *
 *   scopes ─▶ roles ─▶ organizations ─▶ backends ─▶ identity providers ─▶ clients ─▶ users ─▶ key pairs
 *     ─▶ templates and pages ─▶ rotations ─▶ DIDs ─▶ deletions, in reverse
 *   (of backends and of key pairs: the new default ─▶ others ─▶ the former default)
 *
 * Later ones refer to earlier ones. Within a level, changes are sorted by address, so a plan doesn't depend on the layout of the
 * manifests. An object stops being the default only after another one has become it.
 */
export function orderChanges(changes: readonly Change[]): Change[] {
  const sorted = [...changes].sort(
    (a, b) => level(a) - level(b) || rank(a) - rank(b) || compareText(a.address, b.address),
  );
  const succeeded = new Set(
    sorted.filter((change) => change.action !== 'blocked' && takesOver(change)).map(({ kind }) => kind),
  );
  return sorted.map((change) => {
    const { succession } = kindOf(change.kind);
    if (succession === undefined) return change;
    if (takesOver(change) && change.destructions.length > 0)
      return { ...change, destructions: [succession.describeMove(formerHolders(change, sorted))] };
    if (!givesUp(change) || succeeded.has(change.kind)) return change;
    return blockedFor(change, succession.withoutSuccessor);
  });
}

/** The addresses of the former holders; undefined if unknown. */
export function formerHolders(change: Change, changes: readonly Change[]): readonly string[] | undefined {
  const { kind, apply } = change;
  const { succession } = kindOf(kind);
  if (succession === undefined) return undefined;
  const known = succession.holders(apply.before);
  if (known !== undefined) return known.filter((id) => id !== apply.identity.id).map((id) => `${kind}/${id}`);
  const shown = changes.filter(
    (other) => other !== change && other.kind === kind && isTrue(other.apply.before[succession.field]),
  );
  return shown.length === 0 ? undefined : shown.map(({ address }) => address);
}

/** The level of a change. Changes of one level don't depend on each other. */
export function level({ kind, action }: Change): number {
  const index = kinds.findIndex(({ name }) => name === kind);
  // A DID comes from the client's key, which a rotation replaces.
  if (action === 'regenerate') return 2 * kinds.length - index;
  return action === 'delete' && kindOf(kind).creation !== undefined ? 3 * kinds.length - index : index;
}

/** The stage of each change in a run: its level, or a later one after the changes that it awaits. */
export function stages(changes: readonly Change[]): ReadonlyMap<Change, number> {
  const byKey = new Map(changes.map((change) => [change.apply.key, change]));
  const known = new Map<Change, number>();
  // All stages of a level together are less than one level.
  const step = 1 / (changes.length + 1);
  const stage = (change: Change): number => {
    const before = known.get(change);
    if (before !== undefined) return before;
    known.set(change, level(change));
    const awaited = (change.awaits ?? []).flatMap((key) => byKey.get(key) ?? []);
    const own = awaited.reduce((latest, one) => Math.max(latest, stage(one) + step), level(change));
    known.set(change, own);
    return own;
  };
  return new Map(changes.map((change) => [change, stage(change)]));
}

/** The changes by stage. Blocked ones stay where they are. */
export function inStages(changes: readonly Change[]): Change[] {
  const applied = changes.filter(({ action }) => action !== 'blocked');
  const sorted = [...stages(applied)].sort(([, a], [, b]) => a - b).map(([change]) => change);
  const next = sorted.values();
  return changes.map((change) => (change.action === 'blocked' ? change : (next.next().value ?? change)));
}

/** The changes that await each other, each with the others of its cycle. */
export function cycles(changes: readonly Change[]): ReadonlyMap<Change, readonly Change[]> {
  const waiting = new Map(
    changes.flatMap((change) => (change.awaits === undefined ? [] : [[change.apply.key, change] as const])),
  );
  const awaitedBy = (change: Change, found = new Set<Change>()): ReadonlySet<Change> => {
    for (const key of change.awaits ?? []) {
      const next = waiting.get(key);
      if (next !== undefined && !found.has(next)) awaitedBy(next, found.add(next));
    }
    return found;
  };
  const all = new Map([...waiting.values()].map((change) => [change, awaitedBy(change)] as const));
  const members = (change: Change): Change[] =>
    [...(all.get(change) ?? [])].filter((other) => other !== change && all.get(other)?.has(change));
  return new Map(
    [...all].flatMap(([change, awaited]) => (awaited.has(change) ? [[change, members(change)]] : [])),
  );
}

function rank(change: Change): number {
  if (takesOver(change)) return -1;
  return givesUp(change) ? 1 : 0;
}

/** Whether a change makes an object the holder of its kind's succession field, such as the default. */
export function takesOver({ kind, apply: { expected } }: Change): boolean {
  const { succession } = kindOf(kind);
  return succession !== undefined && isTrue(expected[succession.field]);
}

/** Whether a change takes that field from an object that has it or may have it. */
export function givesUp({ kind, action, apply: { expected, before } }: Change): boolean {
  const { succession } = kindOf(kind);
  if (succession === undefined || action !== 'update') return false;
  const [asked, was] = [expected, before].map(({ [succession.field]: one }) => one && revealReadable(one));
  return (asked === false || asked === null) && was !== false;
}

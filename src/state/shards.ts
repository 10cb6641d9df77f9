import { problemError } from '../base/problems.js';
import { parsePartName, type Shard } from '../base/shard.js';
import type { Merge } from './backend.js';
import type { ResourceRecord, State, StateHead } from './state.js';

type Part = NonNullable<StateHead['shards']>['parts'][string];

/** Whether a state is split into that many shards. */
export function isSplit(state: Pick<StateHead, 'shards'> | undefined, { count }: Shard): boolean {
  return state?.shards?.count === count;
}

/** Splits a state that includes all earlier runs into shards. The given shard still has to end the journals in `toEnd`. */
export function splitState(state: State, shard: Shard, toEnd: readonly string[] = []): State {
  const whole = { ...joinedState(state), shards: { count: shard.count, parts: {} } };
  return toEnd.length === 0 ? whole : withPart(whole, shard, { to_end: [...toEnd] });
}

/** Joins a split state that includes all runs of shards, for a run of all objects. */
export function joinedState(state: State): State {
  const { shards, ...rest } = state;
  if (shards === undefined) return state;
  const newest = newestRunIn(state);
  return { ...rest, ...(newest === undefined ? {} : { last_run: newest }) };
}

/** The newest run that a state includes, of all objects or of a shard. */
export function newestRunIn({
  last_run,
  shards,
}: Pick<StateHead, 'last_run' | 'shards'>): string | undefined {
  const parts = Object.values(shards?.parts ?? {}).map((part) => part.last_run);
  return [last_run, ...parts]
    .filter((run) => run !== undefined)
    .sort()
    .at(-1);
}

/** The newest run that a state includes among those of all objects and of this run's shard. */
export function newestSettled(
  { last_run, shards }: Pick<StateHead, 'last_run' | 'shards'>,
  run: string,
): string | undefined {
  const part = parsePartName(run);
  const held =
    part?.shard.count === shards?.count ? shards?.parts[String(part?.shard.index)]?.last_run : undefined;
  return held === undefined || (last_run !== undefined && last_run > held) ? last_run : held;
}

/** The runs with open journals, according to the state. */
export function openRuns({ open_run, shards }: Pick<StateHead, 'open_run' | 'shards'>): Set<string> {
  const parts = Object.values(shards?.parts ?? {}).flatMap((part) => [part.open_run, ...(part.to_end ?? [])]);
  return new Set([open_run, ...parts].filter((run) => run !== undefined));
}

/** The shard that still has to end a journal; undefined if there is none. */
function shardThatEnds({ shards }: Pick<StateHead, 'shards'>, run: string): Shard | undefined {
  if (shards === undefined) return undefined;
  const [index] = Object.entries(shards.parts).find(([, part]) => part.to_end?.includes(run)) ?? [];
  return index === undefined ? undefined : { index: Number(index), count: shards.count };
}

/** Whether a shard still has to end the journal of a run that the state includes. */
export function awaitsEnd(head: Pick<StateHead, 'shards'>, run: string): boolean {
  return shardThatEnds(head, run) !== undefined;
}

export function partOf({ shards }: Pick<StateHead, 'shards'>, { index }: Shard): Part {
  return shards?.parts[String(index)] ?? {};
}

export function withPart<T extends StateHead>(
  head: T,
  { index }: Shard,
  part: Part,
): T & { shards: NonNullable<StateHead['shards']> } {
  const { shards } = head;
  if (shards === undefined) throw new TypeError('no shards without a state that is split');
  return { ...head, shards: { ...shards, parts: { ...shards.parts, [String(index)]: part } } };
}

/** Records that a state includes a whole run. */
export function withSettled<T extends StateHead>(head: T, run: string): T {
  const ender = shardThatEnds(head, run);
  if (ender !== undefined) {
    const { to_end = [], ...known } = partOf(head, ender);
    const left = to_end.filter((one) => one !== run);
    return withPart(head, ender, { ...known, ...(left.length === 0 ? {} : { to_end: left }) });
  }
  const part = parsePartName(run);
  if (part !== undefined && isSplit(head, part.shard)) {
    const { open_run, ...known } = partOf(head, part.shard);
    const isNewest = known.last_run === undefined || run >= known.last_run;
    const open = open_run === undefined || open_run === run ? {} : { open_run };
    const held = isNewest ? { last_run: run } : known;
    return withPart(head, part.shard, { ...held, ...open });
  }
  const { open_run: _, ...rest } = head;
  const { last_run } = head;
  return { ...(rest as T), last_run: last_run !== undefined && last_run > run ? last_run : run };
}

/** Returns the current head. Throws a ProblemsError (`locked`) if it belongs to another state, or is split differently. */
export function requireSameState(now: StateHead, { lineage, shards }: StateHead): StateHead {
  if (now.lineage === lineage && now.shards?.count === shards?.count) return now;
  throw problemError(
    'locked',
    'another state replaced this one during the run of a shard',
    'find out who writes it, and run it again when no other run is in progress',
  );
}

/** The records that changed between two states. */
export function changedRecords(before: State['resources'], after: State['resources']): Merge['records'] {
  const changed = new Map<string, ResourceRecord | null>();
  for (const [key, record] of Object.entries(after)) if (before[key] !== record) changed.set(key, record);
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) changed.set(key, null);
  return changed;
}

export function withRecords(
  { resources }: Pick<State, 'resources'>,
  records: Merge['records'],
): State['resources'] {
  const next = { ...resources };
  for (const [key, record] of records) {
    if (record === null) delete next[key];
    else next[key] = record;
  }
  return next;
}

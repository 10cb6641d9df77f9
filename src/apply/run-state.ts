import { randomBytes } from 'node:crypto';
import { parsePartName, partName, type Shard } from '../base/shard.js';
import type { StateBackend } from '../state/backend.js';
import { changedRecords, joinedState, partOf, requireSameState, withPart } from '../state/shards.js';
import type { State, StateHead } from '../state/state.js';
import { type Approval, recordRemaining, recordUse } from './approvals.js';
import type { ChangeResult } from './result.js';

/** Saves the progress of a run in the state. */
export interface RunState {
  /** Saves the records and the start of a run. */
  begin(resources: State['resources']): Promise<BegunRun>;
  /** Saves records without a run, if there is nothing to send. */
  save(resources: State['resources']): Promise<State>;
  /** Saves the records of a run, and what its approval still allows; `isComplete` if they include its whole journal. */
  end(
    begun: BegunRun,
    resources: State['resources'],
    isComplete: boolean,
    results: readonly ChangeResult[],
  ): Promise<State>;
}

export interface BegunRun {
  /** The name of the run, which its shards share. */
  readonly run: string;
  /** The name of its journal. */
  readonly journal: string;
  readonly state: State;
}

export interface RunStateOptions {
  readonly backend: Pick<StateBackend, 'save' | 'merge' | 'runs'>;
  /** The state that the plan was made with. */
  readonly state: State;
  /** The shard of the run; left out for a run of all objects. */
  readonly shard?: Shard | undefined;
  /** Identifies the run that all shards share; left out if each shard has its own. */
  readonly sharedRun?: string | undefined;
  /** The approval that the run uses; left out if it needs none. */
  readonly approval?: Approval | undefined;
  /** The keys of the objects that the run writes, by address: for these it uses the approval. */
  readonly keys: ReadonlyMap<string, string>;
}

/** Saves the whole state, or only the changes of a shard. */
export function runStateOf(options: RunStateOptions): RunState {
  const { shard } = options;
  return shard === undefined ? wholeRunState(options) : shardRunState(options, shard);
}

/** The approvals of a state when a run begins. */
function approvalsAtStart(
  head: StateHead,
  run: string,
  { approval, keys }: RunStateOptions,
): Pick<StateHead, 'approvals'> {
  if (approval === undefined) return {};
  return { approvals: recordUse(head, approval, run, [...keys.values()]) };
}

/** The approvals of a state when a run ends. */
function approvalsAtEnd(
  head: StateHead,
  run: string,
  results: readonly ChangeResult[],
  { keys }: RunStateOptions,
): Pick<StateHead, 'approvals'> {
  return head.approvals === undefined ? {} : { approvals: recordRemaining(head, run, results, keys) };
}

function wholeRunState(options: RunStateOptions): RunState {
  const { backend, state: before } = options;
  const saved = async (resources: State['resources'], run?: string): Promise<State> => {
    const begun = run === undefined ? {} : { open_run: run, ...approvalsAtStart(before, run, options) };
    const state = { ...joinedState(before), resources, serial: before.serial + 1, ...begun };
    await backend.save(state);
    return state;
  };
  return {
    async begin(resources) {
      const { last_run, open_run } = joinedState(before);
      const names = await backend.runs.list().catch(() => []);
      const run = nextRun([...names, last_run, open_run], new Date());
      return { run, journal: run, state: await saved(resources, run) };
    },
    save: (resources) => saved(resources),
    async end({ run, state }, resources, isComplete, results) {
      const { open_run, ...rest } = state;
      const ended = {
        ...rest,
        resources,
        ...(isComplete ? { last_run: run } : { open_run: run }),
        ...approvalsAtEnd(state, run, results, options),
      };
      await backend.save(ended);
      return ended;
    },
  };
}

function shardRunState(options: RunStateOptions, own: Shard): RunState {
  const { backend, state: before, sharedRun: key } = options;
  const merged = async (
    resources: State['resources'],
    change: (head: StateHead) => StateHead,
  ): Promise<State> => {
    const head = await backend.merge({
      records: changedRecords(before.resources, resources),
      head: (there) => change({ ...requireSameState(there, before), serial: there.serial + 1 }),
    });
    return { ...head, resources };
  };
  return {
    async begin(resources) {
      // The attempt's number depends on the journals that exist, so a failure to list them stops the run.
      const names = await backend.runs.list();
      let taken = { run: '', journal: '' };
      const state = await merged(resources, (head) => {
        taken = joinRun(head, own, key, names, new Date());
        const { shards } = withPart(head, own, { ...partOf(head, own), open_run: taken.journal });
        const { key: _, ...rest } = shards;
        return {
          ...head,
          shards: { ...rest, run: taken.run, ...(key === undefined ? {} : { key }) },
          ...approvalsAtStart(head, taken.journal, options),
        };
      });
      return { ...taken, state };
    },
    save: (resources) => merged(resources, (head) => head),
    end: ({ journal }, resources, isComplete, results) =>
      merged(resources, (head) => {
        const ended = { ...head, ...approvalsAtEnd(head, journal, results, options) };
        return isComplete ? withPart(ended, own, { last_run: journal }) : ended;
      }),
  };
}

/** The run that a shard joins: the current one with the same key, or a new one. */
function joinRun(
  head: StateHead,
  own: Shard,
  key: string | undefined,
  names: readonly string[],
  now: Date,
): Pick<BegunRun, 'run' | 'journal'> {
  const { shards } = head;
  if (shards?.run !== undefined && key !== undefined && shards.key === key) {
    const { last_run = '', open_run = '' } = partOf(head, own);
    const attempts = attemptsOf([...names, last_run, open_run], shards.run, own);
    if (attempts < 99) return { run: shards.run, journal: partName(shards.run, own, attempts + 1) };
  }
  const lasts = Object.values(shards?.parts ?? {}).map(({ last_run }) => last_run);
  const run = nextRun([...names, head.last_run, shards?.run, ...lasts], now);
  return { run, journal: partName(run, own, 1) };
}

/** A name that sorts after all known runs, even in the same second or after the clock was set back. */
function nextRun(known: readonly (string | undefined)[], now: Date): string {
  const newest =
    known
      .flatMap((name) => name ?? [])
      .toSorted()
      .at(-1) ?? '';
  const latest = timeOfRun(newest);
  const first = runName(new Date(Math.max(now.getTime(), latest)));
  return first > newest ? first : runName(new Date(Math.max(now.getTime(), latest + 1000)));
}

/** The time in the name of a run, in milliseconds; 0 if there is none. */
function timeOfRun(run: string): number {
  const [, date = '', time = ''] = /^(\d{8}T)(\d{6})Z-/.exec(run) ?? [];
  const iso = `${date.replace(/(....)(..)(..)T/, '$1-$2-$3T')}${time.replace(/(..)(..)(..)/, '$1:$2:$3')}Z`;
  return Date.parse(iso) || 0;
}

function runName(now: Date): string {
  return `${now.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z-${randomBytes(3).toString('hex')}`;
}

/** The number of the shard's last attempt at a run, from the names of journals; 0 if there is none. */
function attemptsOf(names: readonly string[], run: string, { index, count }: Shard): number {
  const attempts = names.flatMap((name) => {
    const part = parsePartName(name);
    const isOwn = part?.run === run && part.shard.index === index && part.shard.count === count;
    return isOwn ? [part.attempt] : [];
  });
  return Math.max(0, ...attempts);
}

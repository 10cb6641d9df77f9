import type { Problem } from '../base/problems.js';
import type { ProcessStatus } from '../base/process.js';
import type { Shard } from '../base/shard.js';
import type { Journal, JournalContent, RunLine } from './journal.js';
import type { ResourceRecord, State, StateHead } from './state.js';

/** The right to write a state and its runs, which one process holds at a time. */
export interface Lock {
  /** From whom it was taken over, and why; null if it was free. */
  readonly takenOver: string | null;
  /** Whether each write of the state and of journals checks the lock, so that none succeeds after it was lost. */
  readonly fenced: boolean;
  /** Milliseconds after a `confirm` in which nobody can take it over, unless a person removes it; 0 if unknown. */
  readonly lease: number;
  /** Throws a ProblemsError (`locked`) if it is lost: a person removed it, and another process may have it. */
  confirm(): Promise<void>;
  /** Releases it. Never throws; gives warnings if it may still be there. */
  release(): Promise<readonly Problem[]>;
}

export interface LockStatus {
  /** Left out for the lock of the whole state. */
  readonly shard?: Shard;
  /** Its holder, in words. */
  readonly holder: string;
  /** Whether it names its holder, as every lock of idops does. */
  readonly readable: boolean;
  /** Whether the holder's process runs, as far as this machine can tell. */
  readonly fate: ProcessStatus;
  /** Why it has ended, as a clause about its holder; null if it has not. */
  readonly endReason: string | null;
  /** Why this machine can't tell whether it has ended; null if it can. */
  readonly unknownReason: string | null;
  /** Whether its holder is another process of this host that surely runs. */
  readonly inUse: boolean;
}

export interface FoundLock extends LockStatus {
  /** Identifies this lock among earlier and later ones; null if it names no holder. */
  readonly nonce: string | null;
  /** Its place, in messages. */
  readonly place: string;
  /** Removes it; false if it was changed since, for instance renewed. */
  removeIfUnchanged(): Promise<boolean>;
}

export interface Removable {
  /** Its holder, in words. */
  readonly holder: string;
  /** Throws a ProblemsError (`locked`) if another process has taken it since. */
  remove(): Promise<void>;
}

/** The locks of a state: one for the whole, and one for each shard. They don't exclude each other; `exclusiveLocks` does that. */
export interface LockStore {
  /** Takes a lock, also from a process that is surely gone. Throws a ProblemsError (`locked`, `not-writable`). */
  take(command: string, now: Date, shard?: Shard): Promise<Lock>;
  /** All locks, including those of dead processes. Throws a ProblemsError (`locked`) if one is no lock. */
  list(): Promise<readonly FoundLock[]>;
}

/** A change of a part of a state, whatever other shards change at the same time. */
export interface Merge {
  /** The new records by their keys; null removes one. */
  readonly records: ReadonlyMap<string, ResourceRecord | null>;
  /** The initial state if there is none; if left out, that is an error. */
  readonly absent?: State;
  /** The new head, from the current one; called again if another process was quicker. */
  head(now: StateHead): StateHead;
}

/** What identifies a state. */
export type StateIdentity = Pick<State, 'lineage' | 'salt'>;

export type AccessMode = 'read' | 'write';

/** The journals of runs; several states may have theirs in one place. */
export interface RunStore {
  /** The runs that have a journal, oldest first. Throws a ProblemsError (`journal-unreadable`). */
  list(): Promise<string[]>;
  /**
   * A run's journal, without a last line that a crash cut off; null without a whole first line: such a run sent nothing. Throws a
   * ProblemsError (`journal-unreadable`) if it can't be parsed.
   */
  read(run: string): Promise<JournalContent | null>;
  /** Whether the last whole line says that the run has ended, without reading the rest. */
  hasEnd(run: string): Promise<boolean>;
  /** The names of what lies among the journals and is none. Throws as `list` does. */
  otherFiles(): Promise<string[]>;
  /** The runs of which lines are only in the local buffer, since the backend could not be reached. */
  buffered(): Promise<string[]>;
  /** Begins the journal of a new run with its first line. Throws a ProblemsError if that can't be written. */
  create(first: RunLine): Promise<Journal>;
  /**
   * Reopens a journal that was left unfinished, without a line that was cut off. Throws a ProblemsError (`locked`) if its process still
   * writes it.
   */
  reopen(content: JournalContent): Promise<Journal>;
  /** Assigns journals to this state, if the backend records of each to which state it belongs: what is left of another can be removed then. */
  assign?(runs: readonly string[]): Promise<void>;
  /** Removes journals; one that isn't there is no error. */
  remove(runs: readonly string[]): Promise<void>;
}

/** Keeps a state, its locks and the journals of its runs. */
export interface StateBackend {
  /** Its place, in messages. */
  readonly place: string;
  /** Identifies this state among those that have their runs in the same place. */
  readonly name: string;
  readonly runs: RunStore;
  /** The state, or a new one if there is none. Throws a ProblemsError (`state-unreadable`, `state-newer`, `state-other-server`). */
  load(server: string): Promise<State>;
  /** The saved state, whatever server it is for; undefined if there is none. Throws as `load` does. */
  saved(): Promise<State | undefined>;
  /** Replaces the state: after a crash it is the old one or the new one. */
  save(state: State): Promise<void>;
  /**
   * Changes a part of the saved state, all or nothing, and gives the new head. Throws a ProblemsError (`state-unreadable`) if there is no
   * state, and no initial one.
   */
  merge(change: Merge): Promise<StateHead>;
  /** Undefined if there is no state that can be read. */
  identity(): Promise<StateIdentity | undefined>;
  /** The other states that have their runs in the same place. */
  neighbours(): Promise<StateIdentity[]>;
  /**
   * Takes the lock of the whole or of a shard, also from a process that is surely gone. Throws a ProblemsError (`locked`) that names who
   * holds it, or `not-writable`.
   */
  lock(command: string, now: Date, shard?: Shard): Promise<Lock>;
  /** Who holds a lock, in words; null if all are free or their holders are gone. */
  holder(): Promise<string | null>;
  /** All locks, including those of dead processes. Throws a ProblemsError (`locked`) if one is no lock. */
  lockStatuses(): Promise<readonly LockStatus[]>;
  /** The locks that may be removed; null if there are none. Throws a ProblemsError (`locked`) if the holders of all surely run. */
  removable(): Promise<Removable | null>;
  /** Throws a ProblemsError (`state-tracked`) if the state may come from a commit. */
  check(mode: AccessMode): Promise<void>;
}

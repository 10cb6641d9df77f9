import type { Problem } from '../base/problems.js';
import type { ProcessStatus } from '../base/process.js';
import type { Shard } from '../base/shard.js';
import type { Journal, JournalContent, RunLine } from './journal.js';
import type { ResourceRecord, State, StateHead } from './state.js';

/** The right to write a state and its runs. One process holds it at a time. */
export interface Lock {
  /** The former holders, and why it was taken over; null if it was free. */
  readonly takenOver: string | null;
  /** Whether each write of the state and of journals checks the lock, so that none succeeds after it was lost. */
  readonly fenced: boolean;
  /** Milliseconds after `confirm` in which no other process can take it over; 0 if unknown. A person can still remove it. */
  readonly lease: number;
  /** Throws a ProblemsError (`locked`) if it is lost: a person removed it, and another process may hold it. */
  confirm(): Promise<void>;
  /** Releases it. Never throws; returns warnings if it may still be there. */
  release(): Promise<readonly Problem[]>;
}

export interface LockStatus {
  /** Left out for the lock of the whole state. */
  readonly shard?: Shard;
  /** Describes its holder. */
  readonly holder: string;
  /** Whether it names its holder, like every lock of idops. */
  readonly readable: boolean;
  /** Whether the holder's process runs, if this machine can tell. */
  readonly fate: ProcessStatus;
  /** Why it has ended, as a relative clause about its holder; null if it hasn't. */
  readonly endReason: string | null;
  /** Why this machine can't tell whether it has ended; null if it can. */
  readonly unknownReason: string | null;
  /** Whether its holder is another process of this host that certainly runs. */
  readonly inUse: boolean;
}

export interface FoundLock extends LockStatus {
  /** A value that is unique for each lock; null if the lock names no holder. */
  readonly nonce: string | null;
  /** Its place, in messages. */
  readonly place: string;
  /** Removes it; false if it was changed since, for instance renewed. */
  removeIfUnchanged(): Promise<boolean>;
}

export interface Removable {
  /** Describes the holder. */
  readonly holder: string;
  /** Throws a ProblemsError (`locked`) if another process has taken it since. */
  remove(): Promise<void>;
}

/** The locks of a state: one for the whole state, and one for each shard. `exclusiveLocks` makes them exclude each other. */
export interface LockStore {
  /** Takes a lock, also from a process that is certainly gone. Throws a ProblemsError (`locked`, `not-writable`). */
  take(command: string, now: Date, shard?: Shard): Promise<Lock>;
  /** All locks, including those of dead processes. Throws a ProblemsError (`locked`) if one is unreadable. */
  list(): Promise<readonly FoundLock[]>;
}

/** A change of a part of a state, while other shards may change other parts. */
export interface Merge {
  /** The new records by their keys; null removes one. */
  readonly records: ReadonlyMap<string, ResourceRecord | null>;
  /** The initial state if there is none; if left out, that is an error. */
  readonly absent?: State;
  /** Returns the new head for the current one; called again if another process saves first. */
  head(now: StateHead): StateHead;
}

/** What identifies a state. */
export type StateIdentity = Pick<State, 'lineage' | 'salt'>;

export type AccessMode = 'read' | 'write';

/** The journals of runs. Several states may share one store. */
export interface RunStore {
  /** The runs that have a journal, oldest first. Throws a ProblemsError (`journal-unreadable`). */
  list(): Promise<string[]>;
  /**
   * A run's journal, without an incomplete last line; null without a complete first line: such a run sent nothing. Throws a
   * ProblemsError (`journal-unreadable`) if it can't be parsed.
   */
  read(run: string): Promise<JournalContent | null>;
  /** Whether the last complete line is the end of the run, without reading the rest. */
  hasEnd(run: string): Promise<boolean>;
  /** The names of other files among the journals. Throws like `list`. */
  otherFiles(): Promise<string[]>;
  /** The runs with lines that are only in the local buffer, since the backend could not be reached. */
  buffered(): Promise<string[]>;
  /** Creates the journal of a new run with its first line. Throws a ProblemsError if it can't be written. */
  create(first: RunLine): Promise<Journal>;
  /**
   * Reopens an unfinished journal, without an incomplete last line. Throws a ProblemsError (`locked`) if its process still writes it.
   */
  reopen(content: JournalContent): Promise<Journal>;
  /** Assigns journals to this state, if the backend records the state of each journal. */
  assign?(runs: readonly string[]): Promise<void>;
  /** Removes journals; a missing one is no error. */
  remove(runs: readonly string[]): Promise<void>;
}

/** Keeps a state, its locks and the journals of its runs. */
export interface StateBackend {
  /** Its place, in messages. */
  readonly place: string;
  /** Distinguishes this state from others with runs in the same place. */
  readonly name: string;
  readonly runs: RunStore;
  /** The state, or a new one if there is none. Throws a ProblemsError (`state-unreadable`, `state-newer`, `state-other-server`). */
  load(server: string): Promise<State>;
  /** The saved state of any server; undefined if there is none. Throws like `load`. */
  saved(): Promise<State | undefined>;
  /** Replaces the state. After a crash it is the old one or the new one. */
  save(state: State): Promise<void>;
  /**
   * Changes a part of the saved state atomically, and returns the new head. Throws a ProblemsError (`state-unreadable`) if there is no
   * state and no initial one.
   */
  merge(change: Merge): Promise<StateHead>;
  /** Undefined if there is no readable state. */
  identity(): Promise<StateIdentity | undefined>;
  /** The other states with runs in the same place. */
  neighbours(): Promise<StateIdentity[]>;
  /**
   * Takes the lock of the whole state or of a shard, also from a process that is certainly gone. Throws a ProblemsError (`locked`) that
   * names its holder, or `not-writable`.
   */
  lock(command: string, now: Date, shard?: Shard): Promise<Lock>;
  /** Describes the holder of a lock; null if all are free or their holders are gone. */
  holder(): Promise<string | null>;
  /** All locks, including those of dead processes. Throws a ProblemsError (`locked`) if one is unreadable. */
  lockStatuses(): Promise<readonly LockStatus[]>;
  /** The locks that may be removed; null if there are none. Throws a ProblemsError (`locked`) if all holders certainly run. */
  removable(): Promise<Removable | null>;
  /** Throws a ProblemsError (`state-tracked`) if the state may come from a commit. */
  check(mode: AccessMode): Promise<void>;
}

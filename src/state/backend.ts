import type { Problem } from '../base/problems.js';
import type { Fate } from '../base/process.js';
import type { Shard } from '../base/shard.js';
import type { Journal, JournalContent, RunLine } from './journal.js';
import type { ResourceRecord, State, StateHead } from './state.js';

/** The right to write a state and its runs, held by one process at a time. */
export interface Lock {
  /** Says from whom a lock was taken over, and why; null where it was free. */
  readonly takenOver: string | null;
  /** Whether each write of the state and of journals makes sure of it by itself, so that none can come after it was lost. */
  readonly fenced: boolean;
  /** Milliseconds from a `confirm` on in which nobody can take it over, unless a person removes it; 0 if that is not known. */
  readonly lease: number;
  /** Throws a ProblemsError (`locked`) where it is lost: somebody removed it, and somebody else may have it. */
  confirm(): Promise<void>;
  /** Gives it up. Never throws; gives warnings if it may still be there. */
  release(): Promise<readonly Problem[]>;
}

/** A lock as it stands. */
export interface LockStatus {
  /** The shard that it is of; left out where it is that of the whole. */
  readonly shard?: Shard;
  /** Who has it, in words. */
  readonly holder: string;
  /** What it was taken for; null where nobody is named. */
  readonly command: string | null;
  /** Whether it says who has it; idops writes no other. */
  readonly readable: boolean;
  /** Whether its process still runs, as far as that can be told from here. */
  readonly fate: Fate;
  /** Why it binds nobody any more, as a sentence about its holder goes on; null where it does. */
  readonly end: string | null;
  /** Why that can't be told; null where it can, or where nobody is named. */
  readonly elsewhere: string | null;
  /** Whether it surely is the lock of another process of this host that still runs. */
  readonly inUse: boolean;
}

/** A lock as it was found. */
export interface FoundLock extends LockStatus {
  /** What tells it from others that were there before or come later; null where nobody is named. */
  readonly nonce: string | null;
  /** What a message calls where it is. */
  readonly place: string;
  /** Removes it; false where it is otherwise by now, renewed for instance. */
  drop(): Promise<boolean>;
}

/** A lock that may be removed. */
export interface Removable {
  /** Who held it, in words. */
  readonly holder: string;
  /** Throws a ProblemsError (`locked`) where somebody else has it by now. */
  remove(): Promise<void>;
}

/** The locks that a state has: one for all of it, and one for each shard. None knows of the others. */
export interface LockStore {
  /** Takes a lock, and takes it over from a process that is surely gone. Throws a ProblemsError (`locked`, `not-writable`). */
  take(command: string, now: Date, shard?: Shard): Promise<Lock>;
  /** All that there are, dead holders' too. Throws a ProblemsError (`locked`) where one is no lock. */
  list(): Promise<readonly FoundLock[]>;
}

/** What a run of one shard changes of a state, whatever others change at the same time. */
export interface Merge {
  /** The records that are to be there, by their keys; null is one that goes. */
  readonly records: ReadonlyMap<string, ResourceRecord | null>;
  /** The state to begin with if there is none; left out if that is an error. */
  readonly absent?: State;
  /** What is to be said of the state as a whole, given what is said by then; called again where somebody was quicker. */
  head(now: StateHead): StateHead;
}

/** What a state is told by. */
export type StateName = Pick<State, 'lineage' | 'salt'>;

/** What a state is looked at for, where it could have come from somebody else. */
export type Use = 'read' | 'write';

/** The journals of runs; several states may have theirs in one place. */
export interface RunStore {
  /** The names of the runs that have a journal, oldest first. Throws a ProblemsError (`journal-unreadable`). */
  list(): Promise<string[]>;
  /**
   * A run's journal. A last line that a crash cut off doesn't count; one without a whole first line gives null: such a
   * run sent nothing. Throws a ProblemsError (`journal-unreadable`) where the content is no journal.
   */
  read(run: string): Promise<JournalContent | null>;
  /** Whether the last whole line of a journal says that the run has ended, without reading all of it. */
  hasEnd(run: string): Promise<boolean>;
  /** What lies among the journals and is none, by its name. Throws as `list` does. */
  otherFiles(): Promise<string[]>;
  /** The runs of which lines are kept here alone, since their place could not be reached. */
  buffered(): Promise<string[]>;
  /** Begins the journal of a new run with its first line. Throws a ProblemsError where that can't be kept. */
  create(first: RunLine): Promise<Journal>;
  /**
   * Goes on with a journal that was left unfinished; a line that was cut off goes. Throws a ProblemsError (`locked`)
   * where its process still writes it.
   */
  reopen(content: JournalContent): Promise<Journal>;
  /** Makes journals that are there those of this state, where the place says of each whose it is. */
  assign(runs: readonly string[]): Promise<void>;
  /** Removes the journals of runs for good; one that isn't there is no failure. */
  remove(runs: readonly string[]): Promise<void>;
}

/** Where a state, its lock and the journals of its runs are kept: all that anybody knows of it. */
export interface StateBackend {
  /** What a message calls it. */
  readonly place: string;
  /** The name by which runs tell this state from others that have theirs in the same place. */
  readonly name: string;
  readonly runs: RunStore;
  /**
   * The state, or an empty one where there is none yet. Throws a ProblemsError (`state-unreadable`, `state-newer`,
   * `state-other-server`) where it can't be used.
   */
  load(server: string): Promise<State>;
  /** The state that is there, whatever server it is for; undefined where there is none. Throws as `load` does. */
  saved(): Promise<State | undefined>;
  /** Replaces the state as a whole: after a crash there is the old one or the new one. */
  save(state: State): Promise<void>;
  /**
   * Changes a part of the state that is there, all of it or nothing, and gives what is then said of the whole. Throws a ProblemsError
   * (`state-unreadable`) where there is none, and none to begin with.
   */
  merge(change: Merge): Promise<StateHead>;
  /** What the state that is there is told by; undefined where there is none that can be read. */
  identity(): Promise<StateName | undefined>;
  /** The other states that have their runs in the same place. */
  neighbours(): Promise<StateName[]>;
  /**
   * Takes the lock of all of it, or of one shard, and takes it over from a process that is surely gone. Throws a ProblemsError (`locked`)
   * that names who is in the way, or `not-writable`.
   */
  lock(command: string, now: Date, shard?: Shard): Promise<Lock>;
  /** Who holds a lock of it, in words; null where all are free or their holders are gone. */
  holder(): Promise<string | null>;
  /** The locks as they stand, dead holders' too. Throws a ProblemsError (`locked`) where one is no lock. */
  lockStatuses(): Promise<readonly LockStatus[]>;
  /** The locks that may be removed; null where there are none. Throws a ProblemsError (`locked`) where the holders of all surely run. */
  removable(): Promise<Removable | null>;
  /** Throws a ProblemsError (`state-tracked`) where what would be used may come from a commit. */
  check(use: Use): Promise<void>;
}

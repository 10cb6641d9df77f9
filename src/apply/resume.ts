import { error, type Problem, ProblemsError } from '../base/problems.js';
import { parsePartName, type Shard, sameShard } from '../base/shard.js';
import { type Fields, filterValues } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import type { Live } from '../kinds/kind.js';
import { describeLoss, missingElements } from '../kinds/loss.js';
import type { ReadLists } from '../kinds/references.js';
import { Hasher, storeFields } from '../secrets/hash.js';
import { withSlowHashes } from '../secrets/slow-hash.js';
import type { Profile } from '../server/profiles.js';
import type { Reader } from '../server/reader.js';
import type { RunStore } from '../state/backend.js';
import { type AnsweredLine, type JournalContent, RESTORE_HINT, unansweredLine } from '../state/journal.js';
import { awaitsEnd, isSplit, newestSettled, openRuns, partOf, withSettled } from '../state/shards.js';
import type { ResourceRecord, State } from '../state/state.js';
import { completeJournal, entriesOf, type RestoredEntry, restoreEntry } from './journal-entries.js';
import { judge } from './outcome.js';
import { belongsTo, otherStateTest, type StateLocation } from './owner.js';
import { type Pause, readBack } from './read-back.js';
import { recordOutcome } from './record.js';
import type { ObservedOutcome } from './recorded-fields.js';

/**
 * The journals of runs that are not yet in a state: killed runs, and runs after the copy from which the state was restored. With a shard
 * of a split state, only the journals of this shard.
 */
export async function unfinishedRuns(
  state: State,
  location: StateLocation,
  shard?: Shard,
): Promise<JournalContent[]> {
  const { runs } = location.backend;
  const open = openRuns(state);
  const names: string[] = [];
  const buffered = new Set(await runs.buffered());
  const isNewestHeld = (name: string): boolean => name === newestSettled(state, name);
  const read = async (name: string): Promise<JournalContent | null> =>
    // The newest run is already in the state, so its journal may be unreadable.
    isNewestHeld(name) && !open.has(name) ? await runs.read(name).catch(() => null) : await runs.read(name);
  for (const name of await runs.list()) {
    if (shard !== undefined && !isForShard(name, shard, state, buffered)) continue;
    const held = newestSettled(state, name);
    const later = buffered.has(name) || open.has(name) || held === undefined || name > held;
    // The newest run may have been killed right before its last line.
    if (later || (name === held && !(await runs.hasEnd(name).catch(() => true)))) names.push(name);
  }
  const contents = (await Promise.all(names.map((name) => read(name)))).filter(
    (content) => content !== null && content.run.server === state.server,
  ) as JournalContent[];
  const isDone = (name: string): boolean => isNewestHeld(name) && !awaitsEnd(state, name);
  const own = contents.filter(({ run, ended }) => belongsTo(run, state) && !(ended && isDone(run.run)));
  const others = contents.filter(({ run, ended }) => !ended && !belongsTo(run, state));
  if (others.length === 0 || state.serial > 0) return own;
  const isOther = await otherStateTest(state, location);
  const lost = others.filter(({ run }) => !isOther(run));
  return contents.filter((content) => own.includes(content) || lost.includes(content));
}

/**
 * The name of the newest run of a state, or of a lost one before it, on its server; undefined if there is none. Throws a ProblemsError
 * (`journal-unreadable`) if a newer journal can't be read, since it may belong to the newest run.
 */
export async function newestRun(location: StateLocation, state: State): Promise<string | undefined> {
  const { runs } = location.backend;
  const isOther = await otherStateTest(state, location);
  for (const name of (await runs.list()).toReversed()) {
    const content = await runs.read(name).catch((failure: unknown) => {
      throw asNewestFailure(failure);
    });
    // A run that was killed before its first line sent nothing, and no state records it.
    if (content === null && name === newestSettled(state, name))
      throw asNewestFailure(new ProblemsError([missingFirstLine(name)]));
    if (content !== null && content.run.server === state.server && !isOther(content.run)) return name;
  }
  return undefined;
}

/** Whether a state records a run. The journal of such a run had a first line. */
export function knowsRun(state: State | null | undefined, run: string): boolean {
  if (state == null) return false;
  return (
    newestSettled(state, run) === run || Object.values(state.resources).some((record) => record.run === run)
  );
}

/** The problem of an empty journal of a run that the state records. */
export function missingFirstLine(run: string): Problem {
  return error(
    'journal-unreadable',
    `the journal of run ${run} can't be used: its first line is missing`,
    [],
    RESTORE_HINT,
  );
}

/** The failure to read a journal that may be the newest, with a hint. */
function asNewestFailure(failure: unknown): unknown {
  if (!(failure instanceof ProblemsError)) return failure;
  const hint =
    'it may belong to the newest run: restore a good copy, remove it with idops runs forget, or name the run: idops undo RUN (idops runs lists them)';
  return new ProblemsError(
    failure.problems.map((problem) => ({ ...problem, hint })),
    { cause: failure },
  );
}

export interface ResumeOptions {
  readonly reader: Reader;
  readonly profile: Profile;
  readonly concurrency: number;
  readonly runs: RunStore;
  readonly pause?: Pause | undefined;
  /** Whether a text contains a secret of this process. */
  readonly holds?: (text: string) => boolean;
}

/** The result of resuming a killed run. */
export interface Resumed {
  readonly state: State;
  readonly run: string;
  /** A sentence for each request without an answer. */
  readonly findings: readonly string[];
  /** How many changes have answers in the journal. */
  readonly settled: number;
  /** The lists that were read, for the plan that follows. */
  readonly read: ReadLists;
  /** Completes the journal. Call it after the state is saved. */
  finish(): Promise<void>;
}

/**
 * Adds a killed run to the state: takes the answers from its journal, and reads back the objects of requests without an answer. Throws
 * the errors of the reader, and then changes nothing.
 */
export async function resumeRun(
  content: JournalContent,
  before: State,
  options: ResumeOptions,
): Promise<Resumed> {
  const { run } = content;
  const journalHasher = new Hasher(run, options.holds);
  // Hashes can be compared only under one salt, which an empty state can adopt.
  const state = Object.keys(before.resources).length === 0 ? { ...before, salt: run.salt } : before;
  const hasher = new Hasher(state, options.holds);
  const comparable = (fields: Fields): Fields =>
    state.salt === run.salt ? fields : withoutHashes(fields, journalHasher);
  const entries = entriesOf(content)
    .filter(({ sending }) => isNews(content, state.resources[sending.key]))
    .map((entry) => restoreEntry(entry, journalHasher));
  const open = entries.filter(
    ({ sending, answered }) => answered === undefined && sending.action !== 'adopt',
  );
  const { live, read } = await readBack(open, isInProgress, options);
  const replay = () => {
    const resources = { ...state.resources };
    const findings: string[] = [];
    const additions: AnsweredLine[] = [];
    for (const entry of entries) {
      const { sending, answered, before, asked } = entry;
      const readable = kindOf(sending.kind).readable(options.profile);
      const outcome =
        answered === undefined
          ? readBackOutcome(entry, live.get(entry))
          : {
              ...answered,
              httpStatus: answered.http_status,
              otherProfile: answered.other_profile,
              sentence: '',
              after: entry.after,
            };
      const at = answered?.at ?? new Date().toISOString();
      recordOutcome(
        resources,
        { ...sending, before: comparable(before), expected: comparable(asked) },
        { ...outcome, after: outcome.after && comparable(outcome.after) },
        { run: run.run, at, hasher, readable, documented: options.profile.name === 'documented' },
      );
      if (answered !== undefined) continue;
      const { owed } = resources[sending.key] ?? {};
      const isRestorable = owed !== undefined && outcome.status !== 'unknown';
      findings.push(
        `${sending.address}: ${outcome.sentence}${isRestorable ? '; the next apply that includes it restores it' : ''}${describeUnrestored(entry, outcome, owed)}`,
      );
      const { status, ambiguous, unverified, after } = outcome;
      const error = status === 'applied' ? null : 'the run ended before the answer';
      additions.push({
        ...unansweredLine(sending.seq, at, status, error),
        ambiguous,
        after: after === undefined ? null : storeFields(after, journalHasher),
        unverified: [...unverified],
      });
    }
    return { resources, findings, additions };
  };
  const { resources, findings, additions } = await withSlowHashes(replay);
  return {
    state: withSettled({ ...state, resources, serial: before.serial + 1 }, run.run),
    run: run.run,
    findings,
    settled: entries.length - findings.length,
    read,
    async finish() {
      if (content.ended && additions.length === 0) return;
      const end = { interrupted: true, by: `process ${process.pid}` };
      await completeJournal(options.runs, content, additions, end);
    },
  };
}

/** Whether a journal is newer than the record of an object. */
function isNews({ run: { run }, late = false }: JournalContent, record: ResourceRecord | undefined): boolean {
  if (record === undefined) return true;
  // The record of a later run is newer, even in a restored copy of the state.
  const isOlder = record.run === null || record.run < run;
  if (!late) return isOlder;
  // The run was settled without these lines, and later runs have newer values.
  if (record.pending_regeneration === run) return true;
  return record.run === run ? record.uncertain !== undefined : isOlder;
}

/** Milliseconds after which a server has surely finished a request whose client is gone. */
const SERVER_DONE = 10_000;

/** Whether the server may still be working on a request. */
function isInProgress(entry: RestoredEntry, live: Live): boolean {
  const age = Date.now() - Date.parse(entry.sending.at);
  return age < SERVER_DONE && readBackOutcome(entry, live).status === 'failed';
}

/** The lost values of a killed request that no apply restores, as the end of a sentence; empty if there are none. */
function describeUnrestored(
  { sending, before, asked }: RestoredEntry,
  { status, after }: ObservedOutcome,
  owed: ResourceRecord['owed'],
): string {
  if (status === 'applied' || after === undefined || sending.action !== 'update') return '';
  const pending = owed === undefined || 'before' in owed ? {} : owed.lost.fields;
  const missing = missingElements({ run: '', before, asked }, after);
  const gone = describeLoss(filterValues(missing, (_, field) => !Object.hasOwn(pending, field)));
  if (gone === '') return '';
  return `; missing: ${gone}; idops does not restore this, since the object was changed afterwards: declare it if it is needed`;
}

/** The outcome of a request without an answer, with a sentence about it. */
function readBackOutcome(
  { sending, before, asked: expected }: RestoredEntry,
  live: Live | undefined,
): ObservedOutcome & { readonly sentence: string } {
  const { action, by_member: byMember } = sending;
  const intent = { action, before, expected, byMember };
  const { verdict, unverified, sentence } = judge(kindOf(sending.kind), intent, live);
  if (verdict === 'unknown') {
    return { status: 'unknown', ambiguous: true, after: undefined, unverified, sentence };
  }
  const isAbsent = action === 'create' && live?.exists !== true;
  const shown = action === 'adopt' || isAbsent ? undefined : live?.fields;
  return {
    status: verdict === 'done' ? 'applied' : 'failed',
    ambiguous: false,
    after: shown,
    unverified: [],
    sentence,
  };
}

/** Fields without hashes of another salt, which can't be compared. */
function withoutHashes(fields: Fields, hasher: Hasher): Fields {
  const { hashes } = storeFields(fields, hasher);
  const hashed = new Set(Object.keys(hashes).map((pointer) => pointer.split('/')[1]));
  return filterValues(fields, (_, field) => !hashed.has(field));
}

/** Whether a shard adds a journal to the state: before the split any journal; then its own, and buffered ones that belong to no shard. */
function isForShard(name: string, shard: Shard, state: State, buffered: ReadonlySet<string>): boolean {
  if (!isSplit(state, shard) || partOf(state, shard).to_end?.includes(name)) return true;
  const part = parsePartName(name);
  return part === undefined ? buffered.has(name) : sameShard(part.shard, shard);
}

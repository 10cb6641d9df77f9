import { error, type Problem, ProblemsError } from '../base/problems.js';
import { isShard, partOfRun, type Shard } from '../base/shard.js';
import type { Fields } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import type { Live } from '../kinds/kind.js';
import type { ReadLists } from '../kinds/references.js';
import { Hasher, restoreFields, storeFields } from '../secrets/hash.js';
import { withSlowHashes } from '../secrets/slow-hash.js';
import type { Profile } from '../server/profiles.js';
import type { Reader } from '../server/reader.js';
import type { RunStore } from '../state/backend.js';
import { type AnsweredLine, type JournalContent, RESTORE_HINT } from '../state/journal.js';
import { awaitsEnd, isSplit, newestSettled, openRuns, partOf, withSettled } from '../state/shards.js';
import type { ResourceRecord, State } from '../state/state.js';
import { type Entry, entriesOf } from './journal-entries.js';
import { judge } from './outcome.js';
import { belongs, othersOf, type StateHome } from './owner.js';
import { type Pause, type ReadBack, readBack } from './read-back.js';
import { type Became, recordInto } from './record.js';

/**
 * The journals that a state doesn't hold: of runs that were killed, and of runs that ended after an older copy of
 * the state was made, which has been put back since. Those of another state are none of its business, and with a shard of a state that
 * is split so those of others neither.
 */
export async function unfinishedRuns(
  state: State,
  home: StateHome,
  shard?: Shard,
): Promise<JournalContent[]> {
  const { runs } = home.backend;
  const open = openRuns(state);
  const names: string[] = [];
  const kept = new Set(await runs.buffered());
  const isNewestHeld = (name: string): boolean => name === newestSettled(state, name);
  const read = async (name: string): Promise<JournalContent | null> =>
    // The state holds all of the newest: that can be done without.
    isNewestHeld(name) && !open.has(name) ? await runs.read(name).catch(() => null) : await runs.read(name);
  for (const name of await runs.list()) {
    if (shard !== undefined && !isFor(name, shard, state, kept)) continue;
    const held = newestSettled(state, name);
    const later = kept.has(name) || open.has(name) || held === undefined || name > held;
    // The newest may have been killed just before its last line.
    if (later || (name === held && !(await runs.hasEnd(name).catch(() => true)))) names.push(name);
  }
  const contents = (await Promise.all(names.map((name) => read(name)))).filter(
    (content) => content !== null && content.run.server === state.server,
  ) as JournalContent[];
  const isDone = (name: string): boolean => isNewestHeld(name) && !awaitsEnd(state, name);
  const own = contents.filter(({ run, ended }) => belongs(run, state) && !(ended && isDone(run.run)));
  const others = contents.filter(({ run, ended }) => !ended && !belongs(run, state));
  if (others.length === 0 || state.serial > 0) return own;
  const isOther = await othersOf(state, home);
  const lost = others.filter(({ run }) => !isOther(run));
  return contents.filter((content) => own.includes(content) || lost.includes(content));
}

/**
 * The newest run of a state on its server, by its name; undefined where there is none. Throws a ProblemsError
 * (`journal-unreadable`) where a newer one can't be read: it may be the newest of this state.
 */
export async function newestRun(runs: RunStore, state: State): Promise<string | undefined> {
  for (const name of (await runs.list()).toReversed()) {
    const content = await runs.read(name).catch((failure: unknown) => {
      throw maybeNewest(failure);
    });
    // A run that was killed before its first line sent nothing, so no state knows it.
    if (content === null && name === newestSettled(state, name))
      throw maybeNewest(new ProblemsError([withoutFirstLine(name)]));
    if (content !== null && content.run.server === state.server && belongs(content.run, state)) return name;
  }
  return undefined;
}

/** Whether a state has something of a run, which then had a journal with a first line. */
export function knowsOf(state: State | null | undefined, run: string): boolean {
  if (state == null) return false;
  return (
    newestSettled(state, run) === run || Object.values(state.resources).some((record) => record.run === run)
  );
}

/** What is wrong with the journal of a run that a state knows, where there is nothing in it. */
export function withoutFirstLine(run: string): Problem {
  return error(
    'journal-unreadable',
    `the journal of run ${run} can't be used: its first line is gone`,
    [],
    RESTORE_HINT,
  );
}

/** A journal that can't be read, where the newest run is looked for. */
function maybeNewest(failure: unknown): unknown {
  if (!(failure instanceof ProblemsError)) return failure;
  const hint =
    'it may be of the newest run: put a good copy back, remove it with idops runs forget, or name the run that is meant, idops undo RUN (idops runs lists them)';
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
  readonly now: () => Date;
  readonly pause?: Pause | undefined;
  /** Whether a text has a secret of this run in it. */
  readonly holds?: (text: string) => boolean;
}

/** What was found out about a run that had not ended. */
export interface Resumed {
  readonly state: State;
  readonly run: string;
  /** A sentence for each request that had no answer. */
  readonly findings: readonly string[];
  /** How many changes were in the journal with their answers. */
  readonly settled: number;
  /** What was read on the way, for whoever needs it right after that. */
  readonly read: ReadLists;
  /** Adds to the journal what was found out, to be called when the state is saved. */
  finish(): Promise<void>;
}

/**
 * Brings the state up to what a killed run did: takes the answers from its journal, and reads back what the
 * requests without an answer did, where that can be done. Throws what the reader throws, and changes nothing then.
 */
export async function resumeRun(
  content: JournalContent,
  before: State,
  options: ResumeOptions,
): Promise<Resumed> {
  const { run } = content;
  const journalHasher = new Hasher(run, options.holds);
  // Hashes can be taken over only with their salt, which a state that knows nothing can take over too.
  const state = Object.keys(before.resources).length === 0 ? { ...before, salt: run.salt } : before;
  const hasher = new Hasher(state, options.holds);
  const keep = (fields: Fields): Fields =>
    state.salt === run.salt ? fields : withoutHashes(fields, journalHasher);
  const entries = entriesOf(content).filter(({ sending }) => isNews(content, state.resources[sending.key]));
  const { live, read } = await readOpen(
    entries.filter(({ answered }) => answered === undefined),
    journalHasher,
    options,
  );
  const takeIn = () => {
    const resources = { ...state.resources };
    const findings: string[] = [];
    const additions: AnsweredLine[] = [];
    for (const entry of entries) {
      const { sending, answered } = entry;
      const { generation, ...asked } = sending;
      const readable = kindOf(sending.kind).readable(options.profile);
      const became =
        answered === undefined
          ? becameOf(entry, live.get(entry), journalHasher)
          : {
              ...answered,
              otherProfile: answered.other_profile,
              sentence: '',
              after: answered.after === null ? undefined : restoreFields(answered.after, journalHasher),
            };
      const at = answered?.at ?? options.now().toISOString();
      const expected = keep(restoreFields(sending.expected, journalHasher));
      recordInto(
        resources,
        {
          ...asked,
          before: keep(restoreFields(sending.before, journalHasher)),
          expected,
          ...(generation === undefined ? {} : { generation }),
        },
        { ...became, after: became.after === undefined ? undefined : keep(became.after) },
        { run: run.run, at, hasher, readable },
      );
      if (answered !== undefined) continue;
      const owed = resources[sending.key]?.owed !== undefined;
      findings.push(
        `${sending.address}: ${became.sentence}${owed && became.status !== 'unknown' ? '; the next apply that takes it in puts it back' : ''}`,
      );
      additions.push({
        type: 'answered',
        seq: sending.seq,
        at,
        status: became.status,
        ambiguous: became.ambiguous,
        http_status: null,
        attempts: 0,
        after: became.after === undefined ? null : storeFields(became.after, journalHasher),
        unverified: [...became.unverified],
        error: became.status === 'applied' ? null : 'the run ended before there was an answer',
      });
    }
    return { resources, findings, additions };
  };
  const { resources, findings, additions } = await withSlowHashes(takeIn);
  return {
    state: withSettled({ ...state, resources, serial: before.serial + 1 }, run.run),
    run: run.run,
    findings,
    settled: entries.length - findings.length,
    read,
    async finish() {
      if (content.ended && additions.length === 0) return;
      const journal = await options.runs.reopen(content);
      try {
        for (const line of additions) await journal.write(line);
        await journal.write({
          type: 'end',
          at: options.now().toISOString(),
          interrupted: true,
          by: `process ${process.pid}`,
        });
      } finally {
        await journal.close();
      }
    },
  };
}

/** Whether a record doesn't have yet what a journal says of its object. */
function isNews({ run: { run }, late = false }: JournalContent, record: ResourceRecord | undefined): boolean {
  if (record === undefined) return true;
  // What a later run recorded is newer, whatever copy of the state was put back.
  const isOlder = record.run === null || record.run < run;
  if (!late) return isOlder;
  // Whoever settled it without these lines could not know, and later runs know better.
  if (record.pending_regeneration === run) return true;
  return record.run === run ? record.uncertain !== undefined : isOlder;
}

/** Milliseconds after which a server has surely ended what it was doing for a process that is gone. */
const SETTLED = 10_000;

async function readOpen(
  entries: readonly Entry[],
  hasher: Hasher,
  options: ResumeOptions,
): Promise<ReadBack<Entry>> {
  const objects = entries
    .filter(({ sending }) => sending.action !== 'adopt')
    .map((entry) => ({ kind: entry.sending.kind, identity: entry.sending.identity, entry }));
  const isUnsteady = ({ entry }: (typeof objects)[number], live: Live): boolean =>
    options.now().getTime() - Date.parse(entry.sending.at) < SETTLED &&
    becameOf(entry, live, hasher).status === 'failed';
  const { live, read } = await readBack(objects, isUnsteady, options);
  return { live: new Map([...live].map(([object, found]) => [object.entry, found])), read };
}

/** What became of a request without an answer, and that in words. */
function becameOf(
  { sending }: Entry,
  live: Live | undefined,
  hasher: Hasher,
): Became & { readonly sentence: string } {
  const { action } = sending;
  const aim = {
    action,
    before: restoreFields(sending.before, hasher),
    expected: restoreFields(sending.expected, hasher),
  };
  const { verdict, unverified, sentence } = judge(kindOf(sending.kind), aim, live);
  if (verdict === 'unseen') {
    return { status: 'unknown', ambiguous: true, after: undefined, unverified, sentence };
  }
  const shown = action === 'adopt' ? undefined : live?.fields;
  return {
    status: verdict === 'done' ? 'applied' : 'failed',
    ambiguous: false,
    after: shown,
    unverified: [],
    sentence,
  };
}

/** Without what holds a hash of another salt, which nothing could be compared with. */
function withoutHashes(fields: Fields, hasher: Hasher): Fields {
  const { hashes } = storeFields(fields, hasher);
  const hashed = new Set(Object.keys(hashes).map((pointer) => pointer.split('/')[1]));
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !hashed.has(field)));
}

/** Whether a shard is to take a journal in: of the state before it was split all of them, afterwards its own, and what is kept here of no shard. */
function isFor(name: string, shard: Shard, state: State, kept: ReadonlySet<string>): boolean {
  if (!isSplit(state, shard) || partOf(state, shard).to_end?.includes(name)) return true;
  const part = partOfRun(name);
  return part === undefined ? kept.has(name) : isShard(part.shard, shard);
}

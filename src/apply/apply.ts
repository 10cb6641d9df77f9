import { error, hasProblem, type Problem, problemError, refuse } from '../base/problems.js';
import { currentProcess, userName } from '../base/process.js';
import { withoutUndefined } from '../base/values.js';
import type { ApprovedPlan } from '../plan/approve.js';
import type { Plan } from '../plan/plan.js';
import type { Hasher } from '../secrets/hash.js';
import type { Redactor } from '../secrets/redactor.js';
import type { Lock, RunStore, StateBackend } from '../state/backend.js';
import {
  describeRun,
  JOURNAL_FORMAT,
  type Journal,
  type Origin,
  type RunLine,
  unansweredLine,
} from '../state/journal.js';
import type { State } from '../state/state.js';
import { writeHint } from '../state/write-errors.js';
import { messageOf } from './attempt-outcome.js';
import { type Executed, type ExecuteOptions, execute } from './execute.js';
import { completeJournal, entriesOf } from './journal-entries.js';
import { journalRecorder } from './journal-recorder.js';
import { belongsTo } from './owner.js';
import { withSeen } from './record.js';
import type { Answers, Result } from './result.js';
import { RunLock } from './run-lock.js';
import { type BegunRun, type RunState, type RunStateOptions, runStateOf } from './run-state.js';

export interface ApplyOptions
  extends Omit<ExecuteOptions, 'recorder' | 'permit' | 'notBefore' | 'asOf'>,
    Omit<RunStateOptions, 'keys'> {
  readonly backend: Pick<StateBackend, 'place' | 'name' | 'save' | 'merge' | 'runs'>;
  readonly hasher: Hasher;
  readonly lock: Pick<Lock, 'confirm' | 'fenced' | 'lease'>;
  readonly command: RunLine['command'];
  /** The person and the reason, for the journal. */
  readonly origin: () => Promise<Origin>;
  /** Redacts the server's messages and names before they are journalled. */
  readonly redactor: Pick<Redactor, 'redactName' | 'redactSentence'>;
}

/** The result of applying a plan. */
export interface Applied {
  /** The results of the changes. */
  readonly result: Result;
  /** The state after it. */
  readonly state: State;
  /** Problems that no result shows, such as a state that couldn't be saved. */
  readonly problems: readonly Problem[];
}

/**
 * Applies an approved plan: journals each request before it is sent and after its answer, and saves the state at the end.
 * A plan with nothing to do writes no journal; it saves new observations. Throws a ProblemsError before anything is sent if the lock
 * was lost, or if the journal or the state can't be written.
 */
export async function applyPlan(
  { plan, asked }: ApprovedPlan,
  options: ApplyOptions,
): Promise<Applied & { readonly answers: Answers }> {
  const { lock, hasher } = options;
  const writes = plan.changes.filter(({ requests }) => requests.length > 0);
  const keys = new Map(writes.map(({ address, apply }) => [address, apply.key]));
  const runState = runStateOf({ ...options, keys });
  // The unchanged objects, as the server showed them.
  const seen = plan.changes.flatMap(({ kind, action, apply: { seen: fields, ...known } }) =>
    action === 'unchanged' && fields !== undefined ? [{ ...known, kind, fields }] : [],
  );
  const now = { at: new Date().toISOString(), hasher };
  const records = await withSeen(withoutRestored(options.state, plan), seen, now);
  if (plan.changes.every(({ action }) => action === 'unchanged')) {
    return await saveObserved(plan, runState, records, options);
  }
  refuse(accessEndedProblems(plan));
  await lock.confirm();
  const { begun, journal } = await beginRun(plan, runState, records, options);
  try {
    const resources = { ...records };
    const runLock = new RunLock({ ...lock, confirm: () => confirmLock(begun, options) });
    const recorder = journalRecorder(plan, journal, resources, {
      ...options,
      run: begun.journal,
      beforeChange: async () => {
        if (!lock.fenced) await runLock.confirm();
      },
    });
    const permit = (begun: boolean) => runLock.permit(begun);
    const { asOf } = plan;
    const executed = await execute(plan, { ...options, notBefore: asked, recorder, permit, asOf }).finally(
      () => runLock.end(),
    );
    const run = { plan, begun, journal, resources, runState, runLock };
    return { ...(await endRun(run, executed, options)), answers: executed.answers };
  } finally {
    await journal.close();
  }
}

/** The problem if access that the plan grants has ended, for example during a question. */
function accessEndedProblems({ asOf, holdsUntil }: Plan): Problem[] {
  if (asOf !== undefined || holdsUntil === undefined || Date.now() < Date.parse(holdsUntil)) return [];
  const message = `stale plan: it grants access that ended at ${holdsUntil}`;
  return [error('stale-plan', message, [], 'nothing was sent; plan again and review it')];
}

/** Saves new records if there is nothing to send. */
async function saveObserved(
  plan: Plan,
  runState: RunState,
  resources: State['resources'],
  { state, lock }: ApplyOptions,
): Promise<Applied & { readonly answers: Answers }> {
  const nothing = { result: { run: null, results: [], interrupted: false }, answers: new Map() };
  const problems = restoresLeftOut(plan);
  if (resources === state.resources) return { ...nothing, state, problems };
  await lock.confirm();
  try {
    return { ...nothing, state: await runState.save(resources), problems };
  } catch (failure) {
    const hint = `${writeHint(failure)}; there was nothing to send`;
    const problem = error('state-not-saved', messageOf(failure), [], hint);
    return { ...nothing, state: { ...state, resources }, problems: [problem, ...problems] };
  }
}

/** Saves the state and creates the journal: both must be writable before anything is sent. */
async function beginRun(
  plan: Plan,
  runState: RunState,
  resources: State['resources'],
  options: ApplyOptions,
): Promise<{ begun: BegunRun; journal: Journal }> {
  const origin = await options.origin();
  const pullRequest = options.approval?.pull_request ?? origin.pull_request;
  try {
    const begun = await runState.begin(resources);
    const { state } = begun;
    const journal = await options.backend.runs.create({
      type: 'run',
      format_version: JOURNAL_FORMAT,
      run: begun.journal,
      tool_version: plan.toolVersion,
      at: new Date().toISOString(),
      command: options.command,
      user: userName(),
      ...origin,
      ...withoutUndefined({ undoes: plan.undoes, pull_request: pullRequest, now: plan.asOf }),
      ...currentProcess(),
      state: { lineage: state.lineage, file: options.backend.name },
      server: plan.server,
      profile: plan.profile,
      environment: plan.environment,
      digest: plan.digest,
      salt: state.salt,
    });
    return { begun, journal };
  } catch (failure) {
    throw problemError(
      'not-writable',
      messageOf(failure),
      `nothing was sent; ${writeHint(failure)}`,
      failure,
    );
  }
}

interface OpenRun {
  readonly plan: Plan;
  readonly begun: BegunRun;
  readonly journal: Journal;
  readonly resources: State['resources'];
  readonly runState: RunState;
  readonly runLock: RunLock;
}

/**
 * Saves the state and ends the journal. If the lock was lost, another process may own the state: the journal stays open, and the next
 * holder of the lock adds it to the state.
 */
async function endRun(
  { plan, begun, journal, resources, runState, runLock }: OpenRun,
  { results, fatal }: Executed,
  { signal, shard, backend }: ApplyOptions,
): Promise<Applied> {
  const name = begun.journal;
  const part = withoutUndefined({ shard, journal: shard && name });
  const result = { run: begun.run, ...part, results, interrupted: signal.aborted };
  const state = { ...begun.state, resources };
  const hintUnlessBuffered = (hint: string): string =>
    journal.bufferFolder === null ? hint : bufferHint(name, journal.bufferFolder);
  const endedEarly = (failure: unknown): Problem[] => {
    if (failure === undefined) return restoresLeftOut(plan);
    const hint = hintUnlessBuffered('the journal has all requests, and the next apply reads it');
    const message = `run ${name} ended early: ${messageOf(failure)}`;
    return [error('run-ended-early', message, [], hint), ...restoresLeftOut(plan)];
  };
  const end = (interrupted: boolean) =>
    journal.write({ type: 'end', at: new Date().toISOString(), interrupted });
  try {
    await runLock.confirm();
  } catch (failure) {
    const content = await backend.runs.read(name).catch(() => null);
    // The next holder has already added it to the state.
    if (content?.lines.some(({ type }) => type === 'end') === true) await end(true).catch(() => {});
    return {
      result,
      state,
      problems: endedEarly(fatal === undefined || hasProblem(fatal, 'locked') ? failure : fatal),
    };
  }
  const problems = endedEarly(fatal);
  let saved: State = state;
  try {
    await settleCreations(plan, name, resources, backend.runs);
    saved = await runState.end(begun, resources, fatal === undefined, results);
    if (fatal === undefined) await end(signal.aborted);
  } catch (failure) {
    const hint = hintUnlessBuffered(
      `${writeHint(failure)}; the journal of run ${name} holds everything, and the next apply reads it`,
    );
    problems.push(error('state-not-saved', messageOf(failure), [], hint));
  }
  return { result, state: saved, problems };
}

/** Records the outcome of creations of earlier runs in their journals, once their objects are found. */
async function settleCreations(
  { changes }: Plan,
  by: string,
  resources: State['resources'],
  runs: RunStore,
): Promise<void> {
  for (const { apply } of changes) {
    const { key, run } = apply.lostCreation ?? {};
    const { id } = apply.identity;
    if (key === undefined || run === undefined || id === undefined || resources[key] !== undefined) continue;
    // The journal may have been removed.
    const content = await runs.read(run).catch(() => null);
    const entry = content && entriesOf(content).find(({ sending }) => sending.key === key);
    if (content == null || entry == null) continue;
    const { seq, expected } = entry.sending;
    const at = new Date().toISOString();
    const after = { ...expected, fields: { ...expected.fields, id } };
    const found = { ...unansweredLine(seq, at, 'applied', null), after, notes: [`found by run ${by}`] };
    await completeJournal(runs, content, [found], { interrupted: false, by });
  }
}

/** Confirms the lock of a run. If it was lost, the error names the run that took it over, if known. */
async function confirmLock(
  { journal, state }: BegunRun,
  { lock, backend, shard }: ApplyOptions,
): Promise<void> {
  try {
    await lock.confirm();
  } catch (failure) {
    // Other shards run beside this one.
    if (!hasProblem(failure, 'locked') || shard !== undefined) throw failure;
    for (const name of await backend.runs.list().catch(() => [])) {
      const later = name > journal ? await backend.runs.read(name).catch(() => null) : null;
      if (later === null || !belongsTo(later.run, state)) continue;
      const message = `the lock of the state was lost: ${describeRun(later.run)} took it over (${backend.place})`;
      throw problemError('locked', message, undefined, failure);
    }
    throw failure;
  }
}

/** The records of a state without restores that the plan found to be complete. */
function withoutRestored(state: State, { settled: keys = [] }: Plan): State['resources'] {
  if (keys.length === 0) return state.resources;
  const resources = { ...state.resources };
  for (const key of keys) {
    const record = resources[key];
    if (record === undefined) continue;
    const { owed: _, ...rest } = record;
    resources[key] = rest;
  }
  return resources;
}

/** The problems of pending restores that a run leaves out, even if it succeeds. */
function restoresLeftOut({ warnings }: Plan): Problem[] {
  return warnings
    .filter(({ code }) => code === 'restores-left-out')
    .map(({ code, message }) => error(code, message));
}

/** The hint if the last lines of a journal are only on this machine. */
function bufferHint(run: string, kept: string): string {
  return `a part of the journal of run ${run} could not be uploaded and is kept in ${kept}: run idops again from here, which uploads it`;
}

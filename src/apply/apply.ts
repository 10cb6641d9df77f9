import { error, type Problem, ProblemsError } from '../base/problems.js';
import { ownProcess, userName } from '../base/process.js';
import type { Shard } from '../base/shard.js';
import { type Fields, mapValues } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import type { ApprovedPlan } from '../plan/approve.js';
import type { Change, Plan, Seen } from '../plan/plan.js';
import { conceal, type Hasher, storeFields } from '../secrets/hash.js';
import { type Redactor, redactAddress } from '../secrets/redactor.js';
import { withSlowHashes } from '../secrets/slow-hash.js';
import { operationPath, operations } from '../server/operations.js';
import type { Lock, StateBackend } from '../state/backend.js';
import {
  describeRun,
  JOURNAL_FORMAT,
  type Journal,
  type RunLine,
  type SendingLine,
} from '../state/journal.js';
import type { State } from '../state/state.js';
import { writeHint } from '../state/write-errors.js';
import { type Approval, leftOf } from './approvals.js';
import type { Recorder } from './attempt.js';
import { messageOf, type Outcome } from './attempt-outcome.js';
import { type ExecuteOptions, execute } from './execute.js';
import { belongs } from './owner.js';
import { recordInto, withSeen } from './record.js';
import type { Answers, Result } from './result.js';
import { isLost, RunLock } from './run-lock.js';
import { type BegunRun, type RunState, runStateOf } from './run-state.js';

export interface ApplyOptions extends Omit<ExecuteOptions, 'recorder' | 'permit' | 'notBefore'> {
  readonly backend: Pick<StateBackend, 'place' | 'name' | 'save' | 'merge' | 'runs'>;
  /** The state that the plan was made with. */
  readonly state: State;
  /** The part of the objects that the plan is about; all of them where it isn't given. */
  readonly shard?: Shard | undefined;
  /** What tells the run that its shards do together from others; left out where each does one of its own. */
  readonly sharedRun?: string | undefined;
  /** The approval that the plan is applied by; left out if it needs none. */
  readonly approval?: Approval | undefined;
  readonly hasher: Hasher;
  readonly lock: Pick<Lock, 'confirm' | 'fenced' | 'lease'>;
  readonly command: RunLine['command'];
  readonly now: () => Date;
  /** Takes secrets out of messages of the server, and out of names, before they are journalled. */
  readonly redactor: Pick<Redactor, 'redactName' | 'redactSentence'>;
}

/** What applying a plan gave, and what is wrong beside the results: a state that couldn't be saved, say. */
export interface Applied {
  /** What became of each change. */
  readonly result: Result;
  /** The state after it. */
  readonly state: State;
  /** What is wrong beside the results. */
  readonly problems: readonly Problem[];
}

/**
 * Applies an approved plan: journals each request before it is sent and after its answer, and saves the state at the end.
 * A plan with nothing to do writes no journal, and saves what it saw if that is news. Throws a ProblemsError where the lock was lost, or the journal or the state can't be
 * written, before anything is sent.
 */
export async function applyPlan(
  { plan, asked }: ApprovedPlan,
  options: ApplyOptions,
): Promise<Applied & { readonly answers: Answers }> {
  const { lock, now, signal, shard, hasher, approval } = options;
  const keys = new Map(
    plan.changes.flatMap(({ address, requests, apply }) =>
      requests.length > 0 ? [[address, apply.key] as const] : [],
    ),
  );
  const use = approval === undefined ? undefined : { approval, keys: [...keys.values()] };
  const keeping = runStateOf({ ...options, use });
  const recorded = await withSeen(withoutRestored(options.state, plan.settled ?? []), seenIn(plan), {
    at: now().toISOString(),
    hasher,
  });
  if (plan.changes.every(({ action }) => action === 'unchanged')) {
    const answers = new Map();
    const result = { run: null, results: [], interrupted: false };
    if (recorded === options.state.resources) {
      return { result, answers, state: options.state, problems: stillOwed(plan) };
    }
    await lock.confirm();
    const { state, problems } = await kept(keeping, recorded, options);
    return { result, answers, state, problems: [...problems, ...stillOwed(plan)] };
  }
  await lock.confirm();
  const resources = { ...recorded };
  const { begun, journal } = await start(plan, keeping, recorded, options);
  const { run, journal: name } = begun;
  let state: State = { ...begun.state, resources };
  const held = new RunLock({ ...lock, confirm: () => confirmed(begun, options) });
  const recorder = journalRecorder(plan, journal, held, options, async (change, outcome, at) => {
    const readable = kindOf(change.kind).readable(options.profile);
    const asked = { ...change, ...change.apply };
    const context = { run: name, at, hasher: options.hasher, readable };
    // Tried with a copy first, so that recording it finds all hashes made and happens at once.
    const { [asked.key]: known } = resources;
    await withSlowHashes(() =>
      recordInto(known === undefined ? {} : { [asked.key]: known }, asked, outcome, context),
    );
    recordInto(resources, asked, outcome, context);
  });
  const permit = (begun: boolean) => held.permit(begun);
  const executing = execute(plan, { ...options, notBefore: asked, recorder, permit });
  const { results, answers, fatal } = await executing
    .catch(async (failure: unknown) => {
      await journal.close();
      throw failure;
    })
    .finally(() => held.end());
  const part = shard === undefined ? {} : { shard, journal: name };
  const result = { run, ...part, results, interrupted: signal.aborted };
  const problems = [
    ...(fatal === undefined ? [] : [runEndedEarly(name, fatal, journal)]),
    ...stillOwed(plan),
  ];
  try {
    await held.look();
  } catch (failure) {
    // The state is somebody else's now: the journal has no end, and whoever holds the lock next takes it in, unless they already have.
    const content = await options.backend.runs.read(name).catch(() => null);
    if (content?.lines.some(({ type }) => type === 'end') === true)
      await journal.write({ type: 'end', at: now().toISOString(), interrupted: true }).catch(() => {});
    await journal.close();
    return {
      result,
      answers,
      state,
      problems:
        fatal === undefined || isLost(fatal)
          ? [runEndedEarly(name, failure, journal), ...stillOwed(plan)]
          : problems,
    };
  }
  try {
    state = await keeping.end(begun, resources, fatal === undefined, leftOf(result, keys));
    if (fatal === undefined)
      await journal.write({ type: 'end', at: now().toISOString(), interrupted: signal.aborted });
  } catch (failure) {
    problems.push(
      error(
        'state-not-saved',
        messageOf(failure),
        [],
        journal.kept === null
          ? `${writeHint(failure)}; the journal of run ${name} holds everything, and the next apply reads it`
          : keptHint(name, journal.kept),
      ),
    );
  } finally {
    await journal.close();
  }
  return { result, answers, state, problems };
}

/** The objects that a plan leaves as they are, as the server showed them. */
function seenIn({ changes }: Plan): Seen[] {
  return changes.flatMap(({ kind, action, apply: { seen, ...asked } }) =>
    action === 'unchanged' && seen !== undefined ? [{ ...asked, kind, fields: seen }] : [],
  );
}

/** The records of a state in which nothing is owed any more to the objects with these keys. */
function withoutRestored(state: State, keys: readonly string[]): State['resources'] {
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

async function kept(
  keeping: RunState,
  resources: State['resources'],
  { state }: ApplyOptions,
): Promise<{ state: State; problems: Problem[] }> {
  try {
    return { state: await keeping.keep(resources), problems: [] };
  } catch (failure) {
    const hint = `${writeHint(failure)}; nothing was to be sent`;
    const problem = error('state-not-saved', messageOf(failure), [], hint);
    return { state: { ...state, resources }, problems: [problem] };
  }
}

/**
 * Makes sure of the lock of a run. Throws what the lock throws; if it was lost, with the run that took it over, as far as journals tell:
 * whoever did may have given it back by now.
 */
async function confirmed(
  { journal, state }: BegunRun,
  { lock, backend, shard }: ApplyOptions,
): Promise<void> {
  try {
    await lock.confirm();
  } catch (failure) {
    // Other shards run beside this one.
    if (!isLost(failure) || shard !== undefined) throw failure;
    for (const name of await backend.runs.list().catch(() => [])) {
      const later = name > journal ? await backend.runs.read(name).catch(() => null) : null;
      if (later === null || !belongs(later.run, state)) continue;
      const message = `the lock of the state was lost: ${describeRun(later.run)} took it over (${backend.place})`;
      throw new ProblemsError([error('locked', message)], { cause: failure });
    }
    throw failure;
  }
}

/** Writes what has to be writable before anything is sent. */
async function start(
  plan: Plan,
  keeping: RunState,
  resources: State['resources'],
  options: ApplyOptions,
): Promise<{ begun: BegunRun; journal: Journal }> {
  try {
    const begun = await keeping.begin(resources);
    const { state } = begun;
    const journal = await options.backend.runs.create({
      type: 'run',
      format_version: JOURNAL_FORMAT,
      run: begun.journal,
      tool_version: plan.toolVersion,
      at: options.now().toISOString(),
      command: options.command,
      ...(plan.undoes === undefined ? {} : { undoes: plan.undoes }),
      user: userName(),
      ...ownProcess(),
      state: { lineage: state.lineage, file: options.backend.name },
      server: plan.server,
      profile: plan.profile,
      environment: plan.environment,
      digest: plan.digest,
      salt: state.salt,
    });
    return { begun, journal };
  } catch (failure) {
    throw new ProblemsError(
      [error('not-writable', messageOf(failure), [], `nothing was sent; ${writeHint(failure)}`)],
      { cause: failure },
    );
  }
}

function journalRecorder(
  { changes }: Plan,
  journal: Journal,
  held: RunLock,
  { lock, hasher, now, redactor }: ApplyOptions,
  record: (change: Change, outcome: Outcome, at: string) => Promise<void>,
): Recorder {
  // A change that is planned again has no label.
  const labels = new Map(changes.map(({ label, apply }) => [apply.key, label]));
  const sequences = new Map<Change, number>();
  const begun = new Set<string>();
  let sequence = 0;
  return {
    async sending(change, request, last) {
      // What is begun is brought to its end: a template would stay deleted between two requests.
      if (!lock.fenced && !begun.has(change.apply.key)) await held.look();
      begun.add(change.apply.key);
      const { key, identity, expected, before, existed, managed, generation, recordedGeneration } =
        change.apply;
      const stored = await withSlowHashes(() => ({
        before: storeFields(concealAll(before, expected), hasher),
        body: request?.body === undefined ? null : storeFields(request.body, hasher),
        expected: storeFields(expected, hasher),
      }));
      const label = labels.get(key);
      sequence += 1;
      sequences.set(change, sequence);
      await journal.write({
        type: 'sending',
        seq: sequence,
        at: now().toISOString(),
        address: redactAddress(change.address, redactor),
        ...(label === undefined ? {} : { label: redactor.redactName(label) }),
        key,
        kind: change.kind,
        identity: { ...identity },
        action: change.action as SendingLine['action'],
        operation: request?.operation ?? null,
        method: request === null ? null : operations[request.operation].method,
        path: request === null ? null : operationPath(request.operation, request.params),
        last,
        existed,
        ...stored,
        managed: [...managed],
        ...(generation === undefined ? {} : { generation }),
        ...(recordedGeneration === undefined ? {} : { recorded_generation: recordedGeneration }),
      });
    },
    async answered(change, httpStatus, attempts) {
      await journal.write({
        type: 'answered',
        seq: sequences.get(change) ?? 0,
        at: now().toISOString(),
        status: 'applied',
        ambiguous: false,
        http_status: httpStatus,
        attempts,
        after: null,
        unverified: [],
        error: null,
      });
    },
    async settled(change, outcome) {
      const at = now().toISOString();
      const after = await withSlowHashes(() =>
        outcome.after === undefined
          ? null
          : storeFields(concealAll(outcome.after, change.apply.expected), hasher),
      );
      await record(change, outcome, at);
      await journal.write({
        type: 'answered',
        seq: sequences.get(change) ?? 0,
        at,
        status: outcome.status,
        ambiguous: outcome.ambiguous,
        http_status: outcome.httpStatus,
        attempts: outcome.attempts,
        after,
        unverified: outcome.unverified.map(redactor.redactName),
        error: outcome.error === null ? null : redactor.redactSentence(outcome.error),
        ...(outcome.otherProfile === undefined ? {} : { other_profile: outcome.otherProfile }),
        ...(outcome.notes === undefined || outcome.notes.length === 0
          ? {}
          : { notes: outcome.notes.map(redactor.redactSentence) }),
      });
    },
  };
}

function concealAll(fields: Fields, asked: Fields): Fields {
  return mapValues(fields, (value, field) => conceal(value, asked[field]));
}

/** A run that leaves out what is owed is not at its end, however well it went. */
function stillOwed({ warnings }: Plan): Problem[] {
  return warnings
    .filter(({ code }) => code === 'restores-left-out')
    .map(({ code, message }) => error(code, message));
}

function runEndedEarly(run: string, failure: unknown, { kept }: Journal): Problem {
  return error(
    'run-ended-early',
    `run ${run} ended early: ${messageOf(failure)}`,
    [],
    kept === null ? 'what was sent is in the journal, and the next apply reads it' : keptHint(run, kept),
  );
}

/** What to do about a journal of which the end lies here alone. */
function keptHint(run: string, kept: string): string {
  return `a part of the journal of run ${run} could not be brought to its place and is kept in ${kept}: run idops again from here, which takes it along`;
}

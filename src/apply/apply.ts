import { randomBytes } from 'node:crypto';
import { whyRefused } from '../base/errno.js';
import { error, type Problem, ProblemsError } from '../base/problems.js';
import { ownMark } from '../base/process.js';
import { type Redactor, redactAddress } from '../base/redact.js';
import { userName } from '../base/user-name.js';
import { type Fields, mapValues } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import type { ApprovedPlan } from '../plan/approve.js';
import type { Change, Plan } from '../plan/plan.js';
import { operationPath, operations } from '../server/operations.js';
import type { StateBackend } from '../state/backend.js';
import { JOURNAL_FORMAT, type Journal, type RunLine, type SendingLine } from '../state/journal.js';
import { cureOf } from '../state/refused.js';
import { conceal, type Hasher, type StoredFields, storeFields } from '../state/secrets.js';
import { withSlowHashes } from '../state/slow-hash.js';
import type { State } from '../state/state.js';
import type { Recorder } from './attempt.js';
import type { Outcome } from './ending.js';
import { type ExecuteOptions, execute } from './execute.js';
import { recordInto } from './record.js';
import type { Result } from './result.js';

export interface ApplyOptions extends Omit<ExecuteOptions, 'recorder' | 'notBefore'> {
  readonly backend: Pick<StateBackend, 'place' | 'name' | 'save' | 'runs'>;
  /** The state that the plan was made with. */
  readonly state: State;
  readonly hasher: Hasher;
  /** Throws where the right to write is lost. */
  readonly confirm: () => Promise<void>;
  /** Whether what writes makes sure of that by itself. */
  readonly fenced: boolean;
  readonly command: RunLine['command'];
  readonly now: () => Date;
  /** Takes secrets out of messages of the server, and out of names, before they are journalled. */
  readonly redactor: Pick<Redactor, 'redactName' | 'redactSentence'>;
}

/** What applying a plan gave, and what is wrong beside the results: a state that couldn't be saved, say. */
export interface Applied {
  readonly result: Result;
  /** The state after it. */
  readonly state: State;
  readonly problems: readonly Problem[];
}

/**
 * Applies an approved plan: journals each request before it is sent and after its answer, and saves the state at the end.
 * A plan with nothing to do writes nothing. Throws a ProblemsError where the lock was lost, or the journal or the state can't be
 * written, before anything is sent.
 */
export async function applyPlan({ plan, asked }: ApprovedPlan, options: ApplyOptions): Promise<Applied> {
  const { backend, now, signal } = options;
  if (plan.changes.every(({ action }) => action === 'unchanged')) {
    const result = { run: null, results: [], interrupted: false };
    if (plan.settled === undefined || plan.settled.length === 0) {
      return { result, state: options.state, problems: stillOwed(plan) };
    }
    await options.confirm();
    const state = { ...withoutDebts(options.state, plan.settled), serial: options.state.serial + 1 };
    const problems = [...(await saved(backend, state)), ...stillOwed(plan)];
    return { result, state, problems };
  }
  const run = await nextRun(options);
  await options.confirm();
  const resources = { ...withoutDebts(options.state, plan.settled ?? []).resources };
  let state: State = { ...options.state, resources, serial: options.state.serial + 1, open_run: run };
  const journal = await start(plan, run, state, options);
  const held = new Held(options.confirm);
  const recorder = journalRecorder(journal, held, options, async (change, outcome, at) => {
    const readable = kindOf(change.kind).readable(options.profile);
    const became = { ...outcome, after: outcome.after };
    const asked = { ...change, ...change.apply };
    const context = { run, at, hasher: options.hasher, readable };
    // Tried with a copy first, so that recording it finds all hashes made and happens at once.
    const { [asked.key]: known } = resources;
    await withSlowHashes(() =>
      recordInto(known === undefined ? {} : { [asked.key]: known }, asked, became, context),
    );
    recordInto(resources, asked, became, context);
  });
  const executing = execute(plan, { ...options, notBefore: asked, recorder });
  const { results, fatal } = await executing.catch(async (failure: unknown) => {
    await journal.close();
    throw failure;
  });
  const result = { run, results, interrupted: signal.aborted };
  const problems = [...(fatal === undefined ? [] : [runEndedEarly(run, fatal, journal)]), ...stillOwed(plan)];
  try {
    await held.look();
  } catch (failure) {
    // The state is somebody else's now: the journal has no end, and whoever holds the lock next takes it in.
    await journal.close();
    return {
      result,
      state,
      problems: fatal === undefined ? [runEndedEarly(run, failure, journal), ...problems] : problems,
    };
  }
  try {
    if (fatal === undefined) {
      const { open_run: _, ...rest } = state;
      state = { ...rest, last_run: run };
    }
    await backend.save(state);
    if (fatal === undefined)
      await journal.write({ type: 'end', at: now().toISOString(), interrupted: signal.aborted });
  } catch (failure) {
    problems.push(
      error(
        'state-not-saved',
        `the state ${backend.place} could not be saved: ${messageOf(failure)}`,
        [],
        journal.kept === null
          ? `${cureOf(failure)}; the journal of run ${run} holds everything, and the next apply reads it`
          : keptHint(run, journal.kept),
      ),
    );
  } finally {
    await journal.close();
  }
  return { result, state, problems };
}

/** A state in which nothing is owed any more to the objects with these keys. */
function withoutDebts(state: State, keys: readonly string[]): State {
  const resources = { ...state.resources };
  for (const key of keys) {
    const record = resources[key];
    if (record === undefined) continue;
    const { owed: _, ...rest } = record;
    resources[key] = rest;
  }
  return { ...state, resources };
}

async function saved(backend: ApplyOptions['backend'], state: State): Promise<Problem[]> {
  try {
    await backend.save(state);
    return [];
  } catch (failure) {
    const why = `the state ${backend.place} could not be saved: ${messageOf(failure)}`;
    return [error('state-not-saved', why, [], `${cureOf(failure)}; nothing was to be sent`)];
  }
}

/** Writes what has to be writable before anything is sent. */
async function start(plan: Plan, run: string, state: State, options: ApplyOptions): Promise<Journal> {
  try {
    await options.backend.save(state);
    return await options.backend.runs.create({
      type: 'run',
      format_version: JOURNAL_FORMAT,
      run,
      tool_version: plan.toolVersion,
      at: options.now().toISOString(),
      command: options.command,
      user: userName(),
      ...ownMark(),
      state: { lineage: state.lineage, file: options.backend.name },
      server: plan.server,
      profile: plan.profile,
      environment: plan.environment,
      digest: plan.digest,
      salt: state.salt,
    });
  } catch (failure) {
    throw new ProblemsError(
      [
        error(
          'not-writable',
          `the state or the journal can't be written: ${messageOf(failure)}`,
          [],
          `nothing was sent; ${cureOf(failure)}`,
        ),
      ],
      { cause: failure },
    );
  }
}

/** Milliseconds for which a look at the lock holds good. */
const HELD = 100;

/** The lock of a run, looked at while the run goes on: somebody may have removed it. */
class Held {
  readonly #confirm: () => Promise<void>;
  #until = 0;
  #looking: Promise<void> | undefined;

  constructor(confirm: () => Promise<void>) {
    this.#confirm = confirm;
  }

  /** Throws a ProblemsError (`locked`) where it was lost a moment ago. */
  async check(): Promise<void> {
    if (performance.now() >= this.#until) await this.look();
  }

  /** The same as it is now; one look serves all that ask at the same time. */
  async look(): Promise<void> {
    this.#looking ??= this.#confirm()
      .then(() => {
        this.#until = performance.now() + HELD;
      })
      .finally(() => {
        this.#looking = undefined;
      });
    await this.#looking;
  }
}

function journalRecorder(
  journal: Journal,
  lock: Held,
  { fenced, hasher, now, redactor }: ApplyOptions,
  record: (change: Change, outcome: Outcome, at: string) => Promise<void>,
): Recorder {
  const sequences = new Map<Change, number>();
  const begun = new Set<string>();
  let sequence = 0;
  return {
    async sending(change, request, last) {
      // What is begun is brought to its end: a template would stay deleted between two requests.
      if (!fenced && !begun.has(change.apply.key)) await lock.check();
      begun.add(change.apply.key);
      const { key, identity, expected, before, existed, managed, generation, recordedGeneration } =
        change.apply;
      const held = await withSlowHashes(() => ({
        before: stored(concealAll(before, expected), hasher),
        body: request?.body === undefined ? null : stored(request.body, hasher),
        expected: stored(expected, hasher),
      }));
      sequence += 1;
      sequences.set(change, sequence);
      await journal.write({
        type: 'sending',
        seq: sequence,
        at: now().toISOString(),
        address: redactAddress(change.address, redactor),
        ...(change.label === undefined ? {} : { label: redactor.redactName(change.label) }),
        key,
        kind: change.kind,
        identity: { ...identity },
        action: change.action as SendingLine['action'],
        operation: request?.operation ?? null,
        method: request === null ? null : operations[request.operation].method,
        path: request === null ? null : operationPath(request.operation, request.params),
        last,
        existed,
        ...held,
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
        outcome.after === undefined ? null : stored(concealAll(outcome.after, change.apply.expected), hasher),
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

function stored(
  fields: Fields,
  hasher: Hasher,
): { fields: StoredFields['fields']; hashes: StoredFields['hashes'] } {
  return storeFields(fields, hasher);
}

function concealAll(fields: Fields, asked: Fields): Fields {
  return mapValues(fields, (value, field) => conceal(value, asked[field]));
}

/** A name that comes after those of all runs before, even where they are of the same second or the clock was set back. */
async function nextRun({ backend, now, state }: ApplyOptions): Promise<string> {
  const known = await backend.runs.list().catch(() => []);
  const before = [...known, state.last_run ?? '', state.open_run ?? ''];
  const newest = before.sort().at(-1) ?? '';
  const [, date, time] = /^(\d{8}T)(\d{6})Z-/.exec(newest) ?? [];
  const latest = date === undefined || time === undefined ? 0 : momentOf(date, time);
  const first = runName(new Date(Math.max(now().getTime(), latest)));
  return first > newest ? first : runName(new Date(Math.max(now().getTime(), latest + 1000)));
}

/** The time in the name of a run; 0 where it is none. */
function momentOf(date: string, time: string): number {
  const iso = `${date.replace(/(....)(..)(..)T/, '$1-$2-$3T')}${time.replace(/(..)(..)(..)/, '$1:$2:$3')}Z`;
  return Date.parse(iso) || 0;
}

function runName(now: Date): string {
  return `${now.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z-${randomBytes(3).toString('hex')}`;
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

function messageOf(failure: unknown): string {
  if (failure instanceof ProblemsError) return failure.problems.map(({ message }) => message).join('; ');
  if (failure instanceof AggregateError) return failure.errors.map(messageOf).join('; ');
  return whyRefused(failure);
}

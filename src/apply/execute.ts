import pLimit from 'p-limit';
import { allSettled, failuresIn } from '../base/concurrency.js';
import { hasProblem, ProblemsError } from '../base/problems.js';
import type { Progress } from '../base/progress.js';
import { groupBy } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import type { Kind, KindName } from '../kinds/kind.js';
import { mayHarm } from '../kinds/traits.js';
import { driftSincePlan } from '../plan/drift-since-plan.js';
import type { Recognise } from '../plan/options.js';
import { givesUp, level, takesOver } from '../plan/order.js';
import type { Change, Plan } from '../plan/plan.js';
import { ServerFailure } from '../server/failures.js';
import { operationPath, operations, type Scope } from '../server/operations.js';
import { adviceFor } from '../server/recognise.js';
import { Attempt, type Attempted, EXPIRED, type SendOptions } from './attempt.js';
import {
  advised,
  asResult,
  brokenOff,
  messageOf,
  type Open,
  type Outcome,
  skipped,
  tells,
} from './attempt-outcome.js';
import { CreatedIds } from './created-ids.js';
import type { Recorder } from './journal-recorder.js';
import { readBackAll, readBackOne } from './read-back.js';
import type { Answers, ChangeResult } from './result.js';

/** Milliseconds for which an observation holds. */
const FRESH = 30_000;
/** How many times a change is planned again after its observation has expired. */
const ROUNDS = 5;

export interface ExecuteOptions extends SendOptions {
  readonly concurrency: number;
  readonly progress: Progress;
  /** Observations from before this time of `performance.now()` are read again. */
  readonly notBefore?: number;
  /** The instant at which access has ended or not; without it, the time of each request. */
  readonly asOf?: string | undefined;
  /** Finds out with one GET which profile the server has. */
  readonly recognise: Recognise;
  /** Once aborted, nothing new is started. */
  readonly signal: AbortSignal;
}

/** What a run did, and what ended it early: a journal that can't be written, or a bug. */
export interface Executed {
  readonly results: readonly ChangeResult[];
  readonly answers: Answers;
  readonly fatal: unknown;
}

/**
 * Sends the requests of a plan, one kind after the other, and gives the result of each change: a failure is a result,
 * not an exception. Resolves once everything in flight has ended.
 *
 * `#applyKind` ─▶ `#applyChange` ─▶ `#refresh` ─▶ `#send` ─▶ `Attempt.send` ─▶ `writer.send`
 */
export async function execute(plan: Plan, options: ExecuteOptions): Promise<Executed> {
  return await new Execution(options).run(plan.changes);
}

/** A change with an unknown outcome, which is read back after the others of its kind. */
interface OpenChange {
  readonly planned: Change;
  readonly attempt: Attempt;
  readonly open: Open;
}

class Execution {
  readonly #options: ExecuteOptions;
  readonly #outcomes = new Map<Change, Outcome>();
  readonly #forbidden = new Map<Scope, string>();
  /** Why nothing more of a kind is sent. */
  readonly #harmful = new Map<KindName, string>();
  #stop: string | undefined;
  #created = new CreatedIds([]);
  /** Outcomes that are being written to the journal. The next change doesn't wait for them. */
  readonly #recording: Promise<void>[] = [];
  /** The number of tries so far, of changes that are planned again before the next one. */
  readonly #tried = new Map<Change, number>();
  /** The kinds in which the successor failed, so that the former holder keeps what it has. */
  readonly #failedSuccessions = new Set<KindName>();

  constructor(options: ExecuteOptions) {
    const { sending, answered, settled } = options.recorder;
    const recorder: Recorder = {
      sending: (...line) => this.#write(sending(...line)),
      answered: (...line) => this.#write(answered(...line)),
      settled: (...line) => this.#write(settled(...line)),
    };
    this.#options = { ...options, recorder };
  }

  async run(changes: readonly Change[]): Promise<Executed> {
    this.#created = new CreatedIds(changes);
    const todo = changes.filter(({ action }) => action !== 'unchanged' && action !== 'blocked');
    const { progress, concurrency } = this.#options;
    let fatal: unknown;
    const end = (failure: unknown): void => {
      fatal ??= failure;
      this.#stop ??= NOT_SENT;
    };
    progress.phase('Applying', todo.length);
    const levels = groupBy(todo, (change) => levelAmong(change, todo));
    for (const [, own] of [...levels].sort(([a], [b]) => a - b)) {
      const [first] = own;
      if (first === undefined) continue;
      const kind = kindOf(first.kind);
      await this.#applyKind(kind, own, kind.succession === undefined ? concurrency : 1).catch(end);
      await allSettled(this.#recording.splice(0)).catch(end);
    }
    progress.end(fatal === undefined ? undefined : 'failed');
    return {
      results: todo.map((change) => asResult(change, this.#outcomes.get(change) ?? skipped(NOT_SENT))),
      answers: new Map(
        [...this.#outcomes].flatMap(([change, { after }]) => (after === undefined ? [] : [[change, after]])),
      ),
      fatal,
    };
  }

  async #applyKind(kind: Kind, changes: readonly Change[], concurrency: number): Promise<void> {
    const limit = pLimit(concurrency);
    const open: OpenChange[] = [];
    const send = async (change: Change): Promise<void> => {
      const left = await this.#applyChange(kind, change);
      if (left !== undefined) open.push(left);
    };
    const rest = [...changes];
    // If the profile isn't certain, changes go one by one until an answer shows that the others do no harm.
    let known = this.#options.profile.signs !== null || !mayHarm(kind);
    try {
      while (!known) {
        const change = rest.shift();
        if (change === undefined) break;
        await send(change);
        known = tells(change, this.#outcomes.get(change));
      }
      await allSettled(rest.map((change) => limit(() => send(change))));
    } finally {
      await this.#readBack(kind, open);
    }
  }

  /** Applies one change; gives it back if its outcome has to be read back. */
  async #applyChange(kind: Kind, planned: Change): Promise<OpenChange | undefined> {
    const reason = this.#reasonToSkip(planned);
    if (reason !== undefined) return this.#skip(planned, reason);
    const lacking = this.#created.lacking(planned);
    if (lacking !== undefined) return this.#skip(planned, lacking);
    this.#created.begin(planned);
    this.#options.progress.begin?.(planned.address);
    if (planned.action === 'adopt') {
      await this.#options.recorder.sending(planned, null, true);
      this.#settle(planned, planned, { ...skipped(null), status: 'applied' });
      return undefined;
    }
    let since = Math.max(this.#options.notBefore ?? 0, performance.now() - FRESH);
    let begun: Change | undefined;
    for (let round = 1; round <= ROUNDS; ) {
      const tried = this.#tried.get(planned);
      const refreshed = await this.#refresh(planned, since);
      const change = this.#stop ?? refreshed;
      if (typeof change === 'string') return await this.#giveUp(planned, begun, change);
      const own = this.#created.withIds(change);
      const sent = await this.#send(kind, planned, own, change === planned);
      if (sent !== EXPIRED) return sent;
      since = performance.now();
      begun = own;
      if (this.#tried.get(planned) === tried) round += 1;
    }
    return await this.#giveUp(planned, begun, `not sent: the observation expired after ${ROUNDS} attempts`);
  }

  /** Skips a change; if the journal has begun it, the journal ends it too. */
  async #giveUp(planned: Change, begun: Change | undefined, reason: string): Promise<undefined> {
    if (begun === undefined) return this.#skip(planned, reason);
    return this.#settle(planned, begun, skipped(reason));
  }

  /** Sends a change once, and settles it unless that can wait for the others. */
  async #send(
    kind: Kind,
    planned: Change,
    change: Change,
    isAsPlanned: boolean,
  ): Promise<OpenChange | undefined | typeof EXPIRED> {
    const { profile, replan, recorder } = this.#options;
    if (change.requests.length === 0) await recorder.sending(change, null, true);
    const attempt = this.#attempt(kind);
    try {
      const tried = this.#tried.get(planned) ?? (replan.carries(planned) ? 0 : undefined);
      const observedAt = isAsPlanned ? replan.observedAt : performance.now();
      const freshUntil = Math.min(
        kind.readable(profile) ? observedAt + FRESH : Number.POSITIVE_INFINITY,
        performance.now() + this.#untilEnd(planned),
      );
      const sent = await attempt.send(change, freshUntil, tried);
      if (attempt.tried > 0) this.#tried.set(planned, attempt.tried);
      if (sent === EXPIRED) return sent;
      if (!('failure' in sent)) return await this.#end(kind, planned, sent);
      // A change that may have lost something, or has to be sent again, can't wait for the others.
      if (kind.lost === undefined && sent.failure.expired === undefined) {
        return { planned, attempt, open: sent };
      }
      const ended = await attempt.conclude(sent, await readBackOne(kind, sent, this.#options));
      return ended === EXPIRED ? ended : await this.#end(kind, planned, ended);
    } catch (failure) {
      // If that comes after a request was sent, its outcome is unknown.
      if (attempt.begun && !this.#outcomes.has(planned)) this.#outcomes.set(planned, brokenOff(failure));
      throw failure;
    }
  }

  async #end(kind: Kind, planned: Change, ended: Attempted): Promise<undefined> {
    return this.#settle(planned, ended.sent, await this.#checkProfile(kind, planned, ended));
  }

  /** Reads the open changes of a kind back together. */
  async #readBack(kind: Kind, left: readonly OpenChange[]): Promise<void> {
    if (left.length === 0) return;
    const open = left.map((one) => one.open);
    const live = await readBackAll(kind, open, this.#options, this.#options.concurrency);
    await allSettled(
      left.map(async ({ planned, attempt, open }) => {
        const ended = await attempt.conclude(open, live.get(open));
        if (ended !== EXPIRED) await this.#end(kind, planned, ended);
      }),
    );
  }

  /**
   * Adds advice to an outcome that looks like another profile's server. If updates of that profile lose what they don't mention,
   * nothing more of this kind is sent. An error alone is no proof, so one GET asks the server what it is.
   */
  async #checkProfile(
    kind: Kind,
    { address }: Change,
    { better, suspected, outcome }: Attempted,
  ): Promise<Outcome> {
    const hinted = better ?? suspected;
    if (hinted === undefined) return outcome;
    const stopped = this.#harmful.has(kind.name);
    let sure = better !== undefined;
    if (!sure && !stopped) {
      const probed = await this.#options.recognise(kind.scope).catch(() => undefined);
      if (probed?.kind === 'plain') return outcome;
      sure = probed?.kind === 'recognised';
    }
    const harms = kind.traits[hinted.name].unsafe === true;
    if (harms && !stopped && (sure || (outcome.httpStatus ?? 0) >= 500)) {
      this.#harmful.set(
        kind.name,
        `not sent: the response for ${address} looks like a server of the profile ${hinted.name}; its error says what to do`,
      );
    }
    const marked = harms && sure ? { ...outcome, otherProfile: hinted.name } : outcome;
    // The error of an answer has the advice already.
    return better === undefined ? advised(marked, adviceFor(hinted)) : marked;
  }

  #attempt(kind: Kind): Attempt {
    return new Attempt(kind, {
      ...this.#options,
      onFailure: (failure) => this.#noteFailure(failure, kind),
      onWithheld: (cause) => {
        this.#stop ??= hasProblem(cause, 'locked')
          ? LOST
          : 'not sent: the lock of the state could not be confirmed';
        return `not sent: ${messageOf(cause)}`;
      },
    });
  }

  /**
   * Plans a change again if its observation is too old, or if its requests carry undeclared values. Gives the reason to skip it if it is no
   * longer what the plan showed.
   */
  async #refresh(planned: Change, since: number): Promise<Change | string> {
    const { replan } = this.#options;
    if (planned.requests.length === 0) return planned;
    const [first] = planned.apply.ends ?? [];
    if (first !== undefined && this.#untilEnd(planned) <= 0)
      return `not sent, stale: the access to "${first.name}" ended at ${first.at}; plan again and review it`;
    if (replan.observedAt >= since && !replan.carries(planned)) return planned;
    let change: Change | undefined;
    try {
      change = await replan.again(planned, since);
    } catch (failure) {
      const failures = failuresIn(failure);
      const isExpected = (one: unknown) => one instanceof ServerFailure || one instanceof ProblemsError;
      // Anything else is a mistake of idops.
      if (!failures.every(isExpected)) throw failure;
      for (const one of failures) if (one instanceof ServerFailure) this.#noteFailure(one, undefined);
      const why = failures.map(({ message }) => message).join('; ');
      return `not sent: the present state could not be read: ${why}`;
    }
    if (change === undefined) return planned;
    const [asPlanned, asNow] = [this.#created.withIds(planned), this.#created.withIds(change)];
    const isSucceeded = [...this.#outcomes.keys()].some(
      (done) => done.kind === planned.kind && takesOver(done),
    );
    const drift = driftSincePlan(asPlanned, asNow, isSucceeded);
    if (drift.length > 0)
      return `not sent, stale: it was changed on the server since the plan was made (${drift.join(', ')}); plan again and review it`;
    const other = asNow.requests.filter(
      ({ operation, params }) =>
        !asPlanned.requests.some(
          (named) =>
            named.operation === operation &&
            operationPath(operation, named.params) === operationPath(operation, params),
        ),
    );
    if (other.length > 0) {
      const names = other.map(({ operation }) => operations[operation].title).join(', ');
      return `not sent, stale: the present state needs a request that the plan does not have (${names}); plan again and review it`;
    }
    // The plan says which fields are managed: an undo manages none.
    const { managed, before } = planned.apply;
    const field = givesUp(planned) ? kindOf(planned.kind).succession?.field : undefined;
    // The plan's successor has taken it since; undo gives it back.
    const taken = field === undefined || before[field] === undefined ? {} : { [field]: before[field] };
    return { ...change, apply: { ...change.apply, managed, before: { ...change.apply.before, ...taken } } };
  }

  /** Milliseconds until access ends that a change declares. */
  #untilEnd({ apply: { ends: [first] = [] } }: Change): number {
    if (first === undefined || this.#options.asOf !== undefined) return Number.POSITIVE_INFINITY;
    return Date.parse(first.at) - Date.now();
  }

  #skip(change: Change, reason: string): undefined {
    this.#outcomes.set(change, skipped(reason));
    this.#options.progress.step({ address: change.address, status: 'skipped', error: reason });
    return undefined;
  }

  #reasonToSkip(change: Change): string | undefined {
    if (this.#stop !== undefined) return this.#stop;
    const harm = this.#harmful.get(change.kind);
    if (harm !== undefined) return harm;
    if (this.#options.signal.aborted) return 'interrupted before it was sent';
    for (const { operation } of change.requests) {
      const forbidden = this.#forbidden.get(operations[operation].scope);
      if (forbidden !== undefined) return forbidden;
    }
    if (this.#failedSuccessions.has(change.kind) && givesUp(change))
      return kindOf(change.kind).succession?.failed;
    const { awaits } = change;
    const failed =
      awaits &&
      [...this.#outcomes].find(
        ([{ apply }, { status }]) => awaits.includes(apply.key) && status !== 'applied',
      );
    return (
      failed &&
      `not sent: ${failed[0].address} did not get what is taken away here, and safety.keep would not hold`
    );
  }

  /** Notes failures that other requests would meet too. */
  #noteFailure(failure: ServerFailure, written: Kind | undefined): void {
    if (failure.kind === 'unauthorized') this.#stop = 'not sent: the credentials were refused (401)';
    if (failure.kind !== 'forbidden') return;
    // This one object may be protected.
    if (written !== undefined && written.traits[this.#options.profile.name].protects === true) return;
    this.#forbidden.set(failure.scope, `not sent: the credentials lack the scope ${failure.scope} (403)`);
  }

  #settle(planned: Change, sent: Change, outcome: Outcome): undefined {
    this.#created.end(planned, outcome);
    if (takesOver(planned) && outcome.status !== 'applied') this.#failedSuccessions.add(planned.kind);
    this.#outcomes.set(planned, outcome);
    const recording = this.#record(planned, sent, outcome);
    recording.catch(() => {});
    this.#recording.push(recording);
    return undefined;
  }

  async #record({ address }: Change, sent: Change, outcome: Outcome): Promise<void> {
    await this.#options.recorder.settled(sent, outcome);
    const { status, error, ownValues = [] } = outcome;
    this.#options.progress.step({ address, status, error, ownValues });
  }

  /** Waits for a line of the journal. If that fails, nothing more is sent. */
  async #write(written: Promise<void>): Promise<void> {
    try {
      await written;
    } catch (failure) {
      this.#stop ??= hasProblem(failure, 'locked') ? LOST : 'not sent: the journal could not be written';
      throw failure;
    }
  }
}

/** The level of a change in a run: those that await others come after them. */
function levelAmong(change: Change, all: readonly Change[]): number {
  const { awaits } = change;
  if (awaits === undefined) return 2 * level(change);
  const awaited = all.filter(({ apply }) => awaits.includes(apply.key));
  return 2 * Math.max(level(change), ...awaited.map(level)) + 1;
}

const NOT_SENT = 'not sent: the run ended early';
const LOST = 'not sent: the lock of the state was lost';

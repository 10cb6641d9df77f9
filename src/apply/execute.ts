import pLimit from 'p-limit';
import { allSettled, failuresIn } from '../base/concurrency.js';
import { hasProblem, ProblemsError } from '../base/problems.js';
import type { Progress } from '../base/progress.js';
import { groupBy } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import type { Kind, KindName } from '../kinds/kind.js';
import { mayHarm, provesProfile } from '../kinds/traits.js';
import { driftSincePlan } from '../plan/drift-since-plan.js';
import type { Recognise } from '../plan/options.js';
import { givesUp, stages, takesOver } from '../plan/order.js';
import type { Change, Plan } from '../plan/plan.js';
import { ServerFailure } from '../server/failures.js';
import { operationPath, operations, type Scope } from '../server/operations.js';
import { adviceFor, type ProbeResult } from '../server/recognise.js';
import { Attempt, type AttemptResult, EXPIRED, type SendOptions } from './attempt.js';
import {
  exceptionOutcome,
  messageOf,
  type OpenChange,
  type Outcome,
  showsProfile,
  skippedOutcome,
  toResult,
  withAdvice,
} from './attempt-outcome.js';
import { CreatedIds } from './created-ids.js';
import type { Recorder } from './journal-recorder.js';
import { readBackAll, readBackOne } from './read-back.js';
import type { Answers, ChangeResult } from './result.js';

/** Milliseconds for which an observation may be used. */
const OBSERVATION_LIFETIME = 30_000;
/** How many times a change is planned again after its observation has expired. */
const MAX_ROUNDS = 5;

export interface ExecuteOptions extends SendOptions {
  readonly concurrency: number;
  readonly progress: Progress;
  /** Observations from before this time of `performance.now()` are read again. */
  readonly notBefore?: number;
  /** The instant that decides whether access has ended; by default, the time of each request. */
  readonly asOf?: string | undefined;
  /** Finds the server's profile with one GET; null if the configuration has `trust_profile`. */
  readonly recognise: Recognise | null;
  /** Once aborted, nothing new is started. */
  readonly signal: AbortSignal;
}

/** What a run did. `fatal` is what ended it early: a journal that can't be written, or a bug. */
export interface Executed {
  readonly results: readonly ChangeResult[];
  readonly answers: Answers;
  readonly fatal: unknown;
}

/**
 * Sends the requests of a plan, one kind after the other, and returns the result of each change: a failure is a result,
 * not an exception. Resolves after all requests in flight.
 *
 * `#applyKind` ─▶ `#applyChange` ─▶ `#refresh` ─▶ `#send` ─▶ `Attempt.send` ─▶ `writer.send`
 */
export async function execute(plan: Plan, options: ExecuteOptions): Promise<Executed> {
  return await new Execution(options).run(plan.changes);
}

/** A change with an unknown outcome, which is read back together with others of its kind. */
interface PendingReadBack {
  readonly attempt: Attempt;
  readonly open: OpenChange;
}

class Execution {
  readonly #options: ExecuteOptions;
  readonly #outcomes = new Map<Change, Outcome>();
  /** The keys of the changes that were applied. */
  readonly #appliedKeys = new Set<string>();
  readonly #forbiddenScopes = new Map<Scope, string>();
  /** The keys of the first objects that were refused with 403 and may be protected, by kind. */
  readonly #refusedObjects = new Map<KindName, string>();
  /** Why nothing more of a kind is sent. */
  readonly #stoppedKinds = new Map<KindName, string>();
  #stopReason: string | undefined;
  #probed: Promise<ProbeResult | undefined> | undefined;
  #created = new CreatedIds([]);
  /** Outcomes that are being written to the journal. The next change doesn't wait for them. */
  readonly #pendingRecords: Promise<void>[] = [];
  /** The kinds in which a succession failed: the former holder keeps its value. */
  readonly #kindsWithFailedSuccession = new Set<KindName>();

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
      this.#stopReason ??= RUN_ENDED_EARLY;
    };
    progress.phase('Applying', todo.length);
    const byStage = groupBy([...stages(todo)], ([, stage]) => stage);
    for (const [, ofStage] of [...byStage].sort(([a], [b]) => a - b)) {
      for (const [name, some] of groupBy(ofStage, ([change]) => change.kind)) {
        const kind = kindOf(name);
        const own = some.map(([change]) => change);
        await this.#applyKind(kind, own, kind.succession === undefined ? concurrency : 1).catch(end);
        await allSettled(this.#pendingRecords.splice(0)).catch(end);
      }
    }
    progress.end(fatal === undefined ? undefined : 'failed');
    return {
      results: todo.map((change) =>
        toResult(change, this.#outcomes.get(change) ?? skippedOutcome(RUN_ENDED_EARLY)),
      ),
      answers: new Map(
        [...this.#outcomes].flatMap(([change, { after }]) => (after === undefined ? [] : [[change, after]])),
      ),
      fatal,
    };
  }

  async #applyKind(kind: Kind, changes: readonly Change[], concurrency: number): Promise<void> {
    const limit = pLimit(concurrency);
    const pending: PendingReadBack[] = [];
    const send = async (change: Change): Promise<void> => {
      const open = await this.#applyChange(change);
      if (open !== undefined) pending.push(open);
    };
    const rest = [...changes];
    // If the profile is unknown, changes are sent one by one until an answer shows that updates are safe.
    let isProfileKnown = this.#options.profile.signs !== null || !mayHarm(kind);
    try {
      while (!isProfileKnown) {
        const change = rest.shift();
        if (change === undefined) break;
        await send(change);
        isProfileKnown = showsProfile(change, this.#outcomes.get(change));
      }
      await allSettled(rest.map((change) => limit(() => send(change))));
    } finally {
      await this.#readBack(kind, pending);
    }
  }

  /** Applies one change. Returns it if its outcome must be read back. */
  async #applyChange(planned: Change): Promise<PendingReadBack | undefined> {
    const unsendable = this.#reasonToSkip(planned) ?? this.#created.missingReference(planned);
    if (unsendable !== undefined) return this.#skip(planned, unsendable);
    this.#created.begin(planned);
    this.#options.progress.begin?.(planned.address);
    if (planned.action === 'adopt') {
      await this.#options.recorder.sending(planned, null, true);
      return this.#settle(planned, planned, { ...skippedOutcome(null), status: 'applied' });
    }
    let since = Math.max(this.#options.notBefore ?? 0, performance.now() - OBSERVATION_LIFETIME);
    const attempt = this.#attempt(planned);
    let begun: Change | undefined;
    for (let round = 1; round <= MAX_ROUNDS; ) {
      const { earlierAttempts: before } = attempt;
      const refreshed = await this.#refresh(planned, since);
      const change = this.#stopReason ?? refreshed;
      if (typeof change === 'string') return await this.#giveUp(planned, begun, change);
      const withIds = this.#created.withIds(change);
      const sent = await this.#send(attempt, withIds, change === planned);
      if (sent !== EXPIRED) return sent;
      since = performance.now();
      begun = withIds;
      if (attempt.earlierAttempts === before) round += 1;
    }
    const reason = `not sent: the observation expired after ${MAX_ROUNDS} attempts`;
    return await this.#giveUp(planned, begun, reason);
  }

  /** Skips a change, in the journal too if it has a line for it. */
  async #giveUp(planned: Change, begun: Change | undefined, reason: string): Promise<undefined> {
    if (begun === undefined) return this.#skip(planned, reason);
    return this.#settle(planned, begun, skippedOutcome(reason));
  }

  /** Sends a change once. Settles it, unless it can be read back later together with others. */
  async #send(
    attempt: Attempt,
    change: Change,
    isAsPlanned: boolean,
  ): Promise<PendingReadBack | undefined | typeof EXPIRED> {
    const { kind, planned } = attempt;
    const { profile, replan, recorder } = this.#options;
    if (change.requests.length === 0) await recorder.sending(change, null, true);
    try {
      const observedAt = isAsPlanned ? replan.observedAt : performance.now();
      const freshUntil = Math.min(
        kind.readable(profile) ? observedAt + OBSERVATION_LIFETIME : Number.POSITIVE_INFINITY,
        performance.now() + this.#untilEnd(planned),
      );
      const sent = await attempt.send(change, freshUntil);
      if (sent === EXPIRED) return sent;
      if (!('failure' in sent)) return await this.#finish(attempt, sent);
      // A change that may need a repair or another attempt is read back at once.
      if (kind.lostFields === undefined && sent.failure.expired === undefined) {
        return { attempt, open: sent };
      }
      const ended = await attempt.conclude(sent, await readBackOne(kind, sent, this.#options));
      return ended === EXPIRED ? ended : await this.#finish(attempt, ended);
    } catch (failure) {
      // A request may have been sent before the exception.
      if (attempt.begun && !this.#outcomes.has(planned))
        this.#outcomes.set(planned, exceptionOutcome(failure));
      throw failure;
    }
  }

  async #finish(attempt: Attempt, ended: AttemptResult): Promise<undefined> {
    return this.#settle(attempt.planned, ended.sent, await this.#checkProfile(attempt, ended));
  }

  /** Reads the open changes of a kind back together. */
  async #readBack(kind: Kind, left: readonly PendingReadBack[]): Promise<void> {
    if (left.length === 0) return;
    const open = left.map((one) => one.open);
    const live = await readBackAll(kind, open, this.#options, this.#options.concurrency);
    await allSettled(
      left.map(async ({ attempt, open }) => {
        const ended = await attempt.conclude(open, live.get(open));
        if (ended !== EXPIRED) await this.#finish(attempt, ended);
      }),
    );
  }

  /**
   * Adds advice to an outcome that looks like the server of another profile. If updates of that profile reset fields that aren't sent,
   * no further change of this kind is sent. Unless the answer proves the profile, one GET checks it, or the configuration trusts it.
   */
  async #checkProfile(
    { kind, planned: { address } }: Attempt,
    { betterProfile, suspectedProfile, outcome }: AttemptResult,
  ): Promise<Outcome> {
    const otherProfile = betterProfile ?? suspectedProfile;
    if (otherProfile === undefined) return outcome;
    const stopped = this.#stoppedKinds.has(kind.name);
    const isProven = betterProfile !== undefined && provesProfile(kind, betterProfile.name);
    const probed = isProven || stopped ? undefined : await this.#probe(kind);
    if (probed === 'plain') return outcome;
    const isCertain = betterProfile !== undefined || probed === 'recognised';
    const losesFields = kind.traits[otherProfile.name].unsafe === true;
    if (losesFields && !stopped && (isCertain || (outcome.httpStatus ?? 0) >= 500)) {
      this.#stoppedKinds.set(
        kind.name,
        `not sent: the response for ${address} looks like a server of the profile ${otherProfile.name}; its error says what to do`,
      );
    }
    const outcomeWithProfile =
      losesFields && isCertain ? { ...outcome, otherProfile: otherProfile.name } : outcome;
    // The error of an answer has the advice already.
    return betterProfile === undefined
      ? withAdvice(outcomeWithProfile, adviceFor(otherProfile))
      : outcomeWithProfile;
  }

  /** What one GET reveals about the server's profile. A trusted profile is taken as it is. */
  async #probe({ scope }: Kind): Promise<ProbeResult['kind'] | undefined> {
    const { recognise } = this.#options;
    if (recognise === null) return 'plain';
    this.#probed ??= recognise(scope).catch(() => undefined);
    return (await this.#probed)?.kind;
  }

  #attempt(planned: Change): Attempt {
    return new Attempt(planned, {
      ...this.#options,
      onFailure: (failure, { kind, apply }, isProtected) => {
        if (!isProtected || this.#isSecondRefusal(kindOf(kind), apply.key)) this.#noteFailure(failure);
      },
      onWithheld: (cause) => {
        this.#stopReason ??= hasProblem(cause, 'locked')
          ? LOCK_LOST
          : 'not sent: the lock of the state could not be confirmed';
        return `not sent: ${messageOf(cause)}`;
      },
    });
  }

  /**
   * Plans a change again if its observation is too old, or if its requests carry undeclared values. Returns the reason to skip it if it
   * differs from the plan.
   */
  async #refresh(planned: Change, since: number): Promise<Change | string> {
    const { replan } = this.#options;
    if (planned.requests.length === 0) return planned;
    const [first] = planned.apply.ends ?? [];
    if (first !== undefined && this.#untilEnd(planned) <= 0)
      return `not sent, stale: the access to "${first.name}" ended at ${first.at}; plan again and review it`;
    const isAsRead = replan.observedAt >= since && planned.awaits === undefined;
    if (isAsRead && !replan.carries(planned)) return planned;
    let change: Change | undefined;
    try {
      change = await replan.again(planned, since);
    } catch (failure) {
      const failures = failuresIn(failure);
      const isExpected = (one: unknown) => one instanceof ServerFailure || one instanceof ProblemsError;
      // Anything else is a bug of idops.
      if (!failures.every(isExpected)) throw failure;
      for (const one of failures) if (one instanceof ServerFailure) this.#noteFailure(one);
      const why = failures.map(({ message }) => message).join('; ');
      return `not sent: the present state could not be read: ${why}`;
    }
    if (change === undefined) return planned;
    const [asPlanned, current] = [this.#created.withIds(planned), this.#created.withIds(change)];
    const successionDone = [...this.#outcomes.keys()].some(
      (done) => done.kind === planned.kind && takesOver(done),
    );
    const drift = driftSincePlan(asPlanned, current, successionDone);
    if (drift.length > 0)
      return `not sent, stale: it was changed on the server since the plan was made (${drift.join(', ')}); plan again and review it`;
    const extraRequests = current.requests.filter(
      ({ operation, params }) =>
        !asPlanned.requests.some(
          (named) =>
            named.operation === operation &&
            operationPath(operation, named.params) === operationPath(operation, params),
        ),
    );
    if (extraRequests.length > 0) {
      const names = extraRequests.map(({ operation }) => operations[operation].title).join(', ');
      return `not sent, stale: the present state needs a request that the plan does not have (${names}); plan again and review it`;
    }
    // The plan says which fields are managed: an undo manages none.
    const { managed, before } = planned.apply;
    const field = givesUp(planned) ? kindOf(planned.kind).succession?.field : undefined;
    // The new holder in this plan may have it already; undo needs the value from before.
    const formerValue = field === undefined || before[field] === undefined ? {} : { [field]: before[field] };
    return {
      ...change,
      apply: { ...change.apply, managed, before: { ...change.apply.before, ...formerValue } },
    };
  }

  /** Milliseconds until the first access that a change declares ends. */
  #untilEnd({ apply: { ends: [first] = [] } }: Change): number {
    if (first === undefined || this.#options.asOf !== undefined) return Number.POSITIVE_INFINITY;
    return Date.parse(first.at) - Date.now();
  }

  #skip(change: Change, reason: string): undefined {
    this.#outcomes.set(change, skippedOutcome(reason));
    this.#options.progress.step({ address: change.address, status: 'skipped', error: reason });
    return undefined;
  }

  #reasonToSkip(change: Change): string | undefined {
    if (this.#stopReason !== undefined) return this.#stopReason;
    const harm = this.#stoppedKinds.get(change.kind);
    if (harm !== undefined) return harm;
    if (this.#options.signal.aborted) return 'interrupted before it was sent';
    for (const { operation } of change.requests) {
      const forbidden = this.#forbiddenScopes.get(operations[operation].scope);
      if (forbidden !== undefined) return forbidden;
    }
    if (this.#kindsWithFailedSuccession.has(change.kind) && givesUp(change))
      return kindOf(change.kind).succession?.successorFailed;
    const key = change.awaits?.find((one) => !this.#appliedKeys.has(one));
    if (key === undefined) return undefined;
    const awaited = [...this.#outcomes.keys()].find(({ apply }) => apply.key === key);
    const { address = key } = awaited ?? {};
    return awaited !== undefined && kindOf(awaited.kind).access !== undefined
      ? `not sent: ${address} was not granted what this change removes, which would violate safety.keep`
      : `not sent: ${address} must be changed first, and it was not`;
  }

  /** Notes failures that also apply to other requests. */
  #noteFailure(failure: ServerFailure): void {
    if (failure.kind === 'unauthorized') this.#stopReason = 'not sent: the credentials were refused (401)';
    if (failure.kind !== 'forbidden') return;
    this.#forbiddenScopes.set(
      failure.scope,
      `not sent: the credentials lack the scope ${failure.scope} (403)`,
    );
  }

  /** Whether another object of the kind was refused before, although the server protects only one. */
  #isSecondRefusal({ name, traits }: Kind, key: string): boolean {
    const first = this.#refusedObjects.get(name) ?? key;
    this.#refusedObjects.set(name, first);
    return traits[this.#options.profile.name].protectsObjects === 'one' && first !== key;
  }

  #settle(planned: Change, sent: Change, outcome: Outcome): undefined {
    this.#created.end(planned, outcome);
    if (takesOver(planned) && outcome.status !== 'applied') this.#kindsWithFailedSuccession.add(planned.kind);
    this.#outcomes.set(planned, outcome);
    if (outcome.status === 'applied') this.#appliedKeys.add(planned.apply.key);
    const recording = this.#record(planned, sent, outcome);
    recording.catch(() => {});
    this.#pendingRecords.push(recording);
    return undefined;
  }

  async #record({ address }: Change, sent: Change, outcome: Outcome): Promise<void> {
    await this.#options.recorder.settled(sent, outcome);
    const { status, error, ownValues = [] } = outcome;
    this.#options.progress.step({ address, status, error, ownValues });
  }

  /** Waits until a journal line is written. If that fails, nothing more is sent. */
  async #write(written: Promise<void>): Promise<void> {
    try {
      await written;
    } catch (failure) {
      this.#stopReason ??= hasProblem(failure, 'locked')
        ? LOCK_LOST
        : 'not sent: the journal could not be written';
      throw failure;
    }
  }
}

const RUN_ENDED_EARLY = 'not sent: the run ended early';
const LOCK_LOST = 'not sent: the lock of the state was lost';

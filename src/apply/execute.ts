import pLimit from 'p-limit';
import { allSettled, failuresIn } from '../base/concurrency.js';
import { ProblemsError } from '../base/problems.js';
import type { Progress } from '../base/progress.js';
import { kindOf, kinds } from '../kinds/index.js';
import type { Kind, KindName } from '../kinds/kind.js';
import { mayHarm } from '../kinds/traits.js';
import { driftSincePlan } from '../plan/drift-since-plan.js';
import { givesUp, takesOver } from '../plan/order.js';
import type { Change, Plan } from '../plan/plan.js';
import type { Recognise } from '../plan/profile-guard.js';
import type { Replan } from '../plan/replan.js';
import type { Permit } from '../server/exchange.js';
import { ServerFailure } from '../server/failures.js';
import { operationPath, operations, type Scope, type WriteRequest } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import type { Reader } from '../server/reader.js';
import { adviceFor, type Probed } from '../server/recognise.js';
import type { Writer } from '../server/writer.js';
import { Attempt, type Attempted, EXPIRED } from './attempt.js';
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
import type { Recorder } from './journal-recorder.js';
import { type Pause, readBackAll, readBackOne } from './read-back.js';
import type { Answers, ChangeResult } from './result.js';
import { isLost } from './run-lock.js';

/** Milliseconds after which something is no longer known to be as it was read. */
const FRESH = 30_000;
/** How often a change is planned anew where it waits too long each time. */
const ROUNDS = 5;

export interface ExecuteOptions {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly profile: Profile;
  readonly recorder: Recorder;
  /** What a request needs to leave; `begun` says that something of its change was sent before. */
  readonly permit: (begun: boolean) => Permit;
  readonly concurrency: number;
  readonly progress: Progress;
  /** Makes changes anew where time has passed, and for what an update left behind. */
  readonly replan: Replan;
  /** What was read before that is read again before anything is built on it; a time of `performance.now()`. */
  readonly notBefore?: number;
  /** Finds out with a GET which profile's server this is. */
  readonly recognise: Recognise;
  readonly pause?: Pause | undefined;
  /** Aborted where nothing new may be started. */
  readonly signal: AbortSignal;
}

/** What a run did, and what ended it early: a journal that couldn't be written, or a mistake of ours. */
export interface Executed {
  readonly results: readonly ChangeResult[];
  readonly answers: Answers;
  readonly fatal: unknown;
}

/**
 * Sends what the plan names, in its order, and tells for each change what became of it: a failure is a result,
 * not an exception. Ends when everything in flight has ended.
 */
export async function execute(plan: Plan, options: ExecuteOptions): Promise<Executed> {
  return await new Execution(options).run(plan.changes);
}

/** A change of the plan that is to be read back when the others of its kind are through. */
interface LeftOpen {
  readonly planned: Change;
  readonly attempt: Attempt;
  readonly open: Open;
}

class Execution {
  readonly #options: ExecuteOptions;
  readonly #outcomes = new Map<Change, Outcome>();
  readonly #forbidden = new Map<Scope, string>();
  /** Why nothing more of a kind may be sent. */
  readonly #harmful = new Map<KindName, string>();
  #stop: string | undefined;
  /** The number of tries so far, of each change that is read again before each try. */
  readonly #tried = new Map<Change, number>();
  /** The kinds of which the one that was to take over from another couldn't. */
  readonly #unsucceeded = new Set<KindName>();

  constructor(options: ExecuteOptions) {
    this.#options = options;
  }

  async run(changes: readonly Change[]): Promise<Executed> {
    const todo = changes.filter(({ action }) => action !== 'unchanged' && action !== 'blocked');
    const { progress, concurrency } = this.#options;
    let fatal: unknown;
    progress.phase('Applying', todo.length);
    for (const kind of kinds) {
      const level = todo.filter((change) => change.kind === kind.name);
      if (level.length === 0) continue;
      try {
        await this.#level(kind, level, kind.sequential ? 1 : concurrency);
      } catch (failure) {
        fatal ??= failure;
        this.#stop ??= NOT_SENT;
      }
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

  async #level(kind: Kind, changes: readonly Change[], concurrency: number): Promise<void> {
    const limit = pLimit(concurrency);
    const open: LeftOpen[] = [];
    const send = async (change: Change): Promise<void> => {
      const left = await this.#change(kind, change);
      if (left !== undefined) open.push(left);
    };
    const rest = [...changes];
    // On a server that isn't known for sure one goes alone, until an answer shows that the others would do no harm.
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
      await this.#conclude(kind, open);
    }
  }

  /** Sends one change; gives what is left open where the answers don't tell what became of it. */
  async #change(kind: Kind, planned: Change): Promise<LeftOpen | undefined> {
    const reason = this.#reasonToSkip(planned);
    if (reason !== undefined) return this.#skip(planned, reason);
    this.#options.progress.begin?.(planned.address);
    if (planned.action === 'adopt') {
      await this.#guard(() => this.#options.recorder.sending(planned, null, true));
      await this.#settle(planned, planned, { ...skipped(null), status: 'applied' });
      return undefined;
    }
    let since = Math.max(this.#options.notBefore ?? 0, performance.now() - FRESH);
    let begun: Change | undefined;
    for (let round = 1; round <= ROUNDS; ) {
      const tried = this.#tried.get(planned);
      const change = await this.#asItIsNow(planned, since);
      if (typeof change === 'string') return await this.#giveUp(planned, begun, change);
      const sent = await this.#sendOnce(kind, planned, change);
      if (sent !== EXPIRED) return sent;
      // What it was built on got too old while it waited, or a try failed: read it again.
      since = performance.now();
      begun = change;
      if (this.#tried.get(planned) === tried) round += 1;
    }
    return await this.#giveUp(planned, begun, 'not sent: what was read for it got too old each time');
  }

  /** Skips a change; a journal that has its beginning gets its end. */
  async #giveUp(planned: Change, begun: Change | undefined, reason: string): Promise<undefined> {
    if (begun === undefined) return this.#skip(planned, reason);
    return await this.#settle(planned, begun, skipped(reason));
  }

  /** When what a change is built on is too old; never where the server can't be asked. */
  #freshUntil(kind: Kind, planned: Change, change: Change): number {
    const { profile, replan } = this.#options;
    if (!kind.readable(profile)) return Number.POSITIVE_INFINITY;
    return (change === planned ? replan.observedAt : performance.now()) + FRESH;
  }

  /** Sends a change once, and brings it to its end unless that can wait for the others. */
  async #sendOnce(
    kind: Kind,
    planned: Change,
    change: Change,
  ): Promise<LeftOpen | undefined | typeof EXPIRED> {
    if (change.requests.length === 0) {
      await this.#guard(() => this.#options.recorder.sending(change, null, true));
    }
    return await this.#trying(planned, async (begun) => {
      const attempt = this.#attempt(kind, begun);
      const tried = this.#options.replan.carries(planned) ? (this.#tried.get(planned) ?? 0) : undefined;
      const sent = await attempt.send(change, this.#freshUntil(kind, planned, change), tried);
      if (tried !== undefined && attempt.tried > 0) this.#tried.set(planned, attempt.tried);
      if (sent === EXPIRED) return sent;
      if (!('failure' in sent)) return await this.#end(kind, planned, sent);
      // What may have lost something, or is to be sent again, can't wait for the others.
      if (kind.lost === undefined && sent.failure.expired === undefined) {
        return { planned, attempt, open: sent };
      }
      const ended = await attempt.conclude(sent, await readBackOne(kind, sent, this.#options));
      return ended === EXPIRED ? ended : await this.#end(kind, planned, ended);
    });
  }

  async #end(kind: Kind, planned: Change, ended: Attempted): Promise<undefined> {
    return await this.#settle(planned, ended.sent, await this.#beware(kind, planned, ended));
  }

  /** What could be left open is read back together. */
  async #conclude(kind: Kind, left: readonly LeftOpen[]): Promise<void> {
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
   * Where an answer looks like one of another profile's server, whose updates lose what they don't mention, nothing
   * more of this kind is sent; a mere error is made sure of with one GET, since other servers fail too. Gives the
   * outcome with what to do about it.
   */
  async #beware(
    kind: Kind,
    { address }: Change,
    { better, suspected, outcome }: Attempted,
  ): Promise<Outcome> {
    const told = better ?? suspected;
    if (told === undefined) return outcome;
    const stopped = this.#harmful.has(kind.name);
    const asked = better === undefined && !stopped ? (await this.#probe(kind)).kind : undefined;
    if (asked === 'plain') return outcome;
    const sure = better !== undefined || asked === 'recognised';
    const harms = kind.traits[told.name].unsafe === true;
    if (harms && !stopped && (sure || (outcome.httpStatus ?? 0) >= 500)) {
      this.#harmful.set(
        kind.name,
        `not sent: what came back about ${address} looks like a server of the profile ${told.name}; what to do is said there`,
      );
    }
    const marked = harms && sure ? { ...outcome, otherProfile: told.name } : outcome;
    // An answer says it itself.
    return better === undefined ? advised(marked, adviceFor(told)) : marked;
  }

  async #probe(kind: Kind): Promise<{ readonly kind: Probed['kind'] }> {
    return await this.#options.recognise(kind.scopes.write).catch(() => ({ kind: 'unclear' as const }));
  }

  #attempt(kind: Kind, begun: () => void): Attempt {
    const { recorder, replan } = this.#options;
    return new Attempt(kind, {
      ...this.#options,
      recorder: {
        sending: async (...line) => {
          await this.#guard(() => recorder.sending(...line));
          begun();
        },
        answered: (...line) => this.#guard(() => recorder.answered(...line)),
      },
      repair: replan.repair,
      onFailure: (failure) => this.#remember(failure, kind),
      onWithheld: (cause) => {
        this.#stop ??= isLost(cause) ? LOST : 'not sent: the lock of the state could not be confirmed';
        return `not sent: ${messageOf(cause)}`;
      },
    });
  }

  /** A change that something of ours failed at: nobody knows what became of it, unless nothing of it was sent. */
  async #trying<T>(planned: Change, work: (begun: () => void) => Promise<T>): Promise<T> {
    let begun = false;
    try {
      return await work(() => {
        begun = true;
      });
    } catch (failure) {
      if (begun && !this.#outcomes.has(planned)) this.#outcomes.set(planned, brokenOff(failure));
      throw failure;
    }
  }

  /**
   * The change built on what is there now, if it carries values that nobody declares, or was observed too long ago or before a question;
   * why it is skipped if it is no longer what the plan showed.
   */
  async #asItIsNow(planned: Change, since: number): Promise<Change | string> {
    const { replan } = this.#options;
    if (planned.requests.length === 0) return planned;
    if (replan.observedAt >= since && !replan.carries(planned)) return planned;
    let change: Change | undefined;
    try {
      change = await replan.again(planned, since);
    } catch (failure) {
      const failures = failuresIn(failure);
      if (!failures.every(isExpected)) throw failure;
      for (const one of failures) if (one instanceof ServerFailure) this.#remember(one, undefined);
      const why = failures.map(({ message }) => message).join('; ');
      return `not sent: what is there now could not be read: ${why}`;
    }
    if (change === undefined) return planned;
    const moved = driftSincePlan(planned, change);
    const other = change.requests.filter(
      (request) => !planned.requests.some((named) => isSame(named, request)),
    );
    if (moved.length === 0 && other.length > 0) {
      const names = other.map(({ operation }) => operations[operation].title).join(', ');
      return `not sent, stale: what is there now takes a request that the plan did not name (${names}); plan again, and review it`;
    }
    // What the manifests manage is the plan's word: undoing manages nothing.
    if (moved.length === 0) return { ...change, apply: { ...change.apply, managed: planned.apply.managed } };
    return `not sent, stale: it was changed on the server since the plan was made (${moved.join(', ')}); plan again, and review it`;
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
    if (this.#unsucceeded.has(change.kind) && givesUp(change)) return kindOf(change.kind).succession?.failed;
    return undefined;
  }

  /** What one request met that the others would meet too. */
  #remember(failure: ServerFailure, written: Kind | undefined): void {
    if (failure.kind === 'unauthorized') this.#stop = 'not sent: the credentials were refused (401)';
    if (failure.kind !== 'forbidden') return;
    // It may be this one object that is protected.
    if (written !== undefined && written.traits[this.#options.profile.name].protects === true) return;
    this.#forbidden.set(failure.scope, `not sent: the credentials lack the scope ${failure.scope} (403)`);
  }

  async #settle(planned: Change, sent: Change, outcome: Outcome): Promise<undefined> {
    if (takesOver(planned) && outcome.status !== 'applied') this.#unsucceeded.add(planned.kind);
    this.#outcomes.set(planned, outcome);
    await this.#guard(() => this.#options.recorder.settled(sent, outcome));
    const { status, error, ownValues = [] } = outcome;
    this.#options.progress.step({ address: planned.address, status, error, ownValues });
  }

  /** What can't be recorded stops the run: nothing more is sent that nobody would know of. */
  async #guard(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (failure) {
      this.#stop ??= isLost(failure) ? LOST : 'not sent: the journal could not be written';
      throw failure;
    }
  }
}

function isSame(one: WriteRequest, other: WriteRequest): boolean {
  const path = ({ operation, params }: WriteRequest): string => operationPath(operation, params);
  return one.operation === other.operation && path(one) === path(other);
}

/** What reading can throw without anything being wrong with us. */
function isExpected(failure: unknown): failure is ServerFailure | ProblemsError {
  return failure instanceof ServerFailure || failure instanceof ProblemsError;
}

const NOT_SENT = 'not sent: the run ended early';
const LOST = 'not sent: the lock of the state was lost';

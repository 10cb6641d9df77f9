import pLimit from 'p-limit';
import { asElements, contrast, markSecrets, matchSets, value } from '../kinds/fields.js';
import { kinds } from '../kinds/index.js';
import type { Kind, Live } from '../kinds/kind.js';
import { shownFields } from '../kinds/rules.js';
import { observe } from '../plan/observe.js';
import { givesUpDefault, isToBeDefault } from '../plan/order.js';
import type { Change, Plan } from '../plan/plan.js';
import type { Progress } from '../progress.js';
import type { Reader, Writer } from '../server/client.js';
import { ServerFailure } from '../server/failures.js';
import { operations, type Scope, type WriteRequest } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import { adviceFor, betterProfile, betterProfileByError, betterProfileByReset } from '../server/recognise.js';
import { settle } from '../settle.js';
import type { Fields, Value } from '../values.js';
import type { ChangeResult, Status } from './result.js';
import { otherObject, verify } from './verify.js';

/** Told before and after each request; what it promises must be on the disk when it resolves. */
export interface Recorder {
  /** Before a request (null for an adoption, which sends nothing). A rejection keeps it from being sent. */
  sending(change: Change, request: WriteRequest | null, last: boolean): Promise<void>;
  /** After the answer to a request that another one of the same change follows. */
  answered(change: Change, httpStatus: number, attempts: number): Promise<void>;
  /** After a change's last answer, when it is known what became of it. */
  settled(change: Change, outcome: Outcome): Promise<void>;
}

/** What became of one change. */
export interface Outcome {
  readonly status: Status;
  readonly httpStatus: number | null;
  readonly attempts: number;
  /** Whether it may have been done although nobody knows. */
  readonly ambiguous: boolean;
  /** What the server showed afterwards; undefined where it showed nothing usable. */
  readonly after: Fields | undefined;
  readonly unverified: readonly string[];
  readonly error: string | null;
  /** What a person should know although it went well. */
  readonly notes?: readonly string[];
}

export interface ExecuteOptions {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly profile: Profile;
  readonly recorder: Recorder;
  readonly concurrency: number;
  readonly progress: Progress;
  /** Aborted where nothing new may be started. */
  readonly signal: AbortSignal;
}

/** What a run did, and what ended it early: a journal that couldn't be written, or a mistake of ours. */
export interface Executed {
  readonly results: readonly ChangeResult[];
  readonly fatal: unknown;
}

/**
 * Sends what the plan names, in its order, and tells for each change what became of it: a failure is a result,
 * not an exception. Ends when everything in flight has ended.
 */
export async function execute(plan: Plan, options: ExecuteOptions): Promise<Executed> {
  return await new Execution(options).run(plan.changes);
}

/** A change whose outcome has to be read back. */
interface Open {
  readonly change: Change;
  readonly failure: OpenFailure;
}

/** Why the answer doesn't tell what became of a change. */
interface OpenFailure {
  readonly message: string;
  readonly httpStatus: number | null;
  readonly attempts: number;
  /** Whether the server answered 2xx, so that keeping another value is not a failure but a difference. */
  readonly answered: boolean;
}

class Execution {
  readonly #options: ExecuteOptions;
  readonly #outcomes = new Map<Change, Outcome>();
  readonly #forbidden = new Map<Scope, string>();
  #stop: string | undefined;
  #defaultFailed = false;

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
    progress.end();
    return {
      results: todo.map((change) => asResult(change, this.#outcomes.get(change) ?? skipped(NOT_SENT))),
      fatal,
    };
  }

  async #level(kind: Kind, changes: readonly Change[], concurrency: number): Promise<void> {
    const limit = pLimit(concurrency);
    const open: Open[] = [];
    try {
      await settle(
        changes.map((change) =>
          limit(async () => {
            const left = await this.#change(kind, change);
            if (left !== undefined) open.push({ change, failure: left });
          }),
        ),
      );
    } finally {
      if (open.length > 0) await this.#readBack(kind, open);
    }
  }

  /** Sends one change; gives what is left open where the answers don't tell what became of it. */
  async #change(kind: Kind, change: Change): Promise<OpenFailure | undefined> {
    const reason = this.#reasonToSkip(change);
    if (reason !== undefined) {
      this.#outcomes.set(change, skipped(reason));
      return undefined;
    }
    if (change.requests.length === 0) {
      await this.#guard(() => this.#options.recorder.sending(change, null, true));
      if (change.action === 'update') return BY_ANOTHER;
      await this.#settle(change, { ...skipped(null), status: 'applied' });
      return undefined;
    }
    let attempts = 0;
    let answer: { status: number; data: Fields } = { status: 0, data: {} };
    for (const [index, request] of change.requests.entries()) {
      const last = index === change.requests.length - 1;
      await this.#guard(() => this.#options.recorder.sending(change, request, last));
      try {
        const sent = await this.#options.writer.send(request);
        attempts += sent.attempts;
        const shown = shownFields(kind, sent.data, this.#options.profile);
        answer = { status: sent.status, data: markSecrets(kind.fields, shown) };
        if (!last)
          await this.#guard(() => this.#options.recorder.answered(change, sent.status, sent.attempts));
      } catch (failure) {
        if (!(failure instanceof ServerFailure)) {
          this.#outcomes.set(change, closed(unexpected(failure, attempts), true));
          throw failure;
        }
        return await this.#failed(kind, change, failure, {
          attempts: attempts + failure.attempts,
          begun: index > 0,
        });
      }
    }
    return await this.#answered(kind, change, answer, attempts);
  }

  #reasonToSkip(change: Change): string | undefined {
    if (this.#stop !== undefined) return this.#stop;
    if (this.#options.signal.aborted) return 'interrupted before it was sent';
    for (const { operation } of change.requests) {
      const forbidden = this.#forbidden.get(operations[operation].scope);
      if (forbidden !== undefined) return forbidden;
    }
    if (this.#defaultFailed && givesUpDefault(change)) return 'the new default key pair could not be set';
    return undefined;
  }

  async #failed(
    kind: Kind,
    change: Change,
    failure: ServerFailure,
    { attempts, begun }: { attempts: number; begun: boolean },
  ): Promise<OpenFailure | undefined> {
    const { profile } = this.#options;
    if (failure.kind === 'unauthorized') this.#stop = 'not sent: the credentials were refused (401)';
    const isOwn = failure.kind === 'forbidden' && profile.protects.includes(change.kind);
    if (failure.kind === 'forbidden' && !isOwn) {
      this.#forbidden.set(failure.scope, `not sent: the credentials lack the scope ${failure.scope} (403)`);
    }
    const ambiguous = failure.open;
    const better = betterProfileByError(profile, failure);
    const remarks = [
      ...(isOwn ? [`or this ${kind.noun} is protected, as the token's own is`] : []),
      ...(better === undefined ? [] : [adviceFor(better)]),
    ];
    const open = {
      message: [failure.message, ...remarks].join('; '),
      httpStatus: failure.status,
      attempts,
      answered: failure.kind === 'answer',
    };
    const harmful = failure.kind === 'refused' && profile.piecemeal.includes(change.kind);
    if ((ambiguous || harmful || begun) && kind.readable(profile)) return open;
    await this.#settle(change, closed(open, ambiguous));
    return undefined;
  }

  async #answered(
    kind: Kind,
    change: Change,
    { status, data }: { status: number; data: Fields },
    attempts: number,
  ): Promise<OpenFailure | undefined> {
    const other = otherObject(change.apply.identity, data);
    if (other !== undefined) {
      const open = { message: other, httpStatus: status, attempts, answered: true };
      if (kind.readable(this.#options.profile) && change.action !== 'regenerate') return open;
      await this.#settle(change, closed(open, true));
      return undefined;
    }
    const { different, unverified } = check(kind, change, data);
    const errors = [
      ...(different.length > 0
        ? [`the server answered ${status} and kept another value: ${different.join('; ')}`]
        : []),
      ...otherServer(kind, change, data, this.#options.profile),
    ];
    await this.#settle(change, {
      status: errors.length > 0 ? 'not_converged' : 'applied',
      httpStatus: status,
      attempts,
      ambiguous: false,
      after: data,
      unverified,
      error: errors.length > 0 ? errors.join('; ') : null,
      notes: notesOf(change, data),
    });
    return undefined;
  }

  /** Asks the server what became of the changes whose answers didn't tell. */
  async #readBack(kind: Kind, open: readonly Open[]): Promise<void> {
    const { reader, profile, concurrency } = this.#options;
    const objects = open.map(({ change, failure }) => ({
      kind: kind.name,
      identity: change.apply.identity,
      change,
      failure,
    }));
    const quiet = { phase: () => {}, step: () => {}, end: () => {} };
    let live: ReadonlyMap<(typeof objects)[number], Live> = new Map();
    try {
      live = (await observe(objects, [], { reader, profile, concurrency, progress: quiet })).live;
    } catch {
      // What can't be read back stays open: the result says so.
    }
    await settle(
      objects.map((object) =>
        this.#settle(object.change, readBackOutcome(kind, object.change, object.failure, live.get(object))),
      ),
    );
  }

  async #settle(change: Change, outcome: Outcome): Promise<void> {
    if (isToBeDefault(change) && outcome.status !== 'applied') this.#defaultFailed = true;
    this.#outcomes.set(change, outcome);
    await this.#guard(() => this.#options.recorder.settled(change, outcome));
    this.#options.progress.step();
  }

  /** What can't be recorded stops the run: nothing more is sent that nobody would know of. */
  async #guard(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (failure) {
      this.#stop ??= 'not sent: the journal could not be written';
      throw failure;
    }
  }
}

/** The open end of a change that comes about by another one. */
const BY_ANOTHER: OpenFailure = {
  message: 'nothing was sent, since the server does it with another change',
  httpStatus: null,
  attempts: 0,
  answered: true,
};

const NOT_SENT = 'not sent: the run ended early';

function unexpected(failure: unknown, attempts: number): OpenFailure {
  const message = failure instanceof Error ? failure.message : String(failure);
  return { message, httpStatus: null, attempts, answered: true };
}

function skipped(error: string | null): Outcome {
  return {
    status: 'skipped',
    httpStatus: null,
    attempts: 0,
    ambiguous: false,
    after: undefined,
    unverified: [],
    error,
  };
}

/** The outcome of a change that the server failed or left open, where it can't be asked again. */
function closed(open: OpenFailure, ambiguous: boolean): Outcome {
  return {
    status: ambiguous ? 'unknown' : 'failed',
    httpStatus: open.httpStatus,
    attempts: open.attempts,
    ambiguous,
    after: undefined,
    unverified: [],
    error: ambiguous ? `${open.message}; what the server did is not known` : open.message,
  };
}

function check(
  kind: Kind,
  change: Change,
  answer: Fields,
): { different: readonly string[]; unverified: readonly string[] } {
  if (change.action === 'update') return verify(kind, change.apply.expected, answer);
  const missing = change.action === 'regenerate' && typeof answer.did !== 'string';
  return { different: [], unverified: missing ? ['did'] : [] };
}

/** What is wrong where the answer to an update is one of another profile's server, which loses what isn't sent. */
function otherServer(kind: Kind, change: Change, answer: Fields, profile: Profile): string[] {
  if (change.action !== 'update') return [];
  const { before, expected } = change.apply;
  const better =
    betterProfile(profile, kind.name, answer) ??
    betterProfileByReset(profile, kind.name, change.apply, answer);
  if (better === undefined) return [];
  const unsent = Object.fromEntries(
    Object.entries(before).filter(([field]) => !Object.hasOwn(expected, field) && field in kind.fields),
  );
  const { different } = verify(kind, unsent, answer);
  const losesSilently = better.signs?.answers[kind.name]?.losesSilently === true;
  const seen = verify(kind, expected, answer).different.length > 0;
  if (!losesSilently && !seen) return [];
  return [...different.map((what) => `${what}, although it was not sent`), adviceFor(better)];
}

function notesOf(change: Change, answer: Fields): string[] {
  const { did } = change.apply.before;
  if (change.action !== 'regenerate' || typeof did !== 'string' || did !== answer.did) return [];
  return [
    `the DID came out the same (${did}): the server derives it from the client's key, which is the same`,
  ];
}

/** What an object had before, and has neither kept nor got otherwise as it was asked: a list, a body, a value. */
function losses(kind: Kind, { apply: { before, expected } }: Change, live: Live): string {
  const isAs = (field: string, wanted: Value | undefined): boolean =>
    wanted !== undefined &&
    contrast(kind.fields[field] ?? value, field, wanted, live.fields[field]).every(
      ({ verdict }) => verdict !== 'different',
    );
  const lost = Object.keys(kind.fields).filter(
    (field) =>
      before[field] != null && !isAs(field, before[field]) && !isAs(field, expected[field]) && field !== 'id',
  );
  if (lost.length === 0) return '';
  const named = lost.map((field) => {
    const elements = matchSets(asElements(before[field] ?? null), asElements(live.fields[field] ?? null));
    const names = elements.added.map(({ name, id }) => JSON.stringify(name ?? id));
    return names.length === 0 ? field : `${field} (${names.join(', ')})`;
  });
  return `; lost: ${named.join(', ')}, which idops undo of this run puts back`;
}

function readBackOutcome(kind: Kind, change: Change, open: OpenFailure, live: Live | undefined): Outcome {
  const base = { httpStatus: open.httpStatus, attempts: open.attempts, unverified: [] };
  if (live === undefined) {
    return {
      ...base,
      status: 'unknown',
      ambiguous: true,
      after: undefined,
      error: `${open.message}; it could not be read back, so what the server did is not known`,
    };
  }
  if (change.action === 'regenerate') return regeneratedOutcome(change, open, live);
  if (change.action === 'delete') {
    const gone = !live.exists || typeof live.fields.id !== 'string';
    return {
      ...base,
      status: gone ? 'applied' : 'failed',
      ambiguous: false,
      after: live.fields,
      error: gone ? null : `${open.message}; read back: it is still there`,
    };
  }
  const { different, unverified } = verify(kind, change.apply.expected, live.fields);
  if (!live.exists || different.length > 0) {
    const found = live.exists ? different.join('; ') : 'it is not there';
    return {
      ...base,
      status: open.answered ? 'not_converged' : 'failed',
      ambiguous: false,
      after: live.fields,
      error: `${open.message}; read back: ${found}${losses(kind, change, live)}`,
    };
  }
  return {
    ...base,
    status: unverified.length === 0 ? 'applied' : 'unknown',
    ambiguous: unverified.length > 0,
    after: live.fields,
    error:
      unverified.length === 0
        ? null
        : `${open.message}; read back: ${unverified.join(', ')} could not be seen, so what the server did is not known`,
  };
}

/** A DID that is another one now was regenerated; one that is the same may have come out the same. */
function regeneratedOutcome(change: Change, open: OpenFailure, live: Live): Outcome {
  const before = change.apply.before.did;
  const now = live.fields.did;
  if (typeof before !== 'string' || typeof now !== 'string' || before === now) {
    return closed(open, true);
  }
  return {
    status: 'applied',
    httpStatus: open.httpStatus,
    attempts: open.attempts,
    ambiguous: false,
    after: live.fields,
    unverified: [],
    error: null,
    notes: [`${open.message}; read back: the DID is another one now`],
  };
}

function asResult({ address, action }: Change, outcome: Outcome): ChangeResult {
  const { status, httpStatus, attempts, unverified, error, notes = [] } = outcome;
  return {
    address,
    action,
    status,
    httpStatus,
    attempts,
    unverified,
    error,
    ...(notes.length === 0 ? {} : { notes }),
  };
}

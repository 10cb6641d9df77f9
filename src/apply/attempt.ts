import { assign, type Fields, filterValues } from '../base/values.js';
import { kindOf } from '../kinds/index.js';
import type { Kind, Live } from '../kinds/kind.js';
import { describeLoss, observedLoss } from '../kinds/loss.js';
import { listRead } from '../kinds/references.js';
import { answerFields } from '../kinds/rules.js';
import { betterProfile, betterProfileByReset, mayBeProtected } from '../kinds/traits.js';
import type { Change } from '../plan/plan.js';
import type { Replan } from '../plan/replan.js';
import type { Writer } from '../server/client.js';
import type { Permit } from '../server/exchange.js';
import { Expired, ServerFailure, Withheld } from '../server/failures.js';
import type { Profile } from '../server/profiles.js';
import type { Reader } from '../server/reader.js';
import { adviceFor, betterProfileByError } from '../server/recognise.js';
import {
  NO_REQUEST,
  type OpenChange,
  type OpenFailure,
  type Outcome,
  openOutcome,
  outcomeWithoutReadBack,
  repairedOutcome,
  skippedOutcome,
  UNUSABLE_ANSWER,
} from './attempt-outcome.js';
import type { Recorder } from './journal-recorder.js';
import { intentOf, type Judgement, judge } from './outcome.js';
import { type Pause, readBackOne } from './read-back.js';
import { emptiedFields, otherObjectError, type Verification, verify, wrongNames } from './verify.js';

export interface SendOptions {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly profile: Profile;
  readonly recorder: Recorder;
  /** Permits a request to be sent; `begun` means that a request of the same change was sent before. */
  readonly permit: (begun: boolean) => Permit;
  /** Plans single changes again: after a wait, and to repair what an update broke. */
  readonly replan: Replan;
  readonly pause?: Pause | undefined;
}

export interface AttemptOptions extends SendOptions {
  /** Called with each failure of the server, before anything else is sent. */
  readonly onFailure: (failure: ServerFailure, change: Change, isProtected: boolean) => void;
  /** Called if a permit could not be confirmed, before anything else is sent; returns the reason for messages. */
  readonly onWithheld: (cause: unknown) => string;
}

/** Nothing of the change was done and its observation expired: it must be planned again. */
export const EXPIRED = 'expired';

/** The outcome of a change, and the change as it was sent last. */
export interface AttemptResult {
  readonly outcome: Outcome;
  readonly sent: Change;
  /** The profile that the answer reveals, if it is another one. */
  readonly betterProfile: Profile | undefined;
  /** The profile that an error hints at; other servers may answer the same. */
  readonly suspectedProfile: Profile | undefined;
}

type SendResult =
  | { readonly status: number; readonly data: Fields; readonly attempts: number }
  | { readonly open: OpenFailure }
  | { readonly closed: Outcome }
  | { readonly expired: true };

/** Attempts at a planned change: send it, read it back if the outcome is open, repair it if something was lost. */
export class Attempt {
  readonly planned: Change;
  readonly kind: Kind;
  readonly #options: AttemptOptions;
  #betterProfile: Profile | undefined;
  #suspectedProfile: Profile | undefined;
  /** The number of attempts so far, if the change must be planned again. */
  earlierAttempts: number | undefined;
  /** Whether the last call of `send` may have sent a request. */
  begun = false;

  constructor(planned: Change, options: AttemptOptions) {
    this.planned = planned;
    this.kind = kindOf(planned.kind);
    this.#options = options;
  }

  /**
   * Sends the requests of the change as it is planned now: only once, if it must be planned again before each attempt. Returns an open
   * change if the answers leave the outcome unknown. A failure of the server is an outcome; errors of the recorder are thrown.
   */
  async send(change: Change, freshUntil: number): Promise<AttemptResult | OpenChange | typeof EXPIRED> {
    this.begun = false;
    this.#betterProfile = undefined;
    this.#suspectedProfile = undefined;
    const carries = this.#options.replan.carries(this.planned);
    const sent: SendResult =
      change.requests.length === 0
        ? { open: NO_REQUEST }
        : await this.#send(change, freshUntil, this.earlierAttempts ?? (carries ? 0 : undefined));
    if ('expired' in sent) return EXPIRED;
    if ('closed' in sent) return this.#result(sent.closed, change);
    if ('open' in sent) return { change, failure: sent.open };
    const { action, apply } = change;
    const other = otherObjectError(apply.identity, sent.data, action === 'create');
    if (other === undefined) return this.#result(this.#judgeAnswer(change, sent), change);
    const failure = { ...UNUSABLE_ANSWER, message: other, httpStatus: sent.status, attempts: sent.attempts };
    if (this.#readable && action !== 'regenerate') return { change, failure };
    return this.#result(outcomeWithoutReadBack(failure, true), change);
  }

  /** The outcome of an open change, after it was read back; `live` is undefined if it can't be read. */
  async conclude(
    { change, failure }: OpenChange,
    live: Live | undefined,
  ): Promise<AttemptResult | typeof EXPIRED> {
    const judgement = judge(this.kind, intentOf(change), live);
    const hadNoEffect = !judgement.anyDone && Object.keys(judgement.lost).length === 0;
    if (failure.expired && live !== undefined && judgement.verdict !== 'done' && hadNoEffect) return EXPIRED;
    if (live === undefined || Object.keys(judgement.lost).length === 0) {
      return this.#result(openOutcome(this.kind, change, failure, judgement, live), change);
    }
    return await this.#repair(change, failure, judgement, live);
  }

  #result(outcome: Outcome, sent: Change): AttemptResult {
    return { outcome, sent, betterProfile: this.#betterProfile, suspectedProfile: this.#suspectedProfile };
  }

  get #readable(): boolean {
    return this.kind.readable(this.#options.profile);
  }

  async #send(change: Change, freshUntil?: number, earlierAttempts?: number): Promise<SendResult> {
    const { recorder, writer, profile, permit } = this.#options;
    let attempts = 0;
    let last: { status: number; data: Fields } = { status: 0, data: {} };
    for (const [index, request] of change.requests.entries()) {
      const isLast = index === change.requests.length - 1;
      await recorder.sending(change, request, isLast);
      this.begun = true;
      try {
        // A change with an earlier request is finished, however old its observation.
        const fresh = index === 0 ? freshUntil : undefined;
        const before = index === 0 ? earlierAttempts : undefined;
        const answer = await writer.send(request, permit(fresh === undefined), fresh, before);
        attempts += answer.attempts;
        const { fields } = answerFields(this.kind, answer.data, profile);
        last = { status: answer.status, data: fields };
        if (!isLast) await recorder.answered(change, answer.status, answer.attempts);
      } catch (failure) {
        if (failure instanceof Expired) {
          if (failure.failure === undefined) return { expired: true };
          const { failure: last } = failure;
          if (last.attempts > 0) this.earlierAttempts = last.attempts;
          const result = this.#handleFailure(change, last, attempts + last.attempts, false);
          return 'open' in result ? { open: { ...result.open, expired: true } } : { expired: true };
        }
        if (failure instanceof Withheld) return this.#handleWithheld(failure, attempts, index > 0);
        if (!(failure instanceof ServerFailure)) throw failure;
        return this.#handleFailure(change, failure, attempts + failure.attempts, index > 0);
      }
    }
    return assign(last, { attempts });
  }

  #handleFailure(change: Change, failure: ServerFailure, attempts: number, begun: boolean): SendResult {
    const { profile, onFailure } = this.#options;
    const { [profile.name]: traits } = this.kind.traits;
    const isProtected =
      failure.kind === 'forbidden' && mayBeProtected(traits, change.action, change.apply.before);
    onFailure(failure, change, isProtected);
    this.#suspectedProfile ??= betterProfileByError(profile, failure);
    const notes = isProtected ? [`or this ${this.kind.noun} is protected, like the token's own`] : [];
    const ambiguous = failure.open;
    const refused =
      failure.kind === 'refused' || failure.kind === 'not-found' || failure.kind === 'forbidden';
    const open = {
      message: [failure.message, ...notes].join('; '),
      httpStatus: failure.status,
      attempts,
      answered: failure.kind === 'answer',
      refused,
      inProgress: failure.kind === 'lost' || failure.doubt === true,
    };
    const mayBePartial = failure.kind === 'refused' && this.kind.traits[profile.name].notAtomic === true;
    if ((ambiguous || mayBePartial || begun) && this.#readable) return { open };
    return { closed: outcomeWithoutReadBack(open, ambiguous) };
  }

  /** Ends a change if no further request of it may be sent. If earlier ones were sent, it can be read back. */
  #handleWithheld({ failure, cause }: Withheld, before: number, begun: boolean): SendResult {
    const why = this.#options.onWithheld(cause);
    const attempts = before + (failure?.attempts ?? 0);
    const inProgress = failure?.open === true;
    if (!inProgress && !begun) return { closed: { ...skippedOutcome(why), attempts } };
    const message = failure === undefined ? why : `${failure.message}; ${why}`;
    const httpStatus = failure?.status ?? null;
    const open = { ...UNUSABLE_ANSWER, message, httpStatus, attempts, answered: false, inProgress };
    return this.#readable ? { open } : { closed: outcomeWithoutReadBack(open, true) };
  }

  #judgeAnswer(change: Change, { status, data, attempts }: Extract<SendResult, { data: Fields }>): Outcome {
    const { regeneration } = this.kind;
    const isRegenerated = change.action === 'regenerate' && regeneration !== undefined;
    const { [regeneration?.field ?? '']: before } = change.apply.before;
    const { [regeneration?.field ?? '']: now } = data;
    const { different, values, unverified }: Verification =
      change.action === 'update' || change.action === 'create'
        ? verify(this.kind, change.apply.expected, data)
        : {
            different: [],
            values: [],
            unverified: isRegenerated && typeof now !== 'string' ? [regeneration.field] : [],
          };
    const keptValue = `the server answered ${status} and kept another value: ${different.join('; ')}`;
    const errors = [
      ...(different.length > 0 ? [keptValue] : []),
      // If the server lists scopes, the plan has checked their names.
      ...(listRead('scopes', this.#options.profile) === undefined
        ? wrongNames(this.kind, change.apply.expected, data).map(({ sentence }) => sentence)
        : []),
      ...this.#otherProfileErrors(change, data),
    ];
    const hasErrors = errors.length > 0;
    return {
      status: hasErrors ? 'not_converged' : 'applied',
      httpStatus: status,
      attempts,
      ambiguous: false,
      after: data,
      unverified,
      error: hasErrors ? errors.join('; ') : null,
      ownValues: values,
      notes:
        isRegenerated && typeof before === 'string' && before === now
          ? [regeneration.unchangedMessage(before)]
          : [],
    };
  }

  /** The errors if the answer to an update shows the server of another profile, which resets fields that aren't sent. */
  #otherProfileErrors(change: Change, answer: Fields): string[] {
    const { profile } = this.#options;
    if (change.action !== 'update') return [];
    const { before, expected } = change.apply;
    const kind = this.kind;
    const better =
      betterProfile(profile, kind, answer) ?? betterProfileByReset(profile, kind, change.apply, answer);
    if (better === undefined) return [];
    this.#betterProfile ??= better;
    const isUnsent = (field: string) => !Object.hasOwn(expected, field) && field in kind.fields;
    const unsent = filterValues(before, (_, field) => isUnsent(field));
    const { different } = verify(kind, unsent, answer);
    const { signs, resetUnlessSent = [] } = kind.traits[better.name];
    const losesSilently = signs?.losesSilently === true;
    const hasDifference = verify(kind, expected, answer).different.length > 0;
    if (!losesSilently && !hasDifference) return [];
    const empty = emptiedFields(resetUnlessSent, change.apply, answer);
    return [
      ...different.map((what) => `${what}, although it was not sent`),
      ...(empty.length === 0
        ? []
        : [
            `the answer shows ${empty.join(', ')}, which were not sent: any earlier values are lost, and idops does not know them`,
          ]),
      adviceFor(better),
    ];
  }

  /** Sends the declared values again, unless the server refused them. If that fails too, sends the values from before the update. */
  async #repair(change: Change, open: OpenFailure, judgement: Judgement, live: Live): Promise<AttemptResult> {
    const { replan } = this.#options;
    const names = describeLoss(judgement.lost);
    let current = { judgement, live };
    let { attempts } = open;
    let sent = change;
    for (const aim of open.refused ? (['before'] as const) : (['asked', 'before'] as const)) {
      const restore = observedLoss('', current.judgement.lost, current.live.fields);
      const repair = replan.repair(change, restore, current.live, aim);
      if (repair === undefined) continue;
      sent = repair;
      const sentRepair = await this.#send(repair);
      const answered =
        'data' in sentRepair && otherObjectError(change.apply.identity, sentRepair.data) === undefined;
      attempts += attemptsOf(sentRepair);
      const now = answered
        ? { exists: true, identity: current.live.identity, fields: sentRepair.data }
        : await readBackOne(
            this.kind,
            { change: repair, failure: 'open' in sentRepair ? sentRepair.open : open },
            this.#options,
          );
      const repairedJudgement = judge(
        this.kind,
        { ...intentOf(change), expected: repair.apply.expected, byMember: undefined },
        now,
      );
      const total = { ...open, attempts };
      if (now === undefined)
        return this.#result(openOutcome(this.kind, change, total, repairedJudgement, now), repair);
      if (repairedJudgement.verdict === 'done')
        return this.#result(repairedOutcome(aim, total, names, now.fields), repair);
      // The error is about the original change, not about its repair.
      current = {
        judgement: { ...judge(this.kind, intentOf(change), now), lost: repairedJudgement.lost },
        live: now,
      };
      if (Object.keys(current.judgement.lost).length === 0) break;
    }
    const total = { ...open, attempts };
    return this.#result(openOutcome(this.kind, change, total, current.judgement, current.live), sent);
  }
}

function attemptsOf(sent: SendResult): number {
  if ('data' in sent) return sent.attempts;
  if ('open' in sent) return sent.open.attempts;
  return 'closed' in sent ? sent.closed.attempts : 0;
}

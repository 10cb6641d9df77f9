import { assign, type Fields } from '../base/values.js';
import type { Kind, Live } from '../kinds/kind.js';
import { namesOfLost, seenLoss } from '../kinds/loss.js';
import { listRead } from '../kinds/references.js';
import { shownFields } from '../kinds/rules.js';
import { betterProfile, betterProfileByReset } from '../kinds/traits.js';
import type { Change } from '../plan/plan.js';
import type { Replan } from '../plan/replan.js';
import type { Writer } from '../server/client.js';
import type { Permit } from '../server/exchange.js';
import { Expired, ServerFailure, Withheld } from '../server/failures.js';
import type { Profile } from '../server/profiles.js';
import type { Reader } from '../server/reader.js';
import { adviceFor, betterProfileByError } from '../server/recognise.js';
import {
  BY_ANOTHER,
  closed,
  NOTHING_KNOWN,
  type Open,
  type OpenFailure,
  type Outcome,
  openOutcome,
  repaired,
  skipped,
} from './attempt-outcome.js';
import type { Recorder } from './journal-recorder.js';
import { aimOf, type Judgement, judge } from './outcome.js';
import { type Pause, readBackOne } from './read-back.js';
import { emptied, misnamed, otherObject, type Verification, verify } from './verify.js';

export interface SendOptions {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly profile: Profile;
  readonly recorder: Recorder;
  /** Permits a request to be sent; `begun` says that a request of the same change was sent before. */
  readonly permit: (begun: boolean) => Permit;
  /** Plans single changes again: after a wait, and to repair what an update broke. */
  readonly replan: Replan;
  readonly pause?: Pause | undefined;
}

export interface AttemptOptions extends SendOptions {
  /** Called with each failure of the server, before anything else is sent. */
  readonly onFailure: (failure: ServerFailure) => void;
  /** Called if a permit could not be confirmed, before anything else is sent; gives the reason in words. */
  readonly onWithheld: (cause: unknown) => string;
}

/** Nothing of the change was done and its observation expired: it has to be planned again. */
export const EXPIRED = 'expired';

/** The outcome of a change, and the change as it was sent last. */
export interface Attempted {
  readonly outcome: Outcome;
  readonly sent: Change;
  /** The profile that the answer gives away, if it is another one. */
  readonly better: Profile | undefined;
  /** The profile that an error hints at; other servers may answer the same. */
  readonly suspected: Profile | undefined;
}

type Sent =
  | { readonly status: number; readonly data: Fields; readonly attempts: number }
  | { readonly open: OpenFailure }
  | { readonly closed: Outcome }
  | { readonly expired: true };

/** One attempt at a change: send it, read it back if the outcome is open, repair it if something was lost. */
export class Attempt {
  readonly #kind: Kind;
  readonly #options: AttemptOptions;
  #better: Profile | undefined;
  #suspected: Profile | undefined;
  /** The number of tries so far, if the change has to be planned again. */
  tried = 0;
  /** Whether a request may have been sent. */
  begun = false;

  constructor(kind: Kind, options: AttemptOptions) {
    this.#kind = kind;
    this.#options = options;
  }

  /**
   * Sends the requests of a change. Gives it back as open if the answers leave its outcome unknown. With `tried`, the number of earlier tries,
   * it is tried only once more. A failure of the server is an outcome; what the recorder throws is thrown.
   */
  async send(change: Change, freshUntil: number, tried?: number): Promise<Attempted | Open | typeof EXPIRED> {
    const sent: Sent =
      change.requests.length === 0 ? { open: BY_ANOTHER } : await this.#send(change, freshUntil, tried);
    if ('expired' in sent) return EXPIRED;
    if ('closed' in sent) return this.#ended(sent.closed, change);
    if ('open' in sent) return { change, failure: sent.open };
    const other = otherObject(change.apply.identity, sent.data);
    if (other === undefined) return this.#ended(this.#answered(change, sent), change);
    const failure = { ...NOTHING_KNOWN, message: other, httpStatus: sent.status, attempts: sent.attempts };
    if (this.#readable && change.action !== 'regenerate') return { change, failure };
    return this.#ended(closed(failure, true), change);
  }

  /** The outcome of an open change, after it was read back; `live` is undefined if it can't be read. */
  async conclude({ change, failure }: Open, live: Live | undefined): Promise<Attempted | typeof EXPIRED> {
    const judgement = judge(this.#kind, aimOf(change), live);
    // Whatever the server shows, nothing of it comes from this change.
    const untouched = !judgement.begun && Object.keys(judgement.lost).length === 0;
    if (failure.expired && live !== undefined && judgement.verdict !== 'done' && untouched) return EXPIRED;
    if (live === undefined || Object.keys(judgement.lost).length === 0) {
      return this.#ended(openOutcome(this.#kind, change, failure, judgement, live), change);
    }
    return await this.#repair(change, failure, judgement, live);
  }

  #ended(outcome: Outcome, sent: Change): Attempted {
    return { outcome, sent, better: this.#better, suspected: this.#suspected };
  }

  get #readable(): boolean {
    return this.#kind.readable(this.#options.profile);
  }

  async #send(change: Change, freshUntil?: number, tried?: number): Promise<Sent> {
    const { recorder, writer, profile, permit } = this.#options;
    let attempts = 0;
    let last: { status: number; data: Fields } = { status: 0, data: {} };
    for (const [index, request] of change.requests.entries()) {
      const isLast = index === change.requests.length - 1;
      await recorder.sending(change, request, isLast);
      this.begun = true;
      try {
        // A change that is begun is finished, however old its observation.
        const fresh = index === 0 ? freshUntil : undefined;
        const before = index === 0 ? tried : undefined;
        const answer = await writer.send(request, permit(fresh === undefined), fresh, before);
        attempts += answer.attempts;
        const { fields } = shownFields(this.#kind, answer.data, profile);
        last = { status: answer.status, data: fields };
        if (!isLast) await recorder.answered(change, answer.status, answer.attempts);
      } catch (failure) {
        if (failure instanceof Expired) {
          if (failure.failure === undefined) return { expired: true };
          this.tried = failure.failure.attempts;
          const met = this.#failed(failure.failure, attempts + failure.failure.attempts, false);
          return 'open' in met ? { open: { ...met.open, expired: true } } : { expired: true };
        }
        if (failure instanceof Withheld) return this.#withheld(failure, attempts, index > 0);
        if (!(failure instanceof ServerFailure)) throw failure;
        return this.#failed(failure, attempts + failure.attempts, index > 0);
      }
    }
    return assign(last, { attempts });
  }

  #failed(failure: ServerFailure, attempts: number, begun: boolean): Sent {
    const { profile, onFailure } = this.#options;
    onFailure(failure);
    const isOwn = failure.kind === 'forbidden' && this.#kind.traits[profile.name].protects === true;
    this.#suspected ??= betterProfileByError(profile, failure);
    const remarks = isOwn ? [`or this ${this.#kind.noun} is protected, as the token's own is`] : [];
    const ambiguous = failure.open;
    const refused =
      failure.kind === 'refused' || failure.kind === 'not-found' || failure.kind === 'forbidden';
    const open = {
      message: [failure.message, ...remarks].join('; '),
      httpStatus: failure.status,
      attempts,
      answered: failure.kind === 'answer',
      refused,
      unsteady: failure.kind === 'lost' || failure.doubt === true,
    };
    const harmful = failure.kind === 'refused' && this.#kind.traits[profile.name].piecemeal === true;
    if ((ambiguous || harmful || begun) && this.#readable) return { open };
    return { closed: closed(open, ambiguous) };
  }

  /** Ends a change of which nothing more may be sent; what was sent of it may be read back. */
  #withheld({ failure, cause }: Withheld, before: number, begun: boolean): Sent {
    const why = this.#options.onWithheld(cause);
    const attempts = before + (failure?.attempts ?? 0);
    const open = failure?.open === true;
    if (!open && !begun) return { closed: { ...skipped(why), attempts } };
    const message = failure === undefined ? why : `${failure.message}; ${why}`;
    const httpStatus = failure?.status ?? null;
    const left = { ...NOTHING_KNOWN, message, httpStatus, attempts, answered: false, unsteady: open };
    return this.#readable ? { open: left } : { closed: closed(left, true) };
  }

  #answered(change: Change, { status, data, attempts }: Extract<Sent, { data: Fields }>): Outcome {
    const { regeneration } = this.#kind;
    const isRegenerated = change.action === 'regenerate' && regeneration !== undefined;
    const { [regeneration?.field ?? '']: before } = change.apply.before;
    const { [regeneration?.field ?? '']: now } = data;
    const { different, values, unverified }: Verification =
      change.action === 'update' || change.action === 'create'
        ? verify(this.#kind, change.apply.expected, data)
        : {
            different: [],
            values: [],
            unverified: isRegenerated && typeof now !== 'string' ? [regeneration.field] : [],
          };
    const kept = `the server answered ${status} and kept another value: ${different.join('; ')}`;
    const wrong = [
      ...(different.length > 0 ? [kept] : []),
      // If the server lists scopes, the plan has checked their names.
      ...(listRead('scopes', this.#options.profile) === undefined
        ? misnamed(this.#kind, change.apply.expected, data)
        : []),
      ...this.#otherServer(change, data),
    ];
    const isOff = wrong.length > 0;
    return {
      status: isOff ? 'not_converged' : 'applied',
      httpStatus: status,
      attempts,
      ambiguous: false,
      after: data,
      unverified,
      error: isOff ? wrong.join('; ') : null,
      ownValues: values,
      notes: isRegenerated && typeof before === 'string' && before === now ? [regeneration.same(before)] : [],
    };
  }

  /** What is wrong if the answer to an update shows another profile's server, which loses what isn't sent. */
  #otherServer(change: Change, answer: Fields): string[] {
    const { profile } = this.#options;
    if (change.action !== 'update') return [];
    const { before, expected } = change.apply;
    const kind = this.#kind;
    const better =
      betterProfile(profile, kind, answer) ?? betterProfileByReset(profile, kind, change.apply, answer);
    if (better === undefined) return [];
    this.#better ??= better;
    const unsent = Object.fromEntries(
      Object.entries(before).filter(([field]) => !Object.hasOwn(expected, field) && field in kind.fields),
    );
    const { different } = verify(kind, unsent, answer);
    const { signs, whole = [] } = kind.traits[better.name];
    const losesSilently = signs?.losesSilently === true;
    const seen = verify(kind, expected, answer).different.length > 0;
    if (!losesSilently && !seen) return [];
    const empty = emptied(whole, change.apply, answer);
    return [
      ...different.map((what) => `${what}, although it was not sent`),
      ...(empty.length === 0
        ? []
        : [
            `the answer shows ${empty.join(', ')}, which were not sent: what was in them, if anything, is lost and not known`,
          ]),
      adviceFor(better),
    ];
  }

  /** Sends the declared values once more, unless the server refused them; if that fails too, the values before the update. */
  async #repair(change: Change, open: OpenFailure, judgement: Judgement, live: Live): Promise<Attempted> {
    const { replan } = this.#options;
    const names = namesOfLost(judgement.lost);
    let known = { judgement, live };
    let { attempts } = open;
    let sent = change;
    for (const aim of open.refused ? (['before'] as const) : (['asked', 'before'] as const)) {
      const restore = seenLoss('', known.judgement.lost, known.live.fields);
      const again = replan.repair(change, restore, known.live, aim);
      if (again === undefined) continue;
      sent = again;
      const tried = await this.#send(again);
      const answered = 'data' in tried && otherObject(change.apply.identity, tried.data) === undefined;
      attempts += attemptsOf(tried);
      const now = answered
        ? { exists: true, identity: known.live.identity, fields: tried.data }
        : await readBackOne(
            this.#kind,
            { change: again, failure: 'open' in tried ? tried.open : open },
            this.#options,
          );
      const became = judge(
        this.#kind,
        { ...aimOf(change), expected: again.apply.expected, byMember: undefined },
        now,
      );
      const end = { ...open, attempts };
      if (now === undefined) return this.#ended(openOutcome(this.#kind, change, end, became, now), again);
      if (became.verdict === 'done') return this.#ended(repaired(aim, end, names, now.fields), again);
      // The error is about the original change, not about its repair.
      known = { judgement: { ...judge(this.#kind, aimOf(change), now), lost: became.lost }, live: now };
      if (Object.keys(known.judgement.lost).length === 0) break;
    }
    const end = { ...open, attempts };
    return this.#ended(openOutcome(this.#kind, change, end, known.judgement, known.live), sent);
  }
}

function attemptsOf(sent: Sent): number {
  if ('data' in sent) return sent.attempts;
  if ('open' in sent) return sent.open.attempts;
  return 'closed' in sent ? sent.closed.attempts : 0;
}

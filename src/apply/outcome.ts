import type { Fields, Value } from '../base/values.js';
import { asElements, type Comparison, compareField, matchSets, pickMembers, value } from '../kinds/fields.js';
import type { Kind, Live } from '../kinds/kind.js';
import { describeLoss } from '../kinds/loss.js';
import type { Action, Change } from '../plan/plan.js';
import { type Verification, verificationOf } from './verify.js';

/** What a request should do, and the object before it. */
export interface Intent {
  readonly action: Action;
  readonly before: Fields;
  /** The declared fields, and those sent with them. */
  readonly expected: Fields;
  /** The sets of which only some members are managed. */
  readonly byMember?: readonly string[] | undefined;
}

export function intentOf({ action, apply }: Pick<Change, 'action' | 'apply'>): Intent {
  const { before, expected, byMember } = apply;
  return { action, before, expected, byMember };
}

/**
 * What an object that is read back shows about a request without a usable answer.
 * - `done`: the object is as expected.
 * - `not-done`: the request had no effect.
 * - `partial`: it had some effect, or there are other values.
 * - `unknown`: the server doesn't show enough.
 */
export interface Judgement extends Verification {
  readonly verdict: 'done' | 'not-done' | 'partial' | 'unknown';
  /** What was lost unintentionally. */
  readonly lost: Fields;
  /** Whether any field changed as intended. */
  readonly anyDone: boolean;
  /** The verdict, as the rest of a sentence about the request. */
  readonly sentence: string;
}

const READ_BACK = 'as reading it back shows';
const OUTCOME_UNKNOWN = 'was sent, and its outcome is unknown';

const nothing = { different: [], values: [], unverified: [], lost: {}, anyDone: false };
const DONE: Judgement = { ...nothing, verdict: 'done', sentence: `was done, ${READ_BACK}` };
const NOT_DONE: Judgement = { ...nothing, verdict: 'not-done', sentence: `was not done, ${READ_BACK}` };
const UNKNOWN: Judgement = { ...nothing, verdict: 'unknown', sentence: OUTCOME_UNKNOWN };

/**
 * Judges a read-back, field by field, against the expected values and those from before. `live` is undefined if the object can't be read.
 * Pure.
 */
export function judge(kind: Kind, intent: Intent, live: Live | undefined): Judgement {
  if (live === undefined) return UNKNOWN;
  switch (intent.action) {
    case 'adopt':
      return DONE;
    case 'regenerate': {
      const { field = '' } = kind.regeneration ?? {};
      const { [field]: before } = intent.before;
      const { [field]: now } = live.fields;
      // A regeneration may have produced an equal value.
      return typeof before === 'string' && typeof now === 'string' && before !== now ? DONE : UNKNOWN;
    }
    case 'delete':
      return kind.deletion?.exists(live) === true ? NOT_DONE : DONE;
    default:
      return judgeUpdate(kind, intent, live);
  }
}

function judgeUpdate(kind: Kind, { action, before, expected, byMember = [] }: Intent, live: Live): Judgement {
  if (!live.exists && action === 'create') {
    return live.missing === true ? NOT_DONE : { ...UNKNOWN, sentence: `${OUTCOME_UNKNOWN}: ${live.reason}` };
  }
  if (!live.exists) {
    const sentence = `left no readable object: the ${kind.noun} is not there`;
    return { ...nothing, verdict: 'partial', different: ['it is not there'], sentence };
  }
  const now = live.fields;
  const parts = Object.entries(expected).flatMap(([field, asked]) =>
    byMember.includes(field)
      ? compareParts(kind, field, ...changedMembers(asked, before[field], now[field]))
      : compareParts(kind, field, asked, before[field], now[field]),
  );
  const lost = kind.lostFields?.({ before, asked: expected, now }) ?? {};
  const different = parts.filter(({ part }) => part.verdict === 'different');
  const intended = parts.filter(({ changes }) => changes);
  const anyDone = intended.some(({ part }) => part.verdict === 'same');
  const kept = different.filter(({ changes }) => changes);
  const unknown = parts.filter(({ part }) => part.verdict === 'unknown');
  // A value that was only sent along was changed by somebody else.
  const judged = [...kept, ...unknown].map(({ part }) => part);
  const found = { ...verificationOf(judged), lost, anyDone };
  const nothingLost = Object.keys(lost).length === 0;
  if (different.length === 0 && nothingLost) {
    return { ...(found.unverified.length === 0 ? DONE : UNKNOWN), ...found };
  }
  if (found.different.length === 0 && nothingLost && intended.length > 0) return { ...DONE, ...found };
  const changedOtherwise = intended.filter(({ part, kept }) => part.verdict === 'different' && !kept);
  const paths = (which: readonly ComparedPart[]): string => which.map(({ part }) => part.path).join(', ');
  if (!anyDone && nothingLost && changedOtherwise.length === 0) {
    const others = different.filter(({ changes }) => !changes);
    const changedSince = others.length === 0 ? [] : [`changed since the request: ${paths(others)}`];
    return { ...NOT_DONE, ...found, different: [...found.different, ...changedSince] };
  }
  const shown = [
    ...(anyDone ? [`as asked: ${paths(intended.filter(({ part }) => part.verdict === 'same'))}`] : []),
    ...(changedOtherwise.length > 0 ? [`neither as asked nor as before: ${paths(changedOtherwise)}`] : []),
    ...(nothingLost ? [] : [`lost: ${describeLoss(lost)}`]),
  ];
  return {
    ...found,
    verdict: 'partial',
    sentence: `was not done as a whole, ${READ_BACK} (${shown.join('; ')})`,
  };
}

interface ComparedPart {
  /** The expected value compared with the present one. */
  readonly part: Comparison;
  /** Whether the request should change it; true if unknown. */
  readonly changes: boolean;
  /** Whether it has the value from before. */
  readonly kept: boolean;
}

type MaybeValue = Value | undefined;

/** The expected, former and present set, reduced to the members that the request should add or remove. */
function changedMembers(
  asked: Value,
  before: MaybeValue,
  now: MaybeValue,
): [asked: Value, before: MaybeValue, now: MaybeValue] {
  const { added, removed } = matchSets(asElements(asked), asElements(before));
  const among = (set: MaybeValue) => (Array.isArray(set) ? pickMembers(set, [...added, ...removed]) : set);
  return [pickMembers(asked, added), among(before), among(now)];
}

function compareParts(
  kind: Kind,
  field: string,
  asked: Value,
  before: MaybeValue,
  now: MaybeValue,
): ComparedPart[] {
  const type = kind.fields[field] ?? value;
  const was = new Map(compareField(type, field, asked, before).map((part) => [part.path, part]));
  const since = new Map(
    before === undefined ? [] : compareField(type, field, before, now).map((part) => [part.path, part]),
  );
  return compareField(type, field, asked, now).map((part) => {
    const first = was.get(part.path);
    // A map key that is neither expected nor from before was added by somebody else.
    const changes = first === undefined ? part.type.type !== 'map' : first.verdict !== 'same';
    const shown = since.get(part.path)?.verdict;
    // A map key that is absent before and now is unchanged.
    const absent = shown === undefined && part.type.type === 'map' && before !== undefined;
    return { part, changes, kept: shown === 'same' || absent };
  });
}

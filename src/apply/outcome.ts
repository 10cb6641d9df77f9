import type { Fields, Value } from '../base/values.js';
import { asElements, type Comparison, compareField, matchSets, pickMembers, value } from '../kinds/fields.js';
import type { Kind, Live } from '../kinds/kind.js';
import { describeLoss } from '../kinds/loss.js';
import type { Action, Change } from '../plan/plan.js';
import { sentenceOf, valuesOf } from './verify.js';

/** What a request asks for, and the object before it. */
export interface Aim {
  readonly action: Action;
  readonly before: Fields;
  /** What was declared or sent along. */
  readonly expected: Fields;
  /** The sets of which only some members are managed. */
  readonly byMember?: readonly string[] | undefined;
}

export function aimOf({ action, apply }: Pick<Change, 'action' | 'apply'>): Aim {
  const { before, expected, byMember } = apply;
  return { action, before, expected, byMember };
}

/**
 * What reading an object back shows of a request without a usable answer.
 * - `done`: all that was asked for is there.
 * - `not-done`: nothing of it was done.
 * - `part`: something of it was done, or another value is there.
 * - `unseen`: the server doesn't show enough to tell.
 */
export interface Judgement {
  readonly verdict: 'done' | 'not-done' | 'part' | 'unseen';
  /** The fields with another value than asked for, a sentence each. */
  readonly different: readonly string[];
  /** The values in these sentences, which other objects may not share. */
  readonly values: readonly string[];
  /** The fields that the server didn't show. */
  readonly unverified: readonly string[];
  /** What was there, is gone, and was not meant to go. */
  readonly lost: Fields;
  /** Whether any field that was meant to change did. */
  readonly begun: boolean;
  /** The verdict as the end of a sentence. */
  readonly sentence: string;
}

const SHOWN = 'as reading it back shows';
const NOBODY_KNOWS = 'was sent, and nobody can tell whether it was done';

const nothing = { different: [], values: [], unverified: [], lost: {}, begun: false };
const DONE: Judgement = { ...nothing, verdict: 'done', sentence: `was done, ${SHOWN}` };
const NOT_DONE: Judgement = { ...nothing, verdict: 'not-done', sentence: `was not done, ${SHOWN}` };
const UNSEEN: Judgement = { ...nothing, verdict: 'unseen', sentence: NOBODY_KNOWS };

/**
 * The one judge of a read-back: compares field by field with what was asked for and with what was there before.
 * `live` is undefined if the object can't be read. Pure.
 */
export function judge(kind: Kind, aim: Aim, live: Live | undefined): Judgement {
  if (live === undefined) return UNSEEN;
  switch (aim.action) {
    case 'adopt':
      return DONE;
    case 'regenerate': {
      const { field = '' } = kind.regeneration ?? {};
      const { [field]: before } = aim.before;
      const { [field]: now } = live.fields;
      // An equal value may be a new one.
      return typeof before === 'string' && typeof now === 'string' && before !== now ? DONE : UNSEEN;
    }
    case 'delete':
      return kind.deletion?.exists(live) === true ? NOT_DONE : DONE;
    default:
      return judgeUpdate(kind, aim, live);
  }
}

function judgeUpdate(kind: Kind, { action, before, expected, byMember = [] }: Aim, live: Live): Judgement {
  if (!live.exists && action === 'create') {
    return live.missing === true ? NOT_DONE : { ...UNSEEN, sentence: `${NOBODY_KNOWS}: ${live.reason}` };
  }
  if (!live.exists) {
    const sentence = `left nothing that could be read: the ${kind.noun} is not there`;
    return { ...nothing, verdict: 'part', different: ['it is not there'], sentence };
  }
  const now = live.fields;
  const parts = Object.entries(expected).flatMap(([field, asked]) =>
    byMember.includes(field)
      ? partsOf(kind, field, ...changedMembers(asked, before[field], now[field]))
      : partsOf(kind, field, asked, before[field], now[field]),
  );
  const lost = kind.lostFields?.({ before, asked: expected, now }) ?? {};
  const off = parts.filter(({ part }) => part.verdict === 'different');
  const wished = parts.filter(({ changes }) => changes);
  const begun = wished.some(({ part }) => part.verdict === 'same');
  const kept = off.filter(({ changes }) => changes);
  const found = {
    // Somebody else has changed a value that was only sent along.
    different: kept.map(({ part }) => sentenceOf(part)),
    values: kept.map(({ part }) => valuesOf(part)),
    unverified: parts.filter(({ part }) => part.verdict === 'unknown').map(({ part }) => part.path),
    lost,
    begun,
  };
  const isWhole = Object.keys(lost).length === 0;
  if (off.length === 0 && isWhole) {
    return { ...(found.unverified.length === 0 ? DONE : UNSEEN), ...found };
  }
  if (found.different.length === 0 && isWhole && wished.length > 0) return { ...DONE, ...found };
  const neither = wished.filter(({ part, kept }) => part.verdict === 'different' && !kept);
  if (!begun && isWhole && neither.length === 0) return { ...NOT_DONE, ...found };
  const paths = (which: readonly AimPart[]): string => which.map(({ part }) => part.path).join(', ');
  const shown = [
    ...(begun ? [`as asked: ${paths(wished.filter(({ part }) => part.verdict === 'same'))}`] : []),
    ...(neither.length > 0 ? [`neither as asked nor as before: ${paths(neither)}`] : []),
    ...(isWhole ? [] : [`lost: ${describeLoss(lost)}`]),
  ];
  return { ...found, verdict: 'part', sentence: `was not done as a whole, ${SHOWN} (${shown.join('; ')})` };
}

interface AimPart {
  /** What was asked against what is there. */
  readonly part: Comparison;
  /** Whether the request was meant to change it, as far as is known. */
  readonly changes: boolean;
  /** Whether it still has the value from before. */
  readonly kept: boolean;
}

type Maybe = Value | undefined;

/** Of a set as it was asked for, was before and is now: the members that were to be added or removed. */
function changedMembers(asked: Value, before: Maybe, now: Maybe): [asked: Value, before: Maybe, now: Maybe] {
  const { added, removed } = matchSets(asElements(asked), asElements(before ?? null));
  const among = (set: Maybe) => (Array.isArray(set) ? pickMembers(set, [...added, ...removed]) : set);
  return [pickMembers(asked, added), among(before), among(now)];
}

function partsOf(kind: Kind, field: string, asked: Value, before: Maybe, now: Maybe): AimPart[] {
  const type = kind.fields[field] ?? value;
  const was = new Map(compareField(type, field, asked, before).map((part) => [part.path, part]));
  const since = new Map(
    before === undefined ? [] : compareField(type, field, before, now).map((part) => [part.path, part]),
  );
  return compareField(type, field, asked, now).map((part) => {
    const first = was.get(part.path);
    // Somebody else added a map key that was neither asked for nor there before.
    const changes = first === undefined ? part.type.type !== 'map' : first.verdict !== 'same';
    const shown = since.get(part.path)?.verdict;
    // A map key that is there neither before nor now is unchanged.
    const absent = shown === undefined && part.type.type === 'map' && before !== undefined;
    return { part, changes, kept: shown === 'same' || absent };
  });
}

import { contrast, value } from '../kinds/fields.js';
import type { Kind, Live } from '../kinds/kind.js';
import { namesOfLost } from '../kinds/loss.js';
import type { Action } from '../plan/plan.js';
import type { Fields } from '../values.js';
import { verify } from './verify.js';

/** What a request was to do, and how the object was before it. */
export interface Aim {
  readonly action: Action;
  readonly before: Fields;
  /** What was asked for or sent along. */
  readonly expected: Fields;
}

/**
 * What reading an object back shows of a request whose answer didn't tell.
 * - `done`: all that was asked for holds.
 * - `not-done`: nothing of it was done.
 * - `part`: something of it was done, or something else is there.
 * - `unseen`: what the server shows tells neither.
 */
export interface Judgement {
  readonly verdict: 'done' | 'not-done' | 'part' | 'unseen';
  /** The fields that the server keeps otherwise than asked, a sentence each. */
  readonly different: readonly string[];
  /** The fields that the server didn't show. */
  readonly unverified: readonly string[];
  /** What was there, was not to go, and is gone. */
  readonly lost: Fields;
  /** As a sentence goes on. */
  readonly sentence: string;
}

const SHOWN = 'as reading it back shows';
const NOBODY_KNOWS = 'was sent, and nobody can tell whether it was done';

/**
 * The one judge of what a read-back means: field by field, against what was asked and against what was there before.
 * `live` is undefined where the object could not be read. Pure.
 */
export function judge(kind: Kind, aim: Aim, live: Live | undefined): Judgement {
  const nothing = { different: [], unverified: [], lost: {} };
  const done: Judgement = { ...nothing, verdict: 'done', sentence: `was done, ${SHOWN}` };
  const notDone: Judgement = { ...nothing, verdict: 'not-done', sentence: `was not done, ${SHOWN}` };
  const unseen: Judgement = { ...nothing, verdict: 'unseen', sentence: NOBODY_KNOWS };
  if (live === undefined) return unseen;
  switch (aim.action) {
    case 'adopt':
      return done;
    case 'regenerate': {
      const { did: before } = aim.before;
      const { did: now } = live.fields;
      // A DID that is the same may have come out the same.
      return typeof before === 'string' && typeof now === 'string' && before !== now ? done : unseen;
    }
    case 'delete':
      return !live.exists || typeof live.fields.id !== 'string' ? done : notDone;
    default:
      return judgeUpdate(kind, aim, live);
  }
}

function judgeUpdate(kind: Kind, { before, expected }: Aim, live: Live): Judgement {
  if (!live.exists) {
    const sentence = `left nothing that could be read: the ${kind.noun} is not there`;
    return { verdict: 'part', different: ['it is not there'], unverified: [], lost: {}, sentence };
  }
  const now = live.fields;
  const { different, unverified } = verify(kind, expected, now);
  const lost = kind.lost?.({ before, asked: expected, now }) ?? {};
  const found = { different, unverified, lost };
  if (different.length === 0 && Object.keys(lost).length === 0) {
    return unverified.length === 0
      ? { ...found, verdict: 'done', sentence: `was done, ${SHOWN}` }
      : { ...found, verdict: 'unseen', sentence: NOBODY_KNOWS };
  }
  const agrees = (field: string, wanted: Fields[string] | undefined): boolean =>
    wanted !== undefined &&
    contrast(kind.fields[field] ?? value, field, wanted, now[field]).every(
      ({ verdict }) => verdict !== 'different',
    );
  const asked = Object.keys(expected);
  const changed = asked.filter((field) => !agrees(field, before[field]));
  // Where the value before isn't known, only a field that is as asked tells anything.
  const moved = changed.filter((field) => before[field] !== undefined || agrees(field, expected[field]));
  if (moved.length === 0 && Object.keys(lost).length === 0) {
    return { ...found, verdict: 'not-done', sentence: `was not done, ${SHOWN}` };
  }
  const as = moved.filter((field) => agrees(field, expected[field]));
  const neither = moved.filter((field) => !as.includes(field) && !Object.hasOwn(lost, field));
  const parts = [
    ...(as.length > 0 ? [`as asked: ${as.join(', ')}`] : []),
    ...(neither.length > 0 ? [`neither as asked nor as before: ${neither.join(', ')}`] : []),
    ...(Object.keys(lost).length > 0 ? [`lost: ${namesOfLost(lost)}`] : []),
  ];
  return { ...found, verdict: 'part', sentence: `was not done as a whole, ${SHOWN} (${parts.join('; ')})` };
}

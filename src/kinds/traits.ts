import { type Fields, type Json, same } from '../base/values.js';
import type { ExtraRead } from '../server/operations.js';
import type { Profile, ProfileName } from '../server/profiles.js';
import { otherProfiles } from '../server/recognise.js';
import type { Action } from './change.js';
import { textOf } from './fields.js';

/** How a profile's servers treat objects of a kind. Without a trait, they behave as documented. */
export interface Traits {
  /** The read of one object, beyond the documented API. */
  readonly read?: ExtraRead;
  /** Fields that an update resets unless they are sent. */
  readonly resetUnlessSent?: readonly string[];
  /** Fields that the server ignores: never sent, never compared. */
  readonly ignored?: readonly string[];
  /** What to do instead of declaring an ignored field. */
  readonly alternatives?: { readonly [field: string]: string };
  /** Fields in which the server stores null for a blank text. */
  readonly emptyIsNull?: readonly string[];
  /** What the server stores instead of null, by field. */
  readonly nullBecomes?: { readonly [field: string]: Json };
  /** Updates aren't atomic: a refused one may have changed something. */
  readonly notAtomic?: true;
  /** The names of the objects that the server protects, or `one` if it protects one and doesn't show which. */
  readonly protectsObjects?: readonly string[] | 'one';
  readonly limits?: KindLimits;
  /** How to recognise the server by its answers. */
  readonly signs?: Signs;
  /** An update as documented may reset fields that it doesn't mention. */
  readonly unsafe?: true;
}

export type ProfileTraits<T extends Traits = Traits> = { readonly [profile in ProfileName]: T };

export interface KindLimits {
  /** Allowed values of parts of the identity, and the message for others. */
  readonly identity?: {
    readonly [part: string]: { readonly known: readonly string[]; readonly otherwise: string };
  };
  /** Lists whose elements have ids, and their maximum length if they may be any text. */
  readonly ids?: { readonly [list: string]: number | null };
  /** Maximum lengths of texts. */
  readonly characters?: { readonly [field: string]: number };
  /** Texts that can't be blank or null, with advice what to do instead. */
  readonly nonBlank?: { readonly [field: string]: string | null };
  /** Texts of `emptyIsNull` that are refused if they are blank. */
  readonly notEmpty?: readonly string[];
  /** Texts in which no word may be twice. */
  readonly uniqueWords?: readonly string[];
  /** Maps whose elements need some members, and the types of members. */
  readonly elements?: {
    readonly [field: string]: {
      readonly needs: readonly string[];
      readonly types: { readonly [member: string]: MemberType };
    };
  };
}

export type MemberType = 'text' | 'texts';

interface Signs {
  readonly has?: readonly string[];
  readonly lacks?: readonly string[];
  readonly null?: readonly string[];
  /** A field that was sent unchanged may come back changed. */
  readonly resets?: true;
  /** An update as documented removes what it doesn't send, and no answer shows that. */
  readonly losesSilently?: true;
}

/** Whether an answer has all signs of the profile. */
function showsSigns({ signs }: Traits, answer: Fields): boolean {
  if (signs === undefined) return false;
  const { has = [], lacks = [], null: nulls = [] } = signs;
  return (
    has.every((field) => Object.hasOwn(answer, field)) &&
    lacks.every((field) => !Object.hasOwn(answer, field)) &&
    nulls.every((field) => answer[field] === null)
  );
}

type HasTraits = { readonly traits: ProfileTraits };

/** The other profile whose signs an answer has; undefined if there is none. */
export function betterProfile(used: Profile, { traits }: HasTraits, answer: Fields): Profile | undefined {
  return otherProfiles(used).find(({ name }) => showsSigns(traits[name], answer));
}

/** The other profile whose servers reset fields that were sent unchanged while they make the requested changes, if an answer shows that. */
export function betterProfileByReset(
  used: Profile,
  { traits }: HasTraits,
  { before, expected }: { readonly before: Fields; readonly expected: Fields },
  answer: Fields,
): Profile | undefined {
  const shown = Object.entries(expected).flatMap(([field, sent]) => {
    const { [field]: was } = before;
    const { [field]: got } = answer;
    if (got === undefined) return [];
    return [{ isKept: same(got, sent), isUnchanged: was !== undefined && same(sent, was) }];
  });
  const isReset = shown.some(({ isKept, isUnchanged }) => isUnchanged && !isKept);
  const isObeyed = shown.every(({ isKept, isUnchanged }) => isUnchanged || isKept);
  if (!isReset || !isObeyed) return undefined;
  return otherProfiles(used).find(({ name }) => traits[name].signs?.resets === true);
}

/** Whether an answer with the signs of a profile proves it. A template without an id or with a changed body only suggests it. */
export function provesProfile({ traits }: HasTraits, profile: string): boolean {
  return Object.entries(traits).some(
    ([name, { signs }]) => name === profile && signs?.losesSilently === true,
  );
}

/** Whether the server may refuse an update or a deletion to protect this object. Then a 403 says nothing about other objects. */
export function mayBeProtected({ protectsObjects = [] }: Traits, action: Action, { name }: Fields): boolean {
  if (action !== 'update' && action !== 'delete') return false;
  return protectsObjects === 'one' || protectsObjects.some((one) => one === textOf(name));
}

/** Whether servers of any profile reset what an update doesn't mention. */
export function mayHarm({ traits }: HasTraits): boolean {
  return Object.values(traits).some(({ unsafe }) => unsafe === true);
}

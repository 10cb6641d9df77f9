import { type Fields, type Json, same } from '../base/values.js';
import type { ExtraRead } from '../server/operations.js';
import type { Profile, ProfileName } from '../server/profiles.js';
import { otherProfiles } from '../server/recognise.js';

/** How the servers of a profile treat the objects of one kind, as data; what is left out is as the document has it. */
export interface Traits {
  /** The reads that the server offers beyond the document: of one object, and of all. */
  readonly reads?: { readonly one?: ExtraRead; readonly all?: ExtraRead };
  /** The fields that an update resets where they aren't sent, so that all of them are sent each time. */
  readonly whole?: readonly string[];
  /** The fields that the server takes and does nothing with: never sent, never compared. */
  readonly ignored?: readonly string[];
  /** The fields in which an empty text, or one of white space alone, becomes null. */
  readonly emptyIsNull?: readonly string[];
  /** What null becomes in a field. */
  readonly nullBecomes?: { readonly [field: string]: Json };
  /** Updates are several writes, so that a refused one may have done harm. */
  readonly piecemeal?: true;
  /** Single objects may be protected, so that a 403 says nothing about the others. */
  readonly protects?: true;
  /** What the server can't take or keep. */
  readonly limits?: KindLimits;
  /** What answers about an object tell the server by. */
  readonly signs?: Signs;
  /** Objects must not be written as the document has it, since that may lose what isn't mentioned. */
  readonly unsafe?: true;
}

/** What a kind makes of each profile. */
export type ProfileTraits<T extends Traits = Traits> = { readonly [profile in ProfileName]: T };

export interface KindLimits {
  /** What parts of the identity can be, and what to say of another one. */
  readonly identity?: {
    readonly [part: string]: { readonly known: readonly string[]; readonly otherwise: string };
  };
  /** The lists whose elements have ids, and the characters that these may have where they are any text. */
  readonly ids?: { readonly [list: string]: number | null };
  /** Characters that these texts may have. */
  readonly characters?: { readonly [field: string]: number };
  /** Texts that can't be empty, white space alone or null, and what to do instead. */
  readonly filled?: { readonly [field: string]: string | null };
  /** Of the texts that become null where they are empty, those that are refused then. */
  readonly notEmpty?: readonly string[];
  /** Texts that are split at each space, in which no word may be twice. */
  readonly uniqueWords?: readonly string[];
  /** The members that each element of these maps must have, and what members must be that it may have. */
  readonly elements?: {
    readonly [field: string]: {
      readonly needs: readonly string[];
      readonly types: { readonly [member: string]: MemberType };
    };
  };
}

/** A text, or a list of them. */
export type MemberType = 'text' | 'texts';

interface Signs {
  readonly has?: readonly string[];
  readonly lacks?: readonly string[];
  readonly null?: readonly string[];
  /** Whether a field that was sent as it was may come back otherwise. */
  readonly resets?: true;
  /** Whether updating objects of this kind as the document has it loses what wasn't sent. */
  readonly losesSilently?: true;
}

/** Whether an answer about an object has the signs; a kind without any has none. */
export function showsSigns({ signs }: Traits, answer: Fields): boolean {
  if (signs === undefined) return false;
  const { has = [], lacks = [], null: nulls = [] } = signs;
  return (
    has.every((field) => Object.hasOwn(answer, field)) &&
    lacks.every((field) => !Object.hasOwn(answer, field)) &&
    nulls.every((field) => answer[field] === null)
  );
}

type HasTraits = { readonly traits: ProfileTraits };

/** The profile whose server answers like this about an object, where that is another than the one in use. */
export function betterProfile(used: Profile, { traits }: HasTraits, answer: Fields): Profile | undefined {
  return otherProfiles(used).find(({ name }) => showsSigns(traits[name], answer));
}

/** The same by what an update made of fields that it sent as they were, beside what it changed as it was asked to. */
export function betterProfileByReset(
  used: Profile,
  { traits }: HasTraits,
  { before, expected }: { readonly before: Fields; readonly expected: Fields },
  answer: Fields,
): Profile | undefined {
  const reset = Object.entries(expected).some(([field, sent]) => {
    const was = before[field];
    const got = answer[field];
    return was !== undefined && got !== undefined && same(sent, was) && !same(got, was);
  });
  // A server that keeps another value altogether says nothing of itself by that.
  const obeyed = Object.entries(expected).every(([field, sent]) => {
    const was = before[field];
    const got = answer[field];
    return (was !== undefined && same(sent, was)) || got === undefined || same(got, sent);
  });
  return reset && obeyed
    ? otherProfiles(used).find(({ name }) => traits[name].signs?.resets === true)
    : undefined;
}

/** Whether some profile's server loses what an update of this kind doesn't mention. */
export function mayHarm({ traits }: HasTraits): boolean {
  return Object.values(traits).some(({ unsafe }) => unsafe === true);
}

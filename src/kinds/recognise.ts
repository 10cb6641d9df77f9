import { type Fields, same } from '../base/values.js';
import type { Profile } from '../server/profiles.js';
import { otherProfiles } from '../server/recognise.js';
import type { Kind } from './kind.js';
import { showsSigns } from './traits.js';

/** The profile whose server answers like this about an object, where that is another than the one in use. */
export function betterProfile(used: Profile, { traits }: Kind, answer: Fields): Profile | undefined {
  return otherProfiles(used).find(({ name }) => showsSigns(traits[name], answer));
}

/** The same by what an update made of fields that it sent as they were, beside what it changed as it was asked to. */
export function betterProfileByReset(
  used: Profile,
  { traits }: Kind,
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
export function mayHarm({ traits }: Kind): boolean {
  return Object.values(traits).some(({ unsafe }) => unsafe === true);
}

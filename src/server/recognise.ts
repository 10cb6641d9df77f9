import { isMap } from '../base/values.js';
import type { FailureFacts } from './failures.js';
import { type Profile, profiles } from './profiles.js';

/** The profile whose servers' error answers look like this, where that is another than the one in use. */
export function betterProfileByError(
  used: Profile,
  { status, members = [] }: Pick<FailureFacts, 'status' | 'members'>,
): Profile | undefined {
  return otherProfiles(used).find(({ signs }) =>
    signs?.errors.some(
      (sign) =>
        sign.members.every((member) => members.includes(member)) &&
        (sign.status === undefined || sign.status === status),
    ),
  );
}

/** What a person should do about a server that looks like another profile's. */
export function adviceFor({ name }: Profile): string {
  return `this may be a server of the profile ${name}, which resets what it isn't sent: if idops doctor says so, set "profile: ${name}" under server`;
}

/** The members of an error answer by which a server may be recognised. */
export function errorMembers(document: unknown): string[] {
  if (!isMap(document)) return [];
  const inner = isMap(document.errors) ? Object.keys(document.errors) : [];
  return [...Object.keys(document), ...inner.map((member) => `errors.${member}`)];
}

/** The profiles that a server may turn out to be of, beside the one in use. */
export function otherProfiles(used: Profile): Profile[] {
  return Object.values(profiles).filter(({ name, signs }) => name !== used.name && signs !== null);
}

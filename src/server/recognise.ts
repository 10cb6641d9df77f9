import { isMap } from '../base/values.js';
import type { Parser } from './answers.js';
import { type FailureFacts, ServerFailure } from './failures.js';
import type { ExtraRead, Scope } from './operations.js';
import { type Profile, profiles } from './profiles.js';
import type { Reader } from './reader.js';

/** Another profile with error answers like this one; undefined if there is none. */
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

export function adviceFor({ name }: Profile): string {
  return `this may be a server of the profile ${name}, which resets what it isn't sent: if idops doctor confirms it, set "profile: ${name}" under server`;
}

/** The members of an error answer, to recognise a profile. */
export function errorMembers(document: unknown): string[] {
  if (!isMap(document)) return [];
  const inner = isMap(document.errors) ? Object.keys(document.errors) : [];
  return [...Object.keys(document), ...inner.map((member) => `errors.${member}`)];
}

/** The other profiles that answers can reveal. */
export function otherProfiles(used: Profile): Profile[] {
  return Object.values(profiles).filter(({ name, signs }) => name !== used.name && signs !== null);
}

/** The result of a GET of an unknown path. */
export type ProbeResult =
  /** The answer reveals this profile. */
  | { readonly kind: 'recognised'; readonly profile: Profile }
  /** A 404, as documented. */
  | { readonly kind: 'plain' }
  /** Any other answer, which reveals nothing. */
  | { readonly kind: 'unclear'; readonly status: number | null };

export const parseAnything: Parser<unknown> = (document) => ({ value: document });

/** A GET of an unknown path; routers answer it before they check credentials. */
export function unknownPathRead(scope: Scope): ExtraRead {
  return { title: 'get an unknown path', path: '/api/idops-doctor', scope };
}

/** The profile of servers that answer an unknown path with this status. */
export function profileByUnknownPath(status: number | null): Profile | undefined {
  return Object.values(profiles).find(({ signs }) => signs !== null && signs.unknownPath === status);
}

/**
 * Recognises a profile with one GET. Throws a `ServerFailure` if there was no answer.
 */
export async function probe(reader: Reader, scope: Scope): Promise<ProbeResult> {
  try {
    const answer = await reader.showExtra(unknownPathRead(scope), {}, parseAnything);
    return answer === null ? { kind: 'plain' } : { kind: 'unclear', status: 200 };
  } catch (failure) {
    if (!(failure instanceof ServerFailure)) throw failure;
    const { kind, status } = failure;
    if (kind === 'unreachable' || kind === 'lost') throw failure;
    const profile = profileByUnknownPath(status);
    return profile === undefined ? { kind: 'unclear', status } : { kind: 'recognised', profile };
  }
}

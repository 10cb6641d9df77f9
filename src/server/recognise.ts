import { isMap } from '../base/values.js';
import type { Parser } from './answers.js';
import { type FailureFacts, ServerFailure } from './failures.js';
import type { ExtraRead, Scope } from './operations.js';
import { type Profile, profiles } from './profiles.js';
import type { Reader } from './reader.js';

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

/** What asking for a path that no server has told. */
export type Probed =
  /** The answer is this profile's, and no other's. */
  | { readonly kind: 'recognised'; readonly profile: Profile }
  /** There is no such path: what the document has for it. */
  | { readonly kind: 'plain' }
  /** Anything else, which tells nothing: the status. */
  | { readonly kind: 'unclear'; readonly status: number | null };

/** Takes whatever document there is. */
export const anything: Parser<unknown> = (document) => ({ value: document });

/** A GET of a path that no server has; routers answer it before they look at credentials. */
export function nowhere(scope: Scope): ExtraRead {
  return { title: 'ask for a path that no server has', path: '/api/idops-doctor', scope };
}

/** The profile whose servers answer to such a path with this status. */
export function profileByUnknownPath(status: number | null): Profile | undefined {
  return Object.values(profiles).find(({ signs }) => signs !== null && signs.unknownPath === status);
}

/**
 * Finds out with one GET whether a server is one that a profile knows by its answer. Throws a `ServerFailure` where
 * there was no answer, or the server failed.
 */
export async function probe(reader: Reader, scope: Scope): Promise<Probed> {
  try {
    const answer = await reader.showExtra(nowhere(scope), {}, anything);
    return answer === null ? { kind: 'plain' } : { kind: 'unclear', status: 200 };
  } catch (failure) {
    if (!(failure instanceof ServerFailure)) throw failure;
    const { kind, status } = failure;
    if (kind === 'unreachable' || kind === 'lost' || kind === 'server-error') throw failure;
    const profile = profileByUnknownPath(status);
    return profile === undefined ? { kind: 'unclear', status } : { kind: 'recognised', profile };
  }
}

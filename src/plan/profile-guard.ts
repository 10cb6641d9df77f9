import type { KindName } from '../base/kind-names.js';
import { kindOf } from '../kinds/index.js';
import type { Live } from '../kinds/kind.js';
import { betterProfile, mayHarm, provesProfile } from '../kinds/traits.js';
import { operations } from '../server/operations.js';
import type { Profile } from '../server/profiles.js';
import { adviceFor } from '../server/recognise.js';
import type { ResourceRecord } from '../state/state.js';
import type { BuildOptions } from './options.js';
import { blockedFor, type Change, type PlanWarning } from './plan.js';

type GuardOptions = Pick<BuildOptions, 'profile' | 'recognise' | 'state'>;

/**
 * Blocks updates that would destroy what they don't mention, because the server has another profile. Sends one GET if a change is at
 * risk. `seen` is the profile that the observations suggest, if it is another one; it decides if the answer to that GET doesn't.
 */
export async function guardProfile(
  given: readonly Change[],
  seen: Profile | undefined,
  { profile, recognise, state }: GuardOptions,
): Promise<{ changes: readonly Change[]; warnings: readonly PlanWarning[] }> {
  const changes = await blockMarkedKinds(given, { profile, recognise, state });
  const advice: readonly PlanWarning[] =
    seen === undefined ? [] : [{ code: 'other-profile', message: adviceFor(seen) }];
  const [request] = changes.find(isUnsafe)?.requests ?? [];
  if (recognise === null || request === undefined) return { changes, warnings: advice };
  const { scope } = operations[request.operation];
  const probed = await recognise(scope);
  if (probed.kind === 'unclear' && seen === undefined)
    return { changes, warnings: [unsure(profile, probed.status)] };
  const server = probed.kind === 'recognised' ? probed.profile : seen;
  if (probed.kind === 'plain' || server === undefined || server.name === profile.name)
    return { changes, warnings: [] };
  return {
    changes: changes.map((change) => (isUnsafe(change) ? blocked(change, server) : change)),
    warnings: [],
  };
}

/**
 * Blocks changes of kinds for which an earlier run recorded another profile, until the configured profile changes. If that was no proof,
 * the profile may be trusted, or one GET may disprove it. A plan that can't read an object can't see what that run lost.
 */
async function blockMarkedKinds(
  changes: readonly Change[],
  { profile: used, recognise, state: { resources } }: GuardOptions,
): Promise<readonly Change[]> {
  const marks = new Map<KindName, readonly [string, Mark]>();
  for (const [key, { kind, other_profile: mark }] of Object.entries(resources))
    if (mark !== undefined && mark.profile !== used.name && !marks.has(kind)) marks.set(kind, [key, mark]);
  const block = async (change: Change): Promise<Change> => {
    const first = marks.get(change.kind);
    if (first === undefined) return change;
    const { key } = change.apply;
    const kind = kindOf(change.kind);
    const own = Object.hasOwn(resources, key) ? resources[key]?.other_profile : undefined;
    const isUnseen = own !== undefined && own.profile !== used.name && !kind.readable(used);
    const isAffected = change.requests.length > 0 || (isUnseen && change.action === 'unchanged');
    const isProven = provesProfile(kind, first[1].profile);
    if (!isAffected || (!isProven && (recognise === null || (await recognise(kind.scope)).kind === 'plain')))
      return change;
    const reason = own === undefined ? sawSigns(...first) : sawSigns(key, own);
    return blockedFor(change, reason);
  };
  return await Promise.all(changes.map(block));
}

type Mark = NonNullable<ResourceRecord['other_profile']>;

function sawSigns(key: string, { profile, run }: Mark): string {
  return (
    `the response about ${key} in run ${run} looks like a server of the profile ${profile}, whose updates lose what they ` +
    `don't mention (idops runs show ${run} says what that was): if idops doctor says so, set "profile: ${profile}" under server and plan again`
  );
}

/** The profile that the answers suggest, if it isn't the configured one. */
export function observedProfile(
  profile: Profile,
  live: Iterable<readonly [{ readonly kind: KindName }, Live]>,
): Profile | undefined {
  for (const [{ kind }, { exists, fields }] of live) {
    const better = exists ? betterProfile(profile, kindOf(kind), fields) : undefined;
    if (better !== undefined) return better;
  }
  return undefined;
}

/** Whether a change could do harm on a server of another profile. */
function isUnsafe({ kind, requests }: Change): boolean {
  return requests.length > 0 && mayHarm(kindOf(kind));
}

function blocked(change: Change, { name }: Profile): Change {
  const reason =
    `this server answers like one of the profile ${name}, whose updates lose what they don't mention: ` +
    `set "profile: ${name}" under server and plan again`;
  return { ...blockedFor(change, reason), fields: [], warnings: [] };
}

function unsure({ name }: Profile, status: number | null): PlanWarning {
  return {
    code: 'profile-unsure',
    message:
      `the server's answer to an unknown path (${status}) does not tell whether the profile ${name} fits: ` +
      'run idops doctor, then write out the profile under server, with "trust_profile: true" if this one fits',
  };
}

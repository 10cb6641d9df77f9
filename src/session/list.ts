import type { Problem } from '../base/problems.js';
import { addressOf } from '../kinds/index.js';
import type { Project } from '../project/index.js';
import { discoverAll } from '../pull/discover.js';
import type { ShownListing } from '../report/pull.js';
import type { ProfileName } from '../server/profiles.js';
import { type PullRequest, withPullContext } from './pull.js';
import type { SessionOptions } from './session.js';

export interface Listing extends ShownListing {
  readonly profile: ProfileName;
  /** What could not be listed, one sentence each. */
  readonly notes: readonly string[];
  /** Problems of requested ids that the server doesn't have (`not-found`). */
  readonly missing: readonly Problem[];
}

/** Lists the objects of the server that its profile can read. Sends only GETs. */
export async function list(
  project: Project,
  options: SessionOptions,
  request: Pick<PullRequest, 'kinds' | 'asked'>,
): Promise<Listing> {
  return await withPullContext(project, options, request, async (context) => {
    const { server, look, wishes, notes } = context;
    const seen = await discoverAll(wishes, [], look);
    const { profile } = server;
    return {
      server: server.baseUrl,
      profile: profile.name,
      objects: seen.found.map(({ kind, finding: { identity, displayName, remark = null } }) => ({
        kind: kind.name,
        address: addressOf(kind.name, kind.naming?.(identity, seen.references)?.address ?? identity),
        identity,
        name: displayName,
        remark,
      })),
      notes: [...notes, ...seen.notes],
      missing: seen.missing,
    };
  });
}

import { type KindName, kindNames } from '../../base/kind-names.js';
import type { Problem } from '../../base/problems.js';
import { noProgress, type Progress } from '../../base/progress.js';
import type { ServerSettings } from '../../project/index.js';
import { type Diagnosis, diagnose } from '../../server/diagnose.js';
import { type ProfileName, profiles } from '../../server/profiles.js';
import { type LookingOptions, whileReading } from '../connection.js';
import { problemsOf } from '../failures.js';
import { type FreshFiles, freshFiles } from '../pull.js';

const DEFAULT_CONCURRENCY = 10;

/** What a look at a server came to. */
export interface Looked {
  readonly profile: ProfileName;
  /** What was found in the server's way; it can be worked with where there is nothing. */
  readonly failed: readonly string[];
  /** The manifests of what it has; null where it can't be read. */
  readonly fresh: FreshFiles | null;
  /** Why it can't be, where it could be reached. */
  readonly problems: readonly Problem[];
  /** The kinds that are left out of `fresh` by that. */
  readonly unread: readonly KindName[];
}

/**
 * Finds out with GETs alone which profile fits a server, and what it has. `choose` says which profile is taken, given the
 * one that was found and what was in the way; null ends it all. Where nobody `pulls`, what it has isn't read.
 */
export async function lookAtServer(
  server: ServerSettings,
  choose: (fits: ProfileName | null, failed: readonly string[]) => Promise<ProfileName | null>,
  pulls: boolean,
  options: LookingOptions & { readonly progress?: Progress },
): Promise<Looked | null> {
  const { concurrency = DEFAULT_CONCURRENCY, redactor, progress = noProgress, signal } = options;
  return await whileReading(server, [], { ...options, concurrency }, async (reader) => {
    const { checks, fits } = await diagnose({
      reader,
      baseUrl: server.baseUrl,
      profile: server.profile,
      isWritten: server.profileWritten,
      needed: [],
    });
    const failed = inTheWay(checks);
    const name = await choose(fits, failed);
    if (name === null) return null;
    const { [name]: profile = server.profile } = profiles;
    const nothing = { profile: name, failed, fresh: null, problems: [], unread: [] };
    if (!pulls || failed.length > 0 || signal.aborted) return nothing;
    const source = { reader, profile, holds: redactor.holds, concurrency, progress, signal };
    const all = await tried(() => freshFiles(source));
    if ('fresh' in all) return { ...nothing, ...all };
    const { problems } = all;
    if (problems.some(({ code }) => code !== 'server-forbidden' && code !== 'server-unauthorized'))
      return { ...nothing, problems };
    // What may not be read is no reason to leave out the rest.
    const readable: KindName[] = [];
    const unread: KindName[] = [];
    for (const kind of kindNames) {
      if (signal.aborted) return { ...nothing, problems };
      const one = await tried(() => freshFiles({ ...source, progress: noProgress }, { kinds: [kind] }));
      ('fresh' in one ? readable : unread).push(kind);
    }
    if (readable.length === 0) return { ...nothing, problems };
    const rest = await tried(() => freshFiles(source, { kinds: readable }));
    return 'fresh' in rest ? { ...nothing, ...rest, problems, unread } : { ...nothing, problems };
  });
}

async function tried(
  read: () => Promise<FreshFiles>,
): Promise<{ readonly fresh: FreshFiles } | { readonly problems: readonly Problem[] }> {
  try {
    return { fresh: await read() };
  } catch (failure) {
    const problems = problemsOf(failure);
    if (problems.some(({ code }) => code === 'internal')) throw failure;
    return { problems };
  }
}

/** That another profile fits than the one that was asked with is what was to be found out. */
function inTheWay(checks: Diagnosis['checks']): string[] {
  return checks
    .filter(({ status, name }) => status === 'fail' && name !== 'profile')
    .map(({ message }) => message);
}

import { error, type Problem } from '../../base/problems.js';
import { noProgress, type Progress } from '../../base/progress.js';
import { loadProject } from '../../project/index.js';
import { ServerSettingsBuilder } from '../../project/server.js';
import { type NewFilesResult, pullNewFiles } from '../../pull/pull-new.js';
import type { PulledFile } from '../../pull/write.js';
import { credentialTest } from '../../pull/write-value.js';
import { diagnose } from '../../server/diagnose.js';
import { type ProfileName, profiles } from '../../server/profiles.js';
import { DEFAULT_CONCURRENCY, type ReaderOptions, withReader } from '../connection.js';
import { inputProblems } from '../failures.js';
import { wishesOf } from '../pull.js';
import { recordPull } from '../record-pull.js';
import { CONFIG } from './files.js';

export interface InspectedServer {
  /** The profile that fits; null if unknown. */
  readonly fits: ProfileName | null;
  /** Manifests of what the server has; null if the server was not or can't be read. */
  readonly fresh: NewFilesResult | null;
  readonly problems: readonly Problem[];
  /** Records what was read in the state of the new project; returns a warning if that fails. */
  record(root: string, files: readonly PulledFile[]): Promise<readonly Problem[]>;
}

export interface ServerOptions {
  readonly baseUrl: string;
  readonly tokenFile: string | undefined;
  readonly token: string | undefined;
  /** Undefined for the profile that fits. */
  readonly profile: ProfileName | undefined;
  /** How manifests refer to objects: by unique names, or by ids. */
  readonly by: 'name' | 'id';
}

/** Finds the profile that fits a server and, if `pulls`, reads its objects. Sends only GETs. */
export async function inspectServer(
  { profile, by, ...given }: ServerOptions,
  pulls: boolean,
  options: ReaderOptions & { readonly progress?: Progress },
): Promise<InspectedServer> {
  const { concurrency = DEFAULT_CONCURRENCY, redactor, progress = noProgress, signal } = options;
  const server = new ServerSettingsBuilder({
    section: { data: {}, problems: [], notes: new Map() },
    given: { ...given, ignoredBaseUrl: undefined, pinned: false },
    environment: null,
    inEnvironments: () => undefined,
    variables: process.env,
    cwd: process.cwd(),
    root: process.cwd(),
    sectionPlaces: [],
    place: () => [],
  }).build();
  return await withReader(server, [], { ...options, concurrency }, async (reader) => {
    const { baseUrl, profile: usual } = server;
    const { matchingProfile, checks } = await diagnose({
      reader,
      baseUrl,
      profile: usual,
      isConfigured: false,
      needed: [],
    });
    // Why the server can't be read at all.
    const problems = checks.flatMap(({ status, code, message, hint }) =>
      matchingProfile === null && status === 'fail' && code !== undefined
        ? [error(code, message, [], hint ?? undefined)]
        : [],
    );
    const nothing = { fits: matchingProfile, fresh: null, problems, record: async () => [] };
    if (!pulls || problems.length > 0 || signal.aborted) return nothing;
    const { [profile ?? matchingProfile ?? usual.name]: own = usual } = profiles;
    try {
      const wishes = { ...wishesOf({ by }), known: [], hasCredential: credentialTest(redactor.holds) };
      const look = { reader, profile: own, concurrency, progress, signal, lists: {} };
      const fresh = await pullNewFiles(wishes, look);
      const record: InspectedServer['record'] = async (root, files) => {
        const variables = { ...process.env, IDOPS_ENV: undefined };
        const project = loadProject({ cwd: root, config: CONFIG, variables });
        return await recordPull(project, fresh.seen, { server: baseUrl, files, redactor });
      };
      return { ...nothing, fresh, record };
    } catch (failure) {
      return { ...nothing, problems: inputProblems(failure, undefined) };
    }
  });
}

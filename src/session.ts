import { type Applied, applyPlan } from './apply/apply.js';
import { journalFolder, type RunLine } from './apply/journal.js';
import type { Declared } from './kinds/kind.js';
import { loadManifests } from './manifests/index.js';
import { buildPlan, regenerationPlan } from './plan/build.js';
import type { Plan } from './plan/plan.js';
import { refusals } from './plan/safety.js';
import type { Selection } from './plan/select.js';
import { type Problem, ProblemsError, refuse } from './problems.js';
import { noProgress, type Progress } from './progress.js';
import type { Project, ServerOverrides, ServerSettings } from './project/index.js';
import { checkBaseUrl, isBaseUrl } from './server/base-url.js';
import { type Connection, connect } from './server/client.js';
import { bearerToken } from './server/credentials.js';
import { stateFile } from './state/file.js';
import { Hasher } from './state/secrets.js';
import type { State } from './state/state.js';
import type { StateStore } from './state/store.js';
import { version } from './version.js';

const DEFAULT_CONCURRENCY = 10;
const DEFAULT_TIMEOUT = 30;

export interface SessionOptions extends ServerOverrides {
  /** How many requests may be under way at once; 10 where it isn't given. */
  readonly concurrency?: number;
  /** Seconds that one request may take; 30 where it isn't given. */
  readonly timeout?: number;
  readonly progress?: Progress;
  /** Aborted where nothing new may be started. */
  readonly signal?: AbortSignal;
  /** Takes the secrets of the session out of a text; it gets to know them through `onSecret`. */
  readonly redact?: (text: string) => string;
  /** Told every secret before it can turn up anywhere. */
  readonly onSecret?: (secret: string) => void;
}

export interface PlanOptions extends Partial<Selection> {
  readonly prune?: boolean;
  readonly assert?: boolean;
}

/** A project, its server and its state: what planning and applying need together. */
export interface Session {
  readonly project: Project;
  readonly server: ServerSettings;
  /** Warnings of the manifests. */
  readonly warnings: readonly Problem[];
  readonly state: State;
  /** Observes and compares; sends GETs alone. */
  plan(options?: PlanOptions): Promise<Plan>;
  /** A plan that regenerates one client's DID, whatever the manifests say; nothing is read for it. */
  planRegeneration(clientId: string): Plan;
  /** Why a plan may not be applied; empty where it may. */
  refusals(plan: Plan, allowDestructive?: number): Problem[];
  /** Applies a plan of this session. Refuses nothing by itself. */
  apply(plan: Plan, command?: RunLine['command']): Promise<Applied>;
  close(): Promise<void>;
}

/**
 * Loads the manifests, the credentials and the state of a project, all before anything is sent.
 * Throws a ProblemsError with everything that is wrong.
 */
export async function openSession(project: Project, options: SessionOptions = {}): Promise<Session> {
  const {
    progress = noProgress,
    concurrency = DEFAULT_CONCURRENCY,
    signal = new AbortController().signal,
  } = options;
  const { server, declared, warnings } = await loadAll(project, options);
  const store: StateStore = stateFile(project.statePath());
  let state = await store.load(server.baseUrl);
  const { reader, writer, close } = open(server, options);
  const shared = { reader, profile: server.profile, concurrency, progress };
  return {
    project,
    server,
    warnings,
    get state() {
      return state;
    },
    plan: async ({ targets = [], kinds = [], prune = false, assert = false } = {}) =>
      await buildPlan({
        ...shared,
        declared,
        state,
        hasher: new Hasher(state.salt),
        selection: { targets, kinds },
        prune,
        assert,
        server: server.baseUrl,
        environment: project.environment,
        toolVersion: version,
        now: new Date(),
      }),
    planRegeneration: (clientId) =>
      regenerationPlan(clientId, {
        server: server.baseUrl,
        profile: server.profile,
        environment: project.environment,
        toolVersion: version,
        now: new Date(),
      }),
    refusals: (plan, allowDestructive) => refusals(plan, allowDestructive ?? project.maxDestructive()),
    apply: async (plan, command = 'apply') => {
      const applied = await applyPlan(plan, {
        ...shared,
        writer,
        signal,
        store,
        state,
        hasher: new Hasher(state.salt),
        journals: journalFolder(project.statePath()),
        command,
        now: () => new Date(),
      });
      state = applied.state;
      return applied;
    },
    close,
  };
}

/** Everything that can be wrong before the first request is found together. */
async function loadAll(
  project: Project,
  options: SessionOptions,
): Promise<{ server: ServerSettings; declared: readonly Declared[]; warnings: readonly Problem[] }> {
  const { onSecret = () => {} } = options;
  const [server, manifests] = await Promise.allSettled([
    project.server(options),
    loadManifests(project, { lenient: false }),
  ]);
  const problems: Problem[] = [];
  for (const part of [server, manifests]) {
    if (part.status === 'fulfilled') continue;
    if (!(part.reason instanceof ProblemsError)) throw part.reason;
    problems.push(...part.reason.problems);
  }
  if (server.status === 'fulfilled') onSecret(String(server.value.token.reveal()));
  if (manifests.status === 'fulfilled') {
    manifests.value.secrets.forEach(onSecret);
    problems.push(...manifests.value.problems);
  }
  refuse(problems);
  if (server.status === 'rejected' || manifests.status === 'rejected') throw new ProblemsError(problems);
  return { server: server.value, declared: manifests.value.declared, warnings: problems };
}

function open(server: ServerSettings, options: SessionOptions): Connection {
  const baseUrl = checkBaseUrl(server.baseUrl, server.allowInsecureHttp);
  if (!isBaseUrl(baseUrl)) throw new ProblemsError([baseUrl]);
  const {
    concurrency = DEFAULT_CONCURRENCY,
    timeout = DEFAULT_TIMEOUT,
    signal,
    redact = (text) => text,
  } = options;
  return connect({
    baseUrl,
    credentials: bearerToken(String(server.token.reveal())),
    concurrency,
    timeout,
    redact,
    signal: signal ?? new AbortController().signal,
    version,
  });
}

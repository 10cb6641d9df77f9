import { type Applied, applyPlan } from './apply/apply.js';
import { journalFolder, type RunLine } from './apply/journal.js';
import { type ResumeOptions, resumeRun, unfinishedRuns } from './apply/resume.js';
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
import { acquireLock, type Lock, lockHolder } from './state/lock.js';
import { Hasher } from './state/secrets.js';
import type { State } from './state/state.js';
import type { StateStore } from './state/store.js';
import { version } from './version.js';

const DEFAULT_CONCURRENCY = 10;
const DEFAULT_TIMEOUT = 30;

export interface SessionOptions extends ServerOverrides {
  /** The command that will write, such as `apply`: the session then holds the state's lock until it is closed. */
  readonly writes?: string;
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
  /** What a person should know beside: a lock that was taken over, a killed run that was settled. */
  readonly notes: readonly string[];
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
  const connection = open(server, options);
  const { reader, writer } = connection;
  const shared = { reader, profile: server.profile, concurrency, progress };
  const store: StateStore = stateFile(project.statePath());
  const held = await settleState(store, project.statePath(), options.writes, {
    ...shared,
    server: server.baseUrl,
  }).catch(async (failure) => {
    await connection.close();
    throw failure;
  });
  let { state } = held;
  const close = async (): Promise<void> => {
    await connection.close();
    await held.lock?.release();
  };
  return {
    project,
    server,
    warnings,
    notes: held.notes,
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

interface HeldState {
  readonly state: State;
  readonly lock: Lock | undefined;
  readonly notes: readonly string[];
}

/**
 * Loads the state and brings it up to what killed runs did. A session that writes takes the lock first; one that
 * only plans takes it for as long as there is something to settle.
 */
async function settleState(
  store: StateStore,
  path: string,
  writes: string | undefined,
  options: Omit<ResumeOptions, 'folder' | 'now'> & { readonly server: string },
): Promise<HeldState> {
  const notes: string[] = [];
  let lock = writes === undefined ? undefined : await acquireLock(path, writes, new Date());
  try {
    let state = await store.load(options.server);
    const folder = journalFolder(path);
    if ((await unfinishedRuns(folder, state)).length === 0) return { state, lock, notes: takeover(lock) };
    if (lock === undefined) {
      const holder = await lockHolder(path);
      if (holder !== null) return { state, lock, notes: [`the state is being written: ${holder}`] };
      lock = await acquireLock(path, 'plan', new Date());
      // What was unfinished may have ended while the lock was taken.
      state = await store.load(options.server);
    }
    notes.push(...takeover(lock));
    for (const content of await unfinishedRuns(folder, state)) {
      const resumed = await resumeRun(content, state, { ...options, folder, now: () => new Date() });
      state = resumed.state;
      await store.save(state);
      await resumed.finish();
      notes.push(
        `run ${resumed.run} had not ended: ${resumed.settled} of its answers were taken into the state`,
        ...resumed.findings,
      );
    }
    if (writes !== undefined) return { state, lock, notes };
    await lock.release();
    return { state, lock: undefined, notes };
  } catch (failure) {
    await lock?.release();
    throw failure;
  }
}

function takeover(lock: Lock | undefined): string[] {
  return lock === undefined || lock.takenOver === null ? [] : [lock.takenOver];
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

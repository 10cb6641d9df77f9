import { basename, resolve } from 'node:path';
import { type Applied, applyPlan } from './apply/apply.js';
import { withDebts } from './apply/debts.js';
import { findRun } from './apply/history.js';
import { isUnderWay, journalFolder, type RunLine, runHolder, underWay } from './apply/journal.js';
import { heirOf, othersOf, refuseOther, type StateHome } from './apply/owner.js';
import { newestRun, type ResumeOptions, resumeRun, unfinishedRuns } from './apply/resume.js';
import { type Left, undoRun } from './apply/undo.js';
import { type ConnectionOptions, openConnection } from './connection.js';
import type { Declared } from './kinds/kind.js';
import {
  type LoadedManifests,
  loadManifests,
  type ManifestOptions,
  pruneRefusals,
  tellSecrets,
} from './manifests/index.js';
import { buildPlan, type Planned, regenerationPlan } from './plan/build.js';
import { warnOfMasks } from './plan/masked.js';
import type { BuildOptions, PlanHeader } from './plan/options.js';
import type { Plan } from './plan/plan.js';
import { noReplan, type Replan } from './plan/replan.js';
import { refusals } from './plan/safety.js';
import type { Selection } from './plan/select.js';
import { type Seal, type StoredPlan, seal, staleness } from './plan/stored.js';
import { error, type Problem, ProblemsError, refuse } from './problems.js';
import { noProgress, type Progress } from './progress.js';
import type { Project, ServerOverrides, ServerSettings } from './project/index.js';
import { createRedactor, type OnSecret, type Redactor } from './redact.js';
import { type Probed, probe } from './server/probe.js';
import { stateFile } from './state/file.js';
import { acquireLock, type Lock, lockHolder } from './state/lock.js';
import { Hasher } from './state/secrets.js';
import type { State } from './state/state.js';
import type { StateStore } from './state/store.js';
import { refuseTracked } from './state/tracked.js';
import { sameIdentifier } from './values.js';
import { version } from './version.js';

const DEFAULT_CONCURRENCY = 10;
const DEFAULT_TIMEOUT = 30;

export interface SessionOptions extends ServerOverrides {
  /** The command that will write, such as `apply`: the session then holds the state's lock until it is closed. */
  readonly writes?: string;
  /** False where the manifests have no part in what is done. */
  readonly manifests?: boolean;
  /** How many requests may be under way at once; 10 where it isn't given. */
  readonly concurrency?: number;
  /** Seconds that one request may take; 30 where it isn't given. */
  readonly timeout?: number;
  readonly progress?: Progress;
  /** Aborted where nothing new may be started. */
  readonly signal?: AbortSignal;
  /** Gets to know every secret of the session before it can turn up anywhere; one of its own where it isn't given. */
  readonly redactor?: Redactor;
  /** How requests are paced, waited for and logged, where it is otherwise than usual. */
  readonly network?: Partial<Pick<ConnectionOptions, 'rate' | 'retries' | 'onTry' | 'delay' | 'random'>>;
}

export interface PlanOptions extends Partial<Selection> {
  readonly prune?: boolean;
  readonly assert?: boolean;
  /** The ids of clients whose DID was changed beside this state and is taken as it is: recorded, nothing is sent. */
  readonly acceptDids?: readonly string[];
}

export interface UndoPlan {
  readonly plan: Plan;
  readonly left: readonly Left[];
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
  /** The manifests and bodies that were read, where they really lie. */
  readonly files: readonly string[];
  /** Observes and compares; sends GETs alone. */
  plan(options?: PlanOptions): Promise<Plan>;
  /** What stands beside a plan in a file, for `planStored`. */
  seal(plan: Plan, options?: PlanOptions): Promise<Seal>;
  /** Makes a stored plan anew; the problems say how it differs now, and none means that it still holds. */
  planStored(stored: StoredPlan): Promise<{ plan: Plan; problems: Problem[] }>;
  /** The name of the newest run of this state. Throws a ProblemsError (`no-such-run`) where there is none. */
  lastRun(): Promise<string>;
  /** A plan that puts back what a run changed, and what it leaves as it is. */
  planUndo(run: string, options?: { readonly force?: boolean }): Promise<UndoPlan>;
  /** A plan that regenerates one client's DID, whatever the manifests say. */
  planRegeneration(clientId: string): Promise<Plan>;
  /** Why a plan may not be applied; empty where it may. */
  refusals(plan: Plan, allowDestructive?: number): Problem[];
  /**
   * Applies a plan of this session. Refuses nothing by itself. What was read more than 30 seconds ago, or before
   * `asked`, a time of `performance.now()` such as that of a question's answer, is read again before it is built on.
   */
  apply(plan: Plan, command?: RunLine['command'], asked?: number): Promise<Applied>;
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
    network = {},
  } = options;
  const redactor = options.redactor ?? createRedactor();
  const { server, declared, warnings, manifests } = await loadAll(project, options, redactor.add);
  await refuseTracked(project, journalFolder(project.statePath()), options.writes !== undefined);
  const connection = openConnection(server, declared, {
    concurrency,
    timeout: options.timeout ?? DEFAULT_TIMEOUT,
    redact: redactor.redactEcho,
    onSecret: redactor.add,
    signal,
    version,
    ...network,
  });
  const { reader, writer } = connection;
  const shared = { reader, profile: server.profile, concurrency, progress, signal };
  const home = { path: project.statePath(), environment: project.environment };
  const store: StateStore = stateFile(project.statePath());
  const held = await settleState(store, home, options.writes, {
    ...shared,
    server: server.baseUrl,
    holds: redactor.holds,
  }).catch(async (failure) => {
    await connection.close();
    throw failure;
  });
  let { state } = held;
  const close = async (): Promise<void> => {
    await connection.close();
    await held.lock?.release();
  };
  const replans = new WeakMap<Plan, Replan>();
  const remembered = ({ plan, replan }: Planned): Plan => {
    replans.set(plan, replan);
    return plan;
  };
  const build = async (what: Pick<BuildOptions, 'declared'> & Partial<BuildOptions>): Promise<Planned> => {
    const made = await buildPlan({
      ...shared,
      state,
      hasher: new Hasher(state, redactor.holds),
      selection: { targets: [], kinds: [] },
      prune: false,
      assert: false,
      restores: 'none',
      checks: project.checks(),
      ...header(),
      ...what,
    });
    // All that observing taught of secrets is known by now.
    return { ...made, plan: warnOfMasks(made.plan, redactor.redact) };
  };
  let probed: Promise<Probed> | undefined;
  // The server is asked once; where that failed, the next plan asks again.
  const recognise: PlanHeader['recognise'] = (scope) => {
    probed ??= probe(reader, scope).catch((failure: unknown) => {
      probed = undefined;
      throw failure;
    });
    return probed;
  };
  const header = (): PlanHeader => ({
    server: server.baseUrl,
    profile: server.profile,
    environment: project.environment,
    toolVersion: version,
    now: new Date(),
    recognise: server.profileWritten ? null : recognise,
  });
  const plan = async (given: PlanOptions = {}): Promise<Plan> => {
    const { targets, kinds, prune, assert } = withDefaults(given);
    const { acceptDids = [] } = given;
    refuse(acceptDids.flatMap((id) => undeclaredClient(id, declared)));
    if (prune) refuse(await pruneRefusals(manifests));
    return remembered(
      await build({ declared, selection: { targets, kinds }, prune, assert, acceptDids, restores: 'all' }),
    );
  };
  return {
    project,
    server,
    warnings,
    notes: held.notes,
    files: manifests.files,
    get state() {
      return state;
    },
    plan,
    seal: (made, given) => seal(made, withDefaults(given), redactor.redactName),
    async planStored(stored) {
      const made = await plan(stored.apply);
      return { plan: made, problems: await staleness(stored, made) };
    },
    async lastRun() {
      const run = await newestRun(journalFolder(project.statePath()), state);
      if (run !== undefined) return run;
      throw new ProblemsError([error('no-such-run', 'this state has no runs', [], 'idops runs lists them')]);
    },
    async planUndo(run, { force = false } = {}) {
      const content = await findRun(journalFolder(project.statePath()), run);
      if (content.run.server !== server.baseUrl) throw otherServer(content.run, server.baseUrl);
      const isOther = await othersOf(state, home);
      if (isOther(content.run)) throw refuseOther(content.run, home);
      const undo = undoRun(content, force);
      // What is left of an object, which may be compared more than once.
      const leftOf = new Map<Declared, readonly Left[]>();
      const made = await build({
        declared: undo.declared,
        restores: { run: content.run.run },
        adjust: (document, now) => {
          const adjusted = undo.adjust(document, now);
          leftOf.set(document, adjusted.left);
          return adjusted.document;
        },
      });
      const undone = undoPlan({ ...made.plan, undoes: content.run.run }, [
        ...undo.left,
        ...[...leftOf.values()].flat(),
      ]);
      remembered({ plan: undone.plan, replan: made.replan });
      return undone;
    },
    planRegeneration: async (clientId) =>
      remembered(await regenerationPlan(clientId, { ...shared, ...header() })),
    refusals: (made, allowDestructive) => refusals(made, allowDestructive ?? project.maxDestructive()),
    apply: async (made, command = 'apply', asked = 0) => {
      const applied = await applyPlan(made, {
        ...shared,
        replan: replans.get(made) ?? noReplan,
        notBefore: asked,
        recognise,
        writer,
        signal,
        store,
        state,
        hasher: new Hasher(state, redactor.holds),
        journals: journalFolder(project.statePath()),
        stateFile: basename(project.statePath()),
        command,
        now: () => new Date(),
        redactor,
      });
      state = applied.state;
      return applied;
    },
    close,
  };
}

function undeclaredClient(id: string, declared: readonly Declared[]): Problem[] {
  if (declared.some(({ kind, identity }) => kind === 'Client' && sameIdentifier(identity.id ?? '', id)))
    return [];
  return [error('no-such-target', `--accept-did ${id} is the id of no client that the manifests declare`)];
}

/** What was there on one server has no place on another. */
function otherServer({ run, server }: RunLine, here: string): ProblemsError {
  return new ProblemsError([
    error(
      'run-other-server',
      `run ${run} was on ${server}, and this is ${here}`,
      [],
      'choose the environment that it was run with',
    ),
  ]);
}

function withDefaults({
  targets = [],
  kinds = [],
  prune = false,
  assert = false,
}: PlanOptions = {}): Omit<Seal, 'objects'> {
  return { targets: [...targets], kinds: [...kinds], prune, assert };
}

/** What can't be put back as things are is left, and does not keep the rest from being put back. */
function undoPlan(plan: Plan, left: readonly Left[]): UndoPlan {
  const blocked = plan.changes.filter(({ action }) => action === 'blocked');
  return {
    plan: {
      ...plan,
      changes: plan.changes
        .filter(({ action }) => action !== 'blocked')
        .map((change) => ({ ...change, declaredAt: null, apply: { ...change.apply, managed: [] } })),
    },
    left: [
      ...left,
      ...blocked.map(({ address, reason }) => ({ address, path: null, reason: reason ?? 'it is blocked' })),
    ],
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
  home: StateHome,
  writes: string | undefined,
  options: Omit<ResumeOptions, 'folder' | 'now'> & { readonly server: string },
): Promise<HeldState> {
  const { path } = home;
  const notes: string[] = [];
  let lock = writes === undefined ? undefined : await acquireLock(path, writes, new Date());
  try {
    const folder = journalFolder(path);
    const load = async (): Promise<State> => await withDebts(await store.load(options.server), folder, home);
    let state = await load();
    const unfinished = () => unfinishedRuns(folder, state, home);
    const found = await unfinished();
    if (found.length === 0) return { state, lock, notes: takeover(lock) };
    // Where its lock was removed, nothing may be written beside a run all the same.
    const living = found.find(isUnderWay);
    if (lock === undefined) {
      const holder = (await lockHolder(path)) ?? (living === undefined ? null : runHolder(living.run));
      if (holder !== null) return { state, lock, notes: [`the state is being written: ${holder}`] };
      try {
        lock = await acquireLock(path, 'plan', new Date());
      } catch (failure) {
        // Another process was quicker, and settles it or goes on with it.
        const quicker = await lockHolder(path);
        if (quicker === null) throw failure;
        return { state, lock, notes: [`the state is being written: ${quicker}`] };
      }
      // What was unfinished may have ended while the lock was taken.
      state = await load();
    }
    if (living !== undefined) throw underWay(living.run);
    notes.push(...takeover(lock));
    for (const content of await unfinished()) {
      const resumed = await resumeRun(content, heirOf(state, content.run), {
        ...options,
        folder,
        now: () => new Date(),
      });
      state = resumed.state;
      await store.save(state);
      await resumed.finish();
      notes.push(
        content.ended
          ? `run ${resumed.run} is newer than the state: ${resumed.settled} of its answers were taken into it`
          : `run ${resumed.run} had not ended: ${resumed.settled} of its answers were taken into the state`,
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

/** The secrets of manifests that have no part in what is done: a server may name them in a message all the same. */
async function secretsAlone(project: Project, options: ManifestOptions): Promise<LoadedManifests> {
  return { ...(await loadManifests(project, { ...options, lenient: true })), declared: [], problems: [] };
}

/** Everything that can be wrong before the first request is found together. */
async function loadAll(
  project: Project,
  options: SessionOptions,
  onSecret: OnSecret,
): Promise<{
  server: ServerSettings;
  declared: readonly Declared[];
  warnings: readonly Problem[];
  manifests: LoadedManifests;
}> {
  const { manifests: wanted = true } = options;
  const settings = project.server(options);
  // The manifests are checked for the server that they go to; a profile from a process variable is known only now.
  const profile = await settings.then(
    (known) => known.profile,
    () => project.profile,
  );
  const { tokenFile } = options;
  const reading = {
    profile,
    lenient: false,
    tokenFile: tokenFile === undefined ? undefined : resolve(project.cwd, tokenFile),
  };
  const [server, manifests] = await Promise.allSettled([
    settings,
    wanted ? loadManifests(project, reading) : secretsAlone(project, reading),
  ]);
  const problems: Problem[] = [];
  for (const part of [server, manifests]) {
    if (part.status === 'fulfilled') continue;
    if (!(part.reason instanceof ProblemsError)) throw part.reason;
    problems.push(...part.reason.problems);
  }
  if (server.status === 'fulfilled') for (const secret of server.value.secrets) onSecret(secret);
  if (manifests.status === 'fulfilled') {
    tellSecrets(manifests.value, onSecret);
    problems.push(...manifests.value.problems);
  }
  refuse(problems);
  if (server.status === 'rejected' || manifests.status === 'rejected') throw new ProblemsError(problems);
  return {
    server: server.value,
    declared: manifests.value.declared,
    warnings: problems,
    manifests: manifests.value,
  };
}

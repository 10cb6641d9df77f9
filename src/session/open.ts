import { applyPlan } from '../apply/apply.js';
import { type Problem, ProblemsError, refuse } from '../base/problems.js';
import { noProgress, safeProgress } from '../base/progress.js';
import { type LoadedManifests, loadManifests, registerSecrets } from '../manifests/load.js';
import { isApproved } from '../plan/approve.js';
import type { Project, ServerSettings } from '../project/index.js';
import { labelResult } from '../report/names.js';
import { Hasher } from '../secrets/hash.js';
import { createRedactor, type OnSecret } from '../secrets/redactor.js';
import type { Lock } from '../state/backend.js';
import { backendOf, isEphemeralRunner, notSharedWarning, stateLossWarning } from './backend.js';
import { DEFAULT_CONCURRENCY, openConnection } from './connection.js';
import { type CurrentState, loadStateForPlan, lockAndLoadState } from './current-state.js';
import { refuseWrongNumbers } from './options.js';
import { originOf } from './origin.js';
import { findOrphanedState } from './orphaned-state.js';
import { Planner } from './planner.js';
import type { Session, SessionOptions, WritingCommand, WritingSession } from './session.js';
import { lastRun } from './undo.js';
import { keepProblems } from './validation.js';

/**
 * Loads the manifests, the credentials and the state of a project before any request is sent. The session can plan but
 * not apply. Throws a ProblemsError with every problem.
 */
export async function openSession(project: Project, options: SessionOptions = {}): Promise<Session> {
  const { apply: _, approvalHistory: __, ...session } = await open(project, undefined, options);
  return session;
}

/**
 * The same for a command that writes: the session holds the lock of the state until it is closed.
 * Also throws a ProblemsError (`locked`) if another process holds the lock.
 */
export async function openForWriting(
  project: Project,
  command: WritingCommand,
  options: SessionOptions = {},
): Promise<WritingSession> {
  return await open(project, command, options);
}

/** Calls `work` with a session and closes it. `report` gets its warnings and notes first, and in the end the warnings of closing it. */
export async function withSession<S extends Session, T>(
  session: S,
  report: (problems: readonly Problem[], notes: readonly string[]) => void,
  work: (session: S) => Promise<T>,
): Promise<T> {
  try {
    report(session.warnings, session.notes);
    return await work(session);
  } finally {
    report(await session.close(), []);
  }
}

async function open(
  project: Project,
  command: WritingCommand | undefined,
  options: SessionOptions,
): Promise<WritingSession> {
  refuseWrongNumbers(options);
  const { concurrency = DEFAULT_CONCURRENCY } = options;
  const progress = safeProgress(options.progress ?? noProgress);
  const lifecycle = new Lifecycle(async () => {
    await connection.close();
    return (await lock?.release()) ?? [];
  });
  const signal =
    options.signal === undefined ? lifecycle.signal : AbortSignal.any([options.signal, lifecycle.signal]);
  const redactor = options.redactor ?? createRedactor();
  const { server, manifests, warnings } = await loadAll(project, options, redactor.add);
  const backend = await backendOf(project, redactor.add);
  const { declared } = manifests;
  await backend.check(command === undefined ? 'read' : 'write');
  const connection = openConnection(server, declared, {
    concurrency,
    timeout: options.timeout,
    redactor,
    signal,
    network: { onRetry: progress.retry, ...options.network },
  });
  const { reader, writer } = connection;
  // Shard 1/1 is the whole project.
  const shard = options.shard?.count === 1 ? undefined : options.shard;
  const shared = { reader, profile: server.profile, concurrency, progress, signal, pause: options.pause };
  const home = { backend, environment: project.environment };
  const settling = { ...shared, server: server.baseUrl, shard, holds: redactor.holds };
  const current: CurrentState & { readonly lock?: Lock } = await (command === undefined
    ? loadStateForPlan(home, settling)
    : lockAndLoadState(home, command, settling)
  ).catch(async (failure) => {
    await connection.close();
    throw failure;
  });
  const { lock } = current;
  const orphaned = await findOrphanedState(project, current.state);
  if (orphaned !== null && command !== undefined) {
    await lifecycle.end();
    throw new ProblemsError([orphaned]);
  }
  const { safety = project.safety({ limits: command !== undefined }), approvable = false } = options;
  const guards = approvable ? safety : { ...safety, approvers: [] };
  const planner = new Planner(
    { project, server, manifests, home, redactor, reading: shared, shard, safety: guards, asOf: options.now },
    current.state,
    current.read,
  );
  return {
    project,
    warnings: [
      ...(shard !== undefined && options.ofJob === true ? notSharedWarning(project, backend) : []),
      ...(command !== undefined && isEphemeralRunner(process.env) ? stateLossWarning(project, declared) : []),
      ...warnings,
    ],
    notes: orphaned === null ? current.notes : [...current.notes, `${orphaned.message}: ${orphaned.hint}`],
    declared,
    files: manifests.files,
    plan: (asked) => lifecycle.run(() => planner.plan(asked)),
    storePlan: (made) => lifecycle.run(() => planner.store(made)),
    planStored: (stored, left) => lifecycle.run(() => planner.stored(stored, left)),
    lastRun: () => lifecycle.run(() => lastRun(home, planner.state)),
    planUndo: (run, { force = false } = {}) => lifecycle.run(() => planner.undo(run, force)),
    planRegeneration: (clientId) => lifecycle.run(() => planner.regeneration(clientId)),
    close: () => lifecycle.end(),
    approvalHistory: () => planner.state,
    apply: (approved, approval) =>
      lifecycle.runAlone(async () => {
        if (!isApproved(approved))
          throw new TypeError('this plan was not approved: call approve(plan, limits) first');
        const made = planner.recipeOf(approved.plan);
        if (made === undefined) {
          throw new TypeError(
            'this plan was made in another session, or before an apply in this one, so it may be out of date: ' +
              'make a new plan in this session, or store it and use planStored',
          );
        }
        if (lock === undefined)
          throw new TypeError('apply needs a session that holds the lock: use openForWriting');
        const { result, answers, ...applied } = await applyPlan(approved, {
          ...shared,
          lock,
          replan: made.replan,
          recognise: planner.recognise,
          writer,
          backend,
          state: planner.state,
          shard,
          sharedRun: options.sharedRun,
          approval,
          hasher: new Hasher(planner.state, redactor.holds),
          command: made.command,
          origin: () => originOf(process.env, project.root, options.message, redactor),
          redactor,
        }).finally(() => planner.invalidatePlans());
        planner.state = applied.state;
        const { plan } = approved;
        const labelled = labelResult(result, plan, answers);
        return {
          ...applied,
          result: plan.undoes === undefined ? labelled : { ...labelled, undoes: plan.undoes },
        };
      }),
  };
}

/** Loads the settings of the server and the manifests. Throws a ProblemsError with every problem of both. */
async function loadAll(
  project: Project,
  options: SessionOptions,
  onSecret: OnSecret,
): Promise<{ server: ServerSettings; manifests: LoadedManifests; warnings: readonly Problem[] }> {
  const { manifests: wanted = true, tokenFile, signal } = options;
  const settings = project.server(options);
  // Manifests are checked against the profile of the server; a profile from a process variable is known only here.
  const profile = await settings.then(
    (known) => known.profile,
    () => project.profile,
  );
  const [server, manifests] = await Promise.allSettled([
    settings,
    // Unused manifests are loaded for their secrets, since a server may repeat one in a message.
    loadManifests(project, { profile, lenient: !wanted, signal, tokenFile }),
  ]);
  const settingsProblems = [
    ...(await project.sharedStateProblems()),
    ...project.settingsProblems(),
    ...keepProblems(project, profile),
  ];
  if (server.status === 'fulfilled')
    for (const secret of server.value.secrets) onSecret(String(secret.reveal()));
  if (manifests.status === 'fulfilled') registerSecrets(manifests.value, onSecret);
  const problems = [
    ...settingsProblems.filter(({ severity }) => severity === 'error'),
    ...problemsOfRejection(server),
    ...(manifests.status === 'fulfilled' && wanted
      ? manifests.value.problems
      : problemsOfRejection(manifests)),
  ];
  refuse(problems);
  if (server.status === 'rejected' || manifests.status === 'rejected') throw new ProblemsError(problems);
  const declared = wanted ? manifests.value.declared : [];
  return { server: server.value, manifests: { ...manifests.value, declared }, warnings: problems };
}

function problemsOfRejection(result: PromiseSettledResult<unknown>): readonly Problem[] {
  if (result.status === 'fulfilled') return [];
  if (!(result.reason instanceof ProblemsError)) throw result.reason;
  return result.reason.problems;
}

/** Tracks the work of a session: the session ends once, after all running work, and applies one plan at a time. */
class Lifecycle {
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #end: () => Promise<readonly Problem[]>;
  #ended: Promise<readonly Problem[]> | undefined;
  #applying = false;
  /** Aborts when the session ends: nothing new may start. */
  readonly signal = this.#stop.signal;

  /** `end` releases the resources of the session and returns warnings; it is called once. */
  constructor(end: () => Promise<readonly Problem[]>) {
    this.#end = end;
  }

  /** Runs work; the end of the session waits for it. Throws a TypeError if the session has ended. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#ended !== undefined) throw new TypeError('this session is closed');
    const running = work();
    this.#running.add(running);
    return await running.finally(() => this.#running.delete(running));
  }

  /** Runs an apply. Throws a TypeError if another one is running. */
  async runAlone<T>(work: () => Promise<T>): Promise<T> {
    if (this.#applying)
      throw new TypeError('this session is applying a plan: wait until it is done, then plan again');
    this.#applying = true;
    return await this.run(work).finally(() => {
      this.#applying = false;
    });
  }

  /** Starts nothing new, waits until running work is finished and recorded, and releases all resources. Returns warnings. */
  async end(): Promise<readonly Problem[]> {
    this.#stop.abort();
    this.#ended ??= Promise.allSettled([...this.#running]).then(() => this.#end());
    return await this.#ended;
  }
}

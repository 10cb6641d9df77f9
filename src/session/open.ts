import { applyPlan } from '../apply/apply.js';
import { findRun } from '../apply/history.js';
import { newestRun } from '../apply/resume.js';
import { error, type Problem, ProblemsError } from '../base/problems.js';
import { noProgress, withoutHarm } from '../base/progress.js';
import { version } from '../base/version.js';
import { isApproved } from '../plan/approve.js';
import type { Project } from '../project/index.js';
import { labelResult } from '../report/names.js';
import { Hasher } from '../secrets/hash.js';
import { createRedactor } from '../secrets/redactor.js';
import { backendOf, stateLossWarning } from './backend.js';
import { DEFAULT_TIMEOUT, openConnection } from './connection.js';
import { settleState } from './current-state.js';
import { loadAll } from './load.js';
import { findOrphanedState } from './orphaned-state.js';
import { Planner } from './planner.js';
import type { Session, SessionOptions, WritingCommand, WritingSession } from './session.js';
import { notSharedWarning } from './shard.js';
import { runToUndo } from './undo.js';

const DEFAULT_CONCURRENCY = 10;

/**
 * Loads the manifests, the credentials and the state of a project, all before anything is sent. What it gives can plan
 * and can't apply. Throws a ProblemsError with everything that is wrong.
 */
export async function openSession(project: Project, options: SessionOptions = {}): Promise<Session> {
  const { session } = await open(project, undefined, options);
  return session;
}

/**
 * The same for a command that writes: the session holds the lock of the state until it is closed.
 * Throws a ProblemsError (`locked`) too, where somebody else holds it.
 */
export async function openForWriting(
  project: Project,
  command: WritingCommand,
  options: SessionOptions = {},
): Promise<WritingSession> {
  const { session, apply, approvalHistory } = await open(project, command, options);
  return { ...session, apply, approvalHistory };
}

interface Opened {
  readonly session: Session;
  readonly apply: WritingSession['apply'];
  readonly approvalHistory: WritingSession['approvalHistory'];
}

async function open(
  project: Project,
  command: WritingCommand | undefined,
  options: SessionOptions,
): Promise<Opened> {
  const { concurrency = DEFAULT_CONCURRENCY, network = {} } = options;
  const progress = withoutHarm(options.progress ?? noProgress);
  const life = new Lifecycle(async () => {
    await connection.close();
    return (await held.lock?.release()) ?? [];
  });
  const signal = options.signal === undefined ? life.signal : AbortSignal.any([options.signal, life.signal]);
  const redactor = options.redactor ?? createRedactor();
  const { server, declared, warnings, manifests } = await loadAll(project, options, redactor.add);
  const backend = await backendOf(project, redactor.add);
  await backend.check(command === undefined ? 'read' : 'write');
  const connection = openConnection(server, declared, {
    concurrency,
    timeout: options.timeout ?? DEFAULT_TIMEOUT,
    redact: redactor.redactEcho,
    onSecret: redactor.add,
    onRetry: progress.retry,
    signal,
    version,
    ...network,
  });
  const { reader, writer } = connection;
  // One part of one is all of it.
  const shard = options.shard?.count === 1 ? undefined : options.shard;
  const isAlone = shard !== undefined && options.ofJob === true && project.state().in === 'file';
  const isThrownAway =
    command !== undefined &&
    (process.env.CI ?? '') !== '' &&
    process.env.RUNNER_ENVIRONMENT !== 'self-hosted';
  const cost = isThrownAway ? stateLossWarning(project, declared) : undefined;
  const alone = [
    ...(isAlone ? [notSharedWarning(backend.place)] : []),
    ...(cost === undefined ? [] : [cost]),
  ];
  const shared = { reader, profile: server.profile, concurrency, progress, signal, pause: options.pause };
  const home = { backend, environment: project.environment };
  const held = await settleState(home, command, {
    ...shared,
    server: server.baseUrl,
    shard,
    holds: redactor.holds,
  }).catch(async (failure) => {
    await connection.close();
    throw failure;
  });
  const behind = await findOrphanedState(project, held.state);
  if (behind !== null && command !== undefined) {
    await life.end();
    throw new ProblemsError([behind]);
  }
  const planner = new Planner(
    {
      project,
      server,
      manifests,
      home,
      redactor,
      reader,
      shard,
      concurrency,
      progress,
      signal,
    },
    held.state,
    held.read,
  );
  const session: Session = {
    project,
    warnings: [...alone, ...warnings],
    notes: behind === null ? held.notes : [...held.notes, `${behind.message}: ${behind.hint}`],
    declared,
    files: manifests.files,
    plan: (asked) => life.run(() => planner.plan(asked)),
    storePlan: (made) => life.run(() => planner.store(made)),
    planStored: (stored, left) => life.run(() => planner.stored(stored, left)),
    lastRun: () =>
      life.run(async () => {
        const run = await newestRun(backend.runs, planner.state);
        if (run !== undefined) return runToUndo(await findRun(backend.runs, run));
        throw new ProblemsError([
          error(
            'no-such-run',
            'this state has no runs',
            [],
            'a run is what idops apply leaves; which state this is, --env and state in the configuration say',
          ),
        ]);
      }),
    planUndo: (run, { force = false } = {}) => life.run(() => planner.undo(run, force)),
    planRegeneration: (clientId) => life.run(() => planner.regeneration(clientId)),
    close: () => life.end(),
  };
  const apply: WritingSession['apply'] = (approved, approval) =>
    life.runAlone(async () => {
      if (!isApproved(approved))
        throw new TypeError('this plan was not approved: approve(plan, limits) does it');
      const made = planner.find(approved.plan);
      if (made === undefined) {
        throw new TypeError(
          'this plan was made in another session, or before something was applied in this one, and what is there may have ' +
            'changed since: make it in this one, or store it and let planStored make it anew',
        );
      }
      if (held.lock === undefined) throw new TypeError('only what holds the lock of the state applies');
      const { result, answers, ...applied } = await applyPlan(approved, {
        ...shared,
        lock: held.lock,
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
        now: () => new Date(),
        redactor,
      }).finally(() => {
        // Whatever came of it.
        planner.forget();
      });
      planner.state = applied.state;
      const { plan } = approved;
      const labelled = labelResult(result, plan, answers);
      return {
        ...applied,
        result: plan.undoes === undefined ? labelled : { ...labelled, undoes: plan.undoes },
      };
    });
  return { session, apply, approvalHistory: () => planner.state };
}

/** What goes on in a session: it ends once, when nothing is under way any more, and applies one plan at a time. */
export class Lifecycle {
  readonly #stop = new AbortController();
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #end: () => Promise<readonly Problem[]>;
  #ended: Promise<readonly Problem[]> | undefined;
  #applying = false;

  /** `end` lets go of all that the session holds, and gives warnings; it is called once. */
  constructor(end: () => Promise<readonly Problem[]>) {
    this.#end = end;
  }

  /** Aborted where the session ends: nothing new may be started. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Does something that the end of the session waits for. Throws a TypeError where it has ended. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#ended !== undefined) throw new TypeError('this session is closed');
    const doing = work();
    this.#underWay.add(doing);
    try {
      return await doing;
    } finally {
      this.#underWay.delete(doing);
    }
  }

  /** Does something beside which nothing else of the like may be done. Throws a TypeError where it would be. */
  async runAlone<T>(work: () => Promise<T>): Promise<T> {
    if (this.#applying) throw new TypeError('this session is applying a plan: wait for it, and plan again');
    this.#applying = true;
    try {
      return await this.run(work);
    } finally {
      this.#applying = false;
    }
  }

  /** Starts nothing more, waits for what is under way, which is finished and recorded, and lets go; gives warnings. */
  async end(): Promise<readonly Problem[]> {
    this.#stop.abort();
    this.#ended ??= Promise.allSettled([...this.#underWay]).then(() => this.#end());
    return await this.#ended;
  }
}
